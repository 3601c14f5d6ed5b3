//! Cost-benefit (Kawaguchi et al. 1995): the largest age (1 - u) / 2u, where u is the fraction of
//! valid pages. An old block with some invalid pages goes before a young one with more, which may
//! gain further ones by waiting.
//!
//! There is no clock, so age is the number of blocks that the plane has closed since.

use super::ClosedBlocks;
use crate::memory::Memory;

pub(super) fn choose<M: Memory>(blocks: &mut ClosedBlocks<'_, M>) -> Option<u32> {
    let pages = blocks.space.pages_per_block();
    let mut best: Option<(u32, u64, u64)> = None;
    for (block, valid) in blocks.iter() {
        if valid == 0 {
            return Some(block);
        }
        let benefit = u64::from(blocks.age(block) + 1) * u64::from(pages - valid);
        let cost = u64::from(valid);
        // benefit / cost, compared without dividing: 32 + 15 bits times 15.
        if best.is_none_or(|(_, most, its_cost)| benefit * its_cost > most * cost) {
            best = Some((block, benefit, cost));
        }
    }
    best.map(|(block, _, _)| block)
}
