//! The dies that a server owns. Their queues go to the flash in order, and results go back to
//! whoever asked.

use drivelab_ftl::OperationKind;

use super::Server;
use crate::error::RunError;
use crate::flash::{FlashDone, Purpose};
use crate::mapping::Mapping;
use crate::records::Counter;

/// Operations that a die executes in one turn.
const TURN_OPERATIONS: usize = 32;

impl<M: Mapping> Server<'_, M> {
    pub(super) fn run_dies(&mut self) -> Result<bool, RunError> {
        let mut did = false;
        let desk = self.desk();
        for (plane, die) in &mut self.dies {
            let queue = &self.shared.dies[*plane as usize];
            for _ in 0..TURN_OPERATIONS {
                let has_room = (0..self.shared.servers)
                    .all(|server| self.shared.flash_done(self.index, server).room() > 0);
                if !has_room {
                    break;
                }
                let Some(command) = queue.take() else {
                    break;
                };
                did = true;
                die.execute(command.kind, command.page)?;
                let counter = match command.kind {
                    OperationKind::Read => Counter::FlashReads,
                    OperationKind::Program => Counter::FlashPrograms,
                    OperationKind::Erase => Counter::FlashErases,
                };
                self.counters.add(counter, 1);
                self.map.completed(desk, *plane, &command);
                if command.purpose == Purpose::Move {
                    continue;
                }
                let done = FlashDone {
                    purpose: command.purpose,
                    slot: command.slot,
                };
                let back = self.shared.flash_done(self.index, command.worker.into());
                if !back.put(done, self.counters) {
                    return Err(RunError::Inconsistent("a die's answer was lost".to_owned()));
                }
            }
        }
        Ok(did)
    }
}
