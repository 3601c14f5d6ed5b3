//! Several in-order cores in virtual time: how long a record takes on them.
//!
//! ```text
//!  blocks ──> decode ──> pipeline: cycles of a block after the one before, kept
//!                             │
//!  accesses ──> core's L1 ──> shared L2 ──> memory: misses counted
//!                             │
//!  branches ──> core's predictor: mispredicts counted
//!                             v
//!  marks ──> core's clock += cycles + misses x penalties; locks and items are waited for
//! ```
//!
//! A logical worker runs on one core, and each core has its own clock. Every clock is kept three
//! times, with the low, the likely and the high penalties. A record's time is the advance of the
//! furthest clock since the record before.

mod columns;
pub mod core;
pub mod decode;
mod parameters;
pub mod pipeline;

pub use columns::COLUMNS;
pub use parameters::{Band, Penalties, Pipeline, TargetParameters, TargetPredictor};

use rustc_hash::FxHashMap;

use self::core::{Core, Costs, Met, Miss, Who};
use self::decode::{Decoded, decode};
use self::pipeline::Issue;
use crate::cache::{Cache, LINE_BYTES, lines_of};
use crate::code::{BlockId, Control, Instruction};
use crate::columns::Column;
use crate::handed::Handed;
use crate::host::scaled;
use crate::marks::{HOST, Mark};
use crate::model::Model;
use crate::predict::places::Returns;

const NO_BLOCK: u32 = u32::MAX;

/// Low, likely and high.
const BAND: usize = 3;
/// One time for each of them.
pub type Times = crate::handed::Times<BAND>;

/// The cores and what they share.
#[derive(Debug)]
pub struct Target {
    parameters: TargetParameters,
    costs: Costs,
    blocks: Vec<Block>,
    code: Vec<Vec<Decoded>>,
    known: FxHashMap<(u64, usize), BlockId>,
    more_edges: FxHashMap<(u32, u32), u32>,
    measuring: bool,
    hosting: bool,
    /// True while a worker runs and is measured, false while the host runs.
    counting: bool,
    /// The block executed last.
    before: u32,
    cores: Vec<Core>,
    /// The core that runs.
    runs: usize,
    l2: Cache,
    /// All workers' calls come from one thread of the program, so all cores share the return stack.
    returns: Returns,
    handed: Handed<BAND>,
    record: Record,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    address: u64,
    end: u64,
    last: u64,
    first_line: u64,
    last_line: u64,
    /// The blocks that came next, and the cycles that they took then.
    edges: [(u32, u32); 2],
    /// Cycles of the block after an unknown one.
    alone: u32,
    instructions: u32,
    loads: u16,
    stores: u16,
    control: Control,
    counted: bool,
}

/// The sums of a record.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    met: Met,
    lock_wait: u64,
    queue_wait: u64,
    lock_waits: u64,
    /// The furthest clock when it began.
    began: Times,
}

impl Target {
    /// Cores with empty caches.
    #[must_use]
    pub fn new(parameters: TargetParameters) -> Self {
        Self {
            costs: Costs::new(&parameters.penalty),
            blocks: Vec::new(),
            code: Vec::new(),
            known: FxHashMap::default(),
            more_edges: FxHashMap::default(),
            measuring: false,
            hosting: false,
            counting: false,
            before: NO_BLOCK,
            cores: (0..parameters.cores)
                .map(|_| Core::new(&parameters))
                .collect(),
            runs: 0,
            l2: parameters.l2.cache(),
            returns: Returns::new(parameters.predictor.return_entries),
            handed: Handed::default(),
            record: Record::default(),
            parameters,
        }
    }

    /// Cycles of block `next` after block `before`; computed where this pair is new.
    #[cold]
    fn edge(&mut self, before: u32, next: u32) -> u32 {
        if let Some(cycles) = self.more_edges.get(&(before, next)) {
            return *cycles;
        }
        let (first, second) = (self.blocks[before as usize], self.blocks[next as usize]);
        let taken = first.control.is_branch() && second.address != first.end;
        let mut issue = Issue::new(&self.parameters.pipeline);
        issue.block(&self.code[before as usize]);
        let start = issue.cycles();
        if taken {
            issue.branch();
        }
        issue.block(&self.code[next as usize]);
        let cycles = (issue.cycles() - start) as u32;
        let edges = &mut self.blocks[before as usize].edges;
        if let Some(free) = edges.iter_mut().find(|(block, _)| *block == NO_BLOCK) {
            *free = (next, cycles);
        } else {
            self.more_edges.insert((before, next), cycles);
        }
        cycles
    }

    #[inline]
    fn count(&mut self, block: BlockId, cycles: u32) {
        let (now, core) = (&self.blocks[block], &mut self.cores[self.runs]);
        if !now.counted {
            return;
        }
        core.met.pipeline += u64::from(cycles);
        core.met.instructions += u64::from(now.instructions);
        core.met.branches += u64::from(now.control.is_branch());
        core.met.loads += u64::from(now.loads);
        core.met.stores += u64::from(now.stores);
        let (first, last) = (now.first_line, now.last_line);
        if core.fetched != first {
            self.fetch(first);
        }
        for line in first + 1..=last {
            self.fetch(line);
        }
    }

