//! Blocks that fail: from the factory, or while they are programmed or erased.
//!
//! ```text
//!   opened ──> filled up to the page whose program fails ──> failing: emptied before others
//!   emptied, erased: the erase fails ─────────────────────────┐          │
//!                                                             └──> bad <─┘
//! ```
//!
//! Whether a block fails depends only on the drive's seed, the block and its erases. A bad block is
//! on no list and holds no data, so it reduces the spare blocks of its plane. The data of a failing
//! block is moved like that of a victim of wear levelling. The last operation on the block is the
//! failed program, which names no logical page.

use crate::memory::{Cells, Memory};
use crate::operation::{Counts, Operation, OperationKind};
use crate::space::{Field, Frontier, Space, Victim};
use crate::wear::drawn_erases;
use crate::{Cause, Chance, FirmwareError, FlashLayout, NOTHING, Ppn};

/// How blocks fail. The probabilities hold for a block with the rated number of erases. They grow
/// in proportion to its erases, up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failures {
    /// Selects the blocks: another specimen of the same drive has others.
    pub seed: u64,
    /// Erases at which the probabilities hold.
    pub rated_erases: u32,
    /// Fraction of blocks that are bad from the factory.
    pub factory_bad: f64,
    /// Probability that one of the programs between two erases of a block fails.
    pub program: f64,
    /// Probability that an erase fails.
    pub erase: f64,
    /// Mean erases of the blocks before the firmware gets the drive, and how far a block may differ
    /// from it. Blocks that would have failed by then are bad.
    pub worn: (u32, u32),
}

/// Health of a bad block. The health of a failing block is one more than the page whose program
/// fails, that of a good block 0.
const BAD: u32 = u32::MAX;

impl Failures {
    fn at(&self, probability: f64, erases: u32) -> f64 {
        (probability * f64::from(erases) / f64::from(self.rated_erases)).min(1.0)
    }

    /// How many pages of `block`, with this many erases, can be programmed: all of them, or those
    /// before the one that fails. The first page of a block never fails.
    fn usable_pages(&self, block: u32, erases: u32, pages: u32) -> u32 {
        let fails = Chance::ProgramFails.draw(self.seed, block, erases);
        if pages < 2 || fails >= self.at(self.program, erases) {
            return pages;
        }
        let drawn = Chance::FailingPage.draw(self.seed, block, erases);
        1 + (drawn * f64::from(pages - 1)) as u32
    }

    /// Whether the next erase of `block`, with this many erases, fails.
    fn erase_fails(&self, block: u32, erases: u32) -> bool {
        Chance::EraseFails.draw(self.seed, block, erases) < self.at(self.erase, erases)
    }

    /// Whether `block` is bad before the first request.
    fn is_bad_at_first(&self, block: u32) -> bool {
        if Chance::FactoryBad.draw(self.seed, block, 0) < self.factory_bad {
            return true;
        }
        let (mean, spread) = self.worn;
        let survives = self.survival(drawn_erases(block, mean, spread));
        Chance::FailedBefore.draw(self.seed, block, 0) >= survives
    }

    /// The probability that a block is good after this many erases: with q = `probability` /
    /// `rated_erases`, the product of 1 - qk for k from 0 to `erases` - 1. The sum of its logarithms
    /// is computed as an integral, which is exact to 1e-6 at the same cost for any number.
    fn survival(&self, erases: u32) -> f64 {
        let of = |probability: f64| {
            let each = probability / f64::from(self.rated_erases);
            if each * f64::from(erases) >= 1.0 {
                return 0.0;
            }
            let integral = |upto: f64| {
                let left = 1.0 - each * upto;
                -(left * left.ln() + each * upto) / each
            };
            match each {
                0.0 => 1.0,
                _ => (integral(f64::from(erases) - 0.5) - integral(-0.5)).exp(),
            }
        };
        of(self.program) * of(self.erase)
    }
}

