//! A second simulator of the same drive, slow and simple: the oracle.
//!
//! It takes the flash operations from the firmware and nothing else from the simulator. Every step
//! searches all possible events for the earliest. Nothing is packed, reused or cached, and every
//! interval is kept, so the content of a window is computed afterwards.
//!
//! Events at the same time happen in this order: units by number, dispatch, the link,
//! acknowledgements, arrivals, cores. If a stage is free and takes no time, its work happens at
//! once. A channel promises its time in the order in which it is requested.

mod arrivals;
mod buffer;
mod cores;
mod dependents;
mod flash;
mod overtaking;
mod pipeline;
mod zeroes;

use std::collections::VecDeque;

use drivelab_ftl::{Action, Cause, Firmware, Lpn, Operation, OperationBuffer, PageRun};
use drivelab_request::{Command, CommandKind, Content};
use drivelab_sim::preset::{HostInterface, SsdConfig, WorkUnit};
use drivelab_sim::ssd::{PARTS, Part, Plan};

pub use arrivals::{Arrivals, Turns};

use super::ledger::Ledger;
use super::story::{Entry, Story};
use cores::Cores;
use overtaking::{IN_ORDER, Paused};
use pipeline::Die;
use zeroes::sent_bytes;

#[derive(Clone, Copy)]
enum Beneficiary {
    Request(usize),
    /// The copy of a page in the buffer with this number.
    Buffer(usize),
    /// The same, for a write that waits for it.
    Forced(usize, usize),
    /// Pages of this request wait for a read of the map.
    Lookup(usize),
    Nobody,
}

/// An operation in a queue.
#[derive(Clone, Copy)]
struct Task {
    operation: Operation,
    beneficiary: Beneficiary,
    /// When dispatch hands it over, if known.
    handed_over: u64,
    emitted: u64,
    number: usize,
    /// What goes first. The last class keeps its order.
    class: usize,
}

#[derive(Clone, Copy)]
enum Stage {
    Idle,
    /// Needs the channel from this time on.
    WantsChannel(u64),
    EndsAt(u64),
}

struct Unit {
    stage: Stage,
    task: Option<Task>,
    since: u64,
    queue: VecDeque<Task>,
    busy: Vec<(u64, u64)>,
    /// The busy intervals in which it collected.
    collecting: Vec<(u64, u64)>,
    /// For each class, how many operations overtook its first one.
    passed: [u32; IN_ORDER + 1],
    paused: Option<Paused>,
    /// The data read last is programmed next.
    holds_page: bool,
    /// If it may take more than one operation at a time: what is in it.
    die: Die,
    /// The current operation pauses at this time, if there are reads.
    alarm: Option<u64>,
    /// For the current operation since its last pause: remaining cell-array time, time worked, and
    /// number of pauses.
    left: Option<u64>,
    worked: u64,
    pauses: u32,
}

impl Unit {
    fn forget_pauses(&mut self) {
        self.alarm = None;
        self.left = None;
        self.worked = 0;
        self.pauses = 0;
    }
}

struct Channel {
    free_at: u64,
    turn: usize,
    busy: Vec<(u64, u64)>,
}

#[derive(Clone, Copy)]
enum Crossing {
    ReadCommand(usize),
    NoData(usize),
    ReadData(usize),
    /// First page, then number of pages.
    WriteData(usize, u32, u32),
}

struct Pending {
    request: Command,
    stream: usize,
    submitted: u64,
    /// Operations until its data has arrived.
    missing: usize,
    admitted_pages: u32,
    /// Pages whose data is in the buffer.
    arrived_pages: u32,
    /// When the last of its arrived parts is due.
    worked: u64,
    /// Until when its time has been assigned, and to which parts.
    told: u64,
    parts: [u64; PARTS],
}

impl Pending {
    /// Assigns the time since the last such moment to `part`.
    fn tell(&mut self, part: Part, now: u64) {
        self.parts[part as usize] += now - self.told;
        self.told = now;
    }
}

