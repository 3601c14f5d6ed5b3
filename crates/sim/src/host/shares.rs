//! Closed loops that hold their shares of the requests: which of them may submit next.
//!
//! ```text
//!   submitted / share    a  |=========>   waits: b has come less far
//!                        b  |=====>       submits, as soon as its queue has room
//! ```
//!
//! A stream with a share submits while its queue has room and no other with a share has come less
//! far. The one that has come least far never waits for another, and what it waits for completes:
//! so nothing waits for ever. Of `n` commands of `k` such streams, one whose share is `s` of all
//! shares has submitted less than `s n + 1` and no less than `s (n - k)`: it is ahead of the least
//! by no more than the command with which it passed it. Flushes count as commands.
//!
//! One that submits in bursts comes farther by whole bursts: while one is on its way it stays the
//! least, so the others wait until all of it is submitted.

use std::ops::RangeInclusive;

use super::load::Running;

/// What a share may be, in any unit.
pub(crate) const SHARES: RangeInclusive<f64> = 1e-9..=1e9;

/// How a stream holds its share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Of the commands of all that have one, in proportion.
    pub share: f64,
    /// Commands of a turn.
    pub burst: u64,
    /// Commands that it may have outstanding.
    pub queue_depth: u32,
}

/// The stream that submits next; of several that have come as far, the first.
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
