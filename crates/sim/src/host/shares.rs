//! Closed loops that hold shares of all requests: decides which of them may submit next.
//!
//! ```text
//!   submitted / share    a  |=========>   waits: b is behind
//!                        b  |=====>       submits, as soon as its queue has room
//! ```
//!
//! A stream with a share submits when its queue has room and no other stream with a share is behind
//! it. The stream that is furthest behind never waits for another, and its outstanding commands
//! complete, so nothing waits for ever. Suppose `k` such streams have sent `n` commands. A stream
//! with share `s` of the total has then submitted less than `s n + 1` and at least `s (n - k)`,
//! because it is ahead of the furthest behind by at most the command with which it overtook it.
//! Flushes count as commands.
//!
//! A stream that submits in bursts advances by whole bursts. While it submits one it stays the
//! furthest behind, so the others wait until the burst is complete.

use std::ops::RangeInclusive;

use super::load::Running;

/// The allowed range of a share, in any unit.
pub(crate) const SHARES: RangeInclusive<f64> = 1e-9..=1e9;

/// How a stream holds its share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Its share of the commands of all streams that have one, in proportion.
    pub share: f64,
    /// Commands in one burst.
    pub burst: u64,
    /// How many of its commands may be outstanding.
    pub queue_depth: u32,
}

/// The stream that submits next; on a tie, the first.
pub(crate) fn next(streams: &[Running]) -> Option<u16> {
    let reached = |running: &Running| {
        let Share { share, burst, .. } = running.share?;
        Some((running.submitted / burst * burst) as f64 / share)
    };
    let least = streams.iter().filter_map(reached).reduce(f64::min)?;
    let may = |running: &Running| {
        let outstanding = running.submitted - running.completed;
        let has_room = |share: Share| outstanding < u64::from(share.queue_depth);
        running.share.is_some_and(has_room) && reached(running).is_some_and(|far| far <= least)
    };
    let mut all = (0..).zip(streams);
    all.find_map(|(place, stream)| may(stream).then_some(place))
}
