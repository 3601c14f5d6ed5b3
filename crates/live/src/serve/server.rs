//! The loop that serves clients and their sockets.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use drivelab_request::CommandKind;
use drivelab_sim::host::Device;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::connection::{Connection, MOST_REQUESTS, Socket};
use super::door::Door;
use super::kernel::{KERNEL, Kernel};
use super::speech::Speech;
use super::told::{Failure, Told};
use super::waiting::{Owner, Waiting};
use super::watched::Watched;
use super::work::{Moment, Work};
use super::{Settings, Shared};
use crate::block::Channel;
use crate::data::Store;
use crate::protocol::{Asked, Dialogue, ErrorNumber, Step};

/// The most clients at a time. Others are turned away.
pub const MOST_CONNECTIONS: usize = 16;

/// While the drive has more requests of disconnected clients than this, no client is admitted.
/// Otherwise clients that come and go would fill the memory.
pub const MOST_ORPHANS: usize = 4 * MOST_REQUESTS;

/// Sleeping ends this long before the next moment, and the rest is polled: a sleeper wakes up some
/// ten microseconds late.
const SPIN_NS: u64 = 60_000;

/// For this long after a request the server polls without sleeping. The next request often comes at
/// once, and waking up would take longer.
const ATTENTIVE_NS: u64 = 20_000;

/// Interval for checks that nobody waits for.
const LOOK_NS: u64 = 100_000_000;
const BACKGROUND_LOOK_NS: u64 = 5_000_000;

/// Interval at which watchers see a new state.
const SECOND_NS: u64 = 1_000_000_000;