    #[inline(never)]
    fn fetch(&mut self, line: u64) {
        let core = &mut self.cores[self.runs];
        core.fetched = line;
        if core.l1i.use_line(line).is_some() {
            return;
        }
        core.l1i.insert(line, false);
        let miss = from_l2(&mut self.l2, core, line);
        self.cores[self.runs].met.miss(Who::Fetch, miss);
    }

    #[inline(never)]
    fn touch_both(&mut self, first: u64, last: u64, store: bool) {
        if !self.cores[self.runs].at_hand.is(first, store) {
            self.touch(first, store);
        }
        if last != first {
            self.touch(last, store);
        }
    }

    fn touch(&mut self, line: u64, store: bool) {
        let who = if store { Who::Store } else { Who::Load };
        let core = &mut self.cores[self.runs];
        core.at_hand.take(line, store, &core.l1d);
        if let Some(held) = core.l1d.use_line(line) {
            if store && !held.exclusive {
                core.l1d.set_exclusive(line, true);
                core.met.miss(who, Miss::Snoop);
                self.ask_others(line, true);
            }
            return;
        }
        let (shared, given) = self.ask_others(line, store);
        let core = &mut self.cores[self.runs];
        core.l1d.insert(line, store || !shared);
        let miss = if given {
            Miss::Snoop
        } else {
            from_l2(&mut self.l2, core, line)
        };
        core.met.miss(who, miss);
    }

    /// Asks the other cores about a load or store: whether one has the line, and had it exclusively.
    fn ask_others(&mut self, line: u64, store: bool) -> (bool, bool) {
        let (mut shared, mut given) = (false, false);
        for (number, other) in self.cores.iter_mut().enumerate() {
            if number != self.runs
                && let Some(held) = other.asked_by_another(line, store)
            {
                shared = true;
                given |= held.exclusive;
            }
        }
        (shared, given)
    }

    /// Adds the running core's events to its clock and to the record.
    fn settle(&mut self) {
        let core = &mut self.cores[self.runs];
        let met = std::mem::take(&mut core.met);
        let cycles = self.costs.cycles(&met);
        for (clock, cycles) in core.clock.iter_mut().zip(cycles) {
            *clock += cycles;
        }
        self.record.met.add(&met);
    }

    fn furthest(&self) -> Times {
        std::array::from_fn(|value| {
            self.cores
                .iter()
                .map(|core| core.clock[value])
                .max()
                .unwrap_or(0)
        })
    }

    fn finish(&mut self, values: &mut Vec<u64>) {
        self.settle();
        let now = self.furthest();
        let record = std::mem::take(&mut self.record);
        self.record.began = now;
        let hz = self.parameters.frequency_hz;
        // Only the end points are rounded, so that the times of records add up.
        let time = |value: usize| {
            scaled(now[value], 1_000_000_000, hz) - scaled(record.began[value], 1_000_000_000, hz)
        };
        let met = &record.met;
        let parts = self.costs.parts(met);
        let missed = |miss: Miss| met.missed.iter().map(|of| of[miss as usize]).sum::<u64>();
        values.extend([
            time(0),
            time(1),
            time(2),
            self.costs.cycles(met)[1],
            parts.pipeline,
            parts.near,
            parts.memory,
            parts.mispredicts,
            record.lock_wait,
            record.queue_wait,
            met.instructions,
            met.branches,
            met.mispredicts,
            met.loads,
            met.stores,
            met.of(Who::Load),
            met.of(Who::Store),
            met.of(Who::Fetch),
            missed(Miss::L2),
            missed(Miss::Memory),
            missed(Miss::Streamed),
            missed(Miss::Snoop),
            record.lock_waits,
        ]);
    }

    /// Switches to a worker's core, or to the host, which has none.
    fn turn_to(&mut self, worker: usize) {
        self.hosting = worker == HOST;
        self.counting = self.measuring && !self.hosting;
        if self.hosting {
            self.before = NO_BLOCK;
        } else {
            self.runs = worker % self.cores.len();
        }
    }

    fn begin(&mut self) {
        self.measuring = true;
        self.counting = !self.hosting;
        self.before = NO_BLOCK;
        for core in &mut self.cores {
            core.met = Met::default();
            core.clock = [0; BAND];
        }
        self.handed = Handed::default();
        self.record = Record::default();
    }
}

fn from_l2(l2: &mut Cache, core: &mut Core, line: u64) -> Miss {
    if l2.use_line(line).is_some() {
        return Miss::L2;
    }
    l2.insert(line, false);
    if core.streams.meet(line) {
        Miss::Streamed
    } else {
        Miss::Memory
    }
}

