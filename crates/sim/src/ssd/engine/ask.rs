//! Where the engine asks the firmware, and what the answer costs.
//!
//! ```text
//!   ask_firmware(run) ─> operations ─┬─ free ─────────────────> carry out
//!                                    └─ cost ─> core ─> due ──> carry out
//! ```
//!
//! Everything that the engine wants from the firmware goes through here: operations for a run of
//! pages, for one whole page by a short path, and in idle time. The answer of a free firmware is
//! carried out at once. If it costs time, it is carried out when a core has finished it
//! ([`crate::ssd::firmware::cores`]).

use drivelab_ftl::{
    Action, Cause, Firmware, FirmwareError, IdleTime, Lpn, Operation, OperationBuffer,
    OperationKind, PageRun,
};
use drivelab_request::PlacementId;

use crate::ssd::account::split::Part;
use crate::ssd::engine::Engine;
use crate::ssd::firmware::cores::{Done, Due, Parked, What};
use crate::ssd::flash::Account;
use crate::ssd::flash::Waits;
use crate::ssd::timeline::CORES;

/// Used instead of a slot if no command waits for the result.
const NO_SLOT: u32 = u32::MAX;

impl<F: Firmware> Engine<F> {
    /// Asks the firmware for a run of pages. Its operations are appended to the buffer.
    #[inline(always)]
    pub(in crate::ssd) fn ask_firmware(&mut self, run: PageRun) -> Result<(), FirmwareError> {
        self.firmware.submit(&[run], &mut self.out)
    }

    /// Sets where the firmware writes next, according to the stream of `slot`.
    #[inline(always)]
    pub(in crate::ssd) fn place_for(&mut self, slot: u32) {
        if self.firmware.takes_placements() {
            let placement = self.placement_of(slot);
            self.firmware.place(placement);
        }
    }

    /// Where the data of the command in `slot` should be placed.
    pub(in crate::ssd) fn placement_of(&self, slot: u32) -> PlacementId {
        let stream = self.front.slot(slot).stream();
        match self.heeds_placements {
            true => self.users.streams[stream as usize].placement,
            false => PlacementId::default(),
        }
    }

    /// Asks the firmware for one whole page, if that is a single operation.
    #[inline(always)]
    pub(in crate::ssd) fn ask_for_page(&mut self, action: Action, page: Lpn) -> Option<Operation> {
        let operation = match action {
            Action::Read => self.firmware.read_one(page),
            Action::Write => self.firmware.write_one(page),
            Action::Trim => None,
        }?;
        self.out.counts.lookups += 1;
        Some(operation)
    }

    /// Asks the firmware for work in idle time.
    pub(in crate::ssd) fn ask_in_idle_time(
        firmware: &mut F,
        out: &mut OperationBuffer,
        offer: &IdleTime<'_>,
    ) -> Result<(), FirmwareError> {
        firmware.background(offer, out)
    }

    /// The firmware's work for `pages` of the command in `slot`; `is_first` says whether they are
    /// its first pages.
    pub(in crate::ssd) fn done_for(&self, slot: u32, pages: u32, is_first: bool) -> Done {
        let entry = self.front.slot(slot);
        let pages = u64::from(pages);
        let (read_pages, written_pages) = match entry.action() {
            Action::Read => (pages, 0),
            Action::Write => (0, pages),
            Action::Trim => (0, 0),
        };
        Done {
            commands: is_first.into(),
            read_pages,
            written_pages,
            bytes: match read_pages + written_pages {
                0 => 0,
                _ => entry.command().size_bytes.into(),
            },
            ..Done::default()
        }
    }

    /// One operation of a one-page command: it enters the flash when a core has finished it.
    #[inline(never)]
    pub(in crate::ssd) fn hand_over_page(
        &mut self,
        slot: u32,
        (operation, account): (&Operation, Account),
        is_buffered: bool,
        now: u64,
    ) {
        let unit = self.flash.unit_of(operation.plane);
        let is_write = operation.kind == OperationKind::Program;
        let bytes = self.front.slot(slot).command().size_bytes;
        let at = match self.cores.work_on_page(bytes, is_write, now) {
            Some(at) => at,
            None => {
                let mut done = self.done_for(slot, 1, true);
                done.flash_reads = u64::from(!is_write);
                done.flash_programs = u64::from(is_write);
                self.cores.work_for_host(&done, now)
            }
        };
        let at = self.cores.due_on(unit, at);
        self.cores.hold_lane(unit, at);
        let what = match is_buffered {
            true => What::BufferedPage(*operation, account),
            false => What::Page(*operation, account),
        };
        self.put_due(
            Due {
                at,
                asked: now,
                slot,
                what,
                ..Due::default()
            },
            now,
        );
    }

