//! A core: its caches and predictors, the events it counted, and its clock.

use super::Times;
use super::parameters::{Penalties, TargetParameters};
use crate::cache::{AtHand, Cache, Held};
use crate::predict::Directions;
use crate::predict::pattern::PatternTable;
use crate::predict::places::IndirectPlaces;
use crate::streams::Streams;

/// What costs cycles in addition to the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The shared cache has the line.
    L2,
    /// Memory has it.
    Memory,
    /// Memory has it, and the prefetcher foresaw it.
    Streamed,
    /// Another core has it, or must give it up.
    Snoop,
}

/// Kinds of misses.
pub const MISSES: usize = 4;

/// What a core counted since its clock was last brought up to date.
#[derive(Clone, Copy, Debug, Default)]
pub struct Met {
    /// Cycles of the pipeline.
    pub pipeline: u64,
    /// Instructions.
    pub instructions: u64,
    /// Branches.
    pub branches: u64,
    /// Branches that were mispredicted.
    pub mispredicts: u64,
    /// Instructions that load.
    pub loads: u64,
    /// Instructions that store.
    pub stores: u64,
    /// Lines that missed, by [`Miss`]: for loads, for stores, for instructions.
    pub missed: [[u64; MISSES]; 3],
}

/// Who missed a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A load.
    Load,
    /// A store.
    Store,
    /// The core itself, for instructions.
    Fetch,
}

impl Met {
    #[inline]
    pub(super) fn miss(&mut self, who: Who, miss: Miss) {
        self.missed[who as usize][miss as usize] += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.pipeline += other.pipeline;
        self.instructions += other.instructions;
        self.branches += other.branches;
        self.mispredicts += other.mispredicts;
        self.loads += other.loads;
        self.stores += other.stores;
        for (mine, theirs) in self
            .missed
            .iter_mut()
            .flatten()
            .zip(other.missed.iter().flatten())
        {
            *mine += theirs;
        }
    }

    /// Lines that missed for `who`.
    pub(super) fn of(&self, who: Who) -> u64 {
        self.missed[who as usize].iter().sum()
    }
}

/// The cost of each event, for each value of the band.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    missed: [[[u64; MISSES]; 3]; 3],
    mispredict: Times,
}

/// The cycles of the counted events, by cause.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// Issuing instructions.
    pub pipeline: u64,
    /// The shared cache and other cores.
    pub near: u64,
    /// Memory.
    pub memory: u64,
    /// Mispredicted branches.
    pub mispredicts: u64,
}

impl Costs {
    /// The costs from a target's penalties.
    #[must_use]
    pub fn new(penalty: &Penalties) -> Self {
        let of_value = |value: usize| {
            let load = [
                penalty.l2_cycles,
                penalty.memory_cycles,
                penalty.streamed_cycles,
                penalty.snoop_cycles,
            ]
            .map(|band| band.values()[value]);
            let percent = penalty.stored_miss_percent.values()[value];
            [load, load.map(|cycles| cycles * percent / 100), load]
        };
        Self {
            missed: std::array::from_fn(of_value),
            mispredict: penalty.mispredict_cycles.values(),
        }
    }

    /// The cycles of the counted events.
    #[must_use]
    pub fn cycles(&self, met: &Met) -> Times {
        std::array::from_fn(|value| {
            let costs = self.missed[value].iter().flatten();
            let missed: u64 = met
                .missed
                .iter()
                .flatten()
                .zip(costs)
                .map(|(count, cost)| count * cost)
                .sum();
            met.pipeline + met.mispredicts * self.mispredict[value] + missed
        })
    }

    /// The likely cycles by cause.
    #[must_use]
    pub fn parts(&self, met: &Met) -> Parts {
        let sum = |kinds: [Miss; 2]| -> u64 {
            let of = |who: usize, miss: Miss| {
                met.missed[who][miss as usize] * self.missed[1][who][miss as usize]
            };
            (0..3).flat_map(|who| kinds.map(|miss| of(who, miss))).sum()
        };
        Parts {
            pipeline: met.pipeline,
            near: sum([Miss::L2, Miss::Snoop]),
            memory: sum([Miss::Memory, Miss::Streamed]),
            mispredicts: met.mispredicts * self.mispredict[1],
        }
    }
}

/// One core.
#[derive(Debug)]
pub struct Core {
    pub(super) l1i: Cache,
    pub(super) l1d: Cache,
    pub(super) streams: Streams,
    directions: PatternTable,
    indirect: IndirectPlaces,
    /// The line stored to last: it may be stored to again without asking others.
    pub(super) at_hand: AtHand,
    /// The line of instructions fetched last.
    pub(super) fetched: u64,
    pub(super) met: Met,
    pub(super) clock: Times,
}

impl Core {
    pub(super) fn new(parameters: &TargetParameters) -> Self {
        let predictor = &parameters.predictor;
        Self {
            l1i: parameters.l1i.cache(),
            l1d: parameters.l1d.cache(),
            streams: Streams::new(
                parameters.prefetch.streams,
                parameters.prefetch.lines_before,
            ),
            directions: PatternTable::new(predictor.pattern_entries, predictor.history_bits),
            indirect: IndirectPlaces::new(predictor.indirect_entries),
            at_hand: AtHand::default(),
            fetched: u64::MAX,
            met: Met::default(),
            clock: [0; 3],
        }
    }

    #[inline]
    pub(super) fn conditional(&mut self, address: u64, taken: bool) -> bool {
        self.directions.meet(address, taken)
    }

    #[inline]
    pub(super) fn indirect(&mut self, address: u64, place: u64) -> bool {
        self.indirect.meet(address, place)
    }

    /// Another core loads or stores a line that this one may hold. Returns what this one knew of it.
    pub(super) fn asked_by_another(&mut self, line: u64, store: bool) -> Option<Held> {
        let held = self.l1d.look(line)?;
        if store {
            self.l1d.remove(line);
        } else if held.exclusive {
            self.l1d.set_exclusive(line, false);
        }
        self.at_hand.forget(line);
        Some(held)
    }
}
