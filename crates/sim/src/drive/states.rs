//! The states in which measurements begin, and the drives that rest between measurements.
//!
//! ```text
//!   prepared ─┬─ as the preset says
//!             ├─ settled in order      made when first asked for, from the prepared one
//!             └─ settled at random
//!
//!   drives    one for each thread that measures, a copy of the state in which its last run began
//! ```
//!
//! A state is slow to make, so all of them are kept. A drive is only copied from its state: if one
//! is needed in another state, a resting one is dropped. So memory holds each state once, and one
//! drive for each thread.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drivelab_workload::{Requests, Source, Stream};

use super::{Drive, DriveConfig, Prepared};
use crate::host::{Settling, SimError};

/// A write cache counts as full once the writes could have filled it this many times.
const CACHE_FILLS: f64 = 3.0;
/// Writes that would need more requests than this to fill a cache never fill it.
const MOST_FILLING_REQUESTS: f64 = 100_000.0;

/// The states of one drive, shared by its workers.
pub struct States {
    prepared: Prepared,
    settled: Mutex<BTreeMap<Settling, Prepared>>,
    /// Drives between two runs, back in their states. Copying a state anew for every run would take
    /// time in proportion to the drive's size. Drives that differ in times alone share them.
    resting: Arc<Mutex<Vec<Held>>>,
}

/// A drive and the state to which it returns after each run.
pub(super) struct Held {
    pub settling: Option<Settling>,
    pub state: Prepared,
    pub drive: Drive,
}

impl States {
    /// The states of a drive in its prepared condition.
    #[must_use]
    pub fn of(prepared: Prepared) -> Self {
        Self {
            prepared,
            settled: Mutex::default(),
            resting: Arc::default(),
        }
    }

    /// The states of a drive with another configuration, if the two differ in times alone. Includes
    /// the states that were settled so far.
    #[must_use]
    pub fn timed(&self, config: &DriveConfig) -> Option<Self> {
        let prepared = self.prepared.timed(config)?;
        let settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let settled = settled
            .iter()
            .filter_map(|(&settling, state)| Some((settling, state.timed(config)?)))
            .collect();
        Some(Self {
            prepared,
            settled: Mutex::new(settled),
            resting: Arc::clone(&self.resting),
        })
    }

    /// The state that the preset describes.
    #[must_use]
    pub const fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The state that a kind of writing reaches, or the prepared state for `None`. It is made once.
    /// If memory has no room for it, older ones are dropped and made again when needed, and so are
    /// resting drives.
    ///
    /// # Errors
    /// [`SimError`] if the drive cannot reach the state, if memory is short, or soon after `stop`
    /// is set.
    pub fn get(&self, settling: Option<Settling>, stop: &AtomicBool) -> Result<Prepared, SimError> {
        let Some(settling) = settling else {
            return Ok(self.prepared.clone());
        };
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = settled.get(&settling) {
            return Ok(state.clone());
        }
        if self.prepared.check_states(2).is_err() {
            settled.clear();
            self.resting().clear();
            self.prepared.check_states(2)?;
        }
        let state = self.prepared.settled(settling, stop)?;
        settled.insert(settling, state.clone());
        Ok(state)
    }

    /// Checks that memory has room for this many workers and their runs. Resting drives already have
    /// their memory.
    ///
    /// # Errors
    /// [`SimError::NoMemory`] if it has not.
    pub fn check_workers(&self, workers: usize) -> Result<(), SimError> {
        let resting = self.resting().len();
        let more = workers.saturating_sub(resting);
        self.prepared.check_states(more as u64)
    }