/// The oracle.
pub struct World {
    config: SsdConfig,
    factor: f64,
    ledger: Ledger,
    firmware: Box<dyn Firmware>,
    now: u64,
    units: Vec<Unit>,
    channels: Vec<Channel>,
    dispatch_free_at: u64,
    dispatch_line: VecDeque<Task>,
    dispatch_alarm: Option<u64>,
    /// Towards the drive, and towards the host.
    link_free_at: [u64; 2],
    link: [VecDeque<(u64, Crossing)>; 2],
    acknowledgements: VecDeque<(u64, usize)>,
    /// One entry for each stream.
    arrivals: Vec<Arrivals>,
    /// For each stream: commands submitted and completed.
    sent: Vec<(u64, u64)>,
    requests: Vec<Pending>,
    in_drive: u64,
    outside: VecDeque<usize>,
    wants_buffer: VecDeque<usize>,
    buffer_used: u64,
    /// The content of the buffer, and everything it ever held.
    buffered: Vec<Held>,
    ever_buffered: usize,
    /// Flushes, and the copies that each waits for.
    flushes: Vec<(usize, Vec<usize>)>,
    journal: Vec<Entry>,
    /// Operations emitted so far; those that wait for others; and those that go first.
    numbered: usize,
    held: Vec<dependents::Held>,
    urgent: Vec<usize>,
    /// Erases of every block, as the flash has executed them.
    erases: Vec<u32>,
    cores: Cores,
}

/// A copy of a page in the buffer.
#[derive(Clone, Copy)]
struct Held {
    number: usize,
    page: u32,
    is_trimmed: bool,
    /// Its write waits for its program.
    is_forced: bool,
    /// It gathers with others before it goes to the flash.
    is_gathered: bool,
    is_whole: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Unit(usize),
    Dispatch,
    Link(usize),
    Acknowledgement,
    Arrival(usize),
    Cores,
}

impl World {
    /// An idle drive with the state of the firmware, and every time multiplied by `factor`.
    pub fn new(config: &SsdConfig, firmware: Box<dyn Firmware>, factor: f64) -> Self {
        let geometry = &config.geometry;
        let dies = geometry.channels * geometry.ways_per_channel * geometry.dies_per_way;
        let units = match config.scheduling.unit {
            WorkUnit::Chip => geometry.channels * geometry.ways_per_channel,
            WorkUnit::Die => dies * [1, geometry.planes_per_die][usize::from(geometry.plane_mode)],
        };
        let erases = (0..firmware.layout().blocks())
            .map(|block| firmware.erase_count(block).unwrap_or(0))
            .collect();
        Self {
            config: config.clone(),
            factor,
            ledger: Ledger::new(Plan::default()),
            firmware,
            now: 0,
            units: (0..units)
                .map(|_| Unit {
                    stage: Stage::Idle,
                    task: None,
                    since: 0,
                    queue: VecDeque::new(),
                    busy: Vec::new(),
                    collecting: Vec::new(),
                    passed: [0; IN_ORDER + 1],
                    paused: None,
                    holds_page: false,
                    die: Die::default(),
                    alarm: None,
                    left: None,
                    worked: 0,
                    pauses: 0,
                })
                .collect(),
            channels: (0..geometry.channels)
                .map(|channel| Channel {
                    free_at: 0,
                    turn: channel as usize,
                    busy: Vec::new(),
                })
                .collect(),
            dispatch_free_at: 0,
            dispatch_line: VecDeque::new(),
            dispatch_alarm: None,
            link_free_at: [0; 2],
            link: [VecDeque::new(), VecDeque::new()],
            acknowledgements: VecDeque::new(),
            arrivals: Vec::new(),
            sent: Vec::new(),
            requests: Vec::new(),
            in_drive: 0,
            outside: VecDeque::new(),
            wants_buffer: VecDeque::new(),
            buffer_used: 0,
            buffered: Vec::new(),
            ever_buffered: 0,
            flushes: Vec::new(),
            journal: Vec::new(),
            numbered: 0,
            held: Vec::new(),
            urgent: Vec::new(),
            erases,
            cores: Cores::new(
                config
                    .firmware
                    .map_or(0, |firmware| firmware.cores as usize),
            ),
        }
    }

