//! A table by address, and several by ever longer histories whose entries carry tags: the longest
//! history that knows the branch decides.

use super::{Directions, moved};

/// Bits of a tag.
const TAG_BITS: u32 = 9;
/// The longest history that can be kept.
pub const MOST_HISTORY: u32 = 256;

/// The table by address and those by history.
#[derive(Clone, Debug)]
pub struct TaggedTables {
    base: Vec<u8>,
    tables: Vec<Table>,
    history: [u64; (MOST_HISTORY / 64) as usize],
    /// Where a new entry goes when several tables have room: it takes turns.
    turn: u32,
}

#[derive(Clone, Debug)]
struct Table {
    entries: Vec<Entry>,
    history_length: u32,
    /// The history folded to the bits of an index, and of a tag.
    index: Folded,
    tag: Folded,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    counter: u8,
    useful: u8,
}

/// A history of any length as a number of few bits: what enters is turned in, what leaves out.
#[derive(Clone, Copy, Debug)]
struct Folded {
    value: u64,
    bits: u32,
    length: u32,
}

impl Folded {
    fn new(bits: u32, length: u32) -> Self {
        Self {
            value: 0,
            bits,
            length,
        }
    }

    #[inline]
    fn turn(&mut self, enters: u64, leaves: u64) {
        let mut value = self.value << 1 | enters;
        value ^= leaves << (self.length % self.bits);
        value ^= value >> self.bits;
        self.value = value & ((1 << self.bits) - 1);
    }
}

impl TaggedTables {
    /// A base of `base_entries`, and a table of `tagged_entries` for each length of history, both
    /// powers of two; lengths are at most [`MOST_HISTORY`] - 1.
    #[must_use]
    pub fn new(base_entries: usize, tagged_entries: usize, history_lengths: &[u32]) -> Self {
        let bits = tagged_entries.ilog2();
        let table = |&length: &u32| Table {
            entries: vec![Entry::default(); tagged_entries],
            history_length: length,
            index: Folded::new(bits, length),
            tag: Folded::new(TAG_BITS, length),
        };
        Self {
            base: vec![1; base_entries],
            tables: history_lengths.iter().map(table).collect(),
            history: [0; 4],
            turn: 0,
        }
    }

    #[inline]
    fn remember(&mut self, taken: bool) {
        let enters = u64::from(taken);
        for table in &mut self.tables {
            let last = table.history_length - 1;
            let leaves = self.history[(last / 64) as usize] >> (last % 64) & 1;
            table.index.turn(enters, leaves);
            table.tag.turn(enters, leaves);
        }
        let mut carried = enters;
        for word in &mut self.history {
            let out = *word >> 63;
            *word = *word << 1 | carried;
            carried = out;
        }
    }

    /// After a mistake a longer history gets an entry, where one is of no use so far.
    fn allocate(&mut self, first: usize, address: u64, taken: bool) {
        self.turn = self.turn.wrapping_add(1);
        let count = self.tables.len() - first;
        for step in 0..count {
            let number = first + (step + self.turn as usize % 2).min(count - 1);
            let (index, tag) = self.tables[number].place(address);
            let entry = &mut self.tables[number].entries[index];
            if entry.useful == 0 {
                *entry = Entry {
                    tag,
                    counter: if taken { 2 } else { 1 },
                    useful: 0,
                };
                return;
            }
        }
        for table in &mut self.tables[first..] {
            let (index, _) = table.place(address);
            let entry = &mut table.entries[index];
            entry.useful = entry.useful.saturating_sub(1);
        }
    }
}

impl Table {
    #[inline]
    fn place(&self, address: u64) -> (usize, u16) {
        let mixed = address ^ address >> self.index.bits ^ self.index.value;
        let index = mixed as usize & (self.entries.len() - 1);
        let tag = (address >> 1 ^ self.tag.value ^ self.tag.value << 1) & ((1 << TAG_BITS) - 1);
        // Zero is what an empty entry has.
        (index, tag as u16 + 1)
    }
}

impl Directions for TaggedTables {
    #[inline]
    fn meet(&mut self, address: u64, taken: bool) -> bool {
        let base = address as usize & (self.base.len() - 1);
        let by_base = self.base[base] >= 2;
        let mut provider = None;
        for (number, table) in self.tables.iter().enumerate().rev() {
            let (index, tag) = table.place(address);
            if table.entries[index].tag == tag {
                provider = Some((number, index));
                break;
            }
        }
        let (right, longer) = match provider {
            Some((number, index)) => {
                let entry = &mut self.tables[number].entries[index];
                let right = (entry.counter >= 2) == taken;
                entry.counter = moved(entry.counter, taken);
                if right != (by_base == taken) {
                    entry.useful = moved(entry.useful, right);
                }
                (right, number + 1)
            }
            None => {
                self.base[base] = moved(self.base[base], taken);
                (by_base == taken, 0)
            }
        };
        if !right && longer < self.tables.len() {
            self.allocate(longer, address, taken);
        }
        self.remember(taken);
        right
    }
}