    /// Carries out what the firmware has emitted when a core has finished it. `done` is what the
    /// firmware did for the host before it emitted anything.
    #[inline(never)]
    pub(in crate::ssd) fn hand_over(
        &mut self,
        slot: Option<u32>,
        what: What,
        (mut done, packed): (Done, Vec<u32>),
        now: u64,
    ) {
        let (place, mut parked) = self.cores.park();
        let emitted = self.out.take();
        self.out
            .put_back(std::mem::replace(&mut parked.operations, emitted));
        parked.packed = packed;
        for operation in (parked.operations.iter()).filter(|each| each.cause == Cause::Host) {
            match operation.kind {
                OperationKind::Read => done.flash_reads += 1,
                OperationKind::Program => done.flash_programs += 1,
                OperationKind::Erase => {}
            }
        }
        self.promise_parked((slot, what), (place, parked), &done, now);
    }

    /// The same for operations of the read cache, each with its account.
    pub(in crate::ssd) fn hand_over_fetched(
        &mut self,
        slot: Option<u32>,
        what: What,
        mut done: Done,
        now: u64,
    ) {
        let (place, mut parked) = self.cores.park();
        for (operation, account) in self.fetched.drain(..) {
            parked.operations.push(operation);
            parked.accounts.push(account);
        }
        done.flash_reads += parked.operations.len() as u64;
        self.promise_parked((slot, what), (place, parked), &done, now);
    }

    /// Parks operations until a core has finished the work that they came from.
    fn promise_parked(
        &mut self,
        (slot, what): (Option<u32>, What),
        (place, parked): (u32, Parked),
        done: &Done,
        now: u64,
    ) {
        // A collection has many operations, all on one plane.
        let runs = || (parked.operations).chunk_by(|one, next| one.plane == next.plane);
        let units = || runs().filter_map(|run| run.first().map(|of| of.plane));
        let mut at = self.cores.work_for_host(done, now);
        for plane in units() {
            at = self.cores.due_on(self.flash.unit_of(plane), at);
        }
        if let (What::Piece(first, ..), Some(slot)) = (what, slot) {
            at = self.cores.due_of_piece(slot, first == 0, at);
            self.cores.hold_piece(slot, at);
        }
        for plane in units() {
            self.cores.hold_lane(self.flash.unit_of(plane), at);
        }
        self.cores.keep(place, parked);
        let due = Due {
            at,
            asked: now,
            slot: slot.unwrap_or(NO_SLOT),
            parked: place,
            what,
        };
        self.put_due(due, now);
    }

    /// A command that has emitted nothing yet continues when a core has finished it.
    pub(in crate::ssd) fn hand_over_command(&mut self, slot: u32, done: &Done, now: u64) {
        let at = self.cores.work_for_host(done, now);
        self.put_command((slot, at), What::Command, now);
    }

    /// A core works on a gathered part of a write. The command completes with the last part.
    pub(in crate::ssd) fn hand_over_gathered(
        &mut self,
        slot: u32,
        (is_first, is_last): (bool, bool),
        done: &Done,
        now: u64,
    ) {
        let at = self.cores.work_for_host(done, now);
        let at = self.cores.due_of_piece(slot, is_first, at);
        self.cores.hold_piece(slot, at);
        if is_last {
            self.put_command((slot, at), What::Gathered, now);
        }
    }

    fn put_command(&mut self, (slot, at): (u32, u64), what: What, now: u64) {
        self.put_due(
            Due {
                at,
                asked: now,
                slot,
                what,
                ..Due::default()
            },
            now,
        );
    }

    #[inline(always)]
    pub(super) fn put_due(&mut self, due: Due, now: u64) {
        if self.cores.is_at_once(due.at, now) {
            return self.carry_out_at_once(due, now);
        }
        if self.cores.promise(due) {
            self.timeline.events.set_side(CORES, Some(due.at));
        }
    }

