//! Operations that the firmware emits for one command or one step enter the flash together.

use drivelab_ftl::{Cause, Operation};

use super::registers::is_copied_back;
use super::{Account, Flash, Waits, Whose};
use crate::ssd::timeline::Timeline;

impl Flash {
    /// The emitted operations enter on the account of whoever waits. Returns how many of them it
    /// waits for.
    pub fn enter_all(
        &mut self,
        operations: &[Operation],
        (account, whose): (Account, Whose),
        waits: Waits,
        timeline: &mut Timeline,
        now: u64,
    ) -> u32 {
        if self.waits_in_turn() {
            return self.enter_in_turn(operations, (account, whose), waits, timeline, now);
        }
        let mut pending = 0;
        let has_copyback = self.has_copyback;
        let mut before = None;
        let mut operations = operations;
        while let [operation, others @ ..] = operations {
            if self.moves && operation.cause != Cause::Host {
                let moves = self.enter_moves(operations, timeline, now);
                if moves > 0 {
                    before = operations.get(2 * moves - 1);
                    operations = &operations[2 * moves..];
                    continue;
                }
            }
            operations = others;
            let is_awaited = waits.is_for(operation);
            pending += u32::from(is_awaited);
            let account = if is_awaited {
                (account, whose)
            } else if has_copyback && is_copied_back(before, operation, operations) {
                (Account::COPYBACK, Whose::NOBODYS)
            } else {
                (Account::NOBODY, Whose::NOBODYS)
            };
            self.enter_either(operation, account, timeline, now);
            before = Some(operation);
        }
        pending
    }

    /// One operation enters any kind of flash. Whether the flash is overfull is checked later.
    #[inline(always)]
    pub(super) fn enter_either(
        &mut self,
        operation: &Operation,
        account: (Account, Whose),
        timeline: &mut Timeline,
        now: u64,
    ) {
        if self.is_plain {
            let _ = self.enter(operation, account.0, timeline, now);
        } else {
            self.enter_otherwise(operation, account, timeline, now);
        }
    }
}
