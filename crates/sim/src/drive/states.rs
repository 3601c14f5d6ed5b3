//! The states in which measurements begin.
//!
//! ```text
//!   prepared ─┬─ as the preset says
//!             ├─ settled in order      made when first asked for, from the prepared one
//!             └─ settled at random
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use drivelab_workload::{Requests, Source, Stream};

use super::{DriveConfig, Prepared};
use crate::host::{Settling, SimError};

/// A write cache counts as full once the writes could have filled it this many times.
const CACHE_FILLS: f64 = 3.0;
/// Writes that would need more requests than this to fill a cache never fill it.
const MOST_FILLING_REQUESTS: f64 = 100_000.0;

/// The states of one drive, shared by its workers.
pub struct States {
    prepared: Prepared,
    settled: Mutex<BTreeMap<Settling, Prepared>>,
}

impl States {
    /// The states of a drive in its prepared condition.
    #[must_use]
    pub const fn of(prepared: Prepared) -> Self {
        Self {
            prepared,
            settled: Mutex::new(BTreeMap::new()),
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
        })
    }

    /// The state that the preset describes.
    #[must_use]
    pub const fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// The state that a kind of writing reaches, or the prepared state for `None`. It is made once.
    /// If memory has no room for several states, older ones are dropped and made again when needed.
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
            self.prepared.check_states(2)?;
        }
        let state = self.prepared.settled(settling, stop)?;
        settled.insert(settling, state.clone());
        Ok(state)
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