impl Model for Target {
    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(&self.parameters).unwrap_or_default()
    }

    fn translate(&mut self, instructions: &[Instruction<'_>], counted: bool) -> BlockId {
        let code: Vec<Decoded> = instructions
            .iter()
            .map(|one| decode(word(one.bytes)))
            .collect();
        let address = instructions.first().map_or(0, |one| one.address);
        let key = (address, instructions.len());
        if let Some(&id) = self.known.get(&key)
            && self.code[id] == code
        {
            return id;
        }
        let id = self.blocks.len();
        let mut issue = Issue::new(&self.parameters.pipeline);
        issue.branch();
        issue.block(&code);
        self.blocks.push(Block::of(
            instructions,
            &code,
            issue.cycles() as u32,
            counted,
        ));
        self.code.push(code);
        self.known.insert(key, id);
        id
    }

    #[inline]
    fn enter(&mut self, block: BlockId) {
        if !self.counting {
            return;
        }
        let (Some(now), Some(core)) = (self.blocks.get(block), self.cores.get_mut(self.runs))
        else {
            return;
        };
        let id = block as u32;
        let mut cycles = now.alone;
        if let Some(before) = self.blocks.get(self.before as usize) {
            let right = before.left(core, &mut self.returns, now.address);
            core.met.mispredicts += u64::from(!right && before.counted);
            cycles = if before.edges[0].0 == id {
                before.edges[0].1
            } else if before.edges[1].0 == id {
                before.edges[1].1
            } else if before.leads_anywhere() {
                now.alone
            } else {
                self.edge(self.before, id)
            };
        }
        self.before = id;
        self.count(block, cycles);
    }

    #[inline]
    fn access(&mut self, _: usize, address: u64, bytes: u64, store: bool) {
        if !self.counting {
            return;
        }
        let (first, last) = lines_of(address, bytes);
        let core = &self.cores[self.runs];
        if first != last || !core.at_hand.is(first, store) {
            self.touch_both(first, last, store);
        }
    }

    fn mark(&mut self, mark: Mark, values: &mut Vec<u64>) {
        if !self.measuring {
            match mark {
                Mark::Begin => self.begin(),
                Mark::Worker(worker) => self.turn_to(worker),
                _ => {}
            }
            return;
        }
        self.settle();
        let asked = self.cores[self.runs].clock;
        match mark {
            Mark::Begin => self.begin(),
            Mark::End => (self.measuring, self.counting) = (false, false),
            Mark::Record => self.finish(values),
            Mark::Worker(worker) => self.turn_to(worker),
            Mark::Taken(lock) => {
                let had = self.handed.take(lock, asked);
                self.cores[self.runs].clock = had;
                self.record.lock_wait += had[1] - asked[1];
                self.record.lock_waits += u64::from(had[1] > asked[1]);
            }
            Mark::Released(lock) => {
                let now = self.handed.release(lock, asked);
                self.cores[self.runs].clock = now;
                self.record.lock_wait += now[1] - asked[1];
                self.record.lock_waits += u64::from(now[1] > asked[1]);
            }
            Mark::Put(queue) => self.handed.put(queue, asked),
            Mark::Got(queue) => {
                let had = self.handed.get(queue, asked);
                self.cores[self.runs].clock = had;
                self.record.queue_wait += had[1] - asked[1];
            }
        }
    }
}

impl Block {
    /// The branch at the end of the block went to `place`. True if it was predicted.
    #[inline]
    fn left(&self, core: &mut Core, returns: &mut Returns, place: u64) -> bool {
        if self.control == Control::Conditional {
            return core.conditional(self.last, place != self.end);
        }
        match self.control {
            Control::Next | Control::Direct | Control::Conditional => true,
            Control::Call => {
                returns.call(self.end);
                true
            }
            Control::IndirectCall => {
                returns.call(self.end);
                core.indirect(self.last, place)
            }
            Control::Indirect => core.indirect(self.last, place),
            Control::Return => returns.meet(place),
        }
    }

    /// Too many blocks may follow it to keep the cost of each.
    fn leads_anywhere(&self) -> bool {
        matches!(
            self.control,
            Control::Return | Control::Indirect | Control::IndirectCall
        )
    }

    fn of(instructions: &[Instruction<'_>], code: &[Decoded], alone: u32, counted: bool) -> Self {
        let address = instructions.first().map_or(0, |one| one.address);
        let last = instructions.last().map_or(0, |one| one.address);
        let count = |of: fn(&Decoded) -> bool| code.iter().filter(|one| of(one)).count() as u16;
        Self {
            address,
            end: last + 4,
            last,
            first_line: address / LINE_BYTES,
            last_line: last / LINE_BYTES,
            edges: [(NO_BLOCK, 0); 2],
            alone,
            instructions: code.len() as u32,
            loads: count(|one| one.loads),
            stores: count(|one| one.stores),
            control: code.last().map_or(Control::Next, |one| one.control),
            counted,
        }
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}