/// The field that holds how many pages of an open block can be programmed.
pub(crate) const fn end_field(frontier: Frontier) -> Field {
    match frontier {
        Frontier::Host => Field::HostEnd,
        Frontier::Hot => Field::HotEnd,
        Frontier::Hottest => Field::HottestEnd,
        Frontier::Collection => Field::CollectionEnd,
    }
}

/// Blocks that a plane can lose and still hold its share of the host's pages.
pub(crate) fn spare_blocks(layout: &FlashLayout, held_back: u32) -> u32 {
    let pages = layout.logical_pages.div_ceil(layout.planes);
    let used = pages.div_ceil(layout.pages_per_block);
    layout.blocks_per_plane.saturating_sub(held_back + used)
}

impl<M: Memory> Space<M> {
    /// Removes the blocks that are bad at first from the free lists, which hold all blocks.
    pub(crate) fn withdraw_bad(&mut self) {
        let Some(failures) = self.failures else {
            return;
        };
        for plane in 0..self.layout.planes {
            let mut free = 0;
            for block in self.blocks_of(plane) {
                if failures.is_bad_at_first(block) {
                    self.health.set(block as usize, BAD);
                    continue;
                }
                let place = plane * self.layout.blocks_per_plane + free;
                self.free.set(place as usize, block);
                free += 1;
            }
            self.set_field(plane, Field::FreeCount, free);
            let bad = self.layout.blocks_per_plane - free;
            self.set_field(plane, Field::Failed, bad);
        }
    }

    /// The number of bad blocks; `None` if blocks never fail.
    pub(crate) fn bad_blocks(&self) -> Option<u32> {
        self.failures?;
        let is_bad = |&block: &u32| self.is_bad(block);
        Some((0..self.layout.blocks()).filter(is_bad).count() as u32)
    }

    /// Whether `block` is permanently out of use.
    pub(crate) fn is_bad(&self, block: u32) -> bool {
        self.failures.is_some() && self.health.get(block as usize) == BAD
    }

    /// Whether a program has failed in `block` and its data must still be moved.
    pub(crate) fn is_failing(&self, block: u32) -> bool {
        self.failures.is_some() && !matches!(self.health.get(block as usize), 0 | BAD)
    }

    /// Whether a failing block of `plane` waits to be emptied.
    #[inline(always)]
    pub(crate) fn has_failing(&self, plane: u32) -> bool {
        self.failures.is_some() && self.field(plane, Field::Failing) > 0
    }

    /// Pages of the open block of a frontier that can be programmed.
    #[inline]
    pub(crate) fn end_of(&self, plane: u32, frontier: Frontier) -> u32 {
        match self.failures {
            None => self.layout.pages_per_block,
            Some(_) => self.field(plane, end_field(frontier)),
        }
    }

    /// Pages of `block`, which is opened for a frontier, that can be programmed.
    pub(crate) fn set_end(&mut self, plane: u32, frontier: Frontier, block: u32) -> u32 {
        let pages = self.layout.pages_per_block;
        let Some(failures) = self.failures else {
            return pages;
        };
        let end = failures.usable_pages(block, self.erase_count(block), pages);
        self.set_field(plane, end_field(frontier), end);
        self.valid.set_range(block, end..pages, false);
        end
    }

    /// The block of a frontier is filled as far as possible.
    pub(crate) fn note_failure(&mut self, plane: u32, frontier: Frontier, block: u32) {
        let end = self.end_of(plane, frontier);
        if end < self.layout.pages_per_block {
            self.health.set(block as usize, end + 1);
            self.change(plane, Field::Failing, 1);
            self.change(plane, Field::Failed, 1);
        }
    }

    fn change(&mut self, plane: u32, field: Field, by: i32) {
        let value = self.field(plane, field).wrapping_add_signed(by);
        self.set_field(plane, field, value);
    }

