//! The measurement window over completions. Somebody else provides their times.
//!
//! ```text
//! completions   . . . . . . . . . | x x x x x x x x x x | . . .
//!               warm-up           opened                closed
//! ```
//!
//! The window opens when enough requests have completed and enough time has passed. It closes at a
//! number of counted requests or at a time, whichever comes first. A completion that opens it by
//! its number is not counted; one that closes it by its number is. Between pause and resume neither
//! requests nor time count.
//!
//! With a half-width, it closes when that is reached. A check after every request would stop at a
//! lucky moment. So the first check is after [`WindowPlan::requests`], and the next ones each time
//! a quarter more have completed.

use crate::{BatchMeans, Direction, Histogram, Nanos};

/// When a window opens and closes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowPlan {
    /// Requests that complete before it opens.
    pub warmup_requests: u64,
    /// Time that must pass before it opens.
    pub warmup: Nanos,
    /// The number of counted requests that closes it; with a half-width, the least number.
    pub requests: Option<u64>,
    /// The time since opening that closes it.
    pub duration: Option<Nanos>,
    /// How accurate the mean latency must be.
    pub half_width: Option<HalfWidth>,
}

/// How accurate a mean latency must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfWidth {
    /// Half of the 95 % confidence interval of the mean, relative to the mean.
    pub ratio: f64,
    /// The number of counted requests that closes the window without it.
    pub max_requests: u64,
}

/// What closed a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// [`WindowPlan::requests`].
    Requests,
    /// [`WindowPlan::duration`].
    Duration,
    /// [`WindowPlan::half_width`] was reached.
    HalfWidth,
    /// [`HalfWidth::max_requests`]; the half-width was not reached.
    MaxRequests,
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
    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.latency.merge(&other.latency);
    }

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
    is_open: bool,
    opened_at: Option<u64>,
    closed: Option<(ClosedBy, u64)>,
    /// The next decision comes when this many requests have completed ...
    next_count: u64,
    /// ... or when this much time has passed.
    next_time: u64,
    /// Completions before it opened.
    warmup_requests: u64,
    /// Time and completions at the beginning of the current pause.
    paused: Option<(u64, u64)>,
    /// The values of `next_time` and `next_count` at that moment, if the window was open.
    held: (u64, u64),
    /// When it opened, shifted by the length of past pauses.
    origin: u64,
    /// Completions during past pauses.
    skipped_requests: u64,
    /// By [`Direction::index`].
    counted: [Counted; 2],
    batches: BatchMeans,
}

impl CompletionWindow {
    /// A window at time 0, before the first request.
    #[must_use]
    pub fn new(plan: WindowPlan) -> Self {
        let mut window = Self {
            plan,
            completed: 0,
            now: 0,
            is_open: false,
            opened_at: None,
            closed: None,
            next_count: plan.warmup_requests,
            next_time: u64::MAX,
            warmup_requests: 0,
            paused: None,
            held: (u64::MAX, u64::MAX),
            origin: 0,
            skipped_requests: 0,
            counted: [Counted::default(), Counted::default()],
            batches: BatchMeans::new(),
        };
        if plan.warmup_requests == 0 {
            window.decide(0);
        }
        window
    }

    /// A request of `bytes` completed at `at`, ns. Times must not decrease. Returns whether its
    /// number decided something: the window opened or closed, or its next decision changed.
    #[inline]
    pub fn complete(&mut self, at: u64, latency_ns: u64, direction: Direction, bytes: u32) -> bool {
        if at >= self.next_time {
            self.advance(at);
        }
        if self.is_open {
            self.counted[direction.index()].record(latency_ns, bytes);
        }
        self.tick(at, latency_ns)
    }

    /// As [`CompletionWindow::complete`], for a caller that does its own counting. The caller has
    /// reached `at` with [`CompletionWindow::advance`], and counts completions while the window [is
    /// open](CompletionWindow::is_open), in its own categories.
    #[inline]
    pub fn tick(&mut self, at: u64, latency_ns: u64) -> bool {
        self.now = at;
        self.completed += 1;
        if self.is_open {
            self.batches.push(latency_ns, at - self.origin);
        }
        let decides = self.completed == self.next_count;
        if decides {
            self.decide(at);
        }
        decides
    }

    /// From now on neither requests nor time count.
    pub fn pause(&mut self) {
        if self.paused.is_none() {
            self.paused = Some((self.now, self.completed));
            self.hold();
        }
    }

    /// From now on requests and time count again.
    pub fn resume(&mut self) {
        let Some((since, completed)) = self.paused.take() else {
            return;
        };
        if let (Some(opened_at), None) = (self.opened_at, self.closed) {
            // It may have opened during the pause.
            let time = self.now - since.max(opened_at);
            let requests = self.completed - completed.max(self.warmup_requests);
            self.origin += time;
            self.skipped_requests += requests;
            (self.next_time, self.next_count) = self.held;
            self.next_time = self.next_time.saturating_add(time);
            self.next_count = self.next_count.saturating_add(requests);
            self.is_open = true;
        }
    }

