//! Arithmetic and logic.

use super::{Decoded, Latency, Need, Unit, bits, rd, rm, rn};

/// Arithmetic with a constant.
pub(super) fn with_constant(word: u32) -> Decoded {
    let decoded = Decoded::default();
    let shift = Decoded {
        latency: Latency::Shift,
        ..decoded
    };
    match bits(word, 23, 3) {
        // An address of code.
        0 | 1 => shift.write(rd(word)),
        // Additions; the top bits say whether they set flags.
        2 | 3 => decoded
            .read(rn(word), Need::Operand)
            .write(rd(word))
            .sets_flags(bits(word, 29, 1) == 1),
        4 => decoded
            .read(rn(word), Need::Operand)
            .write(rd(word))
            .sets_flags(bits(word, 29, 2) == 3),
        // A constant, or a part of one.
        5 if bits(word, 29, 2) == 3 => shift.read(rd(word), Need::Operand).write(rd(word)),
        5 => shift.write(rd(word)),
        // Bit fields: moved, extended, shifted by constants. An insertion keeps the bits around it.
        6 => {
            let inserts = bits(word, 29, 2) == 1;
            let fields = if is_shift(word) { shift } else { decoded };
            let read = fields.read(rn(word), Need::Shifted).write(rd(word));
            if inserts {
                read.read(rd(word), Need::Operand)
            } else {
                read
            }
        }
        // A field of two registers.
        _ => decoded
            .read(rn(word), Need::Shifted)
            .read(rm(word), Need::Shifted)
            .write(rd(word)),
    }
}

/// A field up to the top, or a full shift that begins at the bottom, is a shift by a constant.
fn is_shift(word: u32) -> bool {
    let top = if bits(word, 31, 1) == 1 { 63 } else { 31 };
    let (rotation, last) = (bits(word, 16, 6), bits(word, 10, 6));
    last == top || last + 1 == rotation
}

/// Arithmetic with registers.
pub(super) fn with_registers(word: u32) -> Decoded {
    match (bits(word, 24, 5), bits(word, 21, 3)) {
        (0b01010, _) => logic(word),
        (0b01011, _) => addition(word),
        (0b11011, _) => product(word),
        (_, 0b000) => with_carry(word),
        (_, 0b010) => conditional_compare(word),
        (_, 0b100) => choice(word),
        (_, 0b110) if bits(word, 30, 1) == 1 => Decoded::default()
            .read(rn(word), Need::Operand)
            .write(rd(word)),
        (_, 0b110) => two_sources(word),
        _ => Decoded::default(),
    }
}

/// The second operand may be shifted.
fn logic(word: u32) -> Decoded {
    let shifted = bits(word, 10, 6) != 0;
    Decoded::default()
        .read(rn(word), Need::Operand)
        .read(
            rm(word),
            if shifted {
                Need::Shifted
            } else {
                Need::Operand
            },
        )
        .write(rd(word))
        .sets_flags(bits(word, 29, 2) == 3)
}

/// The second operand may be shifted or extended.
fn addition(word: u32) -> Decoded {
    let plain = bits(word, 21, 1) == 0 && bits(word, 10, 6) == 0;
    Decoded::default()
        .read(rn(word), Need::Operand)
        .read(rm(word), if plain { Need::Operand } else { Need::Shifted })
        .write(rd(word))
        .sets_flags(bits(word, 29, 1) == 1)
}

fn with_carry(word: u32) -> Decoded {
    Decoded::default()
        .read(rn(word), Need::Operand)
        .read(rm(word), Need::Operand)
        .asks_flags(Need::Operand)
        .write(rd(word))
        .sets_flags(bits(word, 29, 1) == 1)
}

/// The second operand may be a constant.
fn conditional_compare(word: u32) -> Decoded {
    let compared = Decoded::default()
        .read(rn(word), Need::Operand)
        .asks_flags(Need::Operand)
        .sets_flags(true);
    if bits(word, 11, 1) == 1 {
        compared
    } else {
        compared.read(rm(word), Need::Operand)
    }
}

fn choice(word: u32) -> Decoded {
    Decoded::default()
        .read(rn(word), Need::Operand)
        .read(rm(word), Need::Operand)
        .asks_flags(Need::Operand)
        .write(rd(word))
}

fn product(word: u32) -> Decoded {
    Decoded {
        unit: Unit::Multiply,
        latency: Latency::Multiply,
        ..Decoded::default()
    }
    .read(rn(word), Need::Shifted)
    .read(rm(word), Need::Shifted)
    .read(bits(word, 10, 5), Need::Operand)
    .write(rd(word))
}

fn two_sources(word: u32) -> Decoded {
    let read = Decoded::default()
        .read(rn(word), Need::Shifted)
        .read(rm(word), Need::Shifted)
        .write(rd(word));
    match bits(word, 10, 6) {
        2 | 3 => Decoded {
            unit: Unit::Divide,
            latency: Latency::Divide,
            ..read
        },
        8..=11 => Decoded {
            latency: Latency::Shift,
            ..read
        },
        _ => read,
    }
}
