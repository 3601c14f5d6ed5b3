//! What a power loss would undo.
//!
//! ```text
//!   write ──> store                 what is read from now on
//!        └──> before-image          what was there, until the drive has programmed the write
//! ```
//!
//! The drive says whether the newest data of a sector would be lost. While it would, the previous
//! data is kept here. A write in progress may be lost too.

use std::collections::HashMap;

use super::units::Units;
use super::{Store, StoreError};
use crate::protocol::SECTOR_BYTES;

/// The most sectors kept, 512 MiB. Anything written beyond that survives. No simulated drive has a
/// buffer this large.
const MOST_SECTORS: usize = 1 << 20;

/// Size at which durable sectors are first searched for.
const FIRST_LOOK: usize = 4096;

/// A page of a program is lost as a whole or not at all.
const PAGE_BYTES: u64 = 4096;

/// The largest page of a drive. Durable parts of a page are forgotten before more of it is written,
/// because the drive only says of whole pages whether they would be lost.
const DRIVE_PAGE_BYTES: u64 = 256 << 10;

const SECTOR: u64 = SECTOR_BYTES as u64;

/// What happens to the content of a drive's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Everything is lost.
    All,
    /// A random choice for each page of 4 KiB.
    Some,
}

#[derive(Debug)]
struct Image {
    before: Box<[u8; SECTOR_BYTES as usize]>,
    /// Incomplete writes to it.
    under_way: u32,
}

/// Previous data under writes that may be lost.
#[derive(Debug)]
pub struct Volatile {
    /// By sector number. It is looked up; where it is iterated, that is in order or the same for
    /// all entries.
    images: HashMap<u64, Image>,
    /// Size at which durable sectors are searched for.
    look_at: usize,
    /// Those that are lost or kept together.
    units: Units,
}

impl Default for Volatile {
    fn default() -> Self {
        Self::with_units_of(0)
    }
}

impl Volatile {
    /// Nothing is there that may be lost. Of a write of at most `atomic_bytes` all will be or
    /// nothing.
    #[must_use]
    pub fn with_units_of(atomic_bytes: u64) -> Self {
        Self {
            images: HashMap::new(),
            look_at: FIRST_LOOK,
            units: Units::of(atomic_bytes),
        }
    }

    /// A write is about to change this range. `is_volatile` says by offset whether data would be
    /// lost.
    ///
    /// # Errors
    /// [`StoreError`] if the present data cannot be read.
    pub fn begin(
        &mut self,
        store: &Store,
        (offset, size): (u64, u64),
        is_volatile: impl Fn(u64) -> bool,
    ) -> Result<(), StoreError> {
        if self.images.len() >= self.look_at {
            self.forget_where(|_| true, &is_volatile);
            self.look_at = FIRST_LOOK.max(2 * self.images.len());
        }
        self.forget_durable((offset, size), &is_volatile);
        self.units.begin(size, sectors(offset, size));
        let mut here = Vec::new();
        for sector in sectors(offset, size) {
            if self.may_be_lost(sector, &is_volatile)
                && let Some(image) = self.images.get_mut(&sector)
            {
                image.under_way += 1;
                continue;
            }
            if self.images.len() >= MOST_SECTORS {
                // An older image would restore data from before a durable write.
                self.images.remove(&sector);
                self.units.leave(&(sector..sector + 1));
                continue;
            }
            here.clear();
            store.read(sector * SECTOR, SECTOR_BYTES, &mut here)?;
            if let Ok(before) = here.as_slice().try_into() {
                let before = Box::new(before);
                let image = Image {
                    before,
                    under_way: 1,
                };
                self.images.insert(sector, image);
            }
        }
        Ok(())
    }

    /// Forgets previous data under durable writes, in every page of the drive that the range
    /// touches.
    fn forget_durable(&mut self, (offset, size): (u64, u64), is_volatile: &impl Fn(u64) -> bool) {
        let first = offset / DRIVE_PAGE_BYTES * DRIVE_PAGE_BYTES;
        let end = (offset + size).next_multiple_of(DRIVE_PAGE_BYTES);
        let range = sectors(first, end - first);
        if (range.end - range.start) as usize > self.images.len() {
            self.forget_where(|sector| range.contains(&sector), is_volatile);
            return;
        }
        for sector in range {
            if self.images.contains_key(&sector) && !self.may_be_lost(sector, is_volatile) {
                self.forget_unit(sector);
            }
        }
    }

