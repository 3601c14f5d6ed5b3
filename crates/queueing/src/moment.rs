//! Times that know which costs they consist of.

use std::cmp::Ordering;

use crate::QueueingError;

/// The number of costs.
pub const COSTS: usize = 15;

/// What takes time, in the order in which costs are given and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// After the data of a read: the way back, and the host.
    PathRead,
    /// After a write is in the buffer or programmed.
    PathWrite,
    /// A command of a read, on the link.
    LinkRead,
    /// A command of a write.
    LinkWrite,
    /// 4 KiB to the host.
    LinkReadPage,
    /// 4 KiB to the drive.
    LinkWritePage,
    /// A page at its channel.
    Channel,
    /// A page read at its unit.
    Read,
    /// A page in which the previous read ended.
    ReadAgain,
    /// A page programmed.
    Program,
    /// A page in which the previous write ended.
    ProgramAgain,
    /// Extra time for a page that is written in part.
    Partial,
    /// Extra time for a page at a random place, including collection.
    ProgramRandom,
    /// How long a read waits that meets a program, if reads go first.
    ReadWaits,
    /// All pages of a block copied together, if the drive has log blocks.
    Merge,
}

/// Checks the given costs.
pub fn checked_costs(costs: &[f64]) -> Result<[f64; COSTS], QueueingError> {
    let costs: [f64; COSTS] = costs.try_into().map_err(|_| QueueingError::Length {
        values: costs.len(),
        expected: "one for each cost",
    })?;
    for (place, &value) in costs.iter().enumerate() {
        if !(0.0..f64::INFINITY).contains(&value) {
            return Err(QueueingError::Cost { place, value });
        }
    }
    Ok(costs)
}

/// The time before any step.
const BEGINNING: u32 = u32::MAX;

/// A time and the last step on its critical path.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub ns: f64,
    step: u32,
}

impl Moment {
    pub const ZERO: Self = Self {
        ns: 0.0,
        step: BEGINNING,
    };

    /// A time without known steps before it.
    pub const fn at(ns: f64) -> Self {
        Self {
            ns,
            step: BEGINNING,
        }
    }

    /// The later of two.
    #[inline(always)]
    pub fn or_later(self, other: Self) -> Self {
        if other.ns > self.ns { other } else { self }
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // What a heap asks: without it, the answer goes by way of an `Option<Ordering>`, in branches.
    #[inline(always)]
    fn le(&self, other: &Self) -> bool {
        self.ns.to_bits() <= other.ns.to_bits()
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        // Never below zero, so their bits have the same order.
        self.ns.to_bits().cmp(&other.ns.to_bits())
    }
}

/// A cost on the way to a moment, and the step before it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    before: u32,
    times: f32,
    cost: Cost,
}

/// All steps of a replay.
#[derive(Debug)]
pub struct Log {
    costs: [f64; COSTS],
    steps: Vec<Step>,
}

impl Log {
    pub const fn new(costs: [f64; COSTS]) -> Self {
        Self {
            costs,
            steps: Vec::new(),
        }
    }

    /// Sets the costs of later steps.
    pub const fn set_costs(&mut self, costs: [f64; COSTS]) {
        self.costs = costs;
    }

    /// Forgets the steps; critical paths are not known any more.
    pub fn clear(&mut self) {
        self.steps.clear();
    }

    /// All steps until now.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Forgets the steps, and goes on after these, which `steps` gave.
    pub fn go_on_after(&mut self, steps: &[Step]) {
        self.steps.clear();
        self.steps.extend_from_slice(steps);
    }

    /// The moment that is later by a cost, or by a multiple of it.
    #[inline(always)]
    pub fn after(&mut self, moment: Moment, cost: Cost, times: f64) -> Moment {
        let step = self.steps.len() as u32;
        self.steps.push(Step {
            before: moment.step,
            times: times as f32,
            cost,
        });
        Moment {
            ns: moment.ns + times * self.costs[cost as usize],
            step,
        }
    }

    /// Adds to `counts` how often each cost is on the critical path to a moment, times `factor`.
    pub fn count(&self, moment: Moment, factor: f64, counts: &mut [f64; COSTS]) {
        let mut at = moment.step;
        // The first step has no step before it.
        while let Some(step) = self.steps.get(at as usize) {
            counts[step.cost as usize] += factor * f64::from(step.times);
            at = step.before;
        }
    }
}
