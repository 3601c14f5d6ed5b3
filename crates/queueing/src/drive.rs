//! A drive made of a link, a buffer and units, for any source of requests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::access::Access;
use crate::logs::Logs;
use crate::moment::{Log, Moment, Step};
use crate::{COSTS, Cost, Layout};

/// The unit of sizes on the link.
pub const LINK_PAGE_BYTES: f64 = 4096.0;
/// The most pages of a request that are simulated. In larger requests each page stands for several.
const MOST_PAGES: u64 = 256;

/// When each part of the drive becomes free.
pub struct Drive {
    pub layout: Layout,
    pub log: Log,
    /// For each member, the link to the host and the link to the drive.
    links: Vec<[Moment; 2]>,
    /// For each unit, its reads and, where reads do not wait for them, its programs.
    reads: Vec<Moment>,
    programs: Vec<Moment>,
    channels: Vec<Moment>,
    /// The channel of each unit.
    channel_of: Vec<usize>,
    /// For each member, when the pages in its buffer are programmed.
    buffers: Vec<BinaryHeap<Reverse<Moment>>>,
    logs: Logs,
    /// The state in which a workload with writes begins; nothing before the first.
    full: Option<Full>,
    /// The units of a member.
    each: usize,
    /// The unit of a member whose turn it is.
    turn: usize,
    /// When the previous read arrived.
    read_before: Moment,
    /// For each member, when the current command has arrived, and its pages.
    commands: Vec<(Moment, f64)>,
}

/// A state with full buffers.
struct Full {
    units: Vec<Moment>,
    buffers: Vec<BinaryHeap<Reverse<Moment>>>,
    /// What led there.
    steps: Vec<Step>,
}

impl Drive {
    pub fn new(layout: &Layout, costs: &[f64; COSTS]) -> Self {
        let of = |count: usize| vec![Moment::ZERO; count];
        Self {
            layout: *layout,
            log: Log::new(*costs),
            links: vec![[Moment::ZERO; 2]; layout.members],
            reads: of(layout.units),
            programs: of(layout.units),
            channels: of(layout.channels),
            channel_of: (0..layout.units)
                .map(|unit| unit.checked_rem(layout.channels).unwrap_or(0))
                .collect(),
            buffers: vec![BinaryHeap::new(); layout.members],
            logs: Logs::new(layout.units, layout.log_blocks, layout.block_pages),
            full: None,
            each: layout.units / layout.members,
            turn: 0,
            read_before: Moment::ZERO,
            commands: vec![(Moment::ZERO, 0.0); layout.members],
        }
    }

    pub fn reset(&mut self, writes: bool) {
        self.links.fill([Moment::ZERO; 2]);
        self.reads.fill(Moment::ZERO);
        self.programs.fill(Moment::ZERO);
        self.channels.fill(Moment::ZERO);
        self.logs.clear();
        self.turn = 0;
        self.read_before = Moment::ZERO;
        self.log.clear();
        for buffer in &mut self.buffers {
            buffer.clear();
        }
        if writes {
            self.fill();
        }
    }

    /// Fills the buffers, as they are when a workload with writes begins.
    fn fill(&mut self) {
        let full = self.full.take().unwrap_or_else(|| self.filled());
        self.log.go_on_after(&full.steps);
        self.buffers.clone_from(&full.buffers);
        let written = if self.layout.reads_first {
            &mut self.programs
        } else {
            &mut self.reads
        };
        written.clone_from(&full.units);
        self.full = Some(full);
    }

    /// Programs as many pages as the buffers hold.
    fn filled(&mut self) -> Full {
        self.log.clear();
        let mut units = vec![Moment::ZERO; self.layout.units];
        let mut buffers = vec![BinaryHeap::new(); self.layout.members];
        for (units, buffer) in units.chunks_mut(self.each).zip(&mut buffers) {
            for page in 0..self.layout.buffer_pages {
                let unit = &mut units[page % self.each];
                *unit = self.log.after(*unit, Cost::Program, 1.0);
                buffer.push(Reverse(*unit));
            }
        }
        Full {
            units,
            buffers,
            steps: self.log.steps().to_vec(),
        }
    }

