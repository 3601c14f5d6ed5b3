//! Loads and stores.

use crate::cache::LINE_BYTES;

use super::{Decoded, Latency, Need, Unit, bits, rd, rm, rn, v};

const MEMORY: Decoded = Decoded {
    unit: Unit::Memory,
    latency: Latency::Load,
    control: crate::code::Control::Next,
    bytes: 8,
    stores: false,
    loads: false,
    orders: false,
    wide: false,
    alone: false,
    reads: [(super::NONE, Need::Address); 4],
    writes: [super::NONE; 3],
    base_written: super::NONE,
};

pub(super) fn decode(word: u32) -> Decoded {
    match (bits(word, 28, 2), bits(word, 26, 1)) {
        (0, 0) => exclusive(word),
        (0, 1) => structures(word),
        (1, vector) => near_code(word, vector == 1),
        (2, vector) => pair(word, vector == 1),
        (_, vector) => single(word, vector == 1),
    }
}

fn loads(word: u32) -> bool {
    bits(word, 22, 1) == 1
}

fn with_direction(decoded: Decoded, loads: bool) -> Decoded {
    Decoded {
        loads,
        stores: !loads,
        ..decoded
    }
}

/// Moves a register, as a load or a store does.
fn moves(decoded: Decoded, register: u32) -> Decoded {
    if decoded.loads {
        decoded.write(register)
    } else {
        decoded.read(register, Need::Stored)
    }
}

/// Exclusive accesses, accesses that order others, compare and swap.
fn exclusive(word: u32) -> Decoded {
    let decoded = with_direction(MEMORY, loads(word)).read(rn(word), Need::Address);
    let decoded = Decoded {
        orders: true,
        bytes: 1 << bits(word, 30, 2),
        ..decoded
    };
    let compares = bits(word, 23, 1) == 1 && bits(word, 21, 1) == 1;
    if compares {
        let both = Decoded {
            loads: true,
            stores: true,
            ..decoded
        };
        return both
            .read(rm(word), Need::Stored)
            .read(rd(word), Need::Stored)
            .write(rm(word));
    }
    let moved = moves(decoded, rd(word));
    // An exclusive store reports whether it stored.
    let says = bits(word, 23, 1) == 0 && moved.stores;
    if says { moved.write(rm(word)) } else { moved }
}

/// Structures of vectors: as many registers as the opcode says, or an element of one.
fn structures(word: u32) -> Decoded {
    let one_element = bits(word, 24, 1) == 1;
    let registers = match bits(word, 12, 4) {
        _ if one_element => 1,
        0b0000 | 0b0010 => 4,
        0b0100 | 0b0110 => 3,
        0b1000 | 0b1010 => 2,
        _ => 1,
    };
    let one = if bits(word, 30, 1) == 1 { 16 } else { 8 };
    let decoded = with_direction(MEMORY, loads(word)).read(rn(word), Need::Address);
    let mut moved = Decoded {
        bytes: registers as u8 * one,
        ..decoded
    };
    for register in 0..registers.min(3) {
        moved = moves(moved, v((rd(word) + register) % 32));
    }
    if bits(word, 23, 1) == 1 {
        moved.base_written = base(word);
    }
    moved
}

fn base(word: u32) -> u8 {
    if rn(word) == 31 {
        super::NONE
    } else {
        rn(word) as u8
    }
}

/// Constants that lie near the code.
fn near_code(word: u32, vector: bool) -> Decoded {
    let register = if vector { v(rd(word)) } else { rd(word) };
    let bytes = if vector {
        4 << bits(word, 30, 2).min(2)
    } else {
        8
    };
    with_direction(Decoded { bytes, ..MEMORY }, true).write(register)
}

fn pair(word: u32, vector: bool) -> Decoded {
    let one: u8 = match (vector, bits(word, 30, 2)) {
        (true, size) => 4 << size.min(2),
        (false, 2) => 8,
        (false, _) => 4,
    };
    let place = |register| if vector { v(register) } else { register };
    let decoded = with_direction(MEMORY, loads(word)).read(rn(word), Need::Address);
    let decoded = Decoded {
        bytes: 2 * one,
        ..decoded
    };
    let mut moved = moves(moves(decoded, place(rd(word))), place(bits(word, 10, 5)));
    // Post- or pre-indexed: the base changes too.
    if bits(word, 23, 1) == 1 {
        moved.base_written = base(word);
    }
    moved
}

fn single(word: u32, vector: bool) -> Decoded {
    let size = bits(word, 30, 2);
    let operation = bits(word, 22, 2);
    let by_register = bits(word, 24, 1) == 0 && bits(word, 21, 1) == 1;
    let kind = bits(word, 10, 2);
    if !vector && by_register && kind == 0 {
        return atomic(word, size);
    }
    // For vectors, the upper bit of the operation means 128 bits.
    let bytes = if vector && operation >= 2 {
        16
    } else {
        1 << size
    };
    let loads = if vector {
        operation & 1 == 1
    } else {
        operation != 0
    };
    let decoded = with_direction(Decoded { bytes, ..MEMORY }, loads).read(rn(word), Need::Address);
    // A prefetch: nothing waits for it.
    if !vector && size == 3 && operation == 2 {
        return Decoded {
            loads: false,
            ..decoded
        };
    }
    let register = if vector { v(rd(word)) } else { rd(word) };
    let mut moved = moves(decoded, register);
    if by_register {
        moved = moved.read(rm(word), Need::Address);
    } else if bits(word, 24, 1) == 0 && kind & 1 == 1 {
        moved.base_written = base(word);
    }
    moved
}

/// Loads, changes and stores at once.
fn atomic(word: u32, size: u32) -> Decoded {
    Decoded {
        bytes: 1 << size,
        loads: true,
        stores: true,
        orders: true,
        ..MEMORY
    }
    .read(rn(word), Need::Address)
    .read(rm(word), Need::Stored)
    .write(rd(word))
}

/// Zeroes a line. The executor does not report the address of this store, so caches do not see it.
pub(super) fn zeroed_line(address: u32) -> Decoded {
    with_direction(
        Decoded {
            bytes: LINE_BYTES as u8,
            ..MEMORY
        },
        false,
    )
    .read(address, Need::Address)
}
