//! Greedy: the fewest valid pages, so the fewest moves now.

use super::ClosedBlocks;
use crate::memory::Memory;

pub(super) fn choose<M: Memory>(blocks: &mut ClosedBlocks<'_, M>) -> Option<u32> {
    Some(blocks.fewest.0)
}
