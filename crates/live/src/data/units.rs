//! Writes of which a loss of power takes all or nothing.
//!
//! ```text
//!   write A   ssss              a unit
//!   write B       ssss          a unit of its own
//!   write C      sss            joins both: what was there before is known of all three alone
//! ```
//!
//! A unit stays as long as anything of it may be lost. What was there before two writes that
//! overlap is what was there before the first, so such writes are lost or kept together.

use std::collections::HashMap;
use std::ops::Range;

/// Which sectors belong together.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// A write up to this size is one unit.
    most_bytes: u64,
    next: u64,
    /// The sectors of each, by its number.
    sectors: HashMap<u64, Vec<u64>>,
    of_sector: HashMap<u64, u64>,
}

impl Units {
    /// None yet; writes of at most `most_bytes` will be.
    pub fn of(most_bytes: u64) -> Self {
        Self {
            most_bytes,
            ..Self::default()
        }
    }

    /// A write of `size` bytes to these sectors begins.
    pub fn begin(&mut self, size: u64, sectors: Range<u64>) {
        if size > self.most_bytes {
            return;
        }
        let number = self.next;
        self.next += 1;
        for sector in sectors {
            match self.of_sector.get(&sector) {
                Some(&unit) if unit == number => {}
                Some(&unit) => self.join(unit, number),
                None => self.put(sector, number),
            }
        }
    }

    fn put(&mut self, sector: u64, number: u64) {
        self.of_sector.insert(sector, number);
        self.sectors.entry(number).or_default().push(sector);
    }

    /// The sectors of one unit belong to another.
    fn join(&mut self, old: u64, number: u64) {
        for sector in self.sectors.remove(&old).unwrap_or_default() {
            self.put(sector, number);
        }
    }

    /// The number of the unit in which a sector lies; none where it is by itself.
    pub fn number(&self, sector: u64) -> Option<u64> {
        self.of_sector.get(&sector).copied()
    }

    /// The sectors that are lost or kept with this one; none where it is by itself.
    pub fn with(&self, sector: u64) -> Option<&[u64]> {
        let unit = self.of_sector.get(&sector)?;
        self.sectors.get(unit).map(Vec::as_slice)
    }

    /// The whole unit of a sector is durable. Returns its sectors.
    pub fn end(&mut self, sector: u64) -> Vec<u64> {
        let unit = self.of_sector.get(&sector);
        let sectors = unit.and_then(|unit| self.sectors.remove(unit));
        let sectors = sectors.unwrap_or_default();
        for sector in &sectors {
            self.of_sector.remove(sector);
        }
        sectors
    }

    /// None of these sectors belongs to a unit any more; the rest of each unit stays together.
    pub fn leave(&mut self, range: &Range<u64>) {
        let mut left = Vec::new();
        if (range.end - range.start) as usize > self.of_sector.len() {
            self.of_sector.retain(|sector, _| !range.contains(sector));
            left.extend(self.sectors.keys().copied());
        } else {
            let units = range.clone().map(|sector| self.of_sector.remove(&sector));
            left.extend(units.flatten());
            left.sort_unstable();
            left.dedup();
        }
        for unit in left {
            if let Some(sectors) = self.sectors.get_mut(&unit) {
                sectors.retain(|sector| !range.contains(sector));
                if sectors.is_empty() {
                    self.sectors.remove(&unit);
                }
            }
        }
    }

    /// No write is under way, and nothing can be lost.
    pub fn clear(&mut self) {
        self.sectors.clear();
        self.of_sector.clear();
    }
}
