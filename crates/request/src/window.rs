//! The measurement window over completions that something else timed.
//!
//! ```text
//! completions   . . . . . . . . . | x x x x x x x x x x | . . .
//!               warm-up           opened                closed
//! ```
//!
//! It opens when enough requests have completed and enough time has passed, and
//! closes at a number of counted requests or a time, whichever is first. A
//! completion that opens it by its number is not counted; one that closes it by
//! its number is.

use crate::{Direction, Histogram, Nanos};

/// When a window opens and closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowPlan {
    /// Requests that complete before it opens.
    pub warmup_requests: u64,
    /// Time that passes before it opens.
    pub warmup: Nanos,
    /// Counted requests that close it.
    pub requests: Option<u64>,
    /// Time from opening that closes it.
    pub duration: Option<Nanos>,
}

/// What closed a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// [`WindowPlan::requests`].
    Requests,
    /// [`WindowPlan::duration`].
    Duration,
}

/// Requests of one direction that completed inside the window.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Bytes that they moved.
    pub bytes: u64,
    /// Their latencies.
    pub latency: Histogram,
}

impl Counted {
    /// Counts a request.
    #[inline]
    pub fn record(&mut self, latency_ns: u64, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.latency.record(latency_ns);
    }
}

/// A window, and what completed in it so far.
#[derive(Clone, Debug)]
pub struct CompletionWindow {
    plan: WindowPlan,
    completed: u64,
    now: u64,
    /// When enough requests had completed.
    warmed_at: Option<u64>,
    opened_at: Option<u64>,
    closed: Option<(ClosedBy, u64)>,
    /// By [`Direction::index`].
    counted: [Counted; 2],
}

impl CompletionWindow {
    /// A window at time 0, before the first request.
    #[must_use]
    pub fn new(plan: WindowPlan) -> Self {
        let mut window = Self {
            plan,
            completed: 0,
            now: 0,
            warmed_at: (plan.warmup_requests == 0).then_some(0),
            opened_at: None,
            closed: None,
            counted: [Counted::default(), Counted::default()],
        };
        window.advance(0);
        window
    }

    /// A request of `bytes` completed at `at`, ns; times never fall.
    pub fn complete(&mut self, at: u64, latency_ns: u64, direction: Direction, bytes: u32) {
        self.advance(at);
        self.completed += 1;
        if self.is_open() {
            self.counted[direction.index()].record(latency_ns, bytes);
            if self.plan.requests == Some(self.requests()) {
                self.closed = Some((ClosedBy::Requests, at));
            }
        } else if self.completed == self.plan.warmup_requests {
            self.warmed_at = Some(at);
            self.advance(at);
        }
    }

    /// Time passed until `now`, and every completion before it was told.
    pub fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        let warmup = self.plan.warmup.0;
        if let (None, Some(warmed_at)) = (self.opened_at, self.warmed_at)
            && self.now >= warmup
        {
            self.opened_at = Some(warmed_at.max(warmup));
        }
        if let (Some(opened_at), Some(duration), None) =
            (self.opened_at, self.plan.duration, self.closed)
        {
            let end = opened_at.saturating_add(duration.0);
            if self.now >= end {
                self.closed = Some((ClosedBy::Duration, end));
            }
        }
    }

    /// Requests that complete now count.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.opened_at.is_some() && self.closed.is_none()
    }

    /// What closed the window, if anything did.
    #[must_use]
    pub fn closed_by(&self) -> Option<ClosedBy> {
        self.closed.map(|(by, _)| by)
    }

    /// When the window opened, if it did.
    #[must_use]
    pub const fn opened_at(&self) -> Option<Nanos> {
        match self.opened_at {
            Some(at) => Some(Nanos(at)),
            None => None,
        }
    }

    /// From the opening to the closing or, so far, to now.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        let end = self.closed.map_or(self.now, |(_, at)| at);
        Nanos(self.opened_at.map_or(0, |opened_at| end - opened_at))
    }

    /// Time that has passed.
    #[must_use]
    pub const fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// Requests that completed, before the window, in it and after it.
    #[must_use]
    pub const fn completed(&self) -> u64 {
        self.completed
    }

    /// Counted requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.counted.iter().map(|part| part.latency.count()).sum()
    }

    /// What counted in `direction`.
    #[must_use]
    pub const fn counted(&self, direction: Direction) -> &Counted {
        &self.counted[direction.index()]
    }
}
