//! Moves of the collection: a read and the program of what it read, as one task.
//!
//! ```text
//!   read:  cell ─> wait for the channel ─> transfer ─┐
//!   program:                   wait for the channel ─┴─> transfer ─> cell ─> event
//! ```
//!
//! When the read ends is known as soon as the channel has promised its transfer. Nobody
//! waits for it, so the program asks for the channel right then, for the time when the
//! read ends. Asks are served in the order of their times, whenever they were put in
//! line, so every time is as if the read's end had had an event of its own.
//!
//! That needs a drive in which nothing else depends on that moment: [`Engine::may_move`].

use drivelab_ftl::{Cause, Firmware, Operation, OperationKind};

use super::engine::Engine;
use super::flash::{Phase, Unit};
use super::queue::{Account, Task};
use crate::event::EventKey;

/// Whether two operations, emitted one after the other, move a page for nobody.
#[inline(always)]
pub(super) fn is_move(read: &Operation, program: &Operation) -> bool {
    read.kind == OperationKind::Read
        && program.kind == OperationKind::Program
        && read.cause != Cause::Host
        && program.cause != Cause::Host
        && read.lpn == program.lpn
}

impl<F: Firmware> Engine<F> {
    /// Whether moves can be tasks. Without time between an operation's steps their order
    /// would depend on who else is served then; with a slow dispatch the program might
    /// come later than its read ends.
    pub(super) fn may_move(&self) -> bool {
        self.timing.every_step_takes_time()
            && self.timing.dispatch[1] <= self.timing.shortest_read()
            && !self.flash.dispatch.in_order
            && self.flash.overtaking.is_none()
            && !self.flash.has_copyback
            && self.flash.recording.is_none()
            && !self.background.is_on()
            && !self.firmware.heeds_completions()
    }

    /// A move that the firmware emitted at `now` on `unit` enters the flash.
    #[inline(always)]
    pub(super) fn enter_move(
        &mut self,
        unit: u32,
        (read, program): (&Operation, &Operation),
        now: u64,
    ) {
        let dispatch = &mut self.flash.dispatch;
        let available = dispatch.free_at.max(now) + self.timing.dispatch[0];
        dispatch.free_at = available + self.timing.dispatch[1];
        let task = Task {
            available,
            collected: u64::from(program.ppn.0),
            account: Account::MOVE,
            ppn: read.ppn,
            lpn: read.lpn,
            kind: OperationKind::Read,
            cause: read.cause,
            tag: 0,
        };
        if self.flash.units[unit as usize].phase == Phase::Idle {
            self.begin(unit, task, available, now);
        } else {
            self.flash.enqueue(unit, task);
            self.check_queued();
        }
    }

    /// The read of a move on `unit` ends at `end`: its program begins.
    #[inline(always)]
    pub(super) fn follow(&mut self, unit: u32, end: u64) {
        let state = &mut self.flash.units[unit as usize];
        self.tally.operations[OperationKind::Read as usize][state.task.cause as usize] += 1;
        state.task.become_program();
        state.took = end;
        let channel = &mut self.flash.channels[state.channel as usize];
        let key = EventKey::new(end, unit as usize);
        let kind = OperationKind::Program as usize;
        let moved = channel.ask(key, self.timing.register[kind]);
        state.end = moved + self.timing.cell[kind][self.timing.page_type(state.task.ppn)];
        state.phase = Phase::Asked;
    }

    /// The causes of reads that are counted already and end after `served`.
    pub(super) fn counted_early(&self, served: EventKey) -> Vec<Cause> {
        let units = self.flash.units.iter().enumerate();
        let is_early = |(unit, state): &(usize, &Unit)| {
            self.flash.moves && state.is_in_move() && EventKey::new(state.took, *unit) > served
        };
        let early = units.filter(is_early);
        early.map(|(_, state)| state.task.cause).collect()
    }
}
