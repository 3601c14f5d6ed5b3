//! Individual flash operations of a run.

use crate::ssd::firmware::cores::RecordedWork;

/// The record of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Flash operations, in the order of emission.
    pub operations: Vec<RecordedOperation>,
    /// When the controller's cores worked, in the order in which they were asked; empty if the
    /// firmware is free.
    pub work: Vec<RecordedWork>,
}

/// One flash operation of a recorded run: the times of its stages, in ns of simulated time. A stage
/// that the operation does not have is empty (start = end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedOperation {
    /// The operation.
    pub operation: drivelab_ftl::Operation,
    /// The stream that asked for it, by its index in the run. `None` for collection and wear
    /// levelling, and for pages gathered in the write buffer.
    pub stream: Option<u16>,
    /// Channel, way on the channel, die in the way, plane in the die.
    pub channel: u32,
    /// See `channel`.
    pub way: u32,
    /// See `channel`.
    pub die: u32,
    /// See `channel`.
    pub plane: u32,
    /// The unit that executed it: the die; in plane mode, the plane.
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

    /// Converts its times.
    pub fn convert(&mut self, mut converted: impl FnMut(u64) -> u64) {
        for (start, end) in [&mut self.dispatch, &mut self.transfer, &mut self.cell] {
            (*start, *end) = (converted(*start), converted(*end));
        }
    }
}
