//! The users of a drive: the loops of streams and the window that counts them.
//!
//! ```text
//!   streams ── commands ──> drive ── completions ──> count ─> window ─┬─> opens, closes: Edge
//!                                                      time ──────────┘
//! ```
//!
//! Whoever owns a drive and its users advances time to [`Users::deadline`]. The owner must handle
//! every [`Edge`] of the window, because the drive's own accounting begins or ends there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_request::{Command, CompletionWindow, Nanos, WindowPlan};

use super::clock::HostClock;
use super::counting::{Completed, Counting};
use super::error::SimError;
use super::load::{Running, Tables};
use super::outcome::Outcome;
use super::plan::Plan;
use super::request_log::LoggedRequest;
use super::shares;
use super::split::PARTS;
use super::streams::{self, MOST_IN_NO_TIME, STOP_INTERVAL};
use super::watch::{Standing, Watch};
use crate::event::END_OF_TIME;

/// A run past this time is refused, because queues may reach as far again.
pub const LAST_NOW: u64 = END_OF_TIME / 2;

/// What the window has just done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Opened,
    Closed,
    /// Something else: the time of its next decision has changed.
    Neither,
}

/// The loops of a run's streams, the window that counts them, and the host's clock.
pub(crate) struct Users {
    pub streams: Vec<Running>,
    /// Whether some streams hold shares or may be held. Then every completion checks who submits
    /// next.
    pub has_waiting: bool,
    /// Whether some streams hold shares.
    has_shares: bool,
    /// Whether some streams were held until just now.
    has_released: bool,
    pub window: CompletionWindow,
    pub counting: Counting,
    /// The host's time, used for the window, arrivals and latencies. Everything else uses the
    /// drive's.
    pub clock: HostClock,
    /// When the window opened, in the drive's time.
    opened_at: u64,
    /// From this time on, something other than an event is due: the window opens or closes,
    /// simulated time ends, or the stop flag is checked.
    pub deadline: u64,
    submitted: u64,
    /// A moment, and the number of commands submitted up to it. While time stands still, the last
    /// moment.
    stood: (u64, u64),
    /// Interval of time at which the stop flag is checked and watchers are informed. Needed because
    /// submitted commands may take long after the last submission.
    look_step_ns: u64,
    /// Set by another thread when nobody wants the result any more.
    pub stop: Arc<AtomicBool>,
    /// Receives the progress of the run, if somebody watches.
    pub watch: Option<Arc<Watch>>,
}

impl Users {
    /// No users yet. Occasional checks are made every `look_step_ns`.
    pub fn new(look_step_ns: u64) -> Self {
        Self {
            streams: Vec::new(),
            has_waiting: false,
            has_shares: false,
            has_released: false,
            window: CompletionWindow::new(WindowPlan::default()),
            counting: Counting::default(),
            clock: HostClock::default(),
            opened_at: 0,
            deadline: 0,
            submitted: 0,
            stood: (0, 0),
            look_step_ns,
            stop: Arc::default(),
            watch: None,
        }
    }

    /// Begins a run of `loops` at time 0. Returns how many commands each submits at once.
    pub fn begin(&mut self, loops: Vec<Running>, plan: Plan) -> Vec<u32> {
        self.submitted = 0;
        self.stood = (0, 0);
        self.opened_at = 0;
        self.window = CompletionWindow::new(plan.window);
        self.counting = Counting::new(&loops, plan);
        if self.window.is_open() {
            self.counting.open(self.clock.host_ns(0));
        }
        self.deadline = self.next_deadline(0);
        self.has_shares = loops.iter().any(|each| each.share.is_some());
        self.has_waiting = self.has_shares || loops.iter().any(Running::may_be_held);
        self.has_released = false;
        let depths = loops.iter().map(Running::at_once).collect();
        self.streams = loops;
        depths
    }

    /// Whether a completion submits the next command of this stream at once.
    #[inline(always)]
    pub fn goes_on(&self, stream: u16) -> bool {
        self.streams[stream as usize].resubmits && self.window.closed_by().is_none()
    }

    /// If some streams hold [shares] or were held: the stream that may submit `now`, if any. Call
    /// it after each submission, and when all commands of a moment are complete.
    pub fn next_waiting(&mut self, now: u64) -> Option<u16> {
        if self.window.closed_by().is_some() {
            return None;
        }
        for stream in &mut self.streams {
            self.has_released |= stream.is_let_go();
        }
        if self.has_released {
            let now = self.clock.host_ns(now);
            let mut streams = (0..).zip(&self.streams);
            let overdue = streams.find_map(|(place, each)| each.is_overdue(now).then_some(place));
            if overdue.is_some() {
                return overdue;
            }
        }
        if self.has_shares {
            return shares::next(&self.streams);
        }
        None
    }

