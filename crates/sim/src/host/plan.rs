//! How long a run is, and whether a run can be made of it.

use drivelab_request::{Content, Nanos, WindowPlan};
use drivelab_workload::{Characteristics, Generator, WholePass};

use super::error::SimError;
use super::load::Load;
use super::outcome::Outcome;

/// How long a run is, and which part of the drive it covers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plan {
    /// When counting begins and ends, in simulated time.
    pub window: WindowPlan,
    /// Generated requests fall into the drive's first so many bytes; the whole
    /// drive if not given.
    pub range_bytes: Option<u64>,
    /// Tells also what completed when, in intervals of so long.
    pub series_interval: Option<Nanos>,
    /// Tells also the first so many requests of the window by themselves.
    pub log_requests: Option<u64>,
    /// What the data of generated writes looks like.
    pub content: Content,
}

impl Plan {
    /// Counts `requests` over the whole drive after `warmup_requests`.
    #[must_use]
    pub const fn counting(warmup_requests: u64, requests: u64) -> Self {
        Self {
            window: WindowPlan {
                warmup_requests,
                warmup: Nanos::ZERO,
                requests: Some(requests),
                duration: None,
                half_width: None,
            },
            range_bytes: None,
            series_interval: None,
            log_requests: None,
            content: Content::Random,
        }
    }
}

/// Whether a run can be made of `load` and `plan` on a drive of `capacity_bytes` with so many
/// queue pairs.
pub(crate) fn check(
    load: &Load,
    plan: Plan,
    capacity_bytes: u64,
    pairs: usize,
) -> Result<(), SimError> {
    load.check(capacity_bytes, pairs)?;
    let window = plan.window;
    let most = match window.half_width {
        Some(half_width) => Some(half_width.max_requests),
        None => window.requests,
    };
    let (warmup_requests, requests) = (window.warmup_requests, most.unwrap_or(1));
    let total = warmup_requests
        .checked_add(requests)
        .ok_or(SimError::TooMany {
            warmup_requests,
            requests,
        })?;
    let ends = most.is_some() || window.duration.is_some();
    // Where all commands are known, as many as are measured.
    let commands = load.commands();
    let is_short = commands.is_some_and(|commands| most.is_none() || commands < total);
    if is_short || !ends || requests == 0 || window.requests == Some(0) {
        return Err(SimError::Empty);
    }
    Ok(())
}

/// The load of one measurement of `workload` on a drive of `capacity_bytes`.
pub(crate) fn load_of(
    workload: &Characteristics,
    plan: Plan,
    capacity_bytes: u64,
    seed: u64,
    index: u64,
) -> Result<Load, SimError> {
    let range = plan.range_bytes.unwrap_or(capacity_bytes);
    if range > capacity_bytes {
        return Err(SimError::Workload(format!(
            "the range has {range} bytes; allowed: at most the drive's {capacity_bytes}"
        )));
    }
    let generator = Generator::new(workload, 0, range, seed, index)
        .map_err(|error| SimError::Workload(error.to_string()))?;
    let mut load = Load::closed(generator, workload.queue_depth);
    for stream in &mut load.streams {
        stream.content = plan.content;
    }
    Ok(load)
}

/// The load of one pass over a file on a drive of `capacity_bytes`, and how long it is: until
/// its last request is complete.
///
/// A write is complete when the drive says so, not when it would survive a loss of power: that is
/// what IOzone times under the options of Boito et al. 2015 (direct I/O, and neither `-e` nor
/// `-o`).
pub(crate) fn of_pass(
    pass: &WholePass,
    capacity_bytes: u64,
    seed: u64,
    index: u64,
) -> Result<(Load, Plan), SimError> {
    let generator = Generator::of_pass(pass, seed, index)
        .map_err(|error| SimError::Workload(error.to_string()))?;
    let end = pass.start_bytes + pass.file_bytes;
    if end > capacity_bytes {
        return Err(SimError::Workload(format!(
            "the file ends at {end} bytes; allowed: at most the drive's {capacity_bytes}"
        )));
    }
    let plan = Plan::counting(0, pass.sent_requests());
    Ok((Load::closed(generator, 1), plan))
}

/// The outcome of a measurement, if it tells a rate.
pub(crate) fn told(outcome: Outcome) -> Result<Outcome, SimError> {
    match outcome.window {
        window if outcome.measured_requests == 0 => Err(SimError::NoRequests { window }),
        Nanos::ZERO => Err(SimError::NoTime),
        _ => Ok(outcome),
    }
}
