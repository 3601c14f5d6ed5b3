//! Moves of the collection: a read and the program of the data it read, as one task.
//!
//! ```text
//!   read:  cell ─> wait for the channel ─> transfer ─┐
//!   program:                   wait for the channel ─┴─> transfer ─> cell ─> event
//! ```
//!
//! The end of the read is known as soon as the channel has promised its transfer. Nobody waits for
//! it, so the program requests the channel at once, for the time when the read ends. Requests are
//! served in the order of their times, whenever they were put in line. So every time is the same as
//! if the end of the read had its own event.
//!
//! This requires a drive in which nothing else depends on that moment: [`Flash::may_move`].
//!
//! The moves of a victim follow one another on one unit. If all pages take the same time, the moves
//! do not differ, and a run of them waits as one task. If they stay in their plane, the run has a
//! single event ([`super::registers`]).

use drivelab_ftl::{Cause, Operation, OperationKind};

use super::channel::Channel;
use super::queue::{Account, Task};
use super::tally::Tally;
use super::timing::Timing;
use super::unit::{Phase, Unit};
use super::{Flash, Surroundings};
use crate::event::EventKey;
use crate::ssd::timeline::Timeline;

/// Whether two operations, emitted one after the other, move a page for nobody. A map page does not
/// qualify, because it is changed on its way.
#[inline(always)]
pub(super) fn is_move(read: &Operation, program: &Operation) -> bool {
    read.kind == OperationKind::Read
        && program.kind == OperationKind::Program
        && matches!(read.cause, Cause::Collection | Cause::Wear)
        && matches!(program.cause, Cause::Collection | Cause::Wear)
        && read.lpn == program.lpn
}

impl Flash {
    /// Whether moves can be single tasks. If an operation's steps took no time, their order would
    /// depend on what else is served then. With a slow dispatch the program might come later than
    /// its read ends. In a run of copybacks the end of each one is not visible, but cores must be
    /// informed of it.
    pub(super) fn may_move(&self, around: Surroundings) -> bool {
        self.times.every_step_takes_time()
            && match self.has_copyback {
                true => self.times.copybacks_follow(),
                false => self.times.dispatch[1] <= self.times.shortest_read(),
            }
            && self.may_be_plain()
            && self.times.ageing.is_none()
            && !around.has_idle_work
            && !(self.has_copyback && around.has_cores)
            && !around.is_heeded
            && !around.is_attributed
    }

    /// The moves at the head of what the firmware emitted at `now` enter the flash, as many as one
    /// task holds. Returns how many.
    #[inline(always)]
    pub(super) fn enter_moves(
        &mut self,
        operations: &[Operation],
        timeline: &mut Timeline,
        now: u64,
    ) -> usize {
        let most = if self.times.has_page_types() {
            1
        } else {
            usize::MAX
        };
        let [read, program, ..] = operations else {
            return 0;
        };
        let is_next = |pair: &&[Operation; 2]| {
            let [next, last] = pair;
            is_move(next, last)
                && (next.plane, last.plane) == (read.plane, read.plane)
                && (next.cause, last.cause) == (read.cause, read.cause)
        };
        let (pairs, _) = operations.as_chunks::<2>();
        let moves = pairs.iter().take(most).take_while(is_next).count();
        if moves == 0 {
            return 0;
        }
        let [read_dispatch, program_dispatch, _] = self.times.dispatch;
        let step = read_dispatch + program_dispatch;
        let dispatch = &mut self.dispatch;
        let start = dispatch.free_at.max(now);
        dispatch.free_at = start + moves as u64 * step;
        let available = start + read_dispatch;
        let account = match self.has_copyback {
            true => Account::COPYBACKS,
            false => Account::MOVE,
        };
        let task = Task {
            available,
            collected: match (account, moves) {
                (Account::COPYBACKS, _) => 0,
                (_, 1) => u64::from(program.ppn.0),
                _ => step,
            },
            account,
            ppn: read.ppn,
            lpn: moves as u32,
            kind: OperationKind::Read,
            cause: read.cause,
            tag: 0,
        };
        let unit = self.unit_of(read.plane);
        if self.units[unit as usize].phase == Phase::Idle {
            self.begin_task(unit, task, available, timeline, now);
        } else {
            self.enqueue(unit, task);
        }
        moves
    }

    /// The causes of reads that are already counted but end after `served`.
    pub(super) fn counted_early(&self, served: EventKey) -> Vec<Cause> {
        let units = self.units.iter().enumerate();
        let is_early = |(unit, state): &(usize, &Unit)| {
            self.moves && state.is_in_move() && EventKey::new(state.took, *unit) > served
        };
        let early = units.filter(is_early);
        early.map(|(_, state)| state.task.cause).collect()
    }
}

impl Unit {
    /// The read of the current move ends at [`Unit::end`], so its program begins. Whoever requested
    /// `channel` up to `latest` is in line. Returns whether the end of the move is known.
    #[inline(always)]
    pub fn follow(
        &mut self,
        unit: usize,
        channel: &mut Channel,
        timing: &Timing,
        tally: &mut Tally,
        latest: EventKey,
    ) -> bool {
        tally.operations[OperationKind::Read as usize][self.task.cause as usize] += 1;
        let end = self.end;
        self.task.become_program();
        self.took = end;
        let key = EventKey::new(end, unit);
        if key <= latest && channel.is_next(key) {
            self.take_channel(channel, timing, end);
            return true;
        }
        let kind = OperationKind::Program;
        let moved = channel.ask(key, timing.register[kind as usize]);
        self.phase = Phase::Asked;
        self.end = moved + timing.after_transfer(kind, self.task.ppn);
        false
    }
}
