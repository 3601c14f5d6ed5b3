//! Greedy: the fewest valid pages, the least to move now.

use super::ClosedBlocks;
use crate::memory::Memory;

pub(super) fn choose<M: Memory>(blocks: &mut ClosedBlocks<'_, M>) -> Option<u32> {
    Some(blocks.fewest.0)
}
