//! Requests in progress: the data, the drive that determines their duration, and whoever waits.
//!
//! ```text
//!   ask ──> data ──> drive, sync of the file ──> ready: replies that may go out
//! ```
//!
//! This module does not know who sends requests or takes replies.

use std::os::fd::{AsFd, BorrowedFd};

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_sim::host::{Device, SimError};

use super::Settings;
use super::power::Power;
use super::speech::Speech;
use super::told::{Failure, Tellings, Told};
use super::waiting::{InPower, Owner, Waiting, Waitings};
use super::watched::{MediaTotal, Watched};
use crate::clock::{Due, Keeper, Wall};
use crate::data::{Store, Syncs};
use crate::protocol::{Asked, ErrorNumber, Request, SECTOR_BYTES};

/// What serves, or why nothing does any more.
enum Timing {
    /// Data is available at once.
    None,
    Drive(Box<Keeper>),
    Failed,
}

/// When the next check is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Nothing is simulated.
    Untimed,
    /// Nothing happens.
    Never,
    /// Somebody waits for this moment, ns of wall time.
    Awaited(u64),
    /// The drive does something by itself at this moment.
    Background(u64),
}

pub(super) struct Work {
    wall: Wall,
    timing: Timing,
    /// An error that the drive has just had.
    failing: Option<SimError>,
    store: Store,
    syncs: Option<Syncs>,
    waitings: Waitings,
    /// Power that fails from time to time, if it does.
    power: Option<Power>,
    due: Vec<Due>,
    /// Replies that wait for nothing any more, in the order in which they were due.
    ready: Vec<Waiting>,
    pub told: Tellings,
    /// The beginning and the number of the current second.
    second: (u64, u64),
    media: MediaTotal,
}

impl Work {
    pub fn new(
        device: Option<Box<dyn Device + Send>>,
        store: Store,
        settings: &Settings,
    ) -> std::io::Result<Self> {
        let atomic_bytes = (device.as_ref()).map_or(0, |device| device.atomic_power_loss_bytes());
        let keeper = |device| Keeper::new(device, settings.seed, settings.dilation);
        let keeper = |device| Timing::Drive(Box::new(keeper(device)));
        Ok(Self {
            wall: Wall::start(),
            timing: device.map_or(Timing::None, keeper),
            failing: None,
            syncs: store.syncs()?,
            store,
            waitings: Waitings::default(),
            power: settings
                .power_cuts
                .map(|cuts| Power::new(cuts, settings.seed, atomic_bytes)),
            due: Vec::new(),
            ready: Vec::new(),
            told: Tellings::default(),
            second: (0, 1),
            media: MediaTotal::default(),
        })
    }

    /// The time, ns of wall time since the start.
    pub fn now(&self) -> u64 {
        self.wall.now()
    }

    /// Keeps a file that was made for the data.
    pub fn keep_file(&mut self) {
        if let Store::File(file) = &mut self.store {
            file.keep();
        }
    }

    /// Makes everything written durable. Returns what was served, and the final state.
    pub fn finish(mut self) -> (Told, Watched) {
        let is_safe = self.syncs.as_ref().is_none_or(Syncs::finish);
        if !is_safe {
            self.told.total.failure.get_or_insert(Failure::Sync);
        }
        let watched = self.end_second(self.wall.now());
        (self.told.total, watched)
    }

    /// The beginning of the current second, ns of wall time.
    pub const fn second_began(&self) -> u64 {
        self.second.0
    }

    /// A second ends at `now`, and everything has advanced to it. Returns the state.
    pub fn end_second(&mut self, now: u64) -> Watched {
        let (began, number) = self.second;
        self.second = (now, number + 1);
        let stretch = match &mut self.timing {
            Timing::Drive(keeper) => Some(keeper.end_stretch(now)),
            Timing::None | Timing::Failed => None,
        };
        if let Some(stretch) = &stretch {
            self.media.add(stretch);
        }
        self.told.total.wall_ns = now;
        Watched {
            number,
            length_ns: now - began,
            second: std::mem::take(&mut self.told.second),
            total: self.told.total.clone(),
            stretch,
            media: self.media.clone(),
        }
    }

    /// Makes everything due by `now` ready.
    pub fn come_to(&mut self, now: u64) {
        if self.failing.is_none()
            && let Timing::Drive(keeper) = &mut self.timing
            && let Err(error) = keeper.come_to(now, &mut self.due)
        {
            self.failing = Some(error);
        }
        self.take_due();
        self.change_power(now);
        if let Some(error) = self.failing.take() {
            self.fail(error);
        }
    }

