//! Submission entries: 64 bytes become a checked command.
//!
//! ```text
//!   dword 0   operation, fuse, PSDT, command identifier
//!         1   namespace            6, 7   PRP entry 1        8, 9   PRP entry 2
//!        10, 11   first sector    12   sectors - 1, force unit access (bit 30)
//!   deallocation:  10  ranges - 1            11   attributes (bit 2: deallocate)
//! ```

use crate::nvme::Status;

/// Bytes of a submission entry.
pub const COMMAND_BYTES: usize = 64;
/// The largest transfer of one command.
pub const MAX_TRANSFER_BYTES: u32 = 512 << 10;
const SECTOR_BYTES: u32 = 512;
const NAMESPACE: u32 = 1;
const FORCE_UNIT_ACCESS: u32 = 1 << 30;
const DEALLOCATE: u32 = 1 << 2;

const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const DATASET_MANAGEMENT: u8 = 0x09;

/// A run of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sectors {
    /// The first.
    pub first: u64,
    /// Their number.
    pub count: u32,
}

/// The operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Everything written must reach the flash.
    Flush,
    /// Data of the host.
    Write {
        /// Its sectors.
        sectors: Sectors,
        /// It must be on the flash before the command completes.
        is_forced: bool,
    },
    /// Data for the host.
    Read(Sectors),
    /// Ranges to give up; this many are listed in the host's memory.
    Deallocate {
        /// Their number, from 1 to 256.
        ranges: u32,
    },
}

/// A command with checked fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The host's identifier for it.
    pub identifier: u16,
    /// Its operation.
    pub operation: Operation,
    /// The first two entries of its PRP list.
    pub prp: [u64; 2],
}

fn dword(entry: &[u8; COMMAND_BYTES], index: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&entry[index * 4..index * 4 + 4]);
    u32::from_le_bytes(bytes)
}

fn qword(entry: &[u8; COMMAND_BYTES], index: usize) -> u64 {
    u64::from(dword(entry, index)) | u64::from(dword(entry, index + 1)) << 32
}

impl Command {
    /// The identifier of an entry, even if the rest is invalid.
    #[must_use]
    pub fn identifier_of(entry: &[u8; COMMAND_BYTES]) -> u16 {
        (dword(entry, 0) >> 16) as u16
    }

    /// Checks every field of `entry` for a namespace of `capacity` sectors.
    ///
    /// # Errors
    /// The status for the host.
    pub fn parse(entry: &[u8; COMMAND_BYTES], capacity: u64) -> Result<Self, Status> {
        let first = dword(entry, 0);
        // Neither fused commands nor scatter-gather lists are supported.
        if first & 0x0000_C300 != 0 {
            return Err(Status::INVALID_FIELD);
        }
        if dword(entry, 1) != NAMESPACE {
            return Err(Status::INVALID_NAMESPACE);
        }
        let operation = match first as u8 {
            FLUSH => Operation::Flush,
            WRITE => Operation::Write {
                sectors: sectors(entry, capacity)?,
                is_forced: dword(entry, 12) & FORCE_UNIT_ACCESS != 0,
            },
            READ => Operation::Read(sectors(entry, capacity)?),
            DATASET_MANAGEMENT => {
                if dword(entry, 11) & DEALLOCATE == 0 {
                    return Err(Status::INVALID_FIELD);
                }
                Operation::Deallocate {
                    ranges: (dword(entry, 10) & 0xFF) + 1,
                }
            }
            _ => return Err(Status::INVALID_OPCODE),
        };
        Ok(Self {
            identifier: (first >> 16) as u16,
            operation,
            prp: [qword(entry, 6), qword(entry, 8)],
        })
    }
}

fn sectors(entry: &[u8; COMMAND_BYTES], capacity: u64) -> Result<Sectors, Status> {
    let first = qword(entry, 10);
    let count = (dword(entry, 12) & 0xFFFF) + 1;
    if count > MAX_TRANSFER_BYTES / SECTOR_BYTES {
        return Err(Status::INVALID_FIELD);
    }
    match first.checked_add(count.into()) {
        Some(end) if end <= capacity => Ok(Sectors { first, count }),
        _ => Err(Status::OUT_OF_RANGE),
    }
}

/// The submission entry of `command`, as a host writes it.
#[must_use]
pub fn entry(command: &Command) -> [u8; COMMAND_BYTES] {
    let (code, dword10) = match command.operation {
        Operation::Flush => (FLUSH, [0; 3]),
        Operation::Write { sectors, is_forced } => {
            let forced = if is_forced { FORCE_UNIT_ACCESS } else { 0 };
            (WRITE, address(sectors, forced))
        }
        Operation::Read(sectors) => (READ, address(sectors, 0)),
        Operation::Deallocate { ranges } => (
            DATASET_MANAGEMENT,
            [ranges.wrapping_sub(1) & 0xFF, DEALLOCATE, 0],
        ),
    };
    let mut entry = [0; COMMAND_BYTES];
    let mut put = |index: usize, value: u32| {
        entry[index * 4..index * 4 + 4].copy_from_slice(&value.to_le_bytes());
    };
    put(0, u32::from(code) | u32::from(command.identifier) << 16);
    put(1, NAMESPACE);
    for (index, prp) in command.prp.into_iter().enumerate() {
        put(6 + index * 2, prp as u32);
        put(7 + index * 2, (prp >> 32) as u32);
    }
    for (index, value) in dword10.into_iter().enumerate() {
        put(10 + index, value);
    }
    entry
}

fn address(sectors: Sectors, flags: u32) -> [u32; 3] {
    [
        sectors.first as u32,
        (sectors.first >> 32) as u32,
        (sectors.count.wrapping_sub(1) & 0xFFFF) | flags,
    ]
}
