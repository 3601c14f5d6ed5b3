//! Requests packed for programs, and statistics of a list of them.
//!
//! ```text
//!   a request, 16 bytes, little endian
//!   | first sector: u64 | sectors: u32 | kind: u32 |     0 read, 1 write, 2 trim
//! ```

use drivelab_request::{Command, CommandKind, SECTOR_BYTES};

use crate::Touched;

/// Bytes of a packed request.
pub const PACKED_BYTES: usize = 16;

/// The kinds of requests that have an offset, in numerical order.
pub const PACKED_KINDS: [CommandKind; 3] =
    [CommandKind::Read, CommandKind::Write, CommandKind::Trim];

/// Appends a packed command. A flush has no offset and is left out.
pub fn pack(command: &Command, packed: &mut Vec<u8>) {
    let Some(kind) = (0_u32..)
        .zip(PACKED_KINDS)
        .find(|(_, kind)| *kind == command.kind)
    else {
        return;
    };
    let first = command.offset_bytes / u64::from(SECTOR_BYTES);
    packed.extend_from_slice(&first.to_le_bytes());
    packed.extend_from_slice(&(command.size_bytes / SECTOR_BYTES).to_le_bytes());
    packed.extend_from_slice(&kind.0.to_le_bytes());
}

/// Number and extent of the requests of one kind.
#[derive(Clone, Debug, Default)]
pub struct KindCount {
    /// The number of requests.
    pub requests: u64,
    /// The bytes of all requests.
    pub bytes: u64,
    /// The sectors that they touch.
    pub touched: Touched,
}

/// Requests of a list by kind, in the order of [`PACKED_KINDS`].
#[derive(Clone, Debug)]
pub struct RequestCount {
    sectors: u64,
    kinds: [KindCount; PACKED_KINDS.len()],
}

impl RequestCount {
    /// An empty count, for requests to a drive of `capacity_bytes`.
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            sectors: capacity_bytes / u64::from(SECTOR_BYTES),
            kinds: Default::default(),
        }
    }

    /// By [`PACKED_KINDS`].
    #[must_use]
    pub const fn kinds(&self) -> &[KindCount; PACKED_KINDS.len()] {
        &self.kinds
    }

    /// Counts packed requests.
    ///
    /// # Errors
    /// Names the invalid request and the allowed values. The requests before it are counted.
    pub fn add(&mut self, packed: &[u8]) -> Result<(), String> {
        let (requests, rest) = packed.as_chunks::<PACKED_BYTES>();
        if !rest.is_empty() {
            return Err(format!(
                "{} bytes are no list of requests; each request takes {PACKED_BYTES}",
                packed.len()
            ));
        }
        for request in requests {
            let whole = u128::from_le_bytes(*request);
            let (first, length, kind) = (whole as u64, (whole >> 64) as u32, (whole >> 96) as u32);
            let sectors = self.sectors;
            let Some(counted) = self.kinds.get_mut(kind as usize) else {
                return Err(format!(
                    "a request of kind {kind}; allowed: 0 (read), 1 (write), 2 (trim)"
                ));
            };
            let end = first.checked_add(length.into());
            if length == 0 || end.is_none_or(|end| end > sectors) {
                return Err(format!(
                    "a request of {length} sectors at sector {first}; allowed: 1 or more, within \
                     {sectors} sectors"
                ));
            }
            counted.requests += 1;
            counted.bytes += u64::from(length) * u64::from(SECTOR_BYTES);
            counted.touched.touch(first, length);
        }
        Ok(())
    }
}