    /// Changes the power, if it is time.
    fn change_power(&mut self, now: u64) {
        let (Some(power), Timing::Drive(keeper)) = (&mut self.power, &mut self.timing) else {
            return;
        };
        if now < power.changes_at() {
            return;
        }
        if power.is_off {
            if keeper.outstanding() == 0 {
                power.come(now);
            }
            return;
        }
        let is_lost = power.go(now);
        let would_lose = |offset| keeper.would_lose(offset);
        match power.volatile.cut(&mut self.store, would_lose, is_lost) {
            Ok(sectors) => self.told.total.lost_bytes += sectors * u64::from(SECTOR_BYTES),
            Err(_) => self.told.total.failure = Some(Failure::Revert),
        }
        self.told.total.power_cuts += 1;
        if let Err(error) = keeper.cut(now) {
            self.failing = Some(error);
        }
        self.fail_waiting(now);
        self.waitings.begin_anew();
    }

    /// Makes everything ready that became due since the drive got a request.
    pub fn take_due(&mut self) {
        let mut due = std::mem::take(&mut self.due);
        for each in due.drain(..) {
            if let Some(waiting) = self.waitings.get_mut(each.ticket) {
                waiting.due = each.at;
                waiting.latency = each.latency;
                self.finish_one(each.ticket);
            }
        }
        self.due = due;
    }

    /// The drive failed: everything that waits for it fails, and all later requests too.
    fn fail(&mut self, error: SimError) {
        self.timing = Timing::Failed;
        self.told.total.failure = Some(Failure::Drive(error));
        let now = self.wall.now();
        self.fail_waiting(now);
    }

    fn fail_waiting(&mut self, now: u64) {
        for ticket in self.waitings.tickets() {
            if let Some(waiting) = self.waitings.get_mut(ticket) {
                waiting.is_failed = true;
                waiting.due = now;
                waiting.awaits = 1;
            }
            self.finish_one(ticket);
        }
    }

    /// One of the things that a request waits for has happened.
    fn finish_one(&mut self, ticket: u64) {
        let Some(waiting) = self.waitings.get_mut(ticket) else {
            return;
        };
        waiting.awaits = waiting.awaits.saturating_sub(1);
        if waiting.awaits > 0 {
            return;
        }
        let Some(waiting) = self.waitings.remove(ticket) else {
            return;
        };
        if let Some(power) = &mut self.power {
            let range = (waiting.offset, waiting.bytes.into());
            power.ended(waiting.in_power, range, !waiting.is_failed);
        }
        if waiting.is_failed {
            self.told.failed();
        } else {
            self.told
                .served(waiting.kind, waiting.bytes, waiting.latency);
        }
        self.ready.push(waiting);
    }

