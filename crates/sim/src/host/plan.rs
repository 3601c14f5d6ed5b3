//! How long a run lasts, and what it records.

use drivelab_request::{Nanos, WindowPlan};
use drivelab_workload::Stream;

use super::error::SimError;
use super::outcome::Outcome;

/// How long a run lasts, and what it records in addition to its counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plan {
    /// When counting begins and ends, in simulated time.
    pub window: WindowPlan,
    /// If set, also records what completed when, in intervals of this length.
    pub series_interval: Option<Nanos>,
    /// If set, also records this many individual requests, the first ones of the window.
    pub log_requests: Option<u64>,
}

impl Plan {
    /// Counts `requests` after `warmup_requests`.
    #[must_use]
    pub const fn counting(warmup_requests: u64, requests: u64) -> Self {
        Self::of(WindowPlan {
            warmup_requests,
            warmup: Nanos::ZERO,
            requests: Some(requests),
            duration: None,
            half_width: None,
        })
    }

    /// Counts in `window` and records nothing else.
    #[must_use]
    pub const fn of(window: WindowPlan) -> Self {
        Self {
            window,
            series_interval: None,
            log_requests: None,
        }
    }

    /// Counts in `window`, but stops once `total_bytes` were transferred by all streams in both
    /// directions. The number of requests for that assumes that every stream sends equally many.
    /// The run also ends when all streams end by themselves.
    #[must_use]
    pub fn until(streams: &[Stream], window: WindowPlan, total_bytes: Option<u64>) -> Self {
        let means = streams.iter().map(Stream::mean_bytes).sum::<f64>();
        let per_request = means / streams.len().max(1) as f64;
        let requests_for = |bytes: u64| ((bytes as f64 / per_request).ceil() as u64).max(1);
        let left = commands_of(streams).map(|all| all.saturating_sub(window.warmup_requests));
        let ends = [window.requests, total_bytes.map(requests_for), left];
        Self::of(WindowPlan {
            requests: ends.into_iter().flatten().min(),
            ..window
        })
    }
}

/// The number of commands in `streams`, if all of them end by themselves.
#[must_use]
pub fn commands_of(streams: &[Stream]) -> Option<u64> {
    streams.iter().map(Stream::commands).sum()
}

/// The window of a run of `streams`: the window `asked` for, but no longer than until the streams
/// end by themselves.
///
/// # Errors
/// [`SimError::Window`] if nothing ends the run, or if more requests are to be counted than exist.
pub fn window_of(streams: &[Stream], asked: WindowPlan) -> Result<WindowPlan, SimError> {
    let warmup_requests = asked.warmup_requests;
    let left = commands_of(streams).map(|listed| listed.saturating_sub(warmup_requests));
    let requests = match (asked.requests, left) {
        (Some(requests), Some(left)) if requests > left => {
            return Err(SimError::Window(format!(
                "{requests} requests are to be counted, and {left} are listed after \
                 {warmup_requests} of warm-up; allowed: at most as many as are listed"
            )));
        }
        (None, Some(0)) => {
            return Err(SimError::Window(format!(
                "all listed requests are among the {warmup_requests} of the warm-up; allowed: \
                 fewer"
            )));
        }
        (None, Some(left)) => Some(left),
        (requests, _) => requests,
    };
    if requests.is_none() && asked.duration.is_none() && asked.half_width.is_none() {
        return Err(SimError::Window(
            "nothing ends the run; give requests or duration_ns".to_owned(),
        ));
    }
    Ok(WindowPlan { requests, ..asked })
}

/// Whether a run can be made from `streams` and `plan`.
pub(crate) fn check(streams: &[Stream], plan: Plan) -> Result<(), SimError> {
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
    // If the number of commands is known, it must suffice for the measurement.
    let commands = commands_of(streams);
    let is_short = commands.is_some_and(|commands| most.is_none() || commands < total);
    if is_short || !ends || requests == 0 || window.requests == Some(0) {
        return Err(SimError::Empty);
    }
    Ok(())
}

/// The outcome of a measurement, if it gives a rate.
pub(crate) fn told(outcome: Outcome) -> Result<Outcome, SimError> {
    match outcome.window {
        window if outcome.measured_requests == 0 => Err(SimError::NoRequests { window }),
        Nanos::ZERO => Err(SimError::NoTime),
        _ => Ok(outcome),
    }
}
