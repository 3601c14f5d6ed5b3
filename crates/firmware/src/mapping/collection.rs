//! Background collection, concurrent with host requests: greedy, plane by plane. It
//! begins when less than a tenth of a plane's blocks are free, and ends when more than 15
//! % are.

use drivelab_ftl::OperationKind;

use super::{DIE_DEPTH, Desk, Paged, overflowed};
use crate::collection_steps::{IDLE, TURN, owed, pay};
use crate::error::RunError;
use crate::flash::{FlashCommand, Purpose};
use crate::records::Counter;

/// A plane whose die the server owns, and whether it is collecting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collecting {
    pub plane: u32,
    pub is_on: bool,
}

impl Paged {
    pub(super) fn collect_owned(
        &mut self,
        desk: Desk<'_>,
        is_idle: bool,
    ) -> Result<bool, RunError> {
        let mut did = false;
        for index in 0..self.collecting.len() {
            let Collecting { plane, is_on } = self.collecting[index];
            let owed = owed(desk.shared, plane);
            if owed == 0 && !(is_idle && is_on) {
                continue;
            }
            if !self.is_to_collect(desk, index) {
                pay(desk.shared, plane, owed);
                continue;
            }
            if desk.shared.dies[plane as usize].waiting() >= DIE_DEPTH {
                continue;
            }
            did |= self.collect_on(desk, plane, owed.clamp(IDLE, TURN))? > 0;
            pay(desk.shared, plane, owed.min(TURN));
        }
        Ok(did)
    }

    /// Whether the plane should collect, by its free blocks.
    fn is_to_collect(&mut self, desk: Desk<'_>, index: usize) -> bool {
        let geometry = &desk.shared.geometry;
        let Collecting { plane, is_on } = &mut self.collecting[index];
        // Read without the lock: one block more or fewer only changes the moment.
        let free = self.map.free_blocks(*plane);
        let most = if *is_on {
            geometry.end_blocks()
        } else {
            geometry.begin_blocks()
        };
        *is_on = free < most;
        *is_on
    }

    fn collect_on(&mut self, desk: Desk<'_>, plane: u32, steps: u32) -> Result<u32, RunError> {
        self.operations.clear();
        let lock = &desk.shared.locks[plane as usize];
        let guard = lock.take(plane as usize, desk.counters);
        let taken = self
            .map
            .collect_in_background(plane, steps, &mut self.operations);
        let mut is_queued = true;
        for operation in self.operations.operations() {
            let moves = operation.kind == OperationKind::Program;
            desk.counters.add(Counter::PagesMoved, moves.into());
            let command = FlashCommand::of(operation, Purpose::Move, desk.server, 0);
            is_queued &= desk.shared.dies[plane as usize].put(command, desk.counters);
        }
        drop(guard);
        if is_queued {
            Ok(taken)
        } else {
            Err(overflowed(plane))
        }
    }
}