    /// Takes the ready replies. Return the vector with [`Work::take_back`].
    pub fn take_ready(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.ready)
    }

    /// Takes back the vector for the next ready replies.
    pub fn take_back(&mut self, mut ready: Vec<Waiting>) {
        ready.clear();
        if self.ready.is_empty() {
            self.ready = ready;
        }
    }

    /// Takes back a buffer for later replies.
    pub fn give_back(&mut self, buffer: Vec<u8>) {
        self.waitings.give_back(buffer);
    }

    /// Nobody takes the replies of `owner` any more.
    pub fn orphan(&mut self, owner: Owner) {
        self.waitings.orphan(owner);
    }

    /// Number of requests whose replies nobody takes.
    pub const fn orphans(&self) -> usize {
        self.waitings.orphans()
    }

    /// Whether the drive has just failed; it then gets no more requests.
    pub const fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    /// The next moment to check.
    pub fn next_moment(&mut self) -> Moment {
        let Timing::Drive(keeper) = &mut self.timing else {
            return Moment::Untimed;
        };
        let is_awaited = keeper.outstanding() > 0;
        match keeper.next_moment() {
            Some(at) if is_awaited => Moment::Awaited(at),
            Some(at) => Moment::Background(at),
            None => Moment::Never,
        }
    }

    /// Becomes readable when a sync of the file has ended. Then call [`Work::take_syncs`].
    pub fn syncs(&self) -> Option<BorrowedFd<'_>> {
        self.syncs.as_ref().map(AsFd::as_fd)
    }

    pub fn take_syncs(&mut self) {
        let Some(syncs) = &self.syncs else {
            return;
        };
        let ended: Vec<_> = syncs.ended().collect();
        let now = self.wall.now();
        for (ticket, is_done) in ended {
            if let Some(waiting) = self.waitings.get_mut(ticket) {
                waiting.is_failed |= !is_done;
                if matches!(self.timing, Timing::None) {
                    waiting.due = now;
                }
            }
            self.finish_one(ticket);
        }
    }

    /// A request of `owner` arrives at `now`, with the data to be written. Returns the bytes of its
    /// reply, which becomes ready later.
    ///
    /// # Errors
    /// An immediate error for the client; no reply follows.
    pub fn ask(
        &mut self,
        now: u64,
        owner: Owner,
        (request, data): (&Request, &[u8]),
        speech: Speech,
    ) -> Result<usize, ErrorNumber> {
        let mut reply = self.waitings.buffer();
        let mut in_power = InPower::Nothing;
        if let Err(error) = self.do_data(request, data, (&mut reply, &mut in_power), speech) {
            if let Some(power) = &mut self.power {
                let range = (request.offset_bytes, request.size_bytes.into());
                power.ended(in_power, range, false);
            }
            if error == ErrorNumber::NoSpace {
                self.told.found_no_space();
            } else {
                self.told.failed();
            }
            return Err(error);
        }
        let reply_bytes = reply.len();
        self.submit(now, owner, request, (reply, in_power));
        Ok(reply_bytes)
    }

    /// Reads or writes, and makes the reply.
    fn do_data(
        &mut self,
        request: &Request,
        data: &[u8],
        (reply, in_power): (&mut Vec<u8>, &mut InPower),
        speech: Speech,
    ) -> Result<(), ErrorNumber> {
        let is_off = self.power.as_ref().is_some_and(|power| power.is_off);
        if is_off || matches!(self.timing, Timing::Failed) {
            return Err(ErrorNumber::Io);
        }
        let (offset, size) = (request.offset_bytes, request.size_bytes);
        *in_power = self.expect_change(request)?;
        match request.asked {
            Asked::Read => {
                speech.read(reply, request);
                reply.reserve_exact(size as usize);
                self.store.read(offset, size, reply)?;
                return Ok(());
            }
            Asked::Write => self.store.write(offset, data)?,
            Asked::WriteZeroes {
                keeps_room: true, ..
            } => self.store.write_zeroes(offset, size.into())?,
            Asked::Trim | Asked::WriteZeroes { .. } => self.store.forget(offset, size.into())?,
            Asked::Flush => {}
        }
        speech.done(reply, request);
        Ok(())
    }

    /// Saves the data that the request is about to change, in case the power fails.
    fn expect_change(&mut self, request: &Request) -> Result<InPower, ErrorNumber> {
        let (Some(power), Timing::Drive(keeper)) = (&mut self.power, &self.timing) else {
            return Ok(InPower::Nothing);
        };
        let range = (request.offset_bytes, u64::from(request.size_bytes));
        match request.asked.command() {
            CommandKind::Write => {
                let would_lose = |offset| keeper.would_lose(offset);
                let write = power.volatile.begin(&self.store, range, would_lose)?;
                return Ok(match request.is_forced {
                    true => InPower::ForcedWrite(write),
                    false => InPower::Write(write),
                });
            }
            CommandKind::Trim => power.volatile.forget(range.0, range.1),
            CommandKind::Flush => return Ok(InPower::Flush(power.volatile.begin_flush())),
            _ => {}
        }
        Ok(InPower::Nothing)
    }

    /// Sends the request to the drive, and to the file if data must be durable.
    fn submit(
        &mut self,
        now: u64,
        owner: Owner,
        request: &Request,
        (reply, in_power): (Vec<u8>, InPower),
    ) {
        let is_synced = request.is_forced || request.asked == Asked::Flush;
        let kind = request.asked.command();
        let mut waiting = Waiting {
            owner: Some(owner),
            kind,
            offset: request.offset_bytes,
            bytes: request.size_bytes,
            cookie: request.cookie,
            reply,
            awaits: 1,
            due: now,
            latency: 0,
            is_failed: false,
            in_power,
        };
        let syncs = self.syncs.as_ref().filter(|_| is_synced);
        waiting.awaits += u8::from(syncs.is_some());
        let ticket = self.waitings.insert(waiting);
        if let Some(syncs) = syncs {
            syncs.ask(ticket);
        }
        let Timing::Drive(keeper) = &mut self.timing else {
            self.due.push(Due {
                ticket,
                at: now,
                latency: 0,
            });
            return;
        };
        let command = Command {
            arrival: Nanos::ZERO,
            offset_bytes: request.offset_bytes,
            size_bytes: request.size_bytes,
            kind,
            is_forced: request.is_forced && kind == CommandKind::Write,
            content: match request.asked {
                Asked::WriteZeroes { .. } => Content::Zero,
                _ => Content::Random,
            },
            zone: ZoneAction::None,
        };
        let is_parted = matches!(
            request.asked,
            Asked::WriteZeroes {
                may_trim: false,
                ..
            }
        );
        if let Err(error) = keeper.submit(now, (command, is_parted), ticket, &mut self.due) {
            self.failing = Some(error);
        }
    }
}
