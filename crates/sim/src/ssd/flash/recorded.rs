//! Flash operations of a run by themselves.

use crate::ssd::firmware::cores::RecordedWork;

/// What was recorded of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Flash operations, in the order of emission.
    pub operations: Vec<RecordedOperation>,
    /// When the controller's cores worked, in the order in which they were asked; nothing of a
    /// drive whose firmware is free.
    pub work: Vec<RecordedWork>,
}

/// One flash operation of a recorded run: when it passed each stage, in ns of
/// simulated time. Stages an operation does not have are empty (start = end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOperation {
    /// The operation.
    pub operation: drivelab_ftl::Operation,
    /// The stream that asked for it, by its place in the run; `None` of collection and
    /// wear levelling, and of pages that were gathered in the write buffer.
    pub stream: Option<u16>,
    /// Channel, way, die in the way, plane in the die.
    pub channel: u32,
    /// See `channel`.
    pub way: u32,
    /// See `channel`.
    pub die: u32,
    /// See `channel`.
    pub plane: u32,
    /// The unit that worked alone: the die, in plane mode the plane.
    pub unit: u32,
    /// The controller's dispatch stage.
    pub dispatch: (u64, u64),
    /// Register transfer over the channel.
    pub transfer: (u64, u64),
    /// The cell array.
    pub cell: (u64, u64),
}

impl RecordedOperation {
    /// When its last stage ended.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.dispatch.1.max(self.transfer.1).max(self.cell.1)
    }

    /// Tells its times in another time.
    pub fn convert(&mut self, mut told: impl FnMut(u64) -> u64) {
        for (start, end) in [&mut self.dispatch, &mut self.transfer, &mut self.cell] {
            (*start, *end) = (told(*start), told(*end));
        }
    }
}
