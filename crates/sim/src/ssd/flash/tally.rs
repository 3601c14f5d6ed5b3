//! What the flash executed.

use drivelab_ftl::{Cause, OperationKind};

/// What the flash executed inside the measurement window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// By operation kind and cause.
    pub operations: [[u64; Cause::ALL.len()]; 3],
    /// By operation kind, the operations that were halves of copybacks.
    pub copybacks: [u64; 3],
}

impl Tally {
    /// Page programs for any cause.
    pub fn programs(&self) -> u64 {
        self.operations[OperationKind::Program as usize]
            .iter()
            .sum()
    }
}