    /// Keeps an open window from closing during a pause.
    const fn hold(&mut self) {
        if self.is_open {
            self.is_open = false;
            self.held = (self.next_time, self.next_count);
            (self.next_time, self.next_count) = (u64::MAX, u64::MAX);
        }
    }

    /// Time has passed until `now`, and every earlier completion has been reported.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        while self.now >= self.next_time {
            self.time_is_up();
        }
    }

    #[cold]
    fn time_is_up(&mut self) {
        let at = self.next_time;
        if self.opened_at.is_none() {
            self.open(at);
        } else {
            self.close(ClosedBy::Duration, at);
        }
    }

    /// The awaited number of requests has completed.
    #[cold]
    fn decide(&mut self, at: u64) {
        self.next_count = u64::MAX;
        if self.opened_at.is_none() {
            let warmup = self.plan.warmup.0;
            if at >= warmup {
                self.open(at);
            } else {
                self.next_time = warmup;
            }
        } else if let Some(HalfWidth { max_requests, .. }) = self.plan.half_width {
            let requests = self.requests();
            if requests >= max_requests {
                self.close(ClosedBy::MaxRequests, at);
            } else if self.reaches_half_width() {
                self.close(ClosedBy::HalfWidth, at);
            } else {
                let next = requests + (requests / 4).max(1);
                let uncounted = self.warmup_requests + self.skipped_requests;
                self.next_count = uncounted + next.min(max_requests);
            }
        } else {
            self.close(ClosedBy::Requests, at);
        }
    }

    fn open(&mut self, at: u64) {
        self.opened_at = Some(at);
        self.origin = at;
        self.is_open = true;
        self.warmup_requests = self.completed;
        let least = match self.plan.half_width {
            Some(half_width) => Some(self.plan.requests.unwrap_or(1).min(half_width.max_requests)),
            None => self.plan.requests,
        };
        self.next_count = least.map_or(u64::MAX, |least| self.completed.saturating_add(least));
        let end = |duration: Nanos| at.saturating_add(duration.0);
        self.next_time = self.plan.duration.map_or(u64::MAX, end);
        if self.paused.is_some() {
            self.hold();
        }
    }

    fn close(&mut self, by: ClosedBy, at: u64) {
        // A limit and the half-width may be reached at the same time.
        let by = if self.reaches_half_width() {
            ClosedBy::HalfWidth
        } else {
            by
        };
        self.closed = Some((by, at));
        self.is_open = false;
        self.next_count = u64::MAX;
        self.next_time = u64::MAX;
    }

    fn reaches_half_width(&self) -> bool {
        self.plan.half_width.is_some_and(|half_width| {
            self.requests() >= self.plan.requests.unwrap_or(1)
                && self.batches.reaches(half_width.ratio)
        })
    }

    /// Whether requests that complete now count.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// The time at which it opens or closes, whatever completes until then.
    #[must_use]
    pub const fn next_time(&self) -> Option<Nanos> {
        match self.next_time {
            u64::MAX => None,
            at => Some(Nanos(at)),
        }
    }

    /// How many requests must complete until their number decides something: the last of them.
    #[inline]
    #[must_use]
    pub const fn requests_until_decision(&self) -> u64 {
        self.next_count - self.completed
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

    /// From opening to closing, or to now if it is still open, without pauses.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        let end = match (self.closed, self.paused) {
            (Some((_, at)), _) | (None, Some((at, _))) => at,
            (None, None) => self.now,
        };
        match self.opened_at {
            // If it was paused before it opened, it opened after the pause began.
            Some(_) => Nanos(end.saturating_sub(self.origin)),
            None => Nanos::ZERO,
        }
    }

    /// The time reached.
    #[must_use]
    pub const fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// Requests that completed before, in and after the window.
    #[must_use]
    pub const fn completed(&self) -> u64 {
        self.completed
    }

    /// Requests that completed before the window opened.
    #[must_use]
    pub const fn warmup_requests(&self) -> u64 {
        match self.opened_at {
            Some(_) => self.warmup_requests,
            None => self.completed,
        }
    }

    /// Counted requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.batches.requests()
    }

    /// What was counted in `direction`.
    #[must_use]
    pub const fn counted(&self, direction: Direction) -> &Counted {
        &self.counted[direction.index()]
    }

    /// Counted requests in batches. Their times count from the opening.
    #[must_use]
    pub const fn batches(&self) -> &BatchMeans {
        &self.batches
    }
}
