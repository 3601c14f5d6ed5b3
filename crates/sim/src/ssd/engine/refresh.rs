//! Data that has become hard to read is moved: blocks that were read often, and old ones.
//!
//! ```text
//!   read ─> reads of its block ─ limit? ─┐
//!   program ─> age of its block ─────────┴─> the firmware moves the block ─> flash, for nobody
//! ```
//!
//! Both thresholds are checked at every moment at which a flash operation ends, when the commands that
//! follow from it have come. A drive whose run begins has been
//! in use: the reads and the ages of its blocks are spread evenly from nothing to the threshold.
//! A block that cannot be refreshed yet is asked for again when the next operation on it ends. One
//! that was erased meanwhile is not refreshed: what lies there now is young.

use std::collections::VecDeque;

use drivelab_ftl::{Firmware, FlashLayout, NOTHING, OperationKind};

use super::Engine;
use crate::preset::{Refresh, SsdConfig};
use crate::ssd::firmware::cores::{Done, What};
use crate::ssd::flash::{Account, Waits};
use crate::ssd::timeline::REFRESH;

/// When the data of an empty block expires.
const NEVER: u64 = u64::MAX;

/// What is known about the blocks of a drive that refreshes them.
#[derive(Clone, Debug)]
pub(super) struct Refreshing {
    rule: Refresh,
    blocks_per_plane: u32,
    pages_per_block: u32,
    /// By block, reads since it was erased.
    reads: Vec<u32>,
    /// By block, when its data is so old that it is moved; [`NEVER`] once it has been erased.
    expires_at: Vec<u64>,
    /// The same in order of time, with entries of blocks that have been erased since.
    oldest: VecDeque<(u64, u32)>,
    /// Blocks to refresh.
    due: VecDeque<u32>,
    /// By block: it was due and could not be refreshed.
    is_late: Vec<bool>,
    /// By plane, blocks that are due while another one of the plane is refreshed.
    waiting: Vec<Vec<u32>>,
    /// By plane, the block that is refreshed until its erase has ended; [`NOTHING`] for none.
    under_way: Vec<u32>,
}

impl Refreshing {
    /// Nothing of a drive that never refreshes.
    pub fn new(config: &SsdConfig, layout: &FlashLayout) -> Option<Self> {
        let blocks = layout.blocks() as usize;
        Some(Self {
            rule: config.refresh?,
            blocks_per_plane: layout.blocks_per_plane,
            pages_per_block: layout.pages_per_block,
            reads: vec![0; blocks],
            expires_at: vec![NEVER; blocks],
            oldest: VecDeque::new(),
            due: VecDeque::new(),
            is_late: vec![false; blocks],
            waiting: vec![Vec::new(); layout.planes as usize],
            under_way: vec![NOTHING; layout.planes as usize],
        })
    }

    /// A run begins on a drive that has been in use.
    pub fn begin(&mut self) {
        let blocks = self.reads.len() as u32;
        let limit = self.rule.read_limit.unwrap_or(0);
        for (block, reads) in (0..blocks).zip(&mut self.reads) {
            *reads = part_of(limit.into(), block) as u32;
        }
        self.expires_at.fill(NEVER);
        self.oldest.clear();
        if let Some(retention) = self.rule.retention_ns {
            for (block, expires_at) in (0..blocks).zip(&mut self.expires_at) {
                *expires_at = part_of(retention, block);
                self.oldest.push_back((*expires_at, block));
            }
            self.oldest.make_contiguous().sort_unstable();
        }
        self.due.clear();
        self.is_late.fill(false);
        self.waiting.iter_mut().for_each(Vec::clear);
        self.under_way.fill(NOTHING);
    }

    /// An operation on a page, or of an erase on the first page of its block, has ended.
    pub fn count(&mut self, kind: OperationKind, page: u32, now: u64) {
        let block = page / self.pages_per_block;
        let place = block as usize;
        if std::mem::take(&mut self.is_late[place]) && kind != OperationKind::Erase {
            self.due.push_back(block);
        }
        match kind {
            OperationKind::Read => {
                self.reads[place] = self.reads[place].saturating_add(1);
                if Some(self.reads[place]) == self.rule.read_limit {
                    self.due.push_back(block);
                }
            }
            OperationKind::Program if page.is_multiple_of(self.pages_per_block) => {
                // It was empty, perhaps since before the run.
                self.reads[place] = 0;
                if let Some(retention) = self.rule.retention_ns {
                    self.expires_at[place] = now.saturating_add(retention);
                    self.oldest.push_back((self.expires_at[place], block));
                }
            }
            OperationKind::Program => {}
            OperationKind::Erase => {
                self.reads[place] = 0;
                self.expires_at[place] = NEVER;
                let plane = place / self.blocks_per_plane as usize;
                if self.under_way[plane] == block {
                    self.under_way[plane] = NOTHING;
                    self.due.extend(self.waiting[plane].drain(..));
                }
            }
        }
    }

