//! A host-like x86-64 core: what its counters would show for a record.
//!
//! The program's actions are counted, its caches and branches are simulated, and cycles are derived
//! from both. The out-of-order core itself is not simulated: it is a rate of micro-operations and,
//! for each latency, the share that it does not hide.
//!
//! Counters are sums over all workers, as counters of a process are. Times are not: each worker has
//! a core, and a clock that waits for locks and items of others, as on a target. A record's time is
//! the advance of the furthest clock since the record before.
//!
//! Left out: all workers share one set of first caches and one predictor.

mod columns;
mod decode;
mod parameters;

pub use columns::COLUMNS;
pub use decode::{Decoded, decode};
pub use parameters::{Derived, HostParameters, HostPredictor};

use rustc_hash::FxHashMap;

use crate::cache::{AtHand, Cache, lines_of};
use crate::code::{BlockId, Control, Instruction};
use crate::columns::Column;
use crate::handed::Handed;
use crate::marks::{HOST, Mark, WORKERS};
use crate::model::Model;
use crate::predict::Directions;
use crate::predict::places::{IndirectPlaces, Returns};
use crate::predict::tagged::TaggedTables;
use crate::streams::Streams;

/// No instruction has this number.
const NO_INSTRUCTION: usize = usize::MAX;

/// Bytes that string instructions move at once, though their executor moves elements.
const STRING_BYTES: u64 = 32;

/// The core and its counts.
#[derive(Debug)]
pub struct Host {
    parameters: HostParameters,
    blocks: Vec<Block>,
    known: FxHashMap<(u64, usize), BlockId>,
    measuring: bool,
    hosting: bool,
    /// True while a worker runs and is measured, false while the host runs.
    counting: bool,
    /// The block executed last.
    before: Block,
    l1d: Cache,
    l2: Cache,
    llc: Cache,
    streams: Streams,
    directions: TaggedTables,
    returns: Returns,
    indirect: IndirectPlaces,
    at_hand: AtHand,
    loads: Pieces,
    stores: Pieces,
    /// Counts since the last mark.
    counts: Counts,
    record: Record,
    /// One for each worker, in hundredths of cycles.
    clocks: Vec<u64>,
    /// The worker that runs.
    runs: usize,
    handed: Handed<1>,
}

/// The sums of a record.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    counts: Counts,
    /// Hundredths of cycles: all, and those in which the core stalled.
    cycles: u64,
    stalled: u64,
    /// The furthest clock when it began.
    began: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    address: u64,
    end: u64,
    /// The address of its last instruction, which may be a branch.
    last: u64,
    instructions: u32,
    operations: u32,
    control: Control,
    counted: bool,
    /// It ends with an instruction that repeats itself.
    repeats: bool,
}

