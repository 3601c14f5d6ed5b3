//! The loop that serves.

use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use drivelab_request::{Command, CommandKind, Content, Nanos};
use drivelab_sim::host::{Device, SimError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::connection::{Connection, MOST_REQUESTS};
use super::door::Door;
use super::told::{Failure, Told};
use super::waiting::{Owner, Waiting, Waitings};
use super::{Settings, Shared};
use crate::clock::{Due, Keeper, Wall};
use crate::data::{Store, Syncs};
use crate::protocol::{
    Asked, Dialogue, ErrorNumber, Request, Step, error_reply, read_reply, simple_reply,
};

/// Clients at the same time; others are turned away.
pub const MOST_CONNECTIONS: usize = 16;

/// While the drive has more requests of clients that are gone, nobody is admitted: who comes and
/// goes would fill the memory.
pub const MOST_ORPHANS: usize = 4 * MOST_REQUESTS;

/// Sleep is ended so long before the next moment, and the rest is spent asking: a sleeper is
/// woken some ten microseconds late.
const SPIN_NS: u64 = 60_000;

/// So long after a request the next one is asked for without sleeping: it often comes at once,
/// and waking would take longer.
const ATTENTIVE_NS: u64 = 20_000;

/// What nobody waits for is looked at so often.
const LOOK_NS: u64 = 100_000_000;
const BACKGROUND_LOOK_NS: u64 = 5_000_000;

/// What serves, or why it does not any more.
enum Timing {
    /// Data are there at once.
    None,
    Drive(Box<Keeper>),
    Failed,
}

pub(super) struct Server {
    door: Door,
    /// Nobody could be let in: it is tried again at the next look.
    is_door_shut: bool,
    settings: Settings,
    shared: Arc<Shared>,
    wall: Wall,
    timing: Timing,
    /// What has just gone wrong with the drive.
    failing: Option<SimError>,
    store: Store,
    syncs: Option<Syncs>,
    connections: Vec<Option<(u64, Connection)>>,
    numbers: u64,
    waitings: Waitings,
    due: Vec<Due>,
    /// When replies were due that are about to be sent, by connection.
    sending: Vec<(usize, u64)>,
    told: Told,
    told_at: u64,
    /// When a request came last.
    last_request: u64,
}

impl Server {
    pub fn new(
        door: Door,
        device: Option<Box<dyn Device + Send>>,
        store: Store,
        settings: Settings,
        shared: Arc<Shared>,
    ) -> std::io::Result<Self> {
        let keeper = |device| Keeper::new(device, settings.seed, settings.dilation);
        let keeper = |device| Timing::Drive(Box::new(keeper(device)));
        Ok(Self {
            timing: device.map_or(Timing::None, keeper),
            failing: None,
            syncs: store.syncs()?,
            door,
            is_door_shut: false,
            settings,
            shared,
            wall: Wall::start(),
            store,
            connections: Vec::new(),
            numbers: 0,
            waitings: Waitings::default(),
            due: Vec::new(),
            sending: Vec::new(),
            told: Told::default(),
            told_at: 0,
            last_request: 0,
        })
    }

    /// Serves until it is to stop; what was written is then safe.
    pub fn run(mut self) -> Told {
        if let Store::File(file) = &mut self.store {
            file.keep();
        }
        while !self.shared.stop.load(Ordering::Relaxed) {
            let now = self.wall.now();
            self.come_to(now);
            self.send();
            if now >= self.told_at + LOOK_NS {
                self.look(now);
            }
            self.wait();
        }
        let is_safe = self.syncs.as_ref().is_none_or(Syncs::finish);
        if !is_safe {
            self.told.failure.get_or_insert(Failure::Sync);
        }
        self.told.wall_ns = self.wall.now();
        self.told
    }

    /// What is due by `now` is made ready.
    fn come_to(&mut self, now: u64) {
        if self.failing.is_none()
            && let Timing::Drive(keeper) = &mut self.timing
            && let Err(error) = keeper.come_to(now, &mut self.due)
        {
            self.failing = Some(error);
        }
        self.take_due();
        if let Some(error) = self.failing.take() {
            self.fail(error);
        }
    }

    fn take_due(&mut self) {
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

    /// The drive is dead: whatever waits for it fails, and whatever comes.
    fn fail(&mut self, error: SimError) {
        self.timing = Timing::Failed;
        self.told.failure = Some(Failure::Drive(error));
        let now = self.wall.now();
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
        if waiting.is_failed {
            self.told.failed += 1;
        } else {
            let kind = &mut self.told.kinds[waiting.kind.index()];
            kind.bytes += u64::from(waiting.bytes);
            kind.latency.record(waiting.latency);
        }
        let reply_bytes = waiting.reply.len();
        let mut spare = Some(waiting.reply);
        if let Some(Owner { place, number }) = waiting.owner
            && let Some(Some((of, connection))) = self.connections.get_mut(place)
            && *of == number
        {
            connection.requests -= 1;
            connection.reply_bytes -= reply_bytes;
            if waiting.is_failed {
                let form = connection.dialogue.form();
                let of = (waiting.cookie, waiting.kind == CommandKind::Read);
                error_reply(connection.output.tail(), form, of, ErrorNumber::Io);
            } else {
                self.sending.push((place, waiting.due));
                spare = spare.and_then(|reply| connection.output.push(reply));
            }
        }
        if let Some(buffer) = spare {
            self.waitings.give_back(buffer);
        }
    }

    /// Sends what is ready, and forgets who is gone.
    fn send(&mut self) {
        for (place, slot) in self.connections.iter_mut().enumerate() {
            let Some((number, connection)) = slot else {
                continue;
            };
            if connection.unsent() > 0 {
                let now = self.wall.now();
                for &(of, due) in &self.sending {
                    if of == place {
                        let late = now.saturating_sub(due);
                        self.told.lateness.record(late);
                        self.told.late += u64::from(late > self.settings.late_ns);
                    }
                }
                connection.send();
            }
            if connection.is_over() {
                let number = *number;
                self.waitings.orphan(Owner { place, number });
                *slot = None;
                self.told.connected -= 1;
            }
        }
        self.sending.clear();
    }

    /// Tells how things stand, and sends away who does nothing but haggle, or does not end.
    fn look(&mut self, now: u64) {
        self.told_at = now;
        self.told.wall_ns = now;
        self.is_door_shut = false;
        for (_, connection) in self.connections.iter_mut().flatten() {
            if connection.is_overdue(now, self.settings.patience_ns) {
                connection.is_gone = true;
            }
        }
        let told = self.shared.told.lock();
        told.unwrap_or_else(PoisonError::into_inner)
            .clone_from(&self.told);
    }

    /// For how long nobody need be asked: 0 while somebody is to be asked all the time.
    fn idle_ns(&mut self) -> u64 {
        let now = self.wall.now();
        let look = (self.told_at + LOOK_NS).saturating_sub(now);
        let attentive = (self.last_request + ATTENTIVE_NS).saturating_sub(now);
        let Timing::Drive(keeper) = &mut self.timing else {
            return if attentive > 0 { 0 } else { look };
        };
        let is_awaited = keeper.outstanding() > 0;
        match keeper.next_moment() {
            Some(at) if is_awaited => at.saturating_sub(now + SPIN_NS).min(look),
            Some(at) => at.saturating_sub(now).max(BACKGROUND_LOOK_NS).min(look),
            None => look,
        }
    }

    /// Waits until something can be done, and takes what came.
    fn wait(&mut self) {
        let idle = if self.has_more() || self.failing.is_some() {
            0
        } else {
            self.idle_ns()
        };
        let timeout = Timespec {
            tv_sec: (idle / 1_000_000_000) as i64,
            tv_nsec: (idle % 1_000_000_000) as i64,
        };
        let mut asked = Vec::with_capacity(self.connections.len() + 2);
        let mut knocks = PollFlags::empty();
        let may_come = !self.is_door_shut && self.waitings.orphans() < MOST_ORPHANS;
        knocks.set(PollFlags::IN, may_come);
        asked.push(PollFd::new(&self.door, knocks));
        if let Some(syncs) = &self.syncs {
            asked.push(PollFd::new(syncs, PollFlags::IN));
        }
        let before = asked.len();
        for (_, connection) in self.connections.iter().flatten() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, connection.is_heard());
            flags.set(PollFlags::OUT, connection.unsent() > 0);
            asked.push(PollFd::from_borrowed_fd(connection.socket.as_fd(), flags));
        }
        if poll(&mut asked, Some(&timeout)).is_err() {
            // Interrupted: what may have come is there the next time.
            return;
        }
        let answers: Vec<PollFlags> = asked.iter().map(PollFd::revents).collect();
        let has_knocked = answers[0].contains(PollFlags::IN);
        if before > 1 && answers[1].contains(PollFlags::IN) {
            self.take_syncs();
        }
        let mut answers = answers.into_iter().skip(before);
        for place in 0..self.connections.len() {
            if self.connections[place].is_some() {
                let answer = answers.next().unwrap_or(PollFlags::empty());
                self.hear(place, answer);
            }
        }
        if has_knocked {
            self.admit();
        }
    }

    /// Whether a client that was not heard for a while may be heard again.
    fn has_more(&self) -> bool {
        let mut connections = self.connections.iter().flatten();
        connections.any(|(_, one)| one.is_heard() && one.has_more())
    }

    fn take_syncs(&mut self) {
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

    fn admit(&mut self) {
        loop {
            let socket = match self.door.admit() {
                Ok(Some(socket)) => socket,
                Ok(None) => return,
                Err(_) => {
                    // A client that is gone already, or too many descriptors. The door would be
                    // knocked at all the time.
                    self.is_door_shut = true;
                    return;
                }
            };
            if self.connections.iter().flatten().count() >= MOST_CONNECTIONS {
                continue;
            }
            let mut greeting = Vec::new();
            let dialogue = Dialogue::new(self.settings.export.clone(), &mut greeting);
            let now = self.wall.now();
            let connection = Connection::new(socket, dialogue, &greeting, now);
            self.numbers += 1;
            let vacant = self.connections.iter().position(Option::is_none);
            let place = vacant.unwrap_or(self.connections.len());
            if place == self.connections.len() {
                self.connections.push(None);
            }
            self.connections[place] = Some((self.numbers, connection));
            self.told.clients += 1;
            self.told.connected += 1;
        }
    }

    /// Takes what a client sent.
    fn hear(&mut self, place: usize, answer: PollFlags) {
        let Some(Some((number, mut connection))) =
            self.connections.get_mut(place).map(Option::take)
        else {
            return;
        };
        let mut came = false;
        if answer.contains(PollFlags::IN) {
            came = connection.receive();
        } else if answer.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            connection.is_gone = true;
        }
        if came || (connection.is_heard() && connection.has_more()) {
            self.converse(Owner { place, number }, &mut connection);
        }
        self.connections[place] = Some((number, connection));
        // What is due since the drive was asked for something.
        self.take_due();
    }

    /// Does what the bytes say that came.
    fn converse(&mut self, owner: Owner, connection: &mut Connection) {
        let now = self.wall.now();
        let (mut used, mut needs) = (0, 0);
        // A drive that has just failed is asked nothing more.
        while connection.is_heard() && self.failing.is_none() {
            let form = connection.dialogue.form();
            let (dialogue, input, output) = connection.parts(used);
            match dialogue.step(input, output) {
                Step::Needs(bytes) => {
                    needs = bytes;
                    break;
                }
                Step::Used(bytes) => used += bytes,
                Step::Over => connection.end(now),
                Step::Asked {
                    used: bytes,
                    request,
                    data,
                } => {
                    used += bytes;
                    self.last_request = now;
                    let mut reply = self.waitings.buffer();
                    let of = (request.cookie, request.asked == Asked::Read);
                    if let Err(error) = self.do_data(&request, data, &mut reply, form) {
                        self.told.no_space += u64::from(error == ErrorNumber::NoSpace);
                        self.told.failed += u64::from(error != ErrorNumber::NoSpace);
                        error_reply(output, form, of, error);
                        continue;
                    }
                    connection.requests += 1;
                    connection.reply_bytes += reply.len();
                    self.submit(now, owner, &request, reply);
                }
            }
        }
        connection.used(used, needs);
    }

    /// Reads or writes, and makes the reply.
    fn do_data(
        &mut self,
        request: &Request,
        data: &[u8],
        reply: &mut Vec<u8>,
        form: crate::protocol::ReplyForm,
    ) -> Result<(), ErrorNumber> {
        if matches!(self.timing, Timing::Failed) {
            return Err(ErrorNumber::Io);
        }
        let (offset, size) = (request.offset_bytes, request.size_bytes);
        match request.asked {
            Asked::Read => {
                read_reply(reply, form, request.cookie, (offset, size));
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
        simple_reply(reply, request.cookie, None);
        Ok(())
    }

    /// Asks the drive, and the file where data are to survive.
    fn submit(&mut self, now: u64, owner: Owner, request: &Request, reply: Vec<u8>) {
        let is_synced = request.is_forced || request.asked == Asked::Flush;
        let kind = request.asked.command();
        let mut waiting = Waiting {
            owner: Some(owner),
            kind,
            bytes: request.size_bytes,
            cookie: request.cookie,
            reply,
            awaits: 1,
            due: now,
            latency: 0,
            is_failed: false,
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
