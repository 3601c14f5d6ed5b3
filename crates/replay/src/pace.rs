//! When the requests of a trace are sent.

/// The default limit of outstanding requests for a replay at recorded times.
pub const USUAL_DEPTH: u32 = 1024;

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At their recorded times. Later only while `depth` are outstanding.
    Recorded {
        /// The speed: times are divided by it.
        speed: f64,
        /// The most outstanding requests.
        depth: u32,
    },
    /// As soon as fewer are outstanding than this, or than when the request was recorded.
    Closed {
        /// The depth; `None` means the recorded one.
        depth: Option<u32>,
    },
}

impl Pace {
    /// Whether it needs the recorded depth.
    #[must_use]
    pub const fn needs_recorded_depth(&self) -> bool {
        matches!(self, Self::Closed { depth: None })
    }

    /// Whether requests have times at which they should be sent.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        matches!(self, Self::Recorded { .. })
    }

    /// The earliest time at which a request that arrived at `arrival_ns` is sent.
    #[inline]
    #[must_use]
    pub fn due_ns(&self, arrival_ns: u64) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Recorded { speed: 1.0, .. } => arrival_ns,
            // The order is kept: a quotient never decreases if times do not.
            Self::Recorded { speed, .. } => (arrival_ns as f64 / speed) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_divided_by_the_speed() {
        let at = |speed| Pace::Recorded { speed, depth: 1 };
        assert_eq!(at(1.0).due_ns(u64::MAX), u64::MAX);
        assert_eq!((at(2.0).due_ns(7), at(0.5).due_ns(7)), (3, 14));
        assert_eq!(Pace::Closed { depth: None }.due_ns(7), 0);
    }
}
