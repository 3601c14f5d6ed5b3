//! Those who use a drive: the loops of streams, and the window that counts them.
//!
//! ```text
//!   streams ── commands ──> drive ── completions ──> count ─> window ─┬─> opens, closes: Edge
//!                                                      time ──────────┘
//! ```
//!
//! Whoever owns both a drive and its users brings time to the [`Users::deadline`] and heeds
//! every [`Edge`] of the window, at which the drive's own account begins or ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use drivelab_request::{Command, CompletionWindow, Nanos, WindowPlan};

use super::clock::HostClock;
use super::counting::Counting;
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

/// Later than this a run is refused: queues may reach as far again.
pub const LAST_NOW: u64 = END_OF_TIME / 2;

/// What the window has just done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Opened,
    Closed,
    /// Something else: when it decides next has changed.
    Neither,
}

/// The loops of a run's streams, the window that counts them, and the host's clock.
pub(crate) struct Users {
    pub streams: Vec<Running>,
    /// Some hold their shares, or may be held: who submits next is looked up at every completion.
    pub has_waiting: bool,
    /// Some hold their shares.
    has_shares: bool,
    /// Some were held until just now.
    has_released: bool,
    pub window: CompletionWindow,
    pub counting: Counting,
    /// The host's time: the window's, arrivals' and latencies'. All else is the drive's.
    pub clock: HostClock,
    /// When the window opened, in the drive's time.
    opened_at: u64,
    /// From this time on something other than an event is due: the window opens
    /// or closes, simulated time ends, or whether to stop is looked up.
    pub deadline: u64,
    submitted: u64,
    /// A moment, and how many were submitted then or before: while time stands still,
    /// the last one.
    stood: (u64, u64),
    /// Whether to stop is looked up, and who watches told, in such steps of time too: what was
    /// submitted may take long after the last submission.
    look_step_ns: u64,
    /// Set from outside when nobody wants the result any more.
    pub stop: Arc<AtomicBool>,
    /// Told where the run stands, if somebody watches.
    pub watch: Option<Arc<Watch>>,
}

impl Users {
    /// None; what is looked up now and then is so every `look_step_ns`.
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

    /// A run of `loops` begins at time 0. Answers how many commands each submits at once.
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

    /// Whether a completion submits the next of this stream at once.
    #[inline(always)]
    pub fn goes_on(&self, stream: u16) -> bool {
        self.streams[stream as usize].resubmits && self.window.closed_by().is_none()
    }

    /// Where some hold their [shares], or were held: the stream that submits next, if one may
    /// `now`. Asked after each that did, and when the commands of a moment are complete.
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

    /// Those that were held have sent what was overdue. Answers whether there were such: what they
    /// send next arrives.
    #[inline(always)]
    pub fn have_caught_up(&mut self) -> bool {
        if !self.has_released {
            return false;
        }
        self.has_released = false;
        self.streams.iter_mut().for_each(Running::has_caught_up);
        true
    }

    /// When the next command of an open loop arrives, in the host's time, and in which stream;
    /// none does once the window is closed.
    pub fn next_arrival(&self) -> Option<(u64, u16)> {
        if self.window.closed_by().is_some() {
            return None;
        }
        streams::next_arrival(&self.streams)
    }

    /// The next command of a stream, if there is one; `tables` are told pages of
    /// `1 << page_shift` bytes that will be asked for.
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
    /// [`SimError`] where it does not lie where that stream may go, or the run ends.
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

    /// The same of a command that is known to lie there.
    ///
    /// # Errors
    /// [`SimError`] where the run ends.
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

    /// Looked up now and then: whether to go on has become pointless.
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
        // A window that waits for time would do so for ever.
        let stands_still = self.submitted - self.stood.1 > MOST_IN_NO_TIME;
        if stands_still && self.window.next_time().is_some() {
            return Err(SimError::NoTime);
        }
        Ok(())
    }

    /// A command is complete at `now`, with its latency and its parts in the drive's time.
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

    /// The same where the host's time is another.
    #[cold]
    #[inline(never)]
    fn count_elsewhere(
        &mut self,
        of: (u16, &Command),
        latency: u64,
        parts: &[u64; PARTS],
        now: u64,
    ) -> Option<Edge> {
        let told = self.clock.told(latency, parts, now);
        self.count_at(of, told.latency, &told.parts, told.at)
    }

    /// All in the host's time.
    #[inline(always)]
    fn count_at(
        &mut self,
        (stream, command): (u16, &Command),
        latency: u64,
        parts: &[u64; PARTS],
        at: u64,
    ) -> Option<Edge> {
        // Time has come here: the window is told of time at its deadline.
        let was_open = self.window.is_open();
        if was_open {
            let what = (command.kind, command.size_bytes);
            self.counting.record(stream, what, latency, parts);
            if self.counting.is_observed() {
                self.observe((stream, command), latency, parts, at);
            }
        }
        let is_decided = self.window.tick(at, latency);
        is_decided.then(|| self.edge(was_open))
    }

    /// Tells a request of the window by itself: to the time series, to the log.
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

    /// What the window decides next by time, no later than `now`, and when, both in the drive's
    /// time.
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

    /// The edge of the window at `at` of the drive's time: what it counted goes into `outcome`
    /// when it closes.
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

    /// Time has come to `now`, at or after the deadline, and every edge was heeded. `oldest` says
    /// when the first command was submitted that is still on its way.
    ///
    /// # Errors
    /// [`SimError`] when time or the run ends.
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

    /// The run is over: `outcome` of the window is told what followed it.
    ///
    /// # Errors
    /// [`SimError::Stalled`] where something was not completed, or the run not over by
    /// `is_over`.
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