    #[inline(always)]
    fn set_cores_event(&mut self) {
        let next = self.cores.next_due();
        self.timeline.events.set_side(CORES, next);
    }

    /// A core has finished something.
    #[inline(never)]
    pub(in crate::ssd) fn cores_event(&mut self, now: u64) {
        if let Some(due) = self.cores.take_due() {
            self.set_cores_event();
            self.carry_out(due, now);
        }
    }

    /// The command in `slot` has waited for the firmware since `asked`.
    #[inline(always)]
    fn count_firmware(&mut self, slot: u32, asked: u64, now: u64) {
        let entry = self.front.slot_mut(slot);
        entry.add_part(Part::Firmware, now - asked);
        entry.begin_stage(now);
    }

    /// Work that takes no time, or none any more.
    #[cold]
    #[inline(never)]
    fn carry_out_at_once(&mut self, due: Due, now: u64) {
        self.carry_out(due, now);
    }

    #[inline(always)]
    fn carry_out(&mut self, due: Due, now: u64) {
        let Due {
            slot, asked, what, ..
        } = due;
        match what {
            What::Page(operation, account) => {
                self.count_firmware(slot, asked, now);
                self.enter_flash(&operation, account, now);
            }
            What::BufferedPage(operation, account) => {
                self.count_firmware(slot, asked, now);
                self.record_for(Some(slot));
                self.enter_flash(&operation, account, now);
                self.acknowledge(slot, now);
            }
            _ => self.carry_out_other(due, now),
        }
    }

    /// The same for what has not exactly one operation.
    #[inline(never)]
    fn carry_out_other(&mut self, due: Due, now: u64) {
        let Due {
            slot, asked, what, ..
        } = due;
        match what {
            What::Gathered => {
                self.count_firmware(slot, asked, now);
                self.acknowledge(slot, now);
            }
            What::Command => {
                self.count_firmware(slot, asked, now);
                self.begin_command(slot, now);
            }
            What::Zone => self.end_of_zone(slot, now),
            What::ThroughMemory(_) | What::Ahead => self.carry_out_fetched(due, now),
            // Pages have been carried out.
            _ => self.carry_out_emitted(due, now),
        }
    }

    /// Pages fetched for a read, or ahead, enter the flash.
    fn carry_out_fetched(&mut self, due: Due, now: u64) {
        let parked = self.cores.unpark(due.parked);
        if let What::ThroughMemory(_) = due.what {
            self.count_firmware(due.slot, due.asked, now);
        }
        self.record_for((due.slot != NO_SLOT).then_some(due.slot));
        for (operation, &account) in parked.operations.iter().zip(&parked.accounts) {
            self.enter_flash(operation, account, now);
        }
        self.cores.give_back(due.parked, parked);
        if let What::ThroughMemory(in_memory) = due.what {
            self.look_into_memory(due.slot, in_memory, now);
        }
    }

    /// What the firmware emitted enters the flash, and the command continues.
    fn carry_out_emitted(&mut self, due: Due, now: u64) {
        let mut parked = self.cores.unpark(due.parked);
        let waiting = self.out.take();
        self.out.put_back(std::mem::take(&mut parked.operations));
        let slot = due.slot;
        match due.what {
            What::Read(in_memory) => {
                self.count_firmware(slot, due.asked, now);
                self.emit_read(slot, in_memory, now);
            }
            What::Write => {
                self.count_firmware(slot, due.asked, now);
                self.emit_write(slot, now);
            }
            What::Piece(first, pages, stretch) => {
                let is_last = first + pages == self.run_of(slot).pages;
                if is_last {
                    self.count_firmware(slot, due.asked, now);
                }
                self.record_for(Some(slot));
                self.emit_piece(slot, (first, pages), (stretch, &parked.packed), now);
            }
            What::Pushed(stretch) => {
                self.record_for(None);
                self.emit_pushed(stretch, &parked.packed, now);
            }
            _ => {
                self.emit(Account::NOBODY, Waits::Programs, now);
            }
        }
        parked.operations = self.out.take();
        self.out.put_back(waiting);
        self.cores.give_back(due.parked, parked);
    }
}
