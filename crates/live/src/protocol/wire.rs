//! Numbers of the NBD protocol, most significant byte first.

pub(super) const MAGIC: u64 = u64::from_be_bytes(*b"NBDMAGIC");
pub(super) const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
pub(super) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub(super) const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags; the client uses the same ones.
pub(super) const FIXED_NEWSTYLE: u16 = 1;
pub(super) const NO_ZEROES: u16 = 2;

/// Transmission flags.
pub(super) const HAS_FLAGS: u16 = 1;
pub(super) const SEND_FLUSH: u16 = 1 << 2;
pub(super) const SEND_FUA: u16 = 1 << 3;
pub(super) const SEND_TRIM: u16 = 1 << 5;
pub(super) const SEND_WRITE_ZEROES: u16 = 1 << 6;
pub(super) const SEND_DF: u16 = 1 << 7;
pub(super) const CAN_MULTI_CONN: u16 = 1 << 8;

/// Options.
pub(super) const EXPORT_NAME: u32 = 1;
pub(super) const ABORT: u32 = 2;
pub(super) const LIST: u32 = 3;
pub(super) const INFO: u32 = 6;
pub(super) const GO: u32 = 7;
pub(super) const STRUCTURED_REPLY: u32 = 8;

/// Replies to options.
pub(super) const ACKNOWLEDGED: u32 = 1;
pub(super) const SERVER: u32 = 2;
pub(super) const INFORMATION: u32 = 3;
const OPTION_ERROR: u32 = 1 << 31;
pub(super) const UNSUPPORTED: u32 = OPTION_ERROR | 1;
pub(super) const INVALID: u32 = OPTION_ERROR | 3;
pub(super) const UNKNOWN: u32 = OPTION_ERROR | 6;
pub(super) const TOO_BIG: u32 = OPTION_ERROR | 9;

/// Kinds of information.
pub(super) const INFO_EXPORT: u16 = 0;
pub(super) const INFO_NAME: u16 = 1;
pub(super) const INFO_DESCRIPTION: u16 = 2;
pub(super) const INFO_BLOCK_SIZE: u16 = 3;

/// Requests.
pub(super) const READ: u16 = 0;
pub(super) const WRITE: u16 = 1;
pub(super) const DISCONNECT: u16 = 2;
pub(super) const FLUSH: u16 = 3;
pub(super) const TRIM: u16 = 4;
pub(super) const WRITE_ZEROES: u16 = 6;

/// Flags of requests.
pub(super) const FORCED: u16 = 1;
pub(super) const NO_HOLE: u16 = 1 << 1;
pub(super) const WHOLE: u16 = 1 << 2;

/// Chunks of structured replies.
pub(super) const DONE: u16 = 1;
pub(super) const OFFSET_DATA: u16 = 1;
pub(super) const CHUNK_ERROR: u16 = (1 << 15) | 1;

/// Reads numbers and strings from the front of a byte slice.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}
