//! What the timing model needs to know of an A64 instruction: its unit, the registers that it reads
//! and when, those that it writes, and where control goes next.
//!
//! The encodings are those of the architecture's manual (recalled), with one file for each group.
//! An unknown instruction counts as one arithmetic operation that reads and writes nothing.

mod data;
mod memory;
mod vector;

use crate::code::Control;

/// The unit that an instruction needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Arithmetic and logic: there are as many of these units as instructions may issue.
    #[default]
    Alu,
    /// The multiplier.
    Multiply,
    /// The divider, which is busy until its result is ready.
    Divide,
    /// Loads and stores.
    Memory,
    /// Branches and barriers.
    Branch,
    /// Vectors and floating point.
    Vector,
    /// The divider of vectors and floating point.
    VectorDivide,
}

/// When a result is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Latency {
    /// A shift by a constant, a constant.
    Shift,
    /// Other arithmetic.
    #[default]
    Alu,
    /// A product.
    Multiply,
    /// A quotient.
    Divide,
    /// A load that hits in L1.
    Load,
    /// A vector.
    Vector,
    /// A quotient of floating point.
    VectorDivide,
}

/// What a register is read for, which decides how early it is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// At once: an address, or vectors.
    #[default]
    Address,
    /// Arithmetic on the register as it is.
    Operand,
    /// Arithmetic on the register after a shift or an extension; a factor.
    Shifted,
    /// The value that is stored.
    Stored,
    /// The condition of a branch.
    Asked,
}

/// Registers: 0 to 30 are general, 32 to 63 are vectors, 64 is the flags.
pub const FLAGS: u8 = 64;
/// The number of registers.
pub const REGISTERS: usize = 65;

const NONE: u8 = u8::MAX;

/// What decides the time of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The unit that it needs.
    pub unit: Unit,
    /// When its results are ready.
    pub latency: Latency,
    /// How control leaves it.
    pub control: Control,
    /// Bytes that it loads or stores.
    pub bytes: u8,
    /// It stores.
    pub stores: bool,
    /// It loads.
    pub loads: bool,
    /// It is an exclusive access or orders other accesses.
    pub orders: bool,
    /// It needs its unit twice as long: a vector of 128 bits.
    pub wide: bool,
    /// No other instruction issues in its cycle.
    pub alone: bool,
    reads: [(u8, Need); 4],
    /// The base of an address is written by the address unit, at once; others when they are ready.
    writes: [u8; 3],
    base_written: u8,
}

impl Default for Decoded {
    fn default() -> Self {
        Self {
            unit: Unit::Alu,
            latency: Latency::Alu,
            control: Control::Next,
            bytes: 0,
            stores: false,
            loads: false,
            orders: false,
            wide: false,
            alone: false,
            reads: [(NONE, Need::Address); 4],
            writes: [NONE; 3],
            base_written: NONE,
        }
    }
}

impl Decoded {
    /// The registers read, each with its need.
    pub fn reads(&self) -> impl Iterator<Item = (usize, Need)> + '_ {
        let known = |&&(register, _): &&(u8, Need)| register != NONE;
        self.reads
            .iter()
            .filter(known)
            .map(|&(register, need)| (register as usize, need))
    }

    /// The registers written with results.
    pub fn writes(&self) -> impl Iterator<Item = usize> + '_ {
        self.writes
            .iter()
            .filter(|register| **register != NONE)
            .map(|&register| register as usize)
    }

    /// The base register of an address that is written back.
    #[must_use]
    pub fn base_written(&self) -> Option<usize> {
        (self.base_written != NONE).then_some(self.base_written as usize)
    }

    fn read(mut self, register: u32, need: Need) -> Self {
        // Number 31 is zero or the stack pointer, which nothing waits for.
        if register != 31
            && let Some(free) = self
                .reads
                .iter_mut()
                .find(|(register, _)| *register == NONE)
        {
            *free = (register as u8, need);
        }
        self
    }

    fn write(mut self, register: u32) -> Self {
        if register != 31
            && let Some(free) = self.writes.iter_mut().find(|register| **register == NONE)
        {
            *free = register as u8;
        }
        self
    }

    fn sets_flags(self, sets: bool) -> Self {
        if sets {
            self.write(u32::from(FLAGS))
        } else {
            self
        }
    }

    fn asks_flags(self, need: Need) -> Self {
        self.read(u32::from(FLAGS), need)
    }
}

/// `count` bits from bit `low` on.
fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

fn rd(word: u32) -> u32 {
    bits(word, 0, 5)
}

fn rn(word: u32) -> u32 {
    bits(word, 5, 5)
}

fn rm(word: u32) -> u32 {
    bits(word, 16, 5)
}

/// The index of a vector register.
fn v(register: u32) -> u32 {
    32 + register
}

/// Decodes an instruction word.
#[must_use]
pub fn decode(word: u32) -> Decoded {
    match bits(word, 25, 4) {
        0b1000 | 0b1001 => data::with_constant(word),
        0b1010 | 0b1011 => branch(word),
        0b0100 | 0b0110 | 0b1100 | 0b1110 => memory::decode(word),
        0b0101 | 0b1101 => data::with_registers(word),
        0b0111 | 0b1111 => vector::decode(word),
        _ => Decoded::default(),
    }
}

fn branch(word: u32) -> Decoded {
    let branch = |control| Decoded {
        unit: Unit::Branch,
        control,
        ..Decoded::default()
    };
    match word >> 24 {
        0x14..=0x17 => branch(Control::Direct),
        0x94..=0x97 => branch(Control::Call).write(30),
        0x54 => branch(Control::Conditional).asks_flags(Need::Asked),
        // Compare with zero, test a bit.
        0x34..=0x37 | 0xb4..=0xb7 => branch(Control::Conditional).read(rd(word), Need::Operand),
        _ if zeroes_a_line(word) => memory::zeroed_line(rd(word)),
        0xd6 => match bits(word, 21, 4) {
            0 => branch(Control::Indirect).read(rn(word), Need::Address),
            1 => branch(Control::IndirectCall)
                .read(rn(word), Need::Address)
                .write(30),
            2 => branch(Control::Return).read(rn(word), Need::Address),
            _ => branch(Control::Indirect),
        },
        // Hints take a slot. Barriers and accesses to system registers issue alone.
        0xd5 => Decoded {
            alone: bits(word, 12, 12) != 0x032,
            orders: bits(word, 12, 12) == 0x033,
            ..branch(Control::Next)
        }
        .write(if bits(word, 20, 2) == 3 { rd(word) } else { 31 }),
        _ => branch(Control::Next),
    }
}

/// True of the instruction that zeroes a line, whose address no executor reports.
fn zeroes_a_line(word: u32) -> bool {
    word & 0xffff_ffe0 == 0xd50b_7420
}