    /// Runs until no event is left.
    pub fn run(mut self, arrivals: Vec<Arrivals>, plan: Plan) -> Story {
        self.ledger = Ledger::new(plan);
        self.ledger.time(0, &mut self.journal);
        self.sent = vec![(0, 0); arrivals.len()];
        self.arrivals = arrivals;
        for stream in 0..self.arrivals.len() {
            if let Arrivals::Closed(_, depth) = self.arrivals[stream] {
                for _ in 0..depth {
                    self.submit(stream);
                }
            }
        }
        self.submit_shared();
        self.happen();
        while self.gathered() > 0 {
            self.push_gathered(0);
            self.happen();
        }
        assert_eq!(
            self.ledger.completed(),
            self.requests.len(),
            "lost requests"
        );
        assert_eq!(self.buffer_used, 0);
        Story {
            ledger: self.ledger,
            journal: self.journal,
            unit_busy: self.units.into_iter().map(|unit| unit.busy).collect(),
            channel_busy: self.channels.into_iter().map(|c| c.busy).collect(),
            core_busy: self.cores.busy,
        }
    }

    /// Serves events until none is left.
    fn happen(&mut self) {
        while let Some((time, who)) = self.next() {
            assert!(time >= self.now, "time goes back");
            self.now = time;
            self.ledger.time(time, &mut self.journal);
            match who {
                Who::Unit(unit) => self.unit_acts(unit),
                Who::Dispatch => self.dispatch_head(),
                Who::Link(lane) => self.crossed(lane),
                Who::Acknowledgement => {
                    let (_, request) = self.acknowledgements.pop_front().unwrap();
                    self.complete(request);
                }
                // The window may have closed at this moment; then nothing arrives.
                Who::Arrival(stream) if self.ledger.closed.is_none() => self.submit(stream),
                Who::Arrival(_) => {}
                Who::Cores => self.core_is_done(),
            }
        }
    }

    fn next(&self) -> Option<(u64, Who)> {
        let mut all = Vec::new();
        for (index, unit) in self.units.iter().enumerate() {
            if self.has_pipelines() {
                all.extend(self.die_time(index).map(|at| (at, Who::Unit(index))));
            } else if let Stage::WantsChannel(at) | Stage::EndsAt(at) = unit.stage {
                all.push((unit.alarm.unwrap_or(at), Who::Unit(index)));
            }
        }
        all.extend(self.dispatch_alarm.map(|at| (at, Who::Dispatch)));
        for (lane, line) in self.link.iter().enumerate() {
            all.extend(line.front().map(|&(at, _)| (at, Who::Link(lane))));
        }
        let acknowledged = self.acknowledgements.front();
        all.extend(acknowledged.map(|&(at, _)| (at, Who::Acknowledgement)));
        all.extend(self.cores.next().map(|at| (at, Who::Cores)));
        for (stream, arrivals) in self.arrivals.iter().enumerate() {
            if let (Arrivals::Open(requests), None) = (arrivals, self.ledger.closed) {
                let first = requests.front();
                all.extend(first.map(|r| (r.arrival.0, Who::Arrival(stream))));
            }
        }
        all.into_iter().min()
    }

    fn scaled(&self, nanos: u64) -> u64 {
        (nanos as f64 * self.factor).round() as u64
    }

    fn has_link(&self) -> bool {
        self.config.host.interface != HostInterface::Free
    }

    fn link_time(&self, bytes: u64) -> u64 {
        if !self.has_link() {
            return 0;
        }
        let rate = (self.config.host.link_bytes_per_second as f64 / self.factor).round() as u128;
        (u128::from(bytes) * 1_000_000_000).div_ceil(rate) as u64
    }

    fn page_bytes(&self) -> u64 {
        self.config.geometry.page_size_bytes.into()
    }

    fn buffer_pages(&self) -> u64 {
        self.config.buffer.write_buffer_bytes / self.page_bytes()
    }

    // The host.