    /// Sets the costs of later steps.
    pub fn set_costs(&mut self, costs: [f64; COSTS]) {
        self.log.set_costs(costs);
        self.full = None;
    }

    /// Puts each member's pages of a request into `commands`.
    fn split(&mut self, first: u64, last: u64) {
        let pages = (last - first + 1) as f64;
        if let [only] = self.commands.as_mut_slice() {
            only.1 = pages;
            return;
        }
        for command in &mut self.commands {
            command.1 = 0.0;
        }
        let (count, weight) = looked_at(first, last);
        let (mut page, end) = (first, first + count);
        while page < end {
            let (member, pages) = self.layout.on_one_member(page, end);
            self.commands[member].1 += weight * pages as f64;
            page += pages;
        }
    }

    /// Sends a command, and the data of a write, to every member that it concerns.
    fn command(&mut self, at: Moment, access: &Access, written_bytes: Option<f64>) {
        self.split(access.first, access.last);
        let pages = (access.last - access.first + 1) as f64;
        let way = usize::from(self.layout.duplex && written_bytes.is_some());
        for (command, links) in self.commands.iter_mut().zip(&mut self.links) {
            if command.1 == 0.0 {
                continue;
            }
            let mut sent = at.or_later(links[way]);
            sent = match written_bytes {
                None => self.log.after(sent, Cost::LinkRead, 1.0),
                Some(bytes) => {
                    let sent = self.log.after(sent, Cost::LinkWrite, 1.0);
                    let link_pages = bytes / LINK_PAGE_BYTES * command.1 / pages;
                    self.log.after(sent, Cost::LinkWritePage, link_pages)
                }
            };
            links[way] = sent;
            command.0 = sent;
        }
    }

    /// Reads the pages. Returns when all have arrived.
    pub fn read(&mut self, at: Moment, access: &Access) -> Moment {
        self.command(at, access, None);
        let mut done = at;
        let (count, weight) = looked_at(access.first, access.last);
        let mut place = self.layout.place(access.first);
        for page in access.first..access.first + count {
            let again = access.again && page == access.first;
            if page > access.first {
                place = self.layout.next_place(place, page, self.each);
            }
            let (member, unit) = place;
            let arrived = self.commands[member].0;
            if again && self.layout.caches_reads {
                done = done.or_later(self.log.after(arrived, Cost::ReadAgain, 1.0));
                continue;
            }
            let is_ahead = self.layout.reads_ahead && access.follows;
            let begin = if is_ahead { self.read_before } else { arrived };
            let begin = begin.or_later(self.reads[unit]);
            let cost = if again { Cost::ReadAgain } else { Cost::Read };
            let mut read = self.log.after(begin, cost, weight);
            if self.layout.reads_first && self.programs[unit].ns > read.ns {
                read = self.log.after(read, Cost::ReadWaits, 1.0);
                self.programs[unit] = self.log.after(self.programs[unit], Cost::Read, weight);
            }
            self.reads[unit] = read;
            done = done.or_later(self.channel(arrived, read, unit, weight));
        }
        self.read_before = at;
        done
    }

    /// Transfers the data of a read to the host.
    pub fn read_data(&mut self, at: Moment, first: u64, last: u64, bytes: f64) -> Moment {
        self.split(first, last);
        let pages = (last - first + 1) as f64;
        let mut done = at;
        for (command, links) in self.commands.iter().zip(&mut self.links) {
            if command.1 > 0.0 {
                let link_pages = bytes / LINK_PAGE_BYTES * command.1 / pages;
                links[0] = self
                    .log
                    .after(at.or_later(links[0]), Cost::LinkReadPage, link_pages);
                done = done.or_later(links[0]);
            }
        }
        self.log.after(done, Cost::PathRead, 1.0)
    }