    /// Whether the data that lies in a block now was read so often, or is so old.
    fn is_due(&self, block: u32, now: u64) -> bool {
        let place = block as usize;
        let limit = self.rule.read_limit;
        limit.is_some_and(|limit| self.reads[place] >= limit) || self.expires_at[place] <= now
    }

    /// Takes the next block to refresh. Planes refresh one block after the other.
    pub fn next(&mut self, now: u64) -> Option<u32> {
        while let Some(&(expires_at, block)) = self.oldest.front()
            && expires_at <= now
        {
            self.oldest.pop_front();
            // Unless it was erased meanwhile, and perhaps written again.
            if self.expires_at[block as usize] == expires_at {
                self.due.push_back(block);
            }
        }
        while let Some(block) = self.due.pop_front() {
            if !self.is_due(block, now) {
                continue;
            }
            let plane = (block / self.blocks_per_plane) as usize;
            if self.under_way[plane] == NOTHING {
                return Some(block);
            }
            self.waiting[plane].push(block);
        }
        None
    }

    /// Blocks whose data would be too old, if they hold any, and are not being refreshed.
    pub fn overdue(&self, now: u64) -> impl Iterator<Item = u32> {
        let blocks = (0_u32..).zip(&self.expires_at);
        let overdue = blocks.filter(move |&(_, &expires_at)| expires_at <= now);
        overdue
            .map(|(block, _)| block)
            .filter(|&block| self.under_way[(block / self.blocks_per_plane) as usize] != block)
    }

    /// What became of a block that was taken.
    pub fn taken(&mut self, block: u32, is_possible: bool) {
        if is_possible {
            self.under_way[(block / self.blocks_per_plane) as usize] = block;
        } else {
            self.is_late[block as usize] = true;
        }
    }
}

/// A part of `whole` for each block, less than the whole, spread evenly over the blocks of a drive
/// (Knuth's multiplicative hashing).
fn part_of(whole: u64, block: u32) -> u64 {
    let drawn = (u64::from(block) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(whole) * u128::from(drawn)) >> 64) as u64
}

