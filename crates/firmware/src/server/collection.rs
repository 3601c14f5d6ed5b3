//! Collection in the background, at the same time as the host's requests: greedy, plane by
//! plane. It begins when fewer than a tenth of a plane's blocks are free and ends when more
//! than 15 % are.

use drivelab_ftl::OperationKind;

use super::read::DIE_DEPTH;
use super::{Server, overflowed};
use crate::collection_steps::{IDLE, TURN, owed, pay};
use crate::error::RunError;
use crate::flash::{FlashCommand, Purpose};
use crate::records::Counter;

/// Which of the owned dies are collecting.
#[derive(Debug)]
pub(super) struct Collecting {
    is_on: Vec<bool>,
}

impl Collecting {
    pub fn new(dies: usize) -> Self {
        Self {
            is_on: vec![false; dies],
        }
    }
}

impl Server<'_> {
    pub(super) fn collect(&mut self, is_idle: bool) -> Result<bool, RunError> {
        let mut did = false;
        for index in 0..self.dies.len() {
            let plane = self.dies[index].0;
            let owed = owed(self.shared, plane);
            if owed == 0 && !(is_idle && self.collecting.is_on[index]) {
                continue;
            }
            if !self.is_to_collect(index, plane) {
                pay(self.shared, plane, owed);
                continue;
            }
            if self.shared.dies[plane as usize].waiting() >= DIE_DEPTH {
                continue;
            }
            did |= self.collect_on(plane, owed.clamp(IDLE, TURN))? > 0;
            pay(self.shared, plane, owed.min(TURN));
        }
        Ok(did)
    }

    /// Whether the plane collects, by its free blocks.
    fn is_to_collect(&mut self, index: usize, plane: u32) -> bool {
        let geometry = &self.shared.geometry;
        // Read without the lock: a block more or fewer changes nothing but the moment.
        let free = self.map.free_blocks(plane);
        let is_on = &mut self.collecting.is_on[index];
        let most = if *is_on {
            geometry.end_blocks()
        } else {
            geometry.begin_blocks()
        };
        *is_on = free < most;
        *is_on
    }

    fn collect_on(&mut self, plane: u32, steps: u32) -> Result<u32, RunError> {
        self.operations.clear();
        let lock = &self.shared.locks[plane as usize];
        let guard = lock.take(plane as usize, self.counters);
        let taken = self
            .map
            .collect_in_background(plane, steps, &mut self.operations);
        let mut is_queued = true;
        for operation in self.operations.operations() {
            let moves = operation.kind == OperationKind::Program;
            self.counters.add(Counter::PagesMoved, moves.into());
            let command = FlashCommand::of(operation, Purpose::Move, self.index, 0);
            is_queued &= self.shared.dies[plane as usize].put(command, self.counters);
        }
        drop(guard);
        if is_queued {
            Ok(taken)
        } else {
            Err(overflowed(plane))
        }
    }
}
