//! The parts of a request's latency: sums and maxima.
//!
//! Each kind of drive defines its own parts ([`PartNames`]). For every kind they add up to the
//! latency, to the nanosecond.

/// Number of parts of a latency.
pub const PARTS: usize = 8;

/// The names of the parts, in their order, for one kind of drive. There may be fewer than
/// [`PARTS`].
pub type PartNames = &'static [&'static str];

/// Sum and maximum of every part over requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySplit {
    /// Sums by part, ns. Together they are the sum of the latencies.
    pub sum_ns: [u64; PARTS],
    /// Maxima by part, ns.
    pub max_ns: [u64; PARTS],
}

impl LatencySplit {
    /// Adds the requests that `other` counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (part, nanos) in other.sum_ns.iter().enumerate() {
            self.sum_ns[part] += nanos;
            self.max_ns[part] = self.max_ns[part].max(other.max_ns[part]);
        }
    }

    /// Counts one request.
    #[inline(always)]
    pub(crate) fn record(&mut self, parts: &[u64; PARTS]) {
        // Handled separately because it was written just before: a wide load that includes it would
        // stall.
        let first = parts[0];
        self.sum_ns[0] += first;
        // The sign bit of a difference of times, none of which reaches 2^63.
        let mut larger = self.max_ns[0].wrapping_sub(first);
        for (part, &nanos) in parts.iter().enumerate().skip(1) {
            self.sum_ns[part] += nanos;
            larger |= self.max_ns[part].wrapping_sub(nanos);
        }
        if larger >> 63 != 0 {
            self.raise(parts);
        }
    }

    /// A separate function because it runs rarely.
    #[cold]
    #[inline(never)]
    fn raise(&mut self, parts: &[u64; PARTS]) {
        for (part, &nanos) in parts.iter().enumerate() {
            self.max_ns[part] = self.max_ns[part].max(nanos);
        }
    }
}
