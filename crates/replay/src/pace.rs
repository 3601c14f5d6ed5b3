//! When the requests of a trace are sent.

/// So many may be outstanding of a replay at recorded times, unless another number is given.
pub const USUAL_DEPTH: u32 = 1024;

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At their recorded times, later only while `depth` are outstanding.
    Recorded {
        /// So many times as fast: times are divided by it.
        speed: f64,
        /// The most that are outstanding.
        depth: u32,
    },
    /// As soon as fewer are outstanding than this, or than were when the request was recorded.
    Closed {
        /// How many; none for as many as were recorded.
        depth: Option<u32>,
    },
}

impl Pace {
    /// Whether it needs to know how deep the recorded queue was.
    #[must_use]
    pub const fn needs_recorded_depth(&self) -> bool {
        matches!(self, Self::Closed { depth: None })
    }

    /// Whether requests have times at which they should be sent.
    #[must_use]
    pub const fn is_timed(&self) -> bool {
        matches!(self, Self::Recorded { .. })
    }

    /// Before when a request is not sent that arrived at `arrival_ns`.
    #[inline]
    #[must_use]
    pub fn due_ns(&self, arrival_ns: u64) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Recorded { speed: 1.0, .. } => arrival_ns,
            // Whoever is late stays late: a quotient never falls where times do not.
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