pub(super) struct Server {
    door: Door,
    /// A client could not be admitted; tried again at the next check.
    is_door_shut: bool,
    settings: Settings,
    shared: Arc<Shared>,
    work: Work,
    connections: Vec<Option<(u64, Connection)>>,
    /// The kernel, if it asks by messages about a file. By NBD it is a connection.
    kernel: Option<Kernel>,
    /// The number of the kernel's connection.
    kernel_number: Option<u64>,
    numbers: u64,
    /// By connection: when the replies about to be sent were due.
    sending: Vec<(usize, u64)>,
    told_at: u64,
    /// The state to be published for watchers.
    to_show: Option<Arc<Watched>>,
    /// Time of the last request.
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
        Ok(Self {
            work: Work::new(device, store, &settings)?,
            door,
            is_door_shut: false,
            settings,
            shared,
            connections: Vec::new(),
            kernel: None,
            kernel_number: None,
            numbers: 0,
            sending: Vec::new(),
            told_at: 0,
            to_show: None,
            last_request: 0,
        })
    }

    /// Adds the kernel as a client.
    pub fn with_kernel(mut self, channel: Option<Channel>) -> std::io::Result<Self> {
        match channel {
            None => {}
            Some(Channel::File(channel, name)) => self.kernel = Some(Kernel::new(channel, name)),
            Some(Channel::Nbd(socket)) => {
                let socket = Socket::Unix(socket);
                socket.prepare()?;
                let dialogue = Dialogue::of_kernel(self.settings.export.clone());
                let number = self.connect(Connection::new(socket, dialogue, &[], 0));
                self.kernel_number = Some(number);
            }
        }
        Ok(self)
    }

    /// Serves until it should stop. Everything written is then durable.
    pub fn run(mut self) -> Told {
        self.work.keep_file();
        while !self.shared.stop.load(Ordering::Relaxed) {
            let now = self.work.now();
            self.work.come_to(now);
            self.deliver();
            self.send();
            if now >= self.told_at + LOOK_NS {
                self.look(now);
            }
            self.wait();
        }
        let (served, watched) = self.work.finish();
        self.shared.show(&mut Some(Arc::new(watched)));
        served
    }

    /// Delivers ready replies to their owners.
    fn deliver(&mut self) {
        let mut ready = self.work.take_ready();
        for waiting in ready.drain(..) {
            if waiting.owner == Some(KERNEL) {
                self.answer_kernel(waiting);
                continue;
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
                    let speech = Speech::Nbd(connection.dialogue.form());
                    let of = (waiting.cookie, waiting.kind == CommandKind::Read);
                    speech.failed(connection.output.tail(), of, ErrorNumber::Io);
                } else {
                    self.sending.push((place, waiting.due));
                    spare = spare.and_then(|reply| connection.output.push(reply));
                }
            }
            if let Some(buffer) = spare {
                self.work.give_back(buffer);
            }
        }
        self.work.take_back(ready);
    }

    /// Delivers a reply to the kernel at once.
    fn answer_kernel(&mut self, waiting: Waiting) {
        let Some(kernel) = &mut self.kernel else {
            return;
        };
        let due = waiting.due;
        let (may_be_late, buffer) = kernel.deliver(waiting);
        if may_be_late {
            let late = self.work.now().saturating_sub(due);
            self.work.told.sent(late, late > self.settings.late_ns);
        }
        self.work.give_back(buffer);
    }

    /// Sends ready replies, and drops disconnected clients.
    fn send(&mut self) {
        for (place, slot) in self.connections.iter_mut().enumerate() {
            let Some((number, connection)) = slot else {
                continue;
            };
            if connection.unsent() > 0 {
                let now = self.work.now();
                for &(of, due) in &self.sending {
                    if of == place {
                        let late = now.saturating_sub(due);
                        self.work.told.sent(late, late > self.settings.late_ns);
                    }
                }
                connection.send();
            }
            if connection.is_over() {
                let number = *number;
                self.work.orphan(Owner { place, number });
                *slot = None;
                if self.kernel_number != Some(number) {
                    self.work.told.went();
                } else if !self.shared.is_detaching.load(Ordering::Relaxed) {
                    let failure = &mut self.work.told.total.failure;
                    failure.get_or_insert(Failure::Kernel);
                    self.shared.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        self.sending.clear();
    }

    /// Publishes the state, and disconnects clients that only negotiate or do not end.
    fn look(&mut self, now: u64) {
        self.told_at = now;
        self.work.told.total.wall_ns = now;
        self.is_door_shut = false;
        for (_, connection) in self.connections.iter_mut().flatten() {
            if connection.is_overdue(now, self.settings.patience_ns) {
                connection.is_gone = true;
            }
        }
        // Does not wait for a reader.
        if let Ok(mut shown) = self.shared.told.try_lock() {
            shown.clone_from(&self.work.told.total);
        }
        if now >= self.work.second_began() + SECOND_NS {
            self.to_show = Some(Arc::new(self.work.end_second(now)));
        }
        self.shared.show(&mut self.to_show);
    }

    /// How long nothing needs polling; 0 if something must be polled all the time.
    fn idle_ns(&mut self) -> u64 {
        let now = self.work.now();
        let look = (self.told_at + LOOK_NS).saturating_sub(now);
        let attentive = (self.last_request + ATTENTIVE_NS).saturating_sub(now);
        match self.work.next_moment() {
            Moment::Untimed if attentive > 0 => 0,
            Moment::Untimed | Moment::Never => look,
            Moment::Awaited(at) => at.saturating_sub(now + SPIN_NS).min(look),
            Moment::Background(at) => at.saturating_sub(now).max(BACKGROUND_LOOK_NS).min(look),
        }
    }

    /// Waits until something can be done, and takes what came.
    fn wait(&mut self) {
        let idle = if self.has_more() || self.work.is_failing() {
            0
        } else {
            self.idle_ns()
        };
        let timeout = Timespec {
            tv_sec: (idle / 1_000_000_000) as i64,
            tv_nsec: (idle % 1_000_000_000) as i64,
        };
        let mut asked = Vec::with_capacity(self.connections.len() + 3);
        let mut knocks = PollFlags::empty();
        let may_come = !self.is_door_shut && self.work.orphans() < MOST_ORPHANS;
        knocks.set(PollFlags::IN, may_come);
        asked.push(PollFd::new(&self.door, knocks));
        if let Some(syncs) = self.work.syncs() {
            asked.push(PollFd::from_borrowed_fd(syncs, PollFlags::IN));
        }
        let kernel_place = asked.len();
        if let Some(kernel) = self.kernel.as_ref().filter(|kernel| !kernel.is_over) {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, kernel.is_heard());
            asked.push(PollFd::new(kernel, flags));
        }
        let before = asked.len();
        for (_, connection) in self.connections.iter().flatten() {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, connection.is_heard());
            flags.set(PollFlags::OUT, connection.unsent() > 0);
            asked.push(PollFd::from_borrowed_fd(connection.socket.as_fd(), flags));
        }
        if poll(&mut asked, Some(&timeout)).is_err() {
            // Interrupted: anything that came is still there next time.
            return;
        }
        let answers: Vec<PollFlags> = asked.iter().map(PollFd::revents).collect();
        let has_knocked = answers[0].contains(PollFlags::IN);
        if kernel_place > 1 && answers[1].contains(PollFlags::IN) {
            self.work.take_syncs();
        }
        if before > kernel_place && !answers[kernel_place].is_empty() {
            self.hear_kernel(answers[kernel_place]);
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

    /// Whether a client that was paused may send requests again.
    fn has_more(&self) -> bool {
        let mut connections = self.connections.iter().flatten();
        connections.any(|(_, one)| one.is_heard() && one.has_more())
    }

    fn admit(&mut self) {
        loop {
            let socket = match self.door.admit() {
                Ok(Some(socket)) => socket,
                Ok(None) => return,
                Err(_) => {
                    // The client is gone already, or there are too many descriptors. Polling this
                    // socket would return at once every time.
                    self.is_door_shut = true;
                    return;
                }
            };
            if self.clients() >= MOST_CONNECTIONS {
                continue;
            }
            let mut greeting = Vec::new();
            let dialogue = Dialogue::new(self.settings.export.clone(), &mut greeting);
            let now = self.work.now();
            self.connect(Connection::new(socket, dialogue, &greeting, now));
            self.work.told.came();
        }
    }

    /// Number of connected clients other than the kernel.
    fn clients(&self) -> usize {
        let numbers = self.connections.iter().flatten().map(|(number, _)| *number);
        numbers
            .filter(|&number| self.kernel_number != Some(number))
            .count()
    }

    /// Adds a connection and returns its number.
    fn connect(&mut self, connection: Connection) -> u64 {
        self.numbers += 1;
        let vacant = self.connections.iter().position(Option::is_none);
        let place = vacant.unwrap_or(self.connections.len());
        if place == self.connections.len() {
            self.connections.push(None);
        }
        self.connections[place] = Some((self.numbers, connection));
        self.numbers
    }

    /// Handles what a client sent.
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
        self.work.take_due();
        self.deliver();
    }

    /// Handles the kernel's messages.
    fn hear_kernel(&mut self, answer: PollFlags) {
        if let Some(kernel) = &mut self.kernel {
            kernel.is_over |= answer.contains(PollFlags::ERR);
        }
        if let Some(kernel) = &mut self.kernel
            && kernel.hear(&mut self.work, &self.settings.export)
        {
            self.last_request = self.work.now();
        }
        self.work.take_due();
        self.deliver();
    }

    /// Handles the received bytes.
    fn converse(&mut self, owner: Owner, connection: &mut Connection) {
        let now = self.work.now();
        let (mut used, mut needs) = (0, 0);
        // A drive that has just failed gets no more requests.
        while connection.is_heard() && !self.work.is_failing() {
            let speech = Speech::Nbd(connection.dialogue.form());
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
                    let of = (request.cookie, request.asked == Asked::Read);
                    match self.work.ask(now, owner, (&request, data), speech) {
                        Ok(reply_bytes) => {
                            connection.requests += 1;
                            connection.reply_bytes += reply_bytes;
                        }
                        Err(error) => speech.failed(output, of, error),
                    }
                }
            }
        }
        connection.used(used, needs);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::super::{PATIENCE_NS, Place};
    use super::*;
    use crate::clock::Dilation;
    use crate::data::MemoryStore;
    use crate::protocol::Export;

    const SIZE: u64 = 1 << 20;

    fn request(kind: u16, cookie: u64, (offset, size): (u64, u32)) -> Vec<u8> {
        let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(kind.to_be_bytes());
        bytes.extend(cookie.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(size.to_be_bytes());
        bytes
    }

    fn replied(socket: &mut UnixStream, bytes: usize) -> Result<Vec<u8>, std::io::Error> {
        let mut reply = vec![0; 16 + bytes];
        socket.read_exact(&mut reply)?;
        assert_eq!(reply[..8], [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0]);
        Ok(reply[8..].to_vec())
    }

    type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

    /// A server with the kernel as its only client, and the kernel's end.
    fn served(shared: &Arc<Shared>) -> Outcome<(Server, UnixStream)> {
        let settings = Settings {
            export: Export {
                name: "small".to_owned(),
                description: String::new(),
                size_bytes: SIZE,
                takes_trims: true,
            },
            seed: 1,
            dilation: Dilation::new(1.0).ok_or("dilation")?,
            cpu: None,
            late_ns: u64::MAX,
            patience_ns: PATIENCE_NS,
            power_cuts: None,
        };
        let store = Store::Memory(MemoryStore::new(SIZE, SIZE));
        let door = Door::open(Place::Port(0))?;
        let (kernel, end) = UnixStream::pair()?;
        let server = Server::new(door, None, store, settings, Arc::clone(shared))?;
        Ok((server.with_kernel(Some(Channel::Nbd(end)))?, kernel))
    }

    #[test]
    fn the_kernel_needs_no_negotiation_and_is_no_client() -> Outcome<()> {
        let shared = Arc::<Shared>::default();
        let (server, mut kernel) = served(&shared)?;
        assert_eq!(server.clients(), 0);
        let running = thread::spawn(move || server.run());
        kernel.write_all(&[request(1, 7, (4096, 4096)), vec![5; 4096]].concat())?;
        assert_eq!(replied(&mut kernel, 0)?, 7_u64.to_be_bytes());
        kernel.write_all(&request(0, 8, (4096, 4096)))?;
        let read = [8_u64.to_be_bytes().to_vec(), vec![5; 4096]].concat();
        assert_eq!(replied(&mut kernel, 4096)?, read);
        // It disconnects though nobody detached the device: the server hangs up and ends.
        kernel.write_all(&request(2, 0, (0, 0)))?;
        assert_eq!(kernel.read(&mut [0; 1])?, 0);
        let told = running.join().map_err(|_| "the server panicked")?;
        assert_eq!((told.requests(), told.connected), (2, 0));
        assert_eq!(told.failure, Some(Failure::Kernel));
        Ok(())
    }

    #[test]
    fn a_kernel_that_disconnects_while_its_device_is_detached_is_no_failure() -> Outcome<()> {
        let shared = Arc::<Shared>::default();
        shared.is_detaching.store(true, Ordering::Relaxed);
        let (server, mut kernel) = served(&shared)?;
        let running = thread::spawn(move || server.run());
        kernel.write_all(&request(2, 0, (0, 0)))?;
        assert_eq!(kernel.read(&mut [0; 1])?, 0);
        shared.stop.store(true, Ordering::Relaxed);
        let told = running.join().map_err(|_| "the server panicked")?;
        assert_eq!(told.failure, None);
        Ok(())
    }
}
