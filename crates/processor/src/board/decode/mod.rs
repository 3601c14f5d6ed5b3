//! What of an A64 instruction matters for its time: the unit that it needs, the registers that it
//! reads and when, those that it writes, and how control leaves it.
//!
//! Encodings are those of the architecture's manual (recalled); a file a group. An instruction that
//! is not known reads and writes nothing and is one operation of arithmetic.

mod data;
mod memory;
mod vector;

use crate::code::Control;

/// The unit that an instruction needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Arithmetic and logic: there are as many as may issue.
    #[default]
    Alu,
    /// The multiplier.
    Multiply,
    /// The divider, which is busy until it is done.
    Divide,
    /// Loads and stores.
    Memory,
    /// Branches and what orders.
    Branch,
    /// Vectors and floating point.
    Vector,
    /// Their divider.
    VectorDivide,
}

/// When a result is there.
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
    /// What L1 gives.
    Load,
    /// A vector.
    Vector,
    /// A quotient of floating point.
    VectorDivide,
}

/// What a register is read for, which says how early it is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// At once: an address, or vectors.
    #[default]
    Address,
    /// Arithmetic, as it is.
    Operand,
    /// Arithmetic, shifted or extended first; a factor.
    Shifted,
    /// It is stored.
    Stored,
    /// A branch asks it.
    Asked,
}

/// Registers: 0 to 30 those of numbers, 32 to 63 those of vectors, 64 the flags.
pub const FLAGS: u8 = 64;
/// How many there are.
pub const REGISTERS: usize = 65;

const NONE: u8 = u8::MAX;

/// An instruction as far as its time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The unit that it needs.
    pub unit: Unit,
    /// When its results are there.
    pub latency: Latency,
    /// How control leaves it.
    pub control: Control,
    /// Bytes that it loads or stores.
    pub bytes: u8,
    /// It stores.
    pub stores: bool,
    /// It loads.
    pub loads: bool,
    /// It is exclusive or orders others.
    pub orders: bool,
    /// It needs its unit twice as long: a vector of 128 bits.
    pub wide: bool,
    /// It is alone in its cycle.
    pub alone: bool,
    reads: [(u8, Need); 4],
    /// The base of an address is written by the address unit, at once; others when they are there.
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
    /// The registers read, and what for.
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

    /// The base of an address that is written back.
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

/// Bits `low` and up, as many as `count`.
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

/// A register of vectors.
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
        // Hints take a slot. What orders, and what reaches registers of the system, is alone.
        0xd5 => Decoded {
            alone: bits(word, 12, 12) != 0x032,
            orders: bits(word, 12, 12) == 0x033,
            ..branch(Control::Next)
        }
        .write(if bits(word, 20, 2) == 3 { rd(word) } else { 31 }),
        _ => branch(Control::Next),
    }
}

/// True of the instruction that zeroes a line, whose address no executor tells.
fn zeroes_a_line(word: u32) -> bool {
    word & 0xffff_ffe0 == 0xd50b_7420
}