    /// A drive in a state, for runs that end soon after `stop` is set: one that rests in this state,
    /// or else a copy of the state, for which one that rests in another state is dropped.
    ///
    /// # Errors
    /// As [`States::get`].
    pub(super) fn take(
        &self,
        settling: Option<Settling>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Held, SimError> {
        let state = self.get(settling, stop)?;
        let mut resting = self.resting();
        let same = resting
            .iter()
            .position(|held| held.state.shares_state(&state));
        let found = same.map(|place| resting.swap_remove(place));
        let dropped = if same.is_none() { resting.pop() } else { None };
        drop(resting);
        drop(dropped);
        let drive = match found {
            Some(held) => state.take_over(held.drive, stop),
            None => state.worker(stop),
        };
        Ok(Held {
            settling,
            state,
            drive,
        })
    }

    /// Keeps a drive that has returned to its state.
    pub(super) fn rest(&self, held: Held) {
        self.resting().push(held);
    }

    fn resting(&self) -> MutexGuard<'_, Vec<Held>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prepared {
    /// This drive after enough writing of one kind that more would change nothing. A disk stays as
    /// it is.
    fn settled(&self, settling: Settling, stop: &AtomicBool) -> Result<Self, SimError> {
        Ok(match self {
            Self::Ssd(prepared) => Self::Ssd(prepared.settled(settling, stop)?),
            Self::Hdd(config) => Self::Hdd(config.clone()),
            Self::Raid(prepared) => Self::Raid(prepared.settled(settling, stop)?.into()),
        })
    }

    /// How many requests of `streams` fill write buffers and caches to the level that these writes
    /// keep up. The layers below have settled before, but buffers and caches are empty when a run
    /// begins.
    pub(super) fn filling_requests(&self, streams: &[Stream]) -> u64 {
        let cache_bytes = match self {
            Self::Ssd(prepared) => prepared.config().buffer.write_buffer_bytes,
            Self::Hdd(config) => config.cache.write_cache_bytes,
            Self::Raid(prepared) => prepared.write_cache_bytes(),
        };
        let written = streams.iter().map(written_bytes).sum::<f64>();
        let per_request = written / streams.len().max(1) as f64;
        if cache_bytes == 0 || per_request <= 0.0 {
            return 0;
        }
        let requests = CACHE_FILLS * cache_bytes as f64 / per_request;
        requests.min(MOST_FILLING_REQUESTS).ceil() as u64
    }
}

/// The average bytes that a request of a stream writes.
fn written_bytes(stream: &Stream) -> f64 {
    match &stream.source {
        Source::Closed(Requests::Characteristics(each)) => {
            each.write_ratio * f64::from(each.write_size)
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::host::Writing;

    const RANDOM: Option<Settling> = Some(Settling {
        writing: Writing::AtRandom { piece_bytes: 4096 },
        range_bytes: None,
    });
    const IN_ORDER: Option<Settling> = Some(Settling {
        writing: Writing::InOrder,
        range_bytes: None,
    });

    /// A small drive in a condition.
    fn states(condition: &str) -> States {
        let text = format!(
            "base = \"x25m\"\nname = \"-\"\ncondition = \"{condition}\"\n\
             collection.reserve_blocks_per_plane = 2\ngeometry.blocks_per_plane = 32\n\
             geometry.user_capacity_bytes = 1073741824\n"
        );
        let config = DriveConfig::from_text(&text).unwrap();
        States::of(Prepared::stoppable(config, &AtomicBool::default()).unwrap())
    }

    #[test]
    fn no_more_drives_rest_than_there_were_at_once() {
        let (states, stop) = (states("filled"), Arc::default());
        for settling in [None, IN_ORDER, RANDOM, None, RANDOM] {
            let held = states.take(settling, &stop).unwrap();
            let state = states.get(settling, &stop).unwrap();
            assert!(held.state.shares_state(&state));
            states.rest(held);
            assert_eq!(states.resting().len(), 1);
        }
        let both = [None, RANDOM].map(|settling| states.take(settling, &stop).unwrap());
        both.into_iter().for_each(|held| states.rest(held));
        assert_eq!(states.resting().len(), 2);
    }

    #[test]
    fn writing_that_the_condition_includes_makes_no_other_state() {
        let stop = AtomicBool::default();
        for (condition, is_same) in [("preconditioned", true), ("filled", false)] {
            let states = states(condition);
            let same = |settling| {
                let state = states.get(settling, &stop).unwrap();
                state.shares_state(states.prepared())
            };
            assert_eq!(same(IN_ORDER), is_same, "{condition}");
            assert!(!same(RANDOM));
        }
    }
}
