//! A run of a simulated drive, and the wall time it took.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use drivelab_request::Nanos;
use drivelab_sim::drive::{Prepared, State};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{
    self, ExternalSsd, Outcome, Plan, Recorded, SimError, SnapshotError, Watch,
};
use drivelab_workload::Stream;

use crate::simulated::available_cores;

/// A run, and the wall time of its loop.
pub struct Simulated {
    pub outcome: Outcome,
    pub loop_time: Duration,
    /// The drive's state after it, if requested.
    pub state: Option<Vec<u8>>,
}

/// The state in which a run starts, and whether its final state is wanted.
#[derive(Clone, Copy)]
pub struct States<'a> {
    /// A snapshot; `None` means the prepared state.
    pub first: Option<&'a [u8]>,
    pub keeps_last: bool,
}

/// What to run.
pub struct Asked {
    pub streams: Vec<Stream>,
    pub plan: Plan,
    pub seed: u64,
}

/// Runs streams. The inner error is the reason why the initial snapshot is refused.
///
/// # Errors
/// [`SimError`] if the streams cannot be served.
pub fn run(
    prepared: &Prepared,
    states: States<'_>,
    asked: &Asked,
    (watch, stop): (&Arc<Watch>, &Arc<AtomicBool>),
) -> Result<Result<Simulated, SnapshotError>, SimError> {
    prepared.check_states(1)?;
    let mut drive = prepared.worker(stop);
    drive.watch(watch);
    drive.set_second_core(available_cores() > 1);
    if let Some(snapshot) = states.first
        && let Err(refused) = drive.load(snapshot)
    {
        return Ok(Err(refused));
    }
    let Asked {
        streams,
        plan,
        seed,
    } = asked;
    let mut simulated = timed(|| drive.run(streams, *plan, (*seed, 0), State::Kept))?;
    simulated.state = states.keeps_last.then(|| drive.save());
    Ok(Ok(simulated))
}

/// Runs streams on a drive whose firmware is the library at `firmware`.
///
/// # Errors
/// [`SimError`] if the library cannot be the firmware or breaks its contract, or if the streams
/// cannot be served.
pub fn run_external(
    config: &SsdConfig,
    firmware: &Path,
    asked: &Asked,
    (watch, stop): (&Arc<Watch>, &Arc<AtomicBool>),
) -> Result<Simulated, SimError> {
    let mut drive = ExternalSsd::new(config.clone(), firmware, stop)?;
    drive.watch(watch);
    timed(|| drive.run(&asked.streams, asked.plan, asked.seed, 0))
}

fn timed(run: impl FnOnce() -> Result<Outcome, SimError>) -> Result<Simulated, SimError> {
    let started = Instant::now();
    let outcome = run()?;
    let loop_time = started.elapsed();
    match outcome.window {
        window if outcome.measured_requests == 0 => Err(SimError::NoRequests { window }),
        Nanos::ZERO => Err(SimError::NoTime),
        _ => Ok(Simulated {
            outcome,
            loop_time,
            state: None,
        }),
    }
}

/// The flash operations in progress during a span of a run, in ns from its beginning, and the work
/// of cores.
///
/// # Errors
/// [`SimError`] if the streams cannot be served.
pub fn record(
    prepared: &ssd::Prepared,
    asked: &Asked,
    span: Range<u64>,
    stop: &Arc<AtomicBool>,
) -> Result<Recorded, SimError> {
    let mut drive = prepared.worker_stopped_by(stop);
    let recorded = drive.run_recorded(&asked.streams, asked.plan, asked.seed, span);
    let (_, operations) = recorded?;
    Ok(Recorded {
        operations,
        work: drive.recorded_work(asked.seed),
    })
}