    /// Streams that were held have sent everything overdue. Returns whether there were any; their
    /// later commands arrive at their times.
    #[inline(always)]
    pub fn have_caught_up(&mut self) -> bool {
        if !self.has_released {
            return false;
        }
        self.has_released = false;
        self.streams.iter_mut().for_each(Running::has_caught_up);
        true
    }

    /// When the next command of an open loop arrives, in the host's time, and the index of its
    /// stream. `None` once the window is closed.
    pub fn next_arrival(&self) -> Option<(u64, u16)> {
        if self.window.closed_by().is_some() {
            return None;
        }
        streams::next_arrival(&self.streams)
    }

    /// The next command of a stream, if there is one. `tables` hears of pages of `1 << page_shift`
    /// bytes that will be requested.
    #[inline(always)]
    pub fn next_command<T: Tables>(
        &mut self,
        stream: u16,
        tables: &T,
        page_shift: u32,
    ) -> Option<Command> {
        let running = &mut self.streams[stream as usize];
        match running.take_request(tables, page_shift) {
            Some(request) => Some(request.into()),
            None => running.take(tables, page_shift),
        }
    }

    /// `command` of a stream is about to be submitted at `now`.
    ///
    /// # Errors
    /// [`SimError`] if it lies outside the stream's range, or if the run ends.
    #[inline(always)]
    pub fn submit(&mut self, stream: u16, command: &Command, now: u64) -> Result<(), SimError> {
        let running = &self.streams[stream as usize];
        if !running.holds(command) {
            return Err(outside(running, command));
        }
        if let Some(lateness) = self.streams[stream as usize].lateness() {
            let late_ns = self.clock.host_ns(now).saturating_sub(command.arrival.0);
            lateness.record(late_ns);
        }
        self.submit_inside(stream, now)
    }

    /// The same for a command that is known to lie inside the range.
    ///
    /// # Errors
    /// [`SimError`] if the run ends.
    #[inline(always)]
    pub fn submit_inside(&mut self, stream: u16, now: u64) -> Result<(), SimError> {
        self.streams[stream as usize].submitted += 1;
        let is_time = self.submitted.is_multiple_of(STOP_INTERVAL);
        self.submitted += 1;
        if is_time {
            self.reason_to_stop(now)?;
        }
        Ok(())
    }

