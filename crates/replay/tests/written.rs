//! Requests as text in a format, and the result of reading them.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use drivelab_replay::{Fit, Origin, Pace, Replay, ReplayError, Survey, Surveyed};
use drivelab_trace::{Given, Options};
use drivelab_workload::{Paced, PacedSource};

pub const RECORDED: Pace = Pace::Recorded {
    speed: 1.0,
    depth: 1024,
};

/// A request: us, device, sector, bytes, and whether it writes.
pub type Row = (u64, u32, u64, u64, bool);

pub fn spc(rows: &[Row]) -> Vec<u8> {
    let mut text = Vec::new();
    for &(us, device, sector, size, writes) in rows {
        let operation = if writes { 'W' } else { 'r' };
        let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
        writeln!(
            text,
            "{device},{sector},{size},{operation},{seconds}.{rest:06}"
        )
        .unwrap();
    }
    text
}

/// The same in MSR's format, with response times in us.
pub fn msr(rows: &[(Row, u64)]) -> Vec<u8> {
    let mut text = Vec::new();
    for &((us, device, sector, size, writes), response_us) in rows {
        let operation = if writes { "Write" } else { "Read" };
        let (time, offset) = (128_166_372_003_061_629 + 10 * us, 512 * sector);
        writeln!(
            text,
            "{time},hm,{device},{operation},{offset},{size},{}",
            10 * response_us
        )
        .unwrap();
    }
    text
}

pub fn origin(text: impl Into<Bytes>) -> Origin {
    with(text, Options::default())
}

pub fn with(text: impl Into<Bytes>, options: Options) -> Origin {
    Origin::Files {
        files: vec![Given::Memory("made".to_owned(), text.into())],
        options: Box::new(options),
    }
}

pub fn survey(origin: &Origin, fit: Fit, needs_depth: bool) -> Result<Surveyed, ReplayError> {
    let mut survey = Survey::begin(origin, fit, needs_depth)?;
    // In small steps, like a caller that checks signals in between.
    while survey.go_on(1)? {}
    survey.finish()
}

pub fn replay(origin: &Origin, fit: Fit, pace: Pace) -> Replay {
    let surveyed = survey(origin, fit, pace.needs_recorded_depth()).unwrap();
    Replay {
        origin: origin.clone(),
        surveyed: Arc::new(surveyed),
        pace,
        wraps: fit == Fit::Wrap,
    }
}

/// Everything that is read of it for a drive of `capacity_bytes`.
pub fn read(replay: &Replay, capacity_bytes: u64) -> Result<Vec<Paced>, String> {
    let mut reader = replay.open((0, capacity_bytes))?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        reader.next_batch(&mut batch)?;
        if batch.is_empty() {
            return Ok(all);
        }
        all.extend_from_slice(&batch);
    }
}
