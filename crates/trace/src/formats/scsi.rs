//! SCSI commands by their first byte, as in CloudPhysics' traces.

use crate::record::Operation;

/// The operation of a command.
#[inline]
pub(super) const fn operation(command: u8) -> Operation {
    match command {
        // READ and WRITE of 6, 10, 12 and 16 bytes, including writes with verification.
        0x08 | 0x28 | 0xa8 | 0x88 => Operation::Read,
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Operation::Write,
        0x42 => Operation::Trim,
        0x35 | 0x91 => Operation::Flush,
        _ => Operation::Other,
    }
}
