//! Completion entries of 16 bytes.
//!
//! ```text
//!   dword 2   head of the submission queue      3   identifier, phase (bit 16), status (17..)
//! ```

use crate::nvme::Status;

/// Bytes of a completion entry.
pub const COMPLETION_BYTES: usize = 16;

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The identifier of the command.
    pub identifier: u16,
    /// How it ended.
    pub status: Status,
    /// How far submission entries have been taken.
    pub head: u16,
    /// Distinguishes an entry of this round of the ring from one of the previous round.
    pub phase: bool,
}

impl Completion {
    /// Its bytes in the ring.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; COMPLETION_BYTES] {
        let last = u32::from(self.identifier)
            | u32::from(self.phase) << 16
            | u32::from(self.status.0) << 17;
        let mut bytes = [0; COMPLETION_BYTES];
        bytes[8..12].copy_from_slice(&u32::from(self.head).to_le_bytes());
        bytes[12..].copy_from_slice(&last.to_le_bytes());
        bytes
    }

    /// Restores it from an entry.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; COMPLETION_BYTES]) -> Self {
        let [.., h0, h1, _, _, i0, i1, s0, s1] = *bytes;
        let status = u16::from_le_bytes([s0, s1]);
        Self {
            identifier: u16::from_le_bytes([i0, i1]),
            status: Status(status >> 1),
            head: u16::from_le_bytes([h0, h1]),
            phase: status & 1 != 0,
        }
    }
}