    /// An occasional check whether the run should end.
    #[cold]
    fn reason_to_stop(&mut self, now: u64) -> Result<(), SimError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        if let Some(overloaded) = streams::overloaded(&self.streams, now) {
            return Err(overloaded);
        }
        if now != self.stood.0 {
            self.stood = (now, self.submitted);
        }
        // A window that waits for time would wait for ever.
        let stands_still = self.submitted - self.stood.1 > MOST_IN_NO_TIME;
        if stands_still && self.window.next_time().is_some() {
            return Err(SimError::NoTime);
        }
        Ok(())
    }

    /// Counts a command that completed at `now`. Its latency and parts are in the drive's time.
    #[inline(always)]
    pub fn count(
        &mut self,
        (stream, command): (u16, &Command),
        latency: u64,
        parts: &[u64; PARTS],
        now: u64,
    ) -> Option<Edge> {
        self.streams[stream as usize].completed += 1;
        if self.clock.differs() {
            return self.count_elsewhere((stream, command), latency, parts, now);
        }
        self.count_at((stream, command), latency, parts, now)
    }

    /// The same when the host's time differs.
    #[cold]
    #[inline(never)]
    fn count_elsewhere(
        &mut self,
        of: (u16, &Command),
        latency: u64,
        parts: &[u64; PARTS],
        now: u64,
    ) -> Option<Edge> {
        let counted = self.clock.told(latency, parts, now);
        self.count_at(of, counted.latency, &counted.parts, counted.at)
    }

    /// The same with everything in the host's time.
    #[inline(always)]
    fn count_at(
        &mut self,
        (stream, command): (u16, &Command),
        latency: u64,
        parts: &[u64; PARTS],
        at: u64,
    ) -> Option<Edge> {
        if self.counting.is_observed() && self.window.is_open() {
            self.observe((stream, command), latency, parts, at);
        }
        let request = Completed {
            stream,
            kind: command.kind,
            bytes: command.size_bytes,
            latency,
            parts: *parts,
        };
        self.count_in_window(&request, at, Counting::record)
    }

    /// As [`Users::count`], if the host's time is the drive's and individual requests are not
    /// recorded. While the window is open, `record` does the counting.
    #[inline(always)]
    pub fn count_simply(
        &mut self,
        request: &Completed,
        now: u64,
        record: impl FnOnce(&mut Counting, &Completed),
    ) -> Option<Edge> {
        self.streams[request.stream as usize].completed += 1;
        self.count_in_window(request, now, record)
    }

    #[inline(always)]
    fn count_in_window(
        &mut self,
        request: &Completed,
        at: u64,
        record: impl FnOnce(&mut Counting, &Completed),
    ) -> Option<Edge> {
        // Time has come this far already: the window hears of time at its deadline.
        let was_open = self.window.is_open();
        if was_open {
            record(&mut self.counting, request);
        }
        let is_decided = self.window.tick(at, request.latency);
        is_decided.then(|| self.edge(was_open))
    }

    /// Records an individual request of the window in the time series and the log.
    #[inline(never)]
    fn observe(
        &mut self,
        (stream, command): (u16, &Command),
        latency: u64,
        parts: &[u64; PARTS],
        at: u64,
    ) {
        let request = LoggedRequest {
            command: *command,
            stream: self.streams[stream as usize].owner,
            submitted_ns: at - latency,
            parts: *parts,
        };
        self.counting.observe(request, at);
    }

    #[cold]
    fn edge(&self, was_open: bool) -> Edge {
        match (was_open, self.window.is_open()) {
            (false, true) => Edge::Opened,
            (true, false) => Edge::Closed,
            _ => Edge::Neither,
        }
    }

    /// The next decision of the window by time, no later than `now`, and when it is. Both times are
    /// the drive's.
    #[cold]
    pub fn next_edge(&mut self, now: u64) -> Option<(Edge, u64)> {
        let host_now = self.clock.host_ns(now);
        let Nanos(host_at) = self.window.next_time()?;
        if host_at > host_now {
            return None;
        }
        let at = self.clock.drive_ns(host_at);
        let was_open = self.window.is_open();
        self.window.advance(host_at);
        Some((self.edge(was_open), at))
    }

    /// Handles an edge of the window at `at` of the drive's time. When the window closes, its
    /// counts go into `outcome`.
    #[cold]
    pub fn passed(&mut self, edge: Edge, at: u64, outcome: &mut Outcome) {
        match edge {
            Edge::Opened => {
                self.opened_at = at;
                self.counting.open(self.clock.host_ns(at));
            }
            Edge::Closed => {
                self.counting.close(&self.window, &self.streams, outcome);
                let worked = at - self.opened_at;
                if self.clock.differs() && worked > 0 {
                    outcome.variability_factor *= outcome.window.0 as f64 / worked as f64;
                }
            }
            Edge::Neither => {}
        }
        self.deadline = self.next_deadline(at);
    }

    /// Time has come to `now`, at or after the deadline, and every edge was handled. `oldest` gives
    /// the time at which the oldest outstanding command was submitted.
    ///
    /// # Errors
    /// [`SimError`] if time or the run ends.
    #[cold]
    pub fn come_to(
        &mut self,
        now: u64,
        oldest: impl FnOnce() -> Option<u64>,
    ) -> Result<(), SimError> {
        if now > LAST_NOW {
            return Err(SimError::EndOfTime { nanos: now });
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
        if let Some(watch) = &self.watch {
            let outstanding = |running: &Running| running.submitted - running.completed;
            watch.tell(Standing {
                completed: self.window.completed(),
                outstanding: self.streams.iter().map(outstanding).sum(),
                simulated_ns: self.clock.host_ns(now),
                drains: self.window.closed_by().is_some(),
            });
        }
        self.clock.forget(oldest, now);
        self.deadline = self.next_deadline(now);
        Ok(())
    }

    fn next_deadline(&mut self, now: u64) -> u64 {
        let latest = (now + self.look_step_ns).min(LAST_NOW + 1);
        let decides = self.window.next_time().map_or(u64::MAX, |at| at.0);
        self.clock.drive_ns_until(decides, latest)
    }

    /// The run is over: adds to `outcome` what happened after the window.
    ///
    /// # Errors
    /// [`SimError::Stalled`] if a command did not complete, or if `is_over` is false.
    pub fn end(&mut self, is_over: bool, outcome: &mut Outcome) -> Result<(), SimError> {
        let unread = |running: &Running| Some((running.name(), running.failure()?.to_owned()));
        if let Some((name, reason)) = self.streams.iter().find_map(unread) {
            return Err(SimError::Stream { name, reason });
        }
        let is_over = is_over && self.window.closed_by().is_some();
        if let Some(error) = streams::stalled(&self.streams, is_over) {
            return Err(error);
        }
        streams::end(&mut self.streams, self.window.completed(), outcome);
        Ok(())
    }
}

#[cold]
fn outside(running: &Running, command: &Command) -> SimError {
    let (start, end) = running.range();
    SimError::Range {
        stream: running.name(),
        command: *command,
        start,
        end,
    }
}
