//! Counts of requests, for a whole trace, a window or a device.

use crate::characterize::streams::{Order, Place};
use crate::record::{Operation, Record};

/// How the reads or the writes of a trace follow one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Requests that begin where a recent stream of the same device and direction ended.
    pub sequential: u64,
    /// Requests that continue a recent stream with the forward distance of its last two requests.
    pub strided: u64,
    /// The same with a backward distance, including the same place again.
    pub backward: u64,
    /// Requests that continue no recent stream.
    pub random: u64,
    /// Requests that begin where the previous request of their device and direction ended.
    pub adjacent: u64,
    /// Total bytes between strided requests and the ends of those before them.
    pub stride_bytes: u128,
}

impl Orders {
    const fn count(&mut self, place: &Place) {
        match place.order {
            Order::Sequential => self.sequential += 1,
            Order::Strided { gap_bytes } => {
                self.strided += 1;
                self.stride_bytes += gap_bytes as u128;
            }
            Order::Backward => self.backward += 1,
            Order::Random => self.random += 1,
        }
        self.adjacent += place.is_adjacent as u64;
    }

    const fn merge(&mut self, other: &Self) {
        self.sequential += other.sequential;
        self.strided += other.strided;
        self.backward += other.backward;
        self.random += other.random;
        self.adjacent += other.adjacent;
        self.stride_bytes += other.stride_bytes;
    }

    /// The number of counted requests.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.sequential + self.strided + self.backward + self.random
    }

    /// Fraction of requests that continue no stream, neither directly nor at its forward distance.
    #[must_use]
    pub fn random_ratio(&self) -> Option<f64> {
        ratio(self.backward + self.random, self.requests())
    }

    /// Mean bytes between a non-random request and the end of the one before.
    #[must_use]
    pub fn mean_stride_bytes(&self) -> Option<f64> {
        let forward = self.sequential + self.strided;
        (forward > 0).then(|| self.stride_bytes as f64 / forward as f64)
    }
}

/// Counts and bytes of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests, by [`Operation::index`].
    pub requests: [u64; Operation::ALL.len()],
    /// Their bytes, by [`Operation::index`].
    pub bytes: [u128; Operation::ALL.len()],
    /// How reads, and how writes, follow one another.
    pub orders: [Orders; 2],
}

impl Tally {
    /// Counts a request. `place` is known for reads and writes.
    #[inline]
    pub(crate) const fn count(&mut self, record: &Record, place: Option<&Place>) {
        let index = record.operation.index();
        self.requests[index] += 1;
        self.bytes[index] += record.size_bytes as u128;
        // Reads and writes come first among the operations.
        if let Some(place) = place
            && index < 2
        {
            self.orders[index].count(place);
        }
    }

    /// Adds the counts of another tally.
    pub(crate) fn merge(&mut self, other: &Self) {
        for place in 0..Operation::ALL.len() {
            self.requests[place] += other.requests[place];
            self.bytes[place] += other.bytes[place];
        }
        for (mine, theirs) in self.orders.iter_mut().zip(&other.orders) {
            mine.merge(theirs);
        }
    }

    /// All requests.
    #[must_use]
    pub fn all_requests(&self) -> u64 {
        self.requests.iter().sum()
    }

    /// The bytes that reads and writes moved.
    #[must_use]
    pub const fn moved_bytes(&self) -> u128 {
        self.bytes[Operation::Read.index()] + self.bytes[Operation::Write.index()]
    }

    /// Fraction of writes among reads and writes (Huang et al. 2011, equation 4, as are the
    /// following).
    #[must_use]
    pub fn write_ratio(&self) -> Option<f64> {
        let [reads, writes, ..] = self.requests;
        ratio(writes, reads + writes)
    }

    /// Mean bytes of a read or a write.
    #[must_use]
    pub fn mean_size_bytes(&self, operation: Operation) -> Option<f64> {
        let place = operation.index();
        let requests = self.requests[place];
        (requests > 0).then(|| self.bytes[place] as f64 / requests as f64)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
