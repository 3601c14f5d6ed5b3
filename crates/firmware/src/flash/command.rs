//! What goes through the queue of a die, and what comes back to whoever asked.

use drivelab_ftl::{Operation, OperationKind};

use crate::handoff::Descriptor;

/// The purpose of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Fill a slot of the read buffer.
    Fill,
    /// Empty a slot of the write buffer.
    Flush,
    /// Collection.
    Move,
}

/// An operation of a die. The flash controller moves its data between the die and the given slot.
/// Data of collection stays in the flash controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashCommand {
    /// Read, program or erase.
    pub kind: OperationKind,
    /// Its purpose.
    pub purpose: Purpose,
    /// The owner of the slot's buffer.
    pub worker: u8,
    /// The slot.
    pub slot: u16,
    /// The page.
    pub page: u32,
    /// The logical page, stored out of band with the data.
    pub logical: u32,
}

impl FlashCommand {
    /// `operation` for a slot of a worker.
    #[inline]
    #[must_use]
    pub fn of(operation: &Operation, purpose: Purpose, worker: usize, slot: u16) -> Self {
        Self {
            kind: operation.kind,
            purpose,
            worker: worker as u8,
            slot,
            page: operation.ppn.0,
            logical: operation.lpn,
        }
    }
}

impl Descriptor for FlashCommand {
    #[inline]
    fn pack(self) -> [u64; 2] {
        let kind = self.kind as u64;
        let purpose = self.purpose as u64;
        [
            u64::from(self.page) | u64::from(self.logical) << 32,
            kind | purpose << 8 | u64::from(self.worker) << 16 | u64::from(self.slot) << 32,
        ]
    }

    #[inline]
    fn unpack([first, second]: [u64; 2]) -> Self {
        Self {
            kind: match second & 0xFF {
                0 => OperationKind::Read,
                1 => OperationKind::Program,
                _ => OperationKind::Erase,
            },
            purpose: match second >> 8 & 0xFF {
                0 => Purpose::Fill,
                1 => Purpose::Flush,
                _ => Purpose::Move,
            },
            worker: (second >> 16) as u8,
            slot: (second >> 32) as u16,
            page: first as u32,
            logical: (first >> 32) as u32,
        }
    }
}

/// A die has finished an operation for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashDone {
    /// Its purpose.
    pub purpose: Purpose,
    /// The slot.
    pub slot: u16,
}

impl Descriptor for FlashDone {
    #[inline]
    fn pack(self) -> [u64; 2] {
        [self.purpose as u64, self.slot.into()]
    }

    #[inline]
    fn unpack([purpose, slot]: [u64; 2]) -> Self {
        Self {
            purpose: match purpose {
                0 => Purpose::Fill,
                1 => Purpose::Flush,
                _ => Purpose::Move,
            },
            slot: slot as u16,
        }
    }
}
