//! When instructions issue: in order, up to the width per cycle, each once its operands are ready
//! and its unit is free. All loads hit in L1 here; misses are charged separately.

use super::decode::{Decoded, Latency, Need, REGISTERS, Unit};
use super::parameters::Pipeline;

/// The state of a core: the cycle in which the next instruction may issue, and when registers and
/// units are ready.
#[derive(Clone, Debug)]
pub struct Issue<'a> {
    pipeline: &'a Pipeline,
    cycle: u64,
    /// Instructions issued in this cycle.
    issued: u64,
    ready: [u64; REGISTERS],
    /// True for a loaded register: an address made of it is ready earlier.
    loaded: [bool; REGISTERS],
    free: [u64; UNITS],
}

const UNITS: usize = 6;

fn place(unit: Unit) -> Option<usize> {
    match unit {
        Unit::Alu => None,
        Unit::Multiply => Some(0),
        Unit::Divide => Some(1),
        Unit::Memory => Some(2),
        Unit::Branch => Some(3),
        Unit::Vector => Some(4),
        Unit::VectorDivide => Some(5),
    }
}

impl<'a> Issue<'a> {
    /// A core that waits for nothing.
    #[must_use]
    pub fn new(pipeline: &'a Pipeline) -> Self {
        Self {
            pipeline,
            cycle: 0,
            issued: 0,
            ready: [0; REGISTERS],
            loaded: [false; REGISTERS],
            free: [0; UNITS],
        }
    }

    /// Cycles that have begun.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycle + u64::from(self.issued > 0)
    }

    /// Issues a block.
    pub fn block(&mut self, instructions: &[Decoded]) {
        for instruction in instructions {
            self.one(instruction);
        }
    }

    /// Continues elsewhere than at the next instruction.
    pub fn branch(&mut self) {
        self.cycle = self.cycles() + self.pipeline.taken_branch_cycles;
        self.issued = 0;
    }

    fn one(&mut self, instruction: &Decoded) {
        let mut at = self.cycle;
        let full = self.issued >= self.pipeline.issue_width;
        if full || (instruction.alone && self.issued > 0) {
            at += 1;
        }
        for (register, need) in instruction.reads() {
            let early = self.early(register, need);
            at = at.max(self.ready[register].saturating_sub(early));
        }
        let unit = place(instruction.unit);
        if let Some(unit) = unit {
            at = at.max(self.free[unit]);
        }
        if at > self.cycle {
            self.cycle = at;
            self.issued = 0;
        }
        self.issued += 1;
        let busy = self.busy(instruction);
        if let Some(unit) = unit {
            self.free[unit] = at + busy;
        }
        if instruction.alone {
            self.issued = self.pipeline.issue_width;
        }
        let latency = self.latency(instruction) + busy_before_result(instruction, busy);
        for register in instruction.writes() {
            self.ready[register] = at + latency;
            self.loaded[register] = instruction.latency == Latency::Load;
        }
        if let Some(base) = instruction.base_written() {
            // A separate address unit adds: what follows may use the base from there on.
            self.ready[base] = at + 1;
            self.loaded[base] = false;
        }
    }

    fn early(&self, register: usize, need: Need) -> u64 {
        let pipeline = self.pipeline;
        match need {
            Need::Address if self.loaded[register] => pipeline.loaded_address_early_cycles,
            Need::Address => 0,
            Need::Operand => pipeline.alu_operand_early_cycles,
            Need::Shifted => pipeline.shifted_operand_early_cycles,
            Need::Stored => pipeline.stored_operand_early_cycles,
            Need::Asked => pipeline.flags_early_cycles,
        }
    }

    fn latency(&self, instruction: &Decoded) -> u64 {
        let pipeline = self.pipeline;
        match instruction.latency {
            Latency::Shift => pipeline.shift_cycles,
            Latency::Alu => pipeline.alu_cycles,
            Latency::Multiply => pipeline.multiply_cycles,
            Latency::Divide => pipeline.divide_cycles,
            Latency::Load => pipeline.load_cycles,
            Latency::Vector => pipeline.vector_cycles,
            Latency::VectorDivide => pipeline.vector_divide_cycles,
        }
    }

    /// How many cycles an instruction occupies its unit.
    fn busy(&self, instruction: &Decoded) -> u64 {
        let pipeline = self.pipeline;
        let bytes = u64::from(instruction.bytes);
        match instruction.unit {
            Unit::Divide => pipeline.divide_cycles.saturating_sub(1).max(1),
            Unit::VectorDivide => pipeline.vector_divide_cycles.saturating_sub(4).max(1),
            Unit::Memory => {
                let rate = if instruction.loads {
                    pipeline.load_bytes_per_cycle
                } else {
                    pipeline.store_bytes_per_cycle
                };
                let orders = if instruction.orders {
                    pipeline.exclusive_cycles
                } else {
                    0
                };
                bytes.div_ceil(rate).max(1) + orders
            }
            _ if instruction.wide => 2,
            _ => 1,
        }
    }
}

/// A load that takes several cycles is ready when its last part arrives.
fn busy_before_result(instruction: &Decoded, busy: u64) -> u64 {
    if instruction.loads { busy - 1 } else { 0 }
}
