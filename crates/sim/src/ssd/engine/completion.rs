//! Operations enter the flash. When they complete, whoever waits for them continues.

use drivelab_ftl::{Cause, Firmware, NOTHING, Operation};
use drivelab_request::CommandKind;

use super::Engine;
use crate::ssd::SimError;
use crate::ssd::flash::{Account, Beneficiary, Ended, MAX_QUEUED, Waits, Whose};
use crate::ssd::timeline::REFRESH;

impl<F: Firmware> Engine<F> {
    /// An operation that the firmware emitted at `now` enters the flash.
    #[inline(always)]
    pub(super) fn enter_flash(&mut self, operation: &Operation, account: Account, now: u64) {
        if self.flash.is_plain() {
            if !(self.flash).enter(operation, account, &mut self.timeline, now) {
                self.overflow();
            }
        } else {
            self.enter_otherwise(operation, account, now);
        }
    }

    #[inline(never)]
    fn enter_otherwise(&mut self, operation: &Operation, account: Account, now: u64) {
        let whose = self.whose(account, operation.lpn);
        let owner = (account, whose);
        self.flash
            .enter_otherwise(operation, owner, &mut self.timeline, now);
        if self.flash.is_overfull() {
            self.overflow();
        }
    }

    #[cold]
    fn overflow(&mut self) {
        self.failure = Some(SimError::InFlight { most: MAX_QUEUED });
    }

    /// Who an operation on an account is for. A page fetched into the cache is for whoever asked
    /// for it first; a page read ahead is for nobody.
    fn whose(&self, account: Account, page: u32) -> Whose {
        if !self.flash.asks_whose() {
            return Whose::NOBODYS;
        }
        let (slot, is_own) = match account.beneficiary() {
            Beneficiary::Request(slot) | Beneficiary::Forced(slot) => (Some(slot), true),
            Beneficiary::Cache => (self.cache.first_waiting(page), false),
            _ => (None, false),
        };
        let Some(slot) = slot else {
            return Whose::NOBODYS;
        };
        let (kind, stream) = self.front.owner_of(slot);
        Whose {
            stream: is_own.then_some(stream),
            reader: (kind == CommandKind::Read)
                .then(|| self.users.streams[stream as usize].priority),
        }
    }

    /// What the firmware wrote into the buffer enters the flash on `account`. Returns how many
    /// operations the account waits for.
    #[inline(never)]
    pub(super) fn emit(&mut self, account: Account, waits: Waits, now: u64) -> u32 {
        let emitted = self.out.take();
        let owner = (account, self.whose(account, NOTHING));
        let operations = emitted.as_slice();
        let timeline = &mut self.timeline;
        let pending = (self.flash).enter_all(operations, owner, waits, timeline, now);
        self.out.put_back(emitted);
        if self.flash.is_overfull() {
            self.overflow();
        }
        if let Beneficiary::Request(slot) = account.beneficiary() {
            let entry = self.front.slot_mut(slot);
            entry.await_all(pending);
            entry.begin_stage(now);
        }
        pending
    }

    /// The pending event of `unit` is due.
    #[inline(always)]
    pub(super) fn unit_event(&mut self, unit: u32, now: u64) {
        if self.flash.has_ended(unit, &mut self.timeline, now) {
            if self.flash.is_plain() {
                self.end_operation(unit, now);
            } else {
                self.end_operations(unit, now);
            }
        }
    }

    #[inline(never)]
    fn end_operation(&mut self, unit: u32, now: u64) {
        let ended = self.flash.end(unit, &mut self.timeline, now);
        self.tell_completion(&ended, now);
    }

    #[inline(never)]
    fn end_operations(&mut self, unit: u32, now: u64) {
        let mut over = self.flash.end_otherwise(unit, &mut self.timeline, now);
        for ended in over.drain(..) {
            if self.firmware.heeds_completions() {
                let task = &ended.task;
                self.firmware.completed(&Operation {
                    kind: task.kind,
                    cause: task.cause,
                    plane: self.flash.plane_of(task),
                    ppn: task.ppn,
                    lpn: task.lpn,
                    after: NOTHING,
                    request: 0,
                });
            }
            if let Some(namespaces) = &mut self.namespaces {
                let task = &ended.task;
                namespaces.count(task.kind, task.cause, task.lpn);
            }
            if let Some(refreshing) = &mut self.refreshing {
                refreshing.count(ended.task.kind, ended.task.ppn.0, now);
            }
            self.tell_completion(&ended, now);
        }
        self.flash.give_back(over);
        if self.refreshing.is_some() {
            self.timeline.events.set_side(REFRESH, Some(now));
        }
    }

    /// An operation completed: whoever waited for it continues.
    #[inline(always)]
    fn tell_completion(&mut self, ended: &Ended, now: u64) {
        let task = &ended.task;
        self.flash.count(task);
        if self.cores.is_on() && task.cause != Cause::Host {
            self.cores.work_for_drive(task.kind, task.cause, now);
        }
        match task.account.beneficiary() {
            Beneficiary::Nobody if self.background.is_running() => self.work_in_background(1, now),
            Beneficiary::Nobody => {}
            Beneficiary::Buffer(stretch) => self.page_flushed(task.lpn, stretch, now),
            Beneficiary::Lookup(ticket) => self.looked_up(ticket, now),
            Beneficiary::Request(slot) => {
                self.page_done(slot, self.flash.parts_of(ended, now), now);
            }
            Beneficiary::Forced(slot) => {
                let parts = self.flash.parts_of(ended, now);
                self.forced_page_done(slot, task.lpn, parts, now);
            }
            Beneficiary::Cache => {
                self.page_came(task.lpn, self.flash.parts_of(ended, now), now);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn looked_up(&mut self, ticket: u32, now: u64) {
        self.flash.looked_up(ticket, &mut self.timeline, now);
        if self.flash.is_overfull() {
            self.overflow();
        }
    }
}