    fn submit(&mut self, stream: usize) {
        let request = match &mut self.arrivals[stream] {
            Arrivals::Closed(requests, _) | Arrivals::Shared(requests, ..) => requests.next(),
            Arrivals::Open(requests) => requests.pop_front(),
        };
        self.sent[stream].0 += 1;
        let index = self.requests.len();
        self.requests.push(Pending {
            request: request.unwrap(),
            stream,
            submitted: self.now,
            missing: 0,
            admitted_pages: 0,
            arrived_pages: 0,
            worked: 0,
            told: self.now,
            parts: [0; PARTS],
        });
        if self.has_link() && self.in_drive >= u64::from(self.config.host.commands) {
            self.outside.push_back(index);
        } else {
            self.enter(index);
        }
    }

    /// Streams with shares submit one command after another until none may.
    fn submit_shared(&mut self) {
        let share_of = |arrivals: &Arrivals| match arrivals {
            Arrivals::Shared(_, depth, turns) => Some((u64::from(*depth), *turns)),
            _ => None,
        };
        let may = |world: &Self, stream: usize| {
            let Some((depth, mine)) = share_of(&world.arrivals[stream]) else {
                return false;
            };
            let (sent, complete) = world.sent[stream];
            let others = world.arrivals.iter().map(share_of).zip(&world.sent);
            let mut shared = others.filter_map(|(of, sent)| Some((of?.1, sent.0)));
            let whole = |turns: Turns, sent: u64| sent - sent % turns.burst;
            let done = whole(mine, sent);
            sent - complete < depth
                && shared.all(|(of, sent)| done * of.share <= whole(of, sent) * mine.share)
        };
        while self.ledger.closed.is_none() {
            let mut streams = 0..self.arrivals.len();
            let Some(stream) = streams.find(|&stream| may(self, stream)) else {
                return;
            };
            self.submit(stream);
        }
    }

    fn enter(&mut self, index: usize) {
        self.in_drive += 1;
        self.requests[index].tell(Part::Host, self.now);
        let request = self.requests[index].request;
        let host = &self.config.host;
        match self.carried_out_as(&request) {
            CommandKind::Read if self.has_link() => {
                let time = self.scaled(host.read_command_ns);
                self.cross(time, Crossing::ReadCommand(index));
            }
            CommandKind::Read => self.start_read(index),
            CommandKind::Write if self.buffer_pages() > 0 => {
                self.wants_buffer.push_back(index);
                self.admit();
            }
            CommandKind::Write if self.has_link() => {
                let time = self.command_time(&request) + self.link_time(sent_bytes(&request));
                let pages = self.pages_of(&request).count() as u32;
                self.cross(time, Crossing::WriteData(index, 0, pages));
            }
            CommandKind::Write => self.start_write(index),
            _ => self.cross(self.command_time(&request), Crossing::NoData(index)),
        }
    }

    fn cross(&mut self, time: u64, what: Crossing) {
        let is_full_duplex = self.config.host.interface != HostInterface::Sata;
        let to_host = matches!(what, Crossing::ReadData(_));
        let lane = usize::from(to_host && is_full_duplex && self.has_link());
        let is_free = self.link[lane].is_empty() && self.link_free_at[lane] <= self.now;
        if let Crossing::ReadCommand(index) = what
            && time == 0
            && is_free
        {
            return self.start_read(index);
        }
        self.link_free_at[lane] = self.link_free_at[lane].max(self.now) + time;
        self.link[lane].push_back((self.link_free_at[lane], what));
    }

    fn crossed(&mut self, lane: usize) {
        match self.link[lane].pop_front().unwrap().1 {
            Crossing::ReadCommand(index) => self.start_read(index),
            Crossing::ReadData(index) => self.complete(index),
            Crossing::NoData(index) => self.without_data(index),
            Crossing::WriteData(index, _, _) if self.buffer_pages() == 0 => self.start_write(index),
            Crossing::WriteData(index, first, pages) => self.buffer_filled(index, first, pages),
        }
    }

    fn pages_of(&self, request: &Command) -> std::ops::Range<u64> {
        let last = request.offset_bytes + u64::from(request.size_bytes) - 1;
        request.offset_bytes / self.page_bytes()..last / self.page_bytes() + 1
    }

