//! What a die's registers allow beside one page at a time.
//!
//! *Copyback* (`scheduling.copyback`): a page that collection or wear levelling moves within
//! its plane stays in the plane's page register. Neither half of the move needs the
//! channel, and the program follows the read at once.
//!
//! ```text
//!   move:      cell (read) ─> transfer ─> transfer ─> cell (program)
//!   copyback:  cell (read) ─> cell (program)
//! ```
//!
//! The data is not checked on its way: this model knows no bit errors that could add up.

use drivelab_ftl::{Operation, OperationKind};

use super::moves::is_move;

/// Whether `operation` is one half of a move that stays in its plane: a read and, right
/// behind it, the program of the same data on the same plane.
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
