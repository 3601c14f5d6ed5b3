//! Random: all closed blocks are equally likely.

use super::ClosedBlocks;
use crate::memory::Memory;

pub(super) fn choose<M: Memory>(blocks: &mut ClosedBlocks<'_, M>) -> Option<u32> {
    Some(blocks.draw().0)
}
