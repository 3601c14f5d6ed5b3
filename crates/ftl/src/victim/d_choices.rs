//! d choices: the fewest valid pages among d random blocks (Van Houdt 2013). With d = 1 it is
//! random, with many nearly greedy.

use super::ClosedBlocks;
use crate::memory::Memory;

pub(super) fn choose<M: Memory>(blocks: &mut ClosedBlocks<'_, M>) -> Option<u32> {
    let mut best = blocks.draw();
    for _ in 1..blocks.choices {
        let other = blocks.draw();
        if other.1 < best.1 {
            best = other;
        }
    }
    Some(best.0)
}
