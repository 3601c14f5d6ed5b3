//! Functions on all loops of a run together.

use super::error::SimError;
use super::load::Running;
use super::outcome::Outcome;

/// The stop flag is checked once every this many requests.
pub(crate) const STOP_INTERVAL: u64 = 1024;

/// After this many requests in one instant, a drive never gets any further.
pub(crate) const MOST_IN_NO_TIME: u64 = 1 << 20;

/// Most outstanding requests of one stream. If more requests arrive than are served, this limit
/// ends the run before memory does.
const MOST_OUTSTANDING: u64 = 1 << 20;

/// When the next command of an open loop arrives, and the index of its stream.
pub(crate) fn next_arrival(streams: &[Running]) -> Option<(u64, u16)> {
    let arrival = |(stream, running): (u16, &Running)| Some((running.next_arrival()?, stream));
    (0..).zip(streams).filter_map(arrival).min()
}

/// A stream that sends more requests than are served.
pub(crate) fn overloaded(streams: &[Running], now: u64) -> Option<SimError> {
    let waits = |stream: &&Running| stream.submitted - stream.completed > MOST_OUTSTANDING;
    streams
        .iter()
        .find(waits)
        .map(|stream| SimError::Overloaded {
            stream: stream.name(),
            most: MOST_OUTSTANDING,
            nanos: now,
        })
}

/// Reports commands that were submitted and never completed. If the run itself is not over, reports
/// the first stream.
pub(crate) fn stalled(streams: &[Running], is_over: bool) -> Option<SimError> {
    let is_left = |stream: &&Running| stream.submitted != stream.completed;
    let first = streams.first().filter(|_| !is_over);
    let left = streams.iter().find(is_left).or(first)?;
    Some(SimError::Stalled {
        stream: left.name(),
        submitted: left.submitted,
        completed: left.completed,
    })
}

/// The drive is drained: adds to `outcome` what happened after the window.
pub(crate) fn end(streams: &mut [Running], completed: u64, outcome: &mut Outcome) {
    outcome.drained_requests = completed - outcome.warmup_requests - outcome.measured_requests;
    for running in streams {
        if let Some(stream) = outcome.streams.get_mut(usize::from(running.owner)) {
            stream.submitted += running.submitted;
            if let Some(lateness) = running.lateness() {
                let total = stream.lateness.get_or_insert_with(Default::default);
                total.merge(lateness);
            }
        }
    }
}
