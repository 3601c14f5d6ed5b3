//! Vectors and floating point, roughly: firmware moves bytes with them and computes little.

use super::{Decoded, Latency, Need, Unit, bits, rd, rm, rn, v};

pub(super) fn decode(word: u32) -> Decoded {
    let decoded = Decoded {
        unit: Unit::Vector,
        latency: Latency::Vector,
        ..Decoded::default()
    };
    // Scalars have bit 28 set; bit 30 of a vector instruction means 128 bits.
    if bits(word, 28, 1) == 1 {
        return scalar(word, decoded);
    }
    let wide = Decoded {
        wide: bits(word, 30, 1) == 1,
        ..decoded
    };
    // Copies between general registers and elements.
    if bits(word, 21, 8) == 0b0111_0000 && bits(word, 10, 1) == 1 && bits(word, 29, 1) == 0 {
        return match bits(word, 11, 4) {
            0b0001 | 0b0011 => wide.read(rn(word), Need::Operand).write(v(rd(word))),
            0b0101 | 0b0111 => wide.read(v(rn(word)), Need::Address).write(rd(word)),
            _ => wide.read(v(rn(word)), Need::Address).write(v(rd(word))),
        };
    }
    wide.read(v(rn(word)), Need::Address)
        .read(v(rm(word)), Need::Address)
        .write(v(rd(word)))
}

fn scalar(word: u32, decoded: Decoded) -> Decoded {
    let float = bits(word, 24, 5) == 0b11110 && bits(word, 21, 1) == 1;
    if !float {
        // Vectors of one element; for floating point, two factors and the addend.
        let read = decoded
            .read(v(rn(word)), Need::Address)
            .read(v(rm(word)), Need::Address)
            .write(v(rd(word)));
        let adds = bits(word, 24, 5) == 0b11111;
        return if adds {
            read.read(v(bits(word, 10, 5)), Need::Address)
        } else {
            read
        };
    }
    let unary = bits(word, 10, 5) == 0b10000;
    match bits(word, 10, 6) {
        // Conversions from and to general registers: the operation gives the direction.
        0 => match bits(word, 16, 3) {
            2 | 3 | 7 => decoded.read(rn(word), Need::Operand).write(v(rd(word))),
            _ => decoded.read(v(rn(word)), Need::Address).write(rd(word)),
        },
        0b001000 => decoded
            .read(v(rn(word)), Need::Address)
            .read(v(rm(word)), Need::Address)
            .sets_flags(true),
        // Quotients and roots.
        0b000110 => Decoded {
            unit: Unit::VectorDivide,
            latency: Latency::VectorDivide,
            ..decoded
        }
        .read(v(rn(word)), Need::Address)
        .read(v(rm(word)), Need::Address)
        .write(v(rd(word))),
        _ if unary && bits(word, 15, 6) == 3 => Decoded {
            unit: Unit::VectorDivide,
            latency: Latency::VectorDivide,
            ..decoded
        }
        .read(v(rn(word)), Need::Address)
        .write(v(rd(word))),
        _ if unary => decoded.read(v(rn(word)), Need::Address).write(v(rd(word))),
        // A conditional select reads the flags.
        operation if operation & 3 == 3 => decoded
            .read(v(rn(word)), Need::Address)
            .read(v(rm(word)), Need::Address)
            .asks_flags(Need::Operand)
            .write(v(rd(word))),
        _ => decoded
            .read(v(rn(word)), Need::Address)
            .read(v(rm(word)), Need::Address)
            .write(v(rd(word))),
    }
}