    /// Takes the pages into the buffer. Returns when the write completes.
    pub fn write(&mut self, at: Moment, access: &Access, bytes: f64) -> Moment {
        self.command(at, access, Some(bytes));
        self.wait_for_room();
        let mut done = at;
        for command in &self.commands {
            if command.1 > 0.0 {
                done = done.or_later(command.0);
            }
        }
        let (count, weight) = looked_at(access.first, access.last);
        let mut place = self.layout.place(access.first);
        for page in access.first..access.first + count {
            if page > access.first {
                place = self.layout.next_place(place, page, self.each);
            }
            let programmed = self.program(access, page, place, (count, weight));
            if self.layout.buffer_pages == 0 {
                done = done.or_later(programmed);
            }
        }
        self.log.after(done, Cost::PathWrite, 1.0)
    }

    /// Lets the command wait until the buffers have room for its pages.
    fn wait_for_room(&mut self) {
        let most = self.layout.buffer_pages;
        for (command, buffer) in self.commands.iter_mut().zip(&mut self.buffers) {
            let pages = (command.1.ceil() as usize).min(most);
            while buffer.len() + pages > most {
                let Some(Reverse(programmed)) = buffer.pop() else {
                    break;
                };
                command.0 = command.0.or_later(programmed);
            }
        }
    }

    /// Programs one page of a write. Returns when it is done.
    fn program(
        &mut self,
        access: &Access,
        page: u64,
        (member, mut unit): (usize, usize),
        (count, weight): (u64, f64),
    ) -> Moment {
        let (is_first, is_last) = (page == access.first, page + 1 == access.first + count);
        let again = access.again && is_first;
        let replaces = again && self.layout.merges;
        if self.layout.writes_in_turn {
            if !replaces {
                self.turn += 1;
                if self.turn == self.each {
                    self.turn = 0;
                }
            }
            unit = member * self.each + self.turn;
        }
        let arrived = self.commands[member].0;
        let arrived = self.channel(arrived, arrived, unit, weight);
        let mut begin = arrived.or_later(self.written(unit));
        if self.logs.are_any() && !replaces {
            let copied = self.logs.write(unit, self.layout.page_in_unit(page));
            if copied > 0.0 {
                begin = self.log.after(begin, Cost::Merge, copied);
            }
        }
        let done = if again {
            self.log.after(begin, Cost::ProgramAgain, 1.0)
        } else {
            let mut done = self.log.after(begin, Cost::Program, weight);
            if access.is_random {
                done = self.log.after(done, Cost::ProgramRandom, weight);
            }
            if (is_first && access.partial.0) || (is_last && access.partial.1) {
                done = self.log.after(done, Cost::Partial, 1.0);
            }
            done
        };
        self.set_written(unit, done);
        if !replaces && self.layout.buffer_pages > 0 {
            self.buffers[member].push(Reverse(done));
        }
        done
    }

    /// When a page that is at its unit at `at` has also crossed the channel.
    fn channel(&mut self, asked: Moment, at: Moment, unit: usize, weight: f64) -> Moment {
        if self.channels.is_empty() {
            return at;
        }
        // The channel is promised at the time of asking, so no page waits for one that has not
        // arrived yet.
        let place = self.channel_of[unit];
        let begin = asked.or_later(self.channels[place]);
        let crossed = self.log.after(begin, Cost::Channel, weight);
        self.channels[place] = crossed;
        at.or_later(crossed)
    }

    /// When a unit has programmed everything it was given.
    fn written(&self, unit: usize) -> Moment {
        if self.layout.reads_first {
            self.programs[unit]
        } else {
            self.reads[unit]
        }
    }

    fn set_written(&mut self, unit: usize, done: Moment) {
        if self.layout.reads_first {
            self.programs[unit] = done;
        } else {
            self.reads[unit] = done;
        }
    }
}

/// How many pages of a request are simulated, and how many each stands for.
fn looked_at(first: u64, last: u64) -> (u64, f64) {
    let pages = last - first + 1;
    let count = pages.min(MOST_PAGES);
    (count, pages as f64 / count as f64)
}