    /// The failing block to be emptied now, if there is one and its pages have a place to
    /// go.
    pub(crate) fn choose_failing(&mut self, plane: u32) -> Option<Victim> {
        if !self.has_failing(plane) || self.free_blocks(plane) < 2 {
            return None;
        }
        let is_next =
            |block: &u32| self.is_failing(*block) && self.valid.of_closed(*block).is_some();
        let block = self.blocks_of(plane).find(is_next)?;
        Some(self.take_victim(plane, block, Cause::Wear))
    }

    /// Why the block `block` becomes a victim. A failing block is not chosen to win space.
    pub(crate) fn cause_of(&mut self, plane: u32, block: u32, cause: Cause) -> Cause {
        if !self.is_failing(block) {
            return cause;
        }
        self.change(plane, Field::Failing, -1);
        Cause::Wear
    }

    /// The plane's victim is empty. Returns the last operation on it, modelled on `operation`. The
    /// block is then free or bad.
    pub(crate) fn end_victim(
        &mut self,
        victim: &Victim,
        operation: Operation,
        counts: &mut Counts,
    ) -> Operation {
        let (plane, block) = (operation.plane, victim.block);
        let pages = self.layout.pages_per_block;
        counts.collections += u64::from(victim.cause == Cause::Collection);
        self.finish_victim(plane);
        let erase = Operation {
            kind: OperationKind::Erase,
            ppn: Ppn(block * pages),
            lpn: NOTHING,
            ..operation
        };
        let Some(failures) = self.failures else {
            self.give_back(plane, block);
            return erase;
        };
        if self.is_failing(block) {
            let failed = self.health.get(block as usize) - 1;
            self.retire(block, counts);
            return Operation {
                kind: OperationKind::Program,
                ppn: Ppn(block * pages + failed),
                ..erase
            };
        }
        if failures.erase_fails(block, self.erase_count(block)) {
            self.count_erase(block);
            self.change(plane, Field::Failed, 1);
            self.retire(block, counts);
        } else {
            self.give_back(plane, block);
        }
        erase
    }

    fn retire(&mut self, block: u32, counts: &mut Counts) {
        self.health.set(block as usize, BAD);
        self.valid.withdraw(block);
        counts.retired_blocks += 1;
    }

    /// Refuses to continue if a plane has lost more blocks than it can spare.
    pub(crate) fn check_spare(&self, plane: u32) -> Result<(), FirmwareError> {
        if self.failures.is_none() || self.field(plane, Field::Failed) <= self.spare_blocks {
            return Ok(());
        }
        Err(self.worn_out(plane))
    }

    fn worn_out(&self, plane: u32) -> FirmwareError {
        FirmwareError::WornOut {
            plane,
            lost: self.field(plane, Field::Failed),
            blocks: self.layout.blocks_per_plane,
            spare: self.spare_blocks,
        }
    }

    /// The error if no page of `plane` can be won.
    pub(crate) fn no_space(&self, plane: u32) -> FirmwareError {
        if self.failures.is_some() && self.field(plane, Field::Failed) > 0 {
            self.worn_out(plane)
        } else {
            FirmwareError::NoSpace { plane }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Failures;

    #[test]
    fn survival_is_the_product_over_all_erases() {
        let failures = Failures {
            seed: 0,
            rated_erases: 3_000,
            factory_bad: 0.0,
            program: 0.02,
            erase: 0.004,
            worn: (0, 0),
        };
        for erases in [0, 1, 2, 100, 3_000, 20_000] {
            let product: f64 = (0..erases)
                .map(|k| {
                    let wear = f64::from(k) / 3_000.0;
                    (1.0 - 0.02 * wear) * (1.0 - 0.004 * wear)
                })
                .product();
            let found = failures.survival(erases);
            assert!(
                (found - product).abs() < 1e-6,
                "{erases}: {found} {product}"
            );
        }
        assert_eq!(failures.survival(150_000), 0.0);
    }
}
