//! First in, first out: the block that was filled first.

use super::ClosedBlocks;
use crate::memory::Memory;

pub(super) fn choose<M: Memory>(blocks: &mut ClosedBlocks<'_, M>) -> Option<u32> {
    let oldest = blocks.iter().max_by_key(|&(block, _)| blocks.age(block))?;
    Some(oldest.0)
}
