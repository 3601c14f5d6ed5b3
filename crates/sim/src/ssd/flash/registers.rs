//! What a die's registers allow in addition to one page at a time.
//!
//! *Copyback* (`scheduling.copyback`): when collection or wear levelling moves a page within its
//! plane, the page stays in the plane's page register. Neither half of the move needs the channel,
//! and the program follows the read at once.
//!
//! ```text
//!   move:      cell (read) ─> transfer ─> transfer ─> cell (program)
//!   copyback:  cell (read) ─> cell (program)
//! ```
//!
//! The data is not checked on its way. This model has no bit errors that could accumulate.
//!
//! A run of copybacks needs only its die, so the end of each half is known as soon as the run
//! begins. The run is one task with one event ([`super::moves`] says where). Halves that have ended
//! when the window opens or closes are counted then.

use drivelab_ftl::{Operation, OperationKind, Ppn};

use super::Flash;
use super::moves::is_move;
use super::queue::{Account, Task};
use super::tally::Tally;
use super::unit::Phase;
use crate::event::EventKey;

/// Whether `operation` is one half of a move within its plane: a read, or the program of the same
/// data right behind it on the same plane.
pub(super) fn is_copied_back(
    before: Option<&Operation>,
    operation: &Operation,
    behind: &[Operation],
) -> bool {
    let (read, program) = match operation.kind {
        OperationKind::Read => (Some(operation), behind.first()),
        OperationKind::Program => (before, Some(operation)),
        OperationKind::Erase => return false,
    };
    read.zip(program)
        .is_some_and(|(read, program)| is_move(read, program) && read.plane == program.plane)
}

impl Tally {
    /// The first `halves` of a run have ended.
    pub(super) fn count_copybacks(&mut self, run: &Task, halves: u64) {
        let cause = run.cause as usize;
        for kind in [
            OperationKind::Read as usize,
            OperationKind::Program as usize,
        ] {
            // The first half is a read.
            let of_kind = |halves: u64| (halves + 1 - kind as u64) / 2;
            let more = of_kind(halves) - of_kind(run.collected);
            self.operations[kind][cause] += more;
            self.copybacks[kind] += more;
        }
    }
}

impl Flash {
    /// Counts the halves of current runs that have ended by `served`.
    pub(super) fn count_copybacks_until(&mut self, served: EventKey) {
        if !self.moves {
            return;
        }
        let sensing = self.times.cell(OperationKind::Read, Ppn(0));
        for (unit, state) in self.units.iter_mut().enumerate() {
            if state.phase == Phase::Idle || state.task.account != Account::COPYBACKS {
                continue;
            }
            // At the current moment, events are served in the order of their leaves.
            let is_served = EventKey::new(served.time(), unit) <= served;
            let until = served.time() + u64::from(is_served);
            let Some(worked) = until.checked_sub(state.began + 1) else {
                continue;
            };
            let (moves, rest) = (
                worked / self.times.copyback(),
                worked % self.times.copyback(),
            );
            let halves = 2 * moves + u64::from(rest >= sensing);
            self.tally.count_copybacks(&state.task, halves);
            state.task.collected = halves;
        }
    }
}