    /// Forgets what was there before data that are durable, of the sectors that are `chosen`.
    fn forget_where(&mut self, chosen: impl Fn(u64) -> bool, is_volatile: &impl Fn(u64) -> bool) {
        let durable: Vec<u64> = {
            let mut drawn_by = self.draws(is_volatile);
            let held = self.images.keys().copied();
            held.filter(|&sector| chosen(sector) && drawn_by(sector).is_none())
                .collect()
        };
        for sector in durable {
            self.forget_unit(sector);
        }
    }

    /// Whether what is known to have been there before may come back: a write is under way, or
    /// is not durable, there or where data are lost together with it.
    fn may_be_lost(&self, sector: u64, is_volatile: &impl Fn(u64) -> bool) -> bool {
        let of = |sector: &u64| {
            let image = self.images.get(sector);
            image.is_some_and(|image| image.under_way > 0 || is_volatile(sector * SECTOR))
        };
        match self.units.with(sector) {
            Some(together) => together.iter().any(of),
            None => of(&sector),
        }
    }

    /// A function that says for each sector whether it [may be lost](Self::may_be_lost), and if so,
    /// which sector is drawn for it: of those that are lost together the first. A unit is looked at
    /// once, however many of its sectors are asked for.
    fn draws(&self, is_volatile: &impl Fn(u64) -> bool) -> impl FnMut(u64) -> Option<u64> {
        let mut of_unit = HashMap::new();
        move |sector| {
            let drawn = || {
                let together = self.units.with(sector).and_then(|all| all.iter().min());
                let first = *together.unwrap_or(&sector);
                self.may_be_lost(sector, is_volatile).then_some(first)
            };
            match self.units.number(sector) {
                Some(unit) => *of_unit.entry(unit).or_insert_with(drawn),
                None => drawn(),
            }
        }
    }

    /// A sector, and what would be lost with it, is durable.
    fn forget_unit(&mut self, sector: u64) {
        self.images.remove(&sector);
        for together in self.units.end(sector) {
            self.images.remove(&together);
        }
    }

    /// A write to this range completed.
    pub fn end(&mut self, offset: u64, size: u64) {
        for sector in sectors(offset, size) {
            if let Some(image) = self.images.get_mut(&sector) {
                image.under_way = image.under_way.saturating_sub(1);
            }
        }
    }

    /// The range is forgotten for good; none of it can come back.
    pub fn forget(&mut self, offset: u64, size: u64) {
        let range = sectors(offset, size);
        let is_long = (range.end - range.start) as usize > self.images.len();
        if is_long {
            self.images.retain(|sector, _| !range.contains(sector));
        } else {
            for sector in range.clone() {
                self.images.remove(&sector);
            }
        }
        self.units.leave(&range);
    }

    /// The power goes. `is_lost` decides for each page number whether the page is lost. Returns how
    /// many sectors were restored.
    ///
    /// # Errors
    /// [`StoreError`] if previous data cannot be written; the remaining sectors keep their new
    /// data.
    pub fn cut(
        &mut self,
        store: &mut Store,
        is_volatile: impl Fn(u64) -> bool,
        is_lost: impl Fn(u64) -> bool,
    ) -> Result<u64, StoreError> {
        self.look_at = FIRST_LOOK;
        let (mut lost, mut outcome) = (0, Ok(()));
        {
            let mut drawn_by = self.draws(&is_volatile);
            for (&sector, image) in &self.images {
                let drawn = drawn_by(sector).map(|first| first * SECTOR / PAGE_BYTES);
                if drawn.is_some_and(&is_lost) {
                    let written = store.write(sector * SECTOR, &image.before[..]);
                    lost += u64::from(written.is_ok());
                    outcome = outcome.and(written);
                }
            }
        }
        self.images.clear();
        self.units.clear();
        outcome.map(|()| lost)
    }
}

fn sectors(offset: u64, size: u64) -> std::ops::Range<u64> {
    offset / SECTOR..(offset + size).div_ceil(SECTOR)
}
