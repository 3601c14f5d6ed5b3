//! Where a request's latency went: sums and maxima of its parts.
//!
//! What the parts are is a matter of the kind of drive ([`PartNames`]); for every kind
//! they sum to the latency, to the nanosecond.

/// Parts of a latency.
pub const PARTS: usize = 8;

/// What the parts are called, in their order, for one kind of drive; there may be fewer
/// than [`PARTS`].
pub type PartNames = &'static [&'static str];

/// Sum and maximum of every part over requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySplit {
    /// By part, ns; together the sum of the latencies.
    pub sum_ns: [u64; PARTS],
    /// By part, ns.
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
        // By itself, because it was written just before: a load of it together with others
        // would wait.
        let first = parts[0];
        self.sum_ns[0] += first;
        // The sign of a difference of times, none of which reaches 2^63.
        let mut larger = self.max_ns[0].wrapping_sub(first);
        for (part, &nanos) in parts.iter().enumerate().skip(1) {
            self.sum_ns[part] += nanos;
            larger |= self.max_ns[part].wrapping_sub(nanos);
        }
        if larger >> 63 != 0 {
            self.raise(parts);
        }
    }

    /// Apart, because it is rare.
    #[cold]
    #[inline(never)]
    fn raise(&mut self, parts: &[u64; PARTS]) {
        for (part, &nanos) in parts.iter().enumerate() {
            self.max_ns[part] = self.max_ns[part].max(nanos);
        }
    }
}
