//! SSDs in parallel under the same users, in one loop.
//!
//! ```text
//!   users ── command ──> stripes ──┬─> member 0 ─┐
//!     ^                            └─> member 1 ─┴─> counted, with the last of its pieces
//!     └────────────── following ───────────┘
//! ```
//!
//! It does exactly what an [`Array`](super::Array) of such drives does, event for event. The
//! members' events are served in order of time; at one moment the first member goes first. Whatever
//! a completion submits comes before anything else. Completions are counted where the member keeps
//! them, so a command on one member costs little more than on a single drive.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_ftl::Restorable;
use drivelab_request::{Command, CommandKind};
use drivelab_workload::Stream;

use super::state;
use super::stripes::{Piece, Stripes};
use crate::event::END_OF_TIME;
use crate::host::clock::HostClock;
use crate::host::load::{self, Host, Running, SECTOR_SHIFT, Tables};
use crate::host::users::{Edge, Users};
use crate::host::{Device, Energy, Media, Outcome, Plan, SimError, Watch, plan};
use crate::snapshot::SnapshotError;
use crate::ssd::Worker;

/// The time of an event that never happens.
const NEVER: u64 = END_OF_TIME;

/// Marks a command that lies on one member alone.
pub(super) const WHOLE: u32 = u32::MAX;

/// Interval at which occasional checks are made, in simulated time.
const LOOK_STEP_NS: u64 = 1_000_000;

/// A command on several members.
#[derive(Clone, Copy, Debug)]
struct Parted {
    command: Command,
    stream: u16,
    /// Number of pieces not yet complete.
    pending: u32,
}

/// SSDs in parallel, with their users.
pub(super) struct Striped<F> {
    pub(super) members: Vec<Box<Worker<F>>>,
    /// Time of the next event in each member, or [`NEVER`].
    pub(super) next: Vec<u64>,
    pub(super) stripes: Stripes,
    capacity_bytes: u64,
    pub(super) users: Users,
    /// From this time on, something other than an event is due: a command arrives, or the users'
    /// deadline is reached.
    pub(super) due: u64,
    parted: Vec<Parted>,
    vacant: Vec<u32>,
    outcome: Outcome,
    /// When the last command was submitted or completed.
    pub(super) now: u64,
    /// Completed slots, and the streams whose next commands are due; kept to reuse their memory.
    completed: Vec<u32>,
    following: Vec<u16>,
}

/// The tables of the members, for prefetching.
struct TablesOf<'a, F> {
    members: &'a [Box<Worker<F>>],
    stripes: Stripes,
}

impl<F: Restorable> Tables for TablesOf<'_, F> {
    #[inline(always)]
    fn hint(&self, sector: u32) {
        let (member, offset) = self.stripes.place(u64::from(sector) << SECTOR_SHIFT);
        self.members[member as usize].hint(offset);
    }

    #[inline(always)]
    fn hint_overwrite(&self, sector: u32) {
        let (member, offset) = self.stripes.place(u64::from(sector) << SECTOR_SHIFT);
        self.members[member as usize].hint_overwrite(offset);
    }
}

impl<F: Restorable> Striped<F> {
    /// An array of workers: at least one, all equal. Their runs end soon after `stop` is set.
    pub fn new(workers: Vec<Box<Worker<F>>>, stripe_bytes: u64, stop: &Arc<AtomicBool>) -> Self {
        let stripes = Stripes::new(workers.len() as u32, stripe_bytes);
        let smallest = workers.iter().map(|worker| worker.capacity_bytes()).min();
        let mut users = Users::new(LOOK_STEP_NS);
        users.stop = Arc::clone(stop);
        Self {
            next: vec![NEVER; workers.len()],
            capacity_bytes: stripes.capacity_bytes(smallest.unwrap_or(0)),
            members: workers,
            stripes,
            users,
            due: 0,
            parted: Vec::new(),
            vacant: Vec::new(),
            outcome: Outcome::default(),
            now: 0,
            completed: Vec::new(),
            following: Vec::new(),
        }
    }

