//! What a power loss would undo.
//!
//! ```text
//!   write ──> store                 what is read from now on
//!        └──> before-image          what was there, until the drive has programmed the write
//! ```
//!
//! The drive says whether the newest data of a sector would be lost. While it would, the previous
//! data is kept here. A write in progress may be lost too. What a flush or a forced write made
//! durable never goes, even if a later write to the same sector is lost.

use std::collections::HashMap;

use super::units::Units;
use super::versions::{Durable, Image};
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

/// A write that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunWrite(u64);

/// A flush that has begun: how many writes had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunFlush(u64);

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
    /// Writes that have begun, and that have ended.
    begun: u64,
    ended: u64,
    /// Flushes in progress.
    flushes: Vec<u64>,
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
            begun: 0,
            ended: 0,
            flushes: Vec::new(),
        }
    }

    /// A write is about to change this range. `is_volatile` says by offset whether data would be
    /// lost. Returns what [`Volatile::end`] needs.
    ///
    /// # Errors
    /// [`StoreError`] if the present data cannot be read.
    pub fn begin(
        &mut self,
        store: &Store,
        (offset, size): (u64, u64),
        is_volatile: impl Fn(u64) -> bool,
    ) -> Result<BegunWrite, StoreError> {
        let number = self.begun;
        self.begun += 1;
        if self.images.len() >= self.look_at {
            self.forget_where(|_| true, &is_volatile);
            self.look_at = FIRST_LOOK.max(2 * self.images.len());
        }
        self.forget_durable((offset, size), &is_volatile);
        self.units.begin(size, sectors(offset, size));
        let mut here = Vec::new();
        for sector in sectors(offset, size) {
            let is_known = self.may_be_lost(sector, &is_volatile);
            if !is_known && self.images.len() >= MOST_SECTORS {
                // An older image would restore data from before a durable write.
                self.leave(sector);
                continue;
            }
            here.clear();
            if let Err(error) = store.read(sector * SECTOR, SECTOR_BYTES, &mut here) {
                self.end(BegunWrite(number), (offset, size), false);
                return Err(error);
            }
            let Ok(content) = here.as_slice().try_into().map(Box::new) else {
                continue;
            };
            match self.images.get_mut(&sector).filter(|_| is_known) {
                Some(image) => {
                    image.begin_another(number, content, &self.flushes);
                }
                None => {
                    self.images.insert(sector, Image::begin(content, number));
                }
            }
        }
        Ok(BegunWrite(number))
    }

    /// A sector can no longer be lost, but what was written with it may.
    fn leave(&mut self, sector: u64) {
        self.images.remove(&sector);
        self.units.leave(&(sector..sector + 1));
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
            image.is_some_and(|image| image.is_under_way() || is_volatile(sector * SECTOR))
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

    /// A write to this range completed. If it was forced, it is durable.
    pub fn end(&mut self, write: BegunWrite, (offset, size): (u64, u64), is_forced: bool) {
        self.ended += 1;
        for sector in sectors(offset, size) {
            let Some(image) = self.images.get_mut(&sector) else {
                continue;
            };
            if !is_forced {
                image.end(write.0, self.ended, &self.flushes);
            } else if image.keep(Durable::Write(write.0)) {
                self.leave(sector);
            }
        }
    }

    /// A flush begins. Call [`Volatile::end_flush`] with what this returns.
    pub fn begin_flush(&mut self) -> BegunFlush {
        self.flushes.push(self.ended);
        BegunFlush(self.ended)
    }

    /// A flush ended: what had ended when it began is durable, unless it failed.
    pub fn end_flush(&mut self, BegunFlush(ended): BegunFlush, is_done: bool) {
        if let Some(place) = self.flushes.iter().position(|&each| each == ended) {
            self.flushes.swap_remove(place);
        }
        if !is_done {
            return;
        }
        let units = &mut self.units;
        self.images.retain(|&sector, image| {
            let is_safe = image.keep(Durable::EndedBy(ended));
            if is_safe {
                units.leave(&(sector..sector + 1));
            }
            !is_safe
        });
        self.look_at = FIRST_LOOK.max(2 * self.images.len());
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
        self.flushes.clear();
        outcome.map(|()| lost)
    }
}

fn sectors(offset: u64, size: u64) -> std::ops::Range<u64> {
    offset / SECTOR..(offset + size).div_ceil(SECTOR)
}
