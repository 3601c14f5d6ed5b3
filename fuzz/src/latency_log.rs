//! fio's latency logs: completions are compared with those of a simple second reader, and all of
//! them are counted.

use drivelab_request::{CompletionWindow, Direction, Nanos, WindowPlan};
use drivelab_workload::{
    Characteristics, Completion, QueueEnds, RequestStream, completions, count,
};

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "latency_log",
    sources: &[
        "crates/workload/src/latency_log.rs",
        "crates/workload/src/replay.rs",
    ],
    check,
    seeds,
};

/// A second reader, with whole numbers of any size. Returns `None` for a log that it cannot read.
fn plain(log: &str) -> Option<Vec<Completion>> {
    let mut lines: Vec<(u128, Completion)> = Vec::new();
    for line in log.strip_suffix('\n')?.split('\n') {
        let fields: Option<Vec<u128>> = line
            .split(',')
            .take(5)
            .map(|field| field.trim_matches(' ').parse().ok())
            .collect();
        let &[millisecond, latency, direction, size, offset] = fields?.as_slice() else {
            return None;
        };
        let completion = Completion {
            at_ns: 0,
            latency_ns: latency.try_into().ok()?,
            offset_bytes: offset.try_into().ok()?,
            size_bytes: size.try_into().ok()?,
            direction: [Direction::Read, Direction::Write][usize::try_from(direction).ok()?.min(1)],
        };
        lines.push((millisecond, completion));
    }
    let milliseconds: Vec<u128> = lines.iter().map(|(millisecond, _)| *millisecond).collect();
    for (index, (millisecond, completion)) in lines.iter_mut().enumerate() {
        let same = |part: &[u128]| part.iter().filter(|&each| each == millisecond).count() as u128;
        let (before, among) = (same(&milliseconds[..index]), same(&milliseconds));
        let at = *millisecond * 1_000_000 + (2 * before + 1) * 1_000_000 / (2 * among);
        completion.at_ns = at.try_into().ok()?;
    }
    Some(
        lines
            .into_iter()
            .map(|(_, completion)| completion)
            .collect(),
    )
}

fn check(data: &[u8]) {
    let found = match completions(data) {
        Ok(found) => found,
        Err(error) => return check_message(&error),
    };
    assert!(found.is_sorted_by_key(|completion| completion.at_ns));
    if let Some(expected) = std::str::from_utf8(data).ok().and_then(plain) {
        assert_eq!(found, expected);
    }
    // Everything that was read is counted.
    let all = found.len() as u64;
    let mut window = CompletionWindow::new(WindowPlan {
        warmup_requests: 0,
        warmup: Nanos::ZERO,
        requests: Some(all.max(1)),
        duration: None,
        half_width: None,
    });
    count(&mut window, &found, QueueEnds::default());
    assert_eq!(window.requests(), all);
    let counted = [Direction::Read, Direction::Write].map(|each| window.counted(each).bytes);
    let moved: u64 = found.iter().map(|each| u64::from(each.size_bytes)).sum();
    assert_eq!(counted.iter().sum::<u64>(), moved);
    // A log belongs to a stream, or a one-line error says why not.
    let Ok(mut stream) = RequestStream::new(&Characteristics::default(), 0, 1 << 20, 0, 0) else {
        return;
    };
    match stream.complete(&found) {
        Ok(()) => assert_eq!(stream.position(), all),
        Err(error) => check_message(&error),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    [
        "0, 83884, 0, 4096, 72134656, 0\n2, 11778, 1, 512, 0, 0\n2, 5, 0, 4096, 8, 0\n",
        "0, 1, 0, 4096, 0\n0, 1, 0, 4096, 4096, 0x4, 7\n7, 1, 0, 4096, 8192, 0\n",
        "4294967294, 4611686018427387903, 1, 4294967295, 18446744073709551615, 0\n",
        "",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