    pub const fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    pub fn stopped_by(&mut self, stop: &Arc<AtomicBool>) {
        self.users.stop = Arc::clone(stop);
    }

    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.users.watch = Some(Arc::clone(watch));
    }

    pub fn reset(&mut self) {
        self.members.iter_mut().for_each(|worker| worker.reset());
    }

    /// Between two runs: the difference from the members' prepared state.
    pub fn changes(&self) -> Vec<u8> {
        state::changes(self.members.iter().map(|worker| &**worker))
    }

    /// Restores what [`Striped::changes`] returned. After an error, only some members have it.
    pub fn take_up(&mut self, changes: &[u8]) -> Result<(), SnapshotError> {
        state::take_up(self.members.iter_mut().map(|worker| &mut **worker), changes)
    }

    /// Runs streams until every command is complete and the members are drained.
    ///
    /// # Errors
    /// [`SimError`] if a command cannot be served or simulated time ends.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        let host = Host {
            capacity_bytes: self.capacity_bytes,
            queue_pairs: 1,
            takes_trims: true,
            takes_zeroes: true,
            takes_ranges: false,
            zones: None,
            namespaces: Vec::new(),
        };
        let loops = load::loops_of(streams, &host, seed, index)?;
        plan::check(streams, plan)?;
        self.begin(loops, plan, seed, index)?;
        self.advance()?;
        while self.drain() {
            self.advance()?;
        }
        let mut outcome = std::mem::take(&mut self.outcome);
        self.users.end(true, &mut outcome)?;
        for (member, own) in self.members.iter_mut().zip(outcome.media.members_mut()) {
            member.end(own)?;
        }
        outcome.energy = Energy::of_members(&outcome.media, outcome.measured_requests);
        Ok(outcome)
    }

    fn begin(
        &mut self,
        loops: Vec<Running>,
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<(), SimError> {
        self.outcome = Outcome::default();
        let priorities = || loops.iter().map(|each| each.priority);
        // All members have the array's variability, and so the same factor and the same time.
        for worker in &mut self.members {
            self.outcome.variability_factor = worker.begin_streams(seed, index, priorities());
            self.outcome.part_names = worker.part_names();
            self.users.clock = HostClock::new(worker.host_time(seed, index));
        }
        self.next.fill(NEVER);
        self.parted.clear();
        self.vacant.clear();
        self.now = 0;
        let depths = self.users.begin(loops, plan);
        for (stream, depth) in (0..).zip(depths) {
            for _ in 0..depth {
                self.submit_next(stream)?;
                self.failed()?;
            }
        }
        self.submit_waiting()?;
        self.failed()?;
        self.look_ahead();
        Ok(())
    }

    /// Members take turns: each continues until an earlier event is due in another. The processor
    /// thus predicts which one is next, instead of computing it before every event.
    fn advance(&mut self) -> Result<(), SimError> {
        let mut turn = 0;
        loop {
            // Recording individual requests needs their offsets on the array, which the short path
            // does not keep.
            if self.members.len() == 2 && !self.users.counting.is_observed() {
                self.advance_pair(&mut turn)?;
            }
            let (other, before) = self.others(turn);
            if self.serve(turn, before.min(self.due))? {
                continue;
            }
            if self.next[turn] >= before {
                turn = other;
            } else if !self.users_turn(self.next[turn])? {
                return Ok(());
            }
        }
    }

    /// Which of the other members is next, and until which time `turn` goes before it. At one
    /// moment the first member goes first.
    #[inline(always)]
    fn others(&self, turn: usize) -> (usize, u64) {
        if self.next.len() != 2 {
            return self.others_of_many(turn);
        }
        let other = turn ^ 1;
        (other, self.next[other] + u64::from(other > turn))
    }

    #[inline(never)]
    fn others_of_many(&self, turn: usize) -> (usize, u64) {
        let (mut first, mut before) = (turn, u64::MAX);
        for (other, &next) in self.next.iter().enumerate() {
            let until = next + u64::from(other > turn);
            if other != turn && until < before {
                (first, before) = (other, until);
            }
        }
        (first, before)
    }

    /// Something is due before the next event: a command arrives, the deadline is reached, or no
    /// event is left. Returns whether the run continues.
    #[inline(never)]
    fn users_turn(&mut self, event: u64) -> Result<bool, SimError> {
        if let Some((at, stream)) = self.next_arrival()
            && at < event
        {
            self.now = at;
            if at >= self.users.deadline {
                self.pass_time(at)?;
            }
            self.submit_next(stream)?;
            self.look_ahead();
            return self.failed().map(|()| true);
        }
        if event == NEVER {
            // A member may have failed while it wrote what it held back.
            return self.failed().map(|()| false);
        }
        self.pass_time(event)?;
        Ok(true)
    }

    /// Returns the error of a member, if one failed.
    fn failed(&mut self) -> Result<(), SimError> {
        let mut members = self.members.iter_mut();
        members.try_for_each(|member| member.failed())
    }

    /// When the next command arrives, before the end of time, and the index of its stream.
    fn next_arrival(&mut self) -> Option<(u64, u16)> {
        let (host_at, stream) = self.users.next_arrival()?;
        let at = self.users.clock.drive_ns(host_at);
        Some((at.min(END_OF_TIME - 1), stream))
    }

    /// Advances time to `now`, at or after the deadline, before the events of that moment.
    #[cold]
    fn pass_time(&mut self, now: u64) -> Result<(), SimError> {
        while let Some((edge, at)) = self.users.next_edge(now) {
            self.window_decided(edge, at);
        }
        let submitted = self
            .members
            .iter()
            .filter_map(|worker| worker.oldest_submission());
        self.users.come_to(now, || submitted.min())?;
        self.look_ahead();
        // This moment has been handled; continue with the event.
        self.due = self.due.max(now + 1);
        Ok(())
    }

    /// Computes from which time on something other than an event is due.
    fn look_ahead(&mut self) {
        let arrival = self.next_arrival().map_or(NEVER, |(at, _)| at);
        // Events come before a command that arrives at the same time.
        self.due = self.users.deadline.min(arrival + 1);
    }

    #[cold]
    fn window_decided(&mut self, edge: Edge, at: u64) {
        self.users.passed(edge, at, &mut self.outcome);
        match edge {
            Edge::Opened => self
                .members
                .iter_mut()
                .for_each(|worker| worker.open_window(at)),
            Edge::Closed => {
                let window = self.outcome.window;
                let close = |worker: &mut Box<Worker<F>>| {
                    let mut own = Outcome {
                        window,
                        ..Outcome::default()
                    };
                    worker.close_window(at, &mut own);
                    own
                };
                self.outcome.media = Media::Members(self.members.iter_mut().map(close).collect());
            }
            Edge::Neither => {}
        }
        self.look_ahead();
    }

    /// Serves the events of a member before a given time, until a command completes, and then what
    /// follows from it. Returns whether a command completed.
    #[inline(always)]
    fn serve(&mut self, turn: usize, before: u64) -> Result<bool, SimError> {
        if self.next[turn] >= before {
            return Ok(false);
        }
        let worker = &mut *self.members[turn];
        self.next[turn] = worker.serve_before(before);
        worker.failed()?;
        if worker.completed().is_empty() {
            return Ok(false);
        }
        self.told(turn)?;
        Ok(true)
    }

    /// Handles the completions of a member, and submits what follows.
    pub(super) fn told(&mut self, turn: usize) -> Result<(), SimError> {
        let worker = &mut *self.members[turn];
        worker.failed()?;
        self.now = worker.now();
        match worker.completed()[..] {
            [one] => {
                worker.completed().clear();
                let stream = self.take(turn, one);
                self.follow(stream)
            }
            _ => {
                self.take_all(turn)?;
                self.submit_waiting()
            }
        }
    }

    /// Submits the commands that follow a completion: the next of its stream, or of streams that
    /// hold shares.
    pub(super) fn follow(&mut self, stream: Option<u16>) -> Result<(), SimError> {
        match stream {
            Some(stream) => self.submit_next(stream),
            None => self.submit_waiting(),
        }
    }

    /// Streams that wait for their share, or were held, submit what they may.
    #[inline(never)]
    fn submit_waiting(&mut self) -> Result<(), SimError> {
        if self.users.has_waiting {
            while let Some(stream) = self.users.next_waiting(self.now) {
                self.submit_next(stream)?;
            }
            if self.users.have_caught_up() {
                self.look_ahead();
            }
        }
        Ok(())
    }

    /// Handles several completions at once, and then submits what follows.
    #[inline(never)]
    fn take_all(&mut self, turn: usize) -> Result<(), SimError> {
        let mut completed = std::mem::take(&mut self.completed);
        let mut following = std::mem::take(&mut self.following);
        completed.append(self.members[turn].completed());
        following.extend(completed.drain(..).filter_map(|slot| self.take(turn, slot)));
        let mut streams = following.drain(..);
        let submitted = streams.try_for_each(|stream| self.submit_next(stream));
        drop(streams);
        (self.completed, self.following) = (completed, following);
        submitted
    }

    /// Takes a completion from its slot on a member, and counts it unless other pieces of its
    /// command are not complete. Returns the stream whose next command is due.
    #[inline(always)]
    fn take(&mut self, turn: usize, slot: u32) -> Option<u16> {
        let worker = &mut self.members[turn];
        let entry = worker.slot(slot);
        let (stream, number, now) = (entry.stream(), entry.number(), self.now);
        let latency = now - entry.submitted();
        let edge = if number == WHOLE && !self.users.counting.is_observed() {
            let of = (stream, entry.command());
            self.users.count(of, latency, entry.parts(), now)
        } else {
            let command = self.whole_of(turn, slot)?;
            let parts = self.members[turn].slot(slot).parts();
            self.users.count((stream, &command), latency, parts, now)
        };
        self.members[turn].vacate(slot);
        self.counted(edge, stream)
    }

    /// A command of a stream was just counted. Returns the stream if its next command is due.
    pub(super) fn counted(&mut self, edge: Option<Edge>, stream: u16) -> Option<u16> {
        if let Some(edge) = edge {
            self.window_decided(edge, self.now);
        }
        self.users.goes_on(stream).then_some(stream)
    }

    /// The original command of a completed piece, if no other piece is left.
    #[inline(never)]
    fn whole_of(&mut self, turn: usize, slot: u32) -> Option<Command> {
        let entry = self.members[turn].slot(slot);
        let (number, command) = (entry.number(), *entry.command());
        if number == WHOLE {
            let offset_bytes = self.stripes.offset(turn as u32, command.offset_bytes);
            return Some(Command {
                offset_bytes,
                ..command
            });
        }
        let parted = &mut self.parted[number as usize];
        parted.pending -= 1;
        if parted.pending > 0 {
            self.members[turn].vacate(slot);
            return None;
        }
        self.vacant.push(number);
        Some(parted.command)
    }

    /// The users, and the members' tables that they prefetch from.
    #[inline(always)]
    fn users_and_tables(&mut self) -> (&mut Users, TablesOf<'_, F>) {
        let tables = TablesOf {
            members: &self.members,
            stripes: self.stripes,
        };
        (&mut self.users, tables)
    }

    /// Submits the next command of a stream now, if there is one.
    #[inline(always)]
    fn submit_next(&mut self, stream: u16) -> Result<(), SimError> {
        let (users, tables) = self.users_and_tables();
        let running = &mut users.streams[stream as usize];
        match running.take_request(&tables, SECTOR_SHIFT) {
            Some(request) => {
                self.users.submit_inside(stream, self.now)?;
                self.place(stream, request.into());
                Ok(())
            }
            None => self.submit_other(stream),
        }
    }

    /// The same if the next command is not a request of a plain closed loop.
    #[inline(never)]
    pub(super) fn submit_other(&mut self, stream: u16) -> Result<(), SimError> {
        let (users, tables) = self.users_and_tables();
        let running = &mut users.streams[stream as usize];
        let Some(command) = running.take(&tables, SECTOR_SHIFT) else {
            return Ok(());
        };
        self.users.submit(stream, &command, self.now)?;
        self.place(stream, command);
        Ok(())
    }

    /// Submits a command that was checked and counted.
    #[inline(always)]
    fn place(&mut self, stream: u16, command: Command) {
        let size = command.size_bytes.into();
        match self.stripes.only(command.offset_bytes, size) {
            Some(piece) if command.kind != CommandKind::Flush => {
                self.submit(stream, command, piece, WHOLE)
            }
            _ => self.submit_parted(stream, &command),
        }
    }

    /// Submits the `piece` of `command`. `number` is the split command it belongs to, or [`WHOLE`].
    #[inline(always)]
    fn submit(&mut self, stream: u16, command: Command, piece: Piece, number: u32) {
        let part = Command {
            offset_bytes: piece.offset,
            size_bytes: piece.size as u32,
            ..command
        };
        let turn = piece.member as usize;
        let worker = &mut self.members[turn];
        worker.submit_of(stream, part, number, self.now);
        // A command that completes or fails at once is handled before time advances.
        self.next[turn] = if worker.goes_on() {
            worker.next()
        } else {
            self.now
        };
    }

    /// Submits a command to more than one member. A flush goes to all.
    #[inline(never)]
    pub(super) fn submit_parted(&mut self, stream: u16, command: &Command) {
        let parted = Parted {
            command: *command,
            stream,
            pending: 0,
        };
        let number = self.vacant.pop().unwrap_or(self.parted.len() as u32);
        if number as usize == self.parted.len() {
            self.parted.push(parted);
        } else {
            self.parted[number as usize] = parted;
        }
        if command.kind == CommandKind::Flush {
            for member in 0..self.stripes.members() {
                let nothing = Piece {
                    member,
                    offset: 0,
                    size: 0,
                };
                self.submit_piece(number, nothing);
            }
            return;
        }
        let size = u64::from(command.size_bytes);
        for piece in self.stripes.pieces(command.offset_bytes, size) {
            self.submit_piece(number, piece);
        }
    }

    fn submit_piece(&mut self, number: u32, piece: Piece) {
        let parted = &mut self.parted[number as usize];
        parted.pending += 1;
        let Parted {
            command, stream, ..
        } = *parted;
        self.submit(stream, command, piece, number);
    }

    /// No event is left: writes what the members hold back. Returns whether there was anything.
    fn drain(&mut self) -> bool {
        let times = self.members.iter().map(|member| member.now());
        let now = times.fold(self.now, u64::max);
        let mut is_left = false;
        for (member, next) in self.members.iter_mut().zip(&mut self.next) {
            is_left |= member.drain(now);
            *next = member.next();
        }
        is_left
    }
}
