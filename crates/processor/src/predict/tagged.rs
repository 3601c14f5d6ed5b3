//! A table by address, and several by ever longer histories whose entries carry tags: the longest
//! history with an entry for the branch decides.

use super::{Directions, moved};

/// Bits of a tag.
const TAG_BITS: u32 = 10;
/// The longest history that can be kept.
pub const MOST_HISTORY: u32 = 64;

/// The table by address and those by history.
#[derive(Clone, Debug)]
pub struct TaggedTables {
    base: Vec<u8>,
    tables: Vec<Table>,
    history: u64,
    /// The first table to look for room in: several tables take turns.
    turn: usize,
}

#[derive(Clone, Debug)]
struct Table {
    entries: Vec<Entry>,
    /// The part of the history that finds an entry.
    part: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    tag: u16,
    counter: u8,
    useful: u8,
}

impl TaggedTables {
    /// A base of `base_entries`, and a table of `tagged_entries` for each length of history, both
    /// powers of two; lengths are from 1 to [`MOST_HISTORY`].
    #[must_use]
    pub fn new(base_entries: usize, tagged_entries: usize, history_lengths: &[u32]) -> Self {
        let table = |&length: &u32| Table {
            entries: vec![Entry::default(); tagged_entries],
            part: u64::MAX >> (MOST_HISTORY - length),
        };
        Self {
            base: vec![1; base_entries],
            tables: history_lengths.iter().map(table).collect(),
            history: 0,
            turn: 0,
        }
    }

    /// After a mistake, gives a longer history an entry, in place of one that has not been useful.
    #[cold]
    fn allocate(&mut self, first: usize, address: u64, taken: bool) {
        self.turn ^= 1;
        let longer = &mut self.tables[first..];
        let skipped = self.turn.min(longer.len() - 1);
        for table in &mut longer[skipped..] {
            let (index, tag) = table.place(address, self.history);
            let entry = &mut table.entries[index];
            if entry.useful == 0 {
                *entry = Entry {
                    tag,
                    counter: if taken { 2 } else { 1 },
                    useful: 0,
                };
                return;
            }
        }
        for table in longer {
            let (index, _) = table.place(address, self.history);
            let entry = &mut table.entries[index];
            entry.useful = entry.useful.saturating_sub(1);
        }
    }
}

impl Table {
    /// The index of a branch's entry, and its tag, which is never 0, the tag of an empty entry.
    #[inline]
    fn place(&self, address: u64, history: u64) -> (usize, u16) {
        let mixed = address ^ (history & self.part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = mixed.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let index = (mixed >> 32) as usize & (self.entries.len() - 1);
        (index, (mixed >> (64 - TAG_BITS)) as u16 + 1)
    }
}

impl Directions for TaggedTables {
    #[inline]
    fn meet(&mut self, address: u64, taken: bool) -> bool {
        let base = address as usize & (self.base.len() - 1);
        let by_base = self.base[base] >= 2;
        let known = self
            .tables
            .iter_mut()
            .enumerate()
            .rev()
            .find_map(|(number, table)| {
                let (index, tag) = table.place(address, self.history);
                let entry = &mut table.entries[index];
                (entry.tag == tag).then_some((number, entry))
            });
        let (right, longer) = if let Some((number, entry)) = known {
            let right = (entry.counter >= 2) == taken;
            entry.counter = moved(entry.counter, taken);
            if right != (by_base == taken) {
                entry.useful = moved(entry.useful, right);
            }
            (right, number + 1)
        } else {
            self.base[base] = moved(self.base[base], taken);
            (by_base == taken, 0)
        };
        if !right && longer < self.tables.len() {
            self.allocate(longer, address, taken);
        }
        self.history = self.history << 1 | u64::from(taken);
        right
    }
}
