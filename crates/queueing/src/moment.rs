//! Times that know which costs they are made of.

use std::cmp::Ordering;

use crate::QueueingError;

/// How many costs there are.
pub const COSTS: usize = 14;

/// What takes time; in the order in which costs are given and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// After the data of a read: the way back, the host.
    PathRead,
    /// After a write is in the buffer, or programmed.
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
    /// A page that the read before ended in.
    ReadAgain,
    /// A page programmed.
    Program,
    /// A page that the write before ended in.
    ProgramAgain,
    /// What a page that is written in part takes more.
    Partial,
    /// What a page at a random place takes more, collection included.
    ProgramRandom,
    /// What a read waits that meets a program, where reads go first.
    ReadWaits,
}

/// Costs as they were given.
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

/// Before anything was done.
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

    /// A time that nothing is known to lie behind.
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
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        // Never below zero, so that their bits are in the same order.
        self.ns.to_bits().cmp(&other.ns.to_bits())
    }
}

#[derive(Clone, Copy, Debug)]
struct Step {
    before: u32,
    times: f32,
    cost: Cost,
}

/// Every step of a replay.
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

    /// From now on steps take so long.
    pub const fn set_costs(&mut self, costs: [f64; COSTS]) {
        self.costs = costs;
    }

    /// Forgets the steps, so that what critical paths are made of is not known any more.
    pub fn clear(&mut self) {
        self.steps.clear();
    }

    /// The moment a cost later, or a multiple of it.
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

    /// Adds, `factor` times, how often each cost is on the critical path to a moment.
    pub fn count(&self, moment: Moment, factor: f64, counts: &mut [f64; COSTS]) {
        let mut at = moment.step;
        // The first step of all is before nothing, which no step is behind.
        while let Some(step) = self.steps.get(at as usize) {
            counts[step.cost as usize] += factor * f64::from(step.times);
            at = step.before;
        }
    }
}
