//! A run of a simulated drive, with what it cost.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use drivelab_request::{Nanos, WindowPlan};
use drivelab_sim::drive::Prepared;
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::scenario::{Scenario, ScenarioError};
use drivelab_sim::ssd::{
    self, ExternalSsd, Load, Outcome, Plan, RecordedOperation, SimError, SnapshotError, Standing,
    Watch,
};

/// A run, and the wall time that its loop took.
pub struct Simulated {
    pub outcome: Outcome,
    pub loop_time: Duration,
    /// The drive's state after it, if it was asked for.
    pub state: Option<Vec<u8>>,
}

/// From which state a run starts, and whether the one that it leaves is wanted.
#[derive(Clone, Copy)]
pub struct States<'a> {
    /// A snapshot; without one the prepared state.
    pub first: Option<&'a [u8]>,
    pub keeps_last: bool,
}

/// What somebody who watches a run wants to see.
pub struct Watched {
    pub watch: Arc<Watch>,
    window: WindowPlan,
}

impl Watched {
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        Ok(Self {
            watch: Arc::default(),
            window: scenario.window()?,
        })
    }

    /// Where the run stands, and how much of its way it has behind it, 0 to 1.
    pub fn standing(&self) -> (Standing, f64) {
        let standing = self.watch.standing();
        let share = |done: u64, all: u64| (done as f64 / all.max(1) as f64).min(1.0);
        let window = &self.window;
        let by_requests = window.requests.map_or(0.0, |requests| {
            share(standing.completed, window.warmup_requests + requests)
        });
        let by_time = window.duration.map_or(0.0, |duration| {
            share(standing.simulated_ns, window.warmup.0 + duration.0)
        });
        (standing, by_requests.max(by_time))
    }
}

/// Runs a scenario; `log_requests` are told by themselves. Inside is why the snapshot
/// to start from is refused.
///
/// # Errors
/// [`SimError`] when the scenario cannot be served.
pub fn run(
    prepared: &Prepared,
    states: States<'_>,
    scenario: &Scenario,
    seed: u64,
    log_requests: Option<u64>,
    (watch, stop): (&Arc<Watch>, &Arc<AtomicBool>),
) -> Result<Result<Simulated, SnapshotError>, SimError> {
    prepared.check_workers(1)?;
    let mut drive = prepared.worker(stop);
    drive.watch(watch);
    if let Some(snapshot) = states.first
        && let Err(refused) = drive.load(snapshot)
    {
        return Ok(Err(refused));
    }
    let (load, plan) = asked(drive.capacity_bytes(), scenario, seed, log_requests)?;
    let mut simulated = timed(|| drive.run(load, plan, seed, 0))?;
    simulated.state = states.keeps_last.then(|| drive.save());
    Ok(Ok(simulated))
}

/// Runs a scenario on a drive whose firmware is the library at `firmware`.
///
/// # Errors
/// [`SimError`] when the library cannot be the firmware, breaks its contract, or the
/// scenario cannot be served.
pub fn run_external(
    config: &SsdConfig,
    firmware: &Path,
    scenario: &Scenario,
    seed: u64,
    log_requests: Option<u64>,
    (watch, stop): (&Arc<Watch>, &Arc<AtomicBool>),
) -> Result<Simulated, SimError> {
    let mut drive = ExternalSsd::new(config.clone(), firmware, stop)?;
    drive.watch(watch);
    let (load, plan) = asked(drive.capacity_bytes(), scenario, seed, log_requests)?;
    timed(|| drive.run(load, plan, seed, 0))
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

/// The flash operations that are under way in a span of a run, ns from its beginning.
///
/// # Errors
/// [`SimError`] when the scenario cannot be served.
pub fn record(
    prepared: &ssd::Prepared,
    scenario: &Scenario,
    seed: u64,
    span: Range<u64>,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<RecordedOperation>, SimError> {
    let mut drive = prepared.worker_stopped_by(stop);
    let (load, plan) = asked(drive.capacity_bytes(), scenario, seed, None)?;
    drive
        .run_recorded(load, plan, seed, span)
        .map(|(_, recorded)| recorded)
}

/// What a scenario asks of a drive.
fn asked(
    capacity_bytes: u64,
    scenario: &Scenario,
    seed: u64,
    log_requests: Option<u64>,
) -> Result<(Load, Plan), SimError> {
    let unfit = |error: ScenarioError| SimError::Workload(error.to_string());
    let load = scenario.load(capacity_bytes, seed).map_err(unfit)?;
    let plan = Plan {
        window: scenario.window().map_err(unfit)?,
        series_interval: scenario.interval,
        log_requests,
        ..Plan::default()
    };
    Ok((load, plan))
}
