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
//! its number is. Between pause and resume nothing counts, neither requests nor time.
//!
//! With a half-width it closes when that is reached. Looking after every request
//! would stop at a lucky moment: it is looked at only after
//! [`WindowPlan::requests`], and then each time a quarter more have completed.

use crate::{BatchMeans, Direction, Histogram, Nanos};

/// When a window opens and closes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowPlan {
    /// Requests that complete before it opens.
    pub warmup_requests: u64,
    /// Time that passes before it opens.
    pub warmup: Nanos,
    /// Counted requests that close it; with a half-width at least so many.
    pub requests: Option<u64>,
    /// Time from opening that closes it.
    pub duration: Option<Nanos>,
    /// How sure the mean latency has to be.
    pub half_width: Option<HalfWidth>,
}

/// How sure a mean latency has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfWidth {
    /// Half of the 95 % confidence interval of the mean, over the mean.
    pub ratio: f64,
    /// Counted requests that close the window without it.
    pub max_requests: u64,
}

/// What closed a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBy {
    /// [`WindowPlan::requests`].
    Requests,
    /// [`WindowPlan::duration`].
    Duration,
    /// [`WindowPlan::half_width`], reached.
    HalfWidth,
    /// [`HalfWidth::max_requests`], the half-width not reached.
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
    /// Something is decided when so many requests have completed ...
    next_count: u64,
    /// ... and when so much time has passed.
    next_time: u64,
    /// Completions before it opened.
    warmup_requests: u64,
    /// Time and completions at the beginning of a pause.
    paused: Option<(u64, u64)>,
    /// What `next_time` and `next_count` were then, if the window was open.
    held: (u64, u64),
    /// When it opened, later by the pauses that are over.
    origin: u64,
    /// Completions of those pauses.
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

    /// A request of `bytes` completed at `at`, ns; times never fall. Answers
    /// whether its number decided something: the window opened or closed, or
    /// what comes next changed.
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

    /// As [`CompletionWindow::complete`], for a caller that has come to `at` with
    /// [`CompletionWindow::advance`] and itself counts, by whatever it tells apart,
    /// what completes while the window [is open](CompletionWindow::is_open).
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

    /// Nothing closes an open window in a pause.
    const fn hold(&mut self) {
        if self.is_open {
            self.is_open = false;
            self.held = (self.next_time, self.next_count);
            (self.next_time, self.next_count) = (u64::MAX, u64::MAX);
        }
    }

    /// Time passed until `now`, and every completion before it was told.
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

    /// As many requests have completed as were waited for.
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
        // A limit may be met just when the half-width is.
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

    /// Requests that complete now count.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// The time at which it opens or closes whatever completes until then.
    #[must_use]
    pub const fn next_time(&self) -> Option<Nanos> {
        match self.next_time {
            u64::MAX => None,
            at => Some(Nanos(at)),
        }
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

    /// From the opening to the closing or, so far, to now; pauses are left out.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        let end = match (self.closed, self.paused) {
            (Some((_, at)), _) | (None, Some((at, _))) => at,
            (None, None) => self.now,
        };
        match self.opened_at {
            // Paused before it opened, it opened after the pause began.
            Some(_) => Nanos(end.saturating_sub(self.origin)),
            None => Nanos::ZERO,
        }
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

    /// What counted in `direction`.
    #[must_use]
    pub const fn counted(&self, direction: Direction) -> &Counted {
        &self.counted[direction.index()]
    }

    /// Counted requests in batches, whose times count from the opening.
    #[must_use]
    pub const fn batches(&self) -> &BatchMeans {
        &self.batches
    }
}