/// Counts an access that comes in pieces once.
#[derive(Debug)]
struct Pieces {
    instruction: usize,
    next: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    instructions: u64,
    operations: u64,
    branches: u64,
    branch_misses: u64,
    loads: u64,
    stores: u64,
    /// For loads and for stores.
    missed: [Missed; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Missed {
    in_l2: u64,
    /// Without and with prefetching.
    in_llc: [u64; 2],
    in_memory: [u64; 2],
}

impl Host {
    /// A core with empty caches.
    #[must_use]
    pub fn new(parameters: HostParameters) -> Self {
        let predictor = &parameters.predictor;
        Self {
            blocks: Vec::new(),
            known: FxHashMap::default(),
            measuring: false,
            hosting: false,
            counting: false,
            before: Block::default(),
            l1d: parameters.l1d.cache(),
            l2: parameters.l2.cache(),
            llc: parameters.llc.cache(),
            streams: Streams::new(
                parameters.prefetch.streams,
                parameters.prefetch.lines_before,
            ),
            directions: TaggedTables::new(
                predictor.base_entries,
                predictor.tagged_entries,
                &predictor.history_lengths,
            ),
            returns: Returns::new(predictor.return_entries),
            indirect: IndirectPlaces::new(predictor.indirect_entries),
            at_hand: AtHand::default(),
            loads: Pieces::new(),
            stores: Pieces::new(),
            counts: Counts::default(),
            record: Record::default(),
            clocks: vec![0; WORKERS],
            runs: 0,
            handed: Handed::default(),
            parameters,
        }
    }

    /// The branch at the end of the block before went to `place`.
    #[inline]
    fn left(&mut self, place: u64) {
        let before = &self.before;
        let right = match before.control {
            Control::Next | Control::Direct => return,
            Control::Conditional => self.directions.meet(before.last, place != before.end),
            Control::Call => {
                self.returns.call(before.end);
                return;
            }
            Control::IndirectCall => {
                self.returns.call(before.end);
                self.indirect.meet(before.last, place)
            }
            Control::Indirect => self.indirect.meet(before.last, place),
            Control::Return => self.returns.meet(place),
        };
        self.counts.branch_misses += u64::from(!right && before.counted);
    }

    #[inline(never)]
    fn touch_both(&mut self, first: u64, last: u64, store: bool) {
        if !self.at_hand.is(first, store) {
            self.touch(first, store);
        }
        if last != first {
            self.touch(last, store);
        }
    }

    fn touch(&mut self, line: u64, store: bool) {
        self.at_hand.take(line, store, &self.l1d);
        if self.l1d.use_line(line).is_some() {
            return;
        }
        self.l1d.insert(line, false);
        let missed = &mut self.counts.missed[usize::from(store)];
        if self.l2.use_line(line).is_some() {
            missed.in_l2 += 1;
            return;
        }
        self.l2.insert(line, false);
        let coming = self.streams.meet(line);
        let counter = if self.llc.use_line(line).is_some() {
            &mut missed.in_llc
        } else {
            self.llc.insert(line, false);
            &mut missed.in_memory
        };
        counter[usize::from(coming)] += 1;
    }

    /// Switches to a worker's core, or to the host, which has none.
    fn turn_to(&mut self, worker: usize) {
        self.hosting = worker == HOST;
        self.counting = self.measuring && !self.hosting;
        if self.hosting {
            self.before = Block::default();
        } else {
            self.runs = worker % WORKERS;
        }
    }

    fn begin(&mut self) {
        self.measuring = true;
        self.counting = !self.hosting;
        self.counts = Counts::default();
        self.record = Record::default();
        self.clocks.fill(0);
        self.handed = Handed::default();
    }

    /// Adds the running worker's events to its clock and to the record.
    fn settle(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        let derived = &self.parameters.derived;
        let [loads, stores] = counts.missed;
        // The part that is not hidden.
        let waited = loads.cycles(derived) * derived.exposed_percent
            + stores.cycles(derived) * derived.exposed_store_percent;
        let stalled = 100 * counts.branch_misses * derived.mispredict_cycles + waited;
        // At most one branch per cycle is fetched past.
        let steady = (counts.all_operations() * 10_000 / derived.micro_operations_per_100_cycles)
            .max(100 * counts.branches);
        self.clocks[self.runs] += steady + stalled;
        self.record.cycles += steady + stalled;
        self.record.stalled += stalled;
        self.record.counts.add(&counts);
    }

    fn finish(&mut self, values: &mut Vec<u64>) {
        let now = self.clocks.iter().copied().max().unwrap_or(0);
        let record = std::mem::take(&mut self.record);
        self.record.began = now;
        let hz = self.parameters.frequency_hz;
        // Only the end points are rounded, so that the times of records add up.
        let time = |hundredths: u64| scaled(hundredths, 10_000_000, hz);
        let cycles = record.cycles / 100;
        let counts = &record.counts;
        let [loads, stores] = counts.missed;
        let references = [loads, stores].map(|missed| missed.beyond_l2());
        let memory = [loads, stores].map(|missed| missed.in_memory.iter().sum::<u64>());
        values.extend([
            cycles,
            counts.instructions,
            counts.all_operations(),
            counts.branches,
            counts.branch_misses,
            scaled(cycles, self.parameters.bus_hz, hz),
            counts.loads,
            counts.stores,
            references.iter().sum(),
            memory.iter().sum(),
            record.stalled / 100,
            references.iter().sum::<u64>() + loads.in_l2 + stores.in_l2,
            stores.in_l2 + stores.beyond_l2(),
            loads.in_memory[1] + stores.in_memory[1],
            time(now) - time(record.began),
        ]);
    }
}

impl Model for Host {
    fn columns(&self) -> &'static [Column] {
        &COLUMNS
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(&self.parameters).unwrap_or_default()
    }

    fn translate(&mut self, instructions: &[Instruction<'_>], counted: bool) -> BlockId {
        let block = Block::of(instructions, counted);
        let blocks = &mut self.blocks;
        let new = || {
            blocks.push(block);
            blocks.len() - 1
        };
        let id = *self
            .known
            .entry((block.address, instructions.len()))
            .or_insert_with(new);
        // The program may have written other code there.
        self.blocks[id] = block;
        id
    }

    #[inline]
    fn enter(&mut self, block: BlockId) {
        if !self.counting {
            return;
        }
        let Some(&block) = self.blocks.get(block) else {
            return;
        };
        // An instruction that repeats itself is entered many times and counts once.
        if self.before.repeats && self.before.last == block.address {
            let again = self.before.last == block.last;
            self.before = block;
            if again {
                return;
            }
            self.counts.instructions = self.counts.instructions.saturating_sub(1);
        } else {
            self.left(block.address);
            self.before = block;
        }
        self.loads.instruction = NO_INSTRUCTION;
        self.stores.instruction = NO_INSTRUCTION;
        if block.counted {
            self.counts.instructions += u64::from(block.instructions);
            self.counts.operations += u64::from(block.operations);
            self.counts.branches += u64::from(block.control.is_branch());
        }
    }

    #[inline]
    fn access(&mut self, instruction: usize, address: u64, bytes: u64, store: bool) {
        if !self.counting {
            return;
        }
        let string = self.before.repeats;
        if store {
            self.counts.stores +=
                u64::from(self.stores.is_new(instruction, address, bytes, string));
        } else {
            self.counts.loads += u64::from(self.loads.is_new(instruction, address, bytes, string));
        }
        let (first, last) = lines_of(address, bytes);
        if first != last || !self.at_hand.is(first, store) {
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
        let asked = [self.clocks[self.runs]];
        match mark {
            Mark::Begin => self.begin(),
            Mark::End => (self.measuring, self.counting) = (false, false),
            Mark::Record => self.finish(values),
            Mark::Worker(worker) => self.turn_to(worker),
            Mark::Taken(lock) => [self.clocks[self.runs]] = self.handed.take(lock, asked),
            Mark::Released(lock) => [self.clocks[self.runs]] = self.handed.release(lock, asked),
            Mark::Put(queue) => self.handed.put(queue, asked),
            Mark::Got(queue) => [self.clocks[self.runs]] = self.handed.get(queue, asked),
        }
    }
}

impl Block {
    fn of(instructions: &[Instruction<'_>], counted: bool) -> Self {
        let mut block = Self {
            counted,
            instructions: instructions.len() as u32,
            ..Self::default()
        };
        let mut compared = false;
        for (number, instruction) in instructions.iter().enumerate() {
            if number == 0 {
                block.address = instruction.address;
            }
            let decoded = decode(instruction.bytes);
            // A compare and the branch after it fuse into one.
            let fused = compared && decoded.control == Control::Conditional;
            block.operations += decoded.operations - u32::from(fused);
            compared = decoded.compares;
            block.control = decoded.control;
            block.repeats = decoded.repeats;
            block.last = instruction.address;
            block.end = instruction.address + instruction.bytes.len() as u64;
        }
        block
    }
}

impl Pieces {
    fn new() -> Self {
        Self {
            instruction: NO_INSTRUCTION,
            next: 0,
        }
    }

    #[inline]
    fn is_new(&mut self, instruction: usize, address: u64, bytes: u64, string: bool) -> bool {
        let goes_on = instruction == self.instruction && address == self.next;
        self.instruction = instruction;
        self.next = address.wrapping_add(bytes);
        !goes_on || string && address.is_multiple_of(STRING_BYTES)
    }
}

impl Counts {
    /// Micro-operations: the instructions' own, one for each load, two for each store.
    fn all_operations(&self) -> u64 {
        self.operations + self.loads + 2 * self.stores
    }

    fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.operations += other.operations;
        self.branches += other.branches;
        self.branch_misses += other.branch_misses;
        self.loads += other.loads;
        self.stores += other.stores;
        for (missed, more) in self.missed.iter_mut().zip(&other.missed) {
            missed.add(more);
        }
    }
}

impl Missed {
    fn add(&mut self, other: &Self) {
        self.in_l2 += other.in_l2;
        for coming in 0..2 {
            self.in_llc[coming] += other.in_llc[coming];
            self.in_memory[coming] += other.in_memory[coming];
        }
    }

    fn beyond_l2(&self) -> u64 {
        self.in_llc.iter().chain(&self.in_memory).sum()
    }

    fn cycles(&self, derived: &Derived) -> u64 {
        self.in_l2 * derived.l2_cycles
            + self.in_llc[0] * derived.llc_cycles
            + self.in_llc[1] * derived.llc_streamed_cycles
            + self.in_memory[0] * derived.memory_cycles
            + self.in_memory[1] * derived.streamed_cycles
    }
}

/// Converts a count at rate `from` to rate `to`.
pub(crate) fn scaled(count: u64, to: u64, from: u64) -> u64 {
    (u128::from(count) * u128::from(to) / u128::from(from)) as u64
}