impl<F: Firmware> Engine<F> {
    /// Operations have ended at `now`: refreshes the blocks that are due. Not after the last command,
    /// or the run might never end.
    #[inline(never)]
    pub(super) fn refresh_event(&mut self, now: u64) {
        self.timeline.events.set_side(REFRESH, None);
        if self.is_idle() && !self.is_awaiting() {
            return;
        }
        while self.failure.is_none()
            && let Some(refreshing) = &mut self.refreshing
            && let Some(block) = refreshing.next(now)
        {
            self.out.clear();
            match self.firmware.refresh(block, &mut self.out) {
                Ok(is_possible) => refreshing.taken(block, is_possible),
                Err(error) => self.failure = Some(error.into()),
            }
            if self.out.operations().is_empty() {
                continue;
            }
            if self.cores.is_on() {
                self.hand_over(None, What::Trimmed, (Done::default(), Vec::new()), now);
            } else {
                self.emit(Account::NOBODY, Waits::Programs, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refreshing(reads: Option<u32>, retention: Option<u64>) -> Refreshing {
        let blocks = 8;
        let mut refreshing = Refreshing {
            rule: Refresh {
                read_limit: reads,
                retention_ns: retention,
            },
            blocks_per_plane: 4,
            pages_per_block: 2,
            reads: vec![0; blocks],
            expires_at: vec![NEVER; blocks],
            oldest: VecDeque::new(),
            due: VecDeque::new(),
            is_late: vec![false; blocks],
            waiting: vec![Vec::new(); 2],
            under_way: vec![NOTHING; 2],
        };
        refreshing.begin();
        refreshing
    }

    #[test]
    fn a_block_is_due_when_it_was_read_so_often_since_its_erase() {
        let mut blocks = refreshing(Some(5), None);
        let before = blocks.reads[3];
        for read in before..5 {
            assert_eq!(blocks.next(0), None, "{read}");
            blocks.count(OperationKind::Read, 7, 0);
        }
        assert_eq!(blocks.next(0), Some(3));
        blocks.taken(3, true);
        // Another block of its plane waits for the erase, and one of the other plane does not.
        for _ in blocks.reads[2]..5 {
            blocks.count(OperationKind::Read, 4, 0);
        }
        for _ in blocks.reads[5]..5 {
            blocks.count(OperationKind::Read, 11, 0);
        }
        assert_eq!((blocks.next(0), blocks.next(0)), (Some(5), None));
        blocks.count(OperationKind::Erase, 6, 0);
        assert_eq!((blocks.reads[3], blocks.next(0)), (0, Some(2)));
    }

    #[test]
    fn a_block_is_due_when_its_first_page_is_so_old() {
        let mut blocks = refreshing(None, Some(1_000));
        // Those that were there before are due one after the other, each once.
        let mut due = Vec::new();
        for now in 0..1_000 {
            while let Some(block) = blocks.next(now) {
                due.push(block);
            }
        }
        due.sort_unstable();
        assert_eq!(due, [0, 1, 2, 3, 4, 5, 6, 7]);
        blocks.count(OperationKind::Program, 8, 5_000);
        blocks.count(OperationKind::Program, 9, 5_600);
        blocks.count(OperationKind::Program, 12, 5_100);
        assert_eq!(blocks.next(5_999), None);
        assert_eq!((blocks.next(6_000), blocks.next(6_000)), (Some(4), None));
        // Erased before it is old.
        blocks.count(OperationKind::Erase, 12, 6_050);
        assert_eq!(blocks.next(9_000), None);
    }

    #[test]
    fn a_block_that_cannot_be_refreshed_is_tried_again_with_its_next_operation() {
        let mut blocks = refreshing(None, Some(1_000));
        blocks.begin();
        blocks.oldest.clear();
        blocks.count(OperationKind::Program, 0, 10);
        assert_eq!(blocks.next(2_000), Some(0));
        blocks.taken(0, false);
        assert_eq!(blocks.next(3_000), None);
        blocks.count(OperationKind::Read, 2, 3_000);
        assert_eq!(blocks.next(3_000), None);
        blocks.count(OperationKind::Read, 0, 3_000);
        assert_eq!(blocks.next(3_000), Some(0));
        // Erased or filled anew meanwhile, it has no old data.
        for kind in [OperationKind::Erase, OperationKind::Program] {
            blocks.taken(0, false);
            blocks.count(kind, 0, 4_000);
            assert_eq!(blocks.next(4_000), None);
        }
    }

    #[test]
    fn a_block_that_was_erased_since_it_was_due_is_left_alone() {
        let mut blocks = refreshing(None, Some(1_000));
        // All come due while they are empty. What is written to one later is young.
        while let Some(block) = blocks.next(1_000) {
            blocks.taken(block, false);
        }
        blocks.count(OperationKind::Program, 0, 1_500);
        assert_eq!((blocks.next(1_500), blocks.next(2_499)), (None, None));
        assert_eq!(blocks.next(2_500), Some(0));
        blocks.taken(0, true);
        // Another one of the plane comes due behind it, and is collected before its turn.
        blocks.count(OperationKind::Program, 2, 2_500);
        assert_eq!(blocks.next(3_500), None);
        blocks.count(OperationKind::Erase, 2, 3_600);
        blocks.count(OperationKind::Program, 2, 3_700);
        blocks.count(OperationKind::Erase, 0, 3_800);
        assert_eq!((blocks.next(3_800), blocks.next(4_699)), (None, None));
        assert_eq!(blocks.next(4_700), Some(1));
        // Collected after it was refused.
        blocks.taken(1, false);
        blocks.count(OperationKind::Erase, 2, 4_800);
        assert_eq!(blocks.next(4_800), None);
    }

    #[test]
    fn an_empty_block_was_never_read() {
        let mut blocks = refreshing(Some(1_000), None);
        assert!(blocks.reads[3] > 0);
        blocks.count(OperationKind::Program, 6, 0);
        assert_eq!(blocks.reads[3], 0);
    }

    #[test]
    fn parts_are_spread_evenly() {
        let sum: u64 = (0..1_000).map(|block| part_of(10_000, block)).sum();
        assert!((4_900_000..5_100_000).contains(&sum), "{sum}");
        let most = (0..1_000).map(|block| part_of(10_000, block)).max();
        assert!(most < Some(10_000));
    }
}
