//! What the host model needs of an x86-64 instruction: where control goes next and how many
//! micro-operations it takes, without those of its accesses.
//!
//! The executor gives lengths; only prefixes, the opcode and the byte after it are read.

use crate::code::Control;

/// What the model uses of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Where control goes next.
    pub control: Control,
    /// Micro-operations that are no access.
    pub operations: u32,
    /// It repeats itself and moves a string: the executor leaves it and enters it again.
    pub repeats: bool,
    /// It sets flags and may fuse with a branch that follows.
    pub compares: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Map {
    One,
    Two,
    More,
}

/// An opcode in its map, and the byte after it (0 if there is none).
struct Opcode {
    map: Map,
    opcode: u8,
    modrm: u8,
    repeat_prefix: bool,
}

fn opcode(bytes: &[u8]) -> Option<Opcode> {
    let mut rest = bytes;
    let mut repeat_prefix = false;
    while let [
        byte @ (0x66 | 0x67 | 0xf0 | 0xf2 | 0xf3 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65),
        after @ ..,
    ] = rest
    {
        repeat_prefix |= matches!(byte, 0xf2 | 0xf3);
        rest = after;
    }
    if let [0x40..=0x4f, after @ ..] = rest {
        rest = after;
    }
    let (map, rest) = match rest {
        [0xc5, _, after @ ..] => (Map::Two, after),
        [0xc4, select, _, after @ ..] => (map_of_prefix(select & 0x1f), after),
        [0x62, select, _, _, after @ ..] => (map_of_prefix(select & 0x07), after),
        [0x0f, 0x38 | 0x3a, after @ ..] => (Map::More, after),
        [0x0f, after @ ..] => (Map::Two, after),
        _ => (Map::One, rest),
    };
    let (&opcode, after) = rest.split_first()?;
    Some(Opcode {
        map,
        opcode,
        modrm: after.first().copied().unwrap_or(0),
        repeat_prefix,
    })
}

fn map_of_prefix(number: u8) -> Map {
    if number == 1 { Map::Two } else { Map::More }
}

/// Decodes one instruction; an unknown one counts as one micro-operation.
#[must_use]
pub fn decode(bytes: &[u8]) -> Decoded {
    let Some(found) = opcode(bytes) else {
        return Decoded::default();
    };
    let repeats = found.map == Map::One
        && found.repeat_prefix
        && matches!(found.opcode, 0xa4..=0xa7 | 0xaa..=0xaf);
    Decoded {
        control: control(&found),
        operations: operations(&found),
        repeats,
        compares: compares(&found),
    }
}

fn control(found: &Opcode) -> Control {
    let extension = found.modrm >> 3 & 7;
    match (found.map, found.opcode) {
        (Map::One, 0x70..=0x7f | 0xe0..=0xe3) | (Map::Two, 0x80..=0x8f) => Control::Conditional,
        (Map::One, 0xe9 | 0xeb) => Control::Direct,
        (Map::One, 0xe8) => Control::Call,
        (Map::One, 0xc2 | 0xc3) => Control::Return,
        (Map::One, 0xff) if extension == 2 => Control::IndirectCall,
        (Map::One, 0xff) if extension == 4 => Control::Indirect,
        _ => Control::Next,
    }
}

/// Accesses add to these: a load one, a store two (its address and its data).
fn operations(found: &Opcode) -> u32 {
    let in_memory = found.modrm < 0xc0;
    let extension = found.modrm >> 3 & 7;
    match (found.map, found.opcode) {
        // Moves to or from memory consist of their accesses only.
        (Map::One, 0x63 | 0x88..=0x8b | 0xc6 | 0xc7) if in_memory => 0,
        (Map::Two, 0x10..=0x13 | 0x16 | 0x17 | 0x28 | 0x29 | 0x2b | 0x6e | 0x6f) if in_memory => 0,
        (Map::Two, 0x7e | 0x7f | 0xb6 | 0xb7 | 0xbe | 0xbf | 0xd6 | 0xe7) if in_memory => 0,
        (Map::One, 0x50..=0x5f | 0x68 | 0x6a | 0xa0..=0xa3) => 0,
        // No unit executes instructions that do nothing.
        (Map::One, 0x90) | (Map::Two, 0x1e | 0x1f) => 0,
        // Division is a small program; exchanges with memory wait for each other.
        (Map::One, 0xf6 | 0xf7) if extension >= 6 => 10,
        (Map::One, 0xf6 | 0xf7) if extension >= 4 => 2,
        (Map::One, 0x86 | 0x87) => 3,
        (Map::Two, 0xb0 | 0xb1) => 5,
        (Map::Two, 0xc0 | 0xc1) => 3,
        _ => 1,
    }
}

fn compares(found: &Opcode) -> bool {
    let extension = found.modrm >> 3 & 7;
    match (found.map, found.opcode) {
        (Map::One, 0x80..=0x83) => matches!(extension, 0 | 4 | 5 | 7),
        (Map::One, 0x84 | 0x85 | 0xa8 | 0xa9) => true,
        (Map::One, 0x00..=0x05 | 0x20..=0x25 | 0x28..=0x2d | 0x38..=0x3d) => true,
        (Map::One, 0xf6 | 0xf7) => extension < 2,
        (Map::One, 0xfe | 0xff) => extension < 2,
        _ => false,
    }
}