    /// One page of a request, as the firmware receives it.
    fn one_page(&self, request: &Command, page: u64) -> PageRun {
        let start = page * self.page_bytes();
        let end = start + self.page_bytes();
        let request_end = request.offset_bytes + u64::from(request.size_bytes);
        let partial = request.offset_bytes > start || request_end < end;
        PageRun {
            action: match self.carried_out_as(request) {
                CommandKind::Read => Action::Read,
                CommandKind::Write => Action::Write,
                _ => Action::Trim,
            },
            first: Lpn(page as u32),
            pages: 1,
            first_partial: partial,
            last_partial: partial,
            content: Content::Random,
        }
    }

    fn start_read(&mut self, index: usize) {
        self.requests[index].tell(Part::Host, self.now);
        let request = self.requests[index].request;
        let mut out = OperationBuffer::default();
        for page in self.pages_of(&request) {
            let holds = |held: &Held| u64::from(held.page) == page && !held.is_trimmed;
            if self.buffered.iter().any(holds) {
                self.journal.push(Entry::Hit);
            } else {
                let run = self.one_page(&request, page);
                self.firmware.submit(&[run], &mut out).unwrap();
            }
        }
        let all = out.operations();
        let is_awaited = |place: usize| {
            all[place].cause == Cause::Host || dependents::is_lone_lookup(all, place)
        };
        let whose = |place| match is_awaited(place) {
            true => Beneficiary::Request(index),
            false if dependents::is_looked_up(all, place) => Beneficiary::Lookup(index),
            false => Beneficiary::Nobody,
        };
        let of: Vec<_> = (0..all.len()).map(whose).collect();
        self.requests[index].missing = (0..all.len()).filter(|&p| is_awaited(p)).count();
        let pages = self.pages_of(&request).count() as u64;
        let done = self.for_pages(&request, pages, request.size_bytes.into(), true);
        let operations = all.to_vec();
        let then = move |world: &mut Self| {
            world.requests[index].tell(Part::Firmware, world.now);
            if world.requests[index].missing == 0 {
                let time = world.link_time(request.size_bytes.into());
                world.cross(time, Crossing::ReadData(index));
            }
            world.emit_all(&operations, &of);
        };
        self.firmware_works(done, all, Box::new(then));
    }

    fn start_write(&mut self, index: usize) {
        self.requests[index].tell(Part::Host, self.now);
        let request = self.requests[index].request;
        let mut out = OperationBuffer::default();
        for page in self.pages_of(&request) {
            let run = self.one_page(&request, page);
            self.firmware.submit(&[run], &mut out).unwrap();
        }
        let of_host = |operation: &Operation| operation.cause == Cause::Host;
        self.requests[index].missing = out.operations().iter().filter(|o| of_host(o)).count();
        let whose = |operation: &Operation| match of_host(operation) {
            true => Beneficiary::Request(index),
            false => Beneficiary::Nobody,
        };
        let of: Vec<_> = out.operations().iter().map(whose).collect();
        let pages = self.pages_of(&request).count() as u64;
        let done = self.for_pages(&request, pages, request.size_bytes.into(), true);
        let operations = out.operations().to_vec();
        let then = move |world: &mut Self| {
            world.requests[index].tell(Part::Firmware, world.now);
            world.emit_all(&operations, &of);
        };
        self.firmware_works(done, out.operations(), Box::new(then));
    }

    fn complete(&mut self, index: usize) {
        let pending = &mut self.requests[index];
        pending.tell(Part::Host, self.now);
        let latency = self.now - pending.submitted;
        let (request, parts, stream) = (pending.request, pending.parts, pending.stream);
        let journal = &mut self.journal;
        self.ledger
            .completion(request, stream, latency, parts, self.now, journal);
        self.in_drive -= 1;
        if let Some(next) = self.outside.pop_front() {
            self.enter(next);
        }
        let is_closed = matches!(self.arrivals[stream], Arrivals::Closed(..));
        self.sent[stream].1 += 1;
        if is_closed && self.ledger.closed.is_none() {
            self.submit(stream);
        }
        self.submit_shared();
    }
}
