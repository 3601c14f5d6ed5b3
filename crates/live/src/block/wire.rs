//! Numbers of the FUSE protocol, in the byte order of this machine.

/// The protocol version used here. Any kernel speaks it: a newer kernel leaves out what is newer.
pub(super) const MAJOR: u32 = 7;
pub(super) const MINOR: u32 = 31;

/// Kinds of messages.
pub(super) const LOOKUP: u32 = 1;
pub(super) const FORGET: u32 = 2;
pub(super) const GETATTR: u32 = 3;
pub(super) const OPEN: u32 = 14;
pub(super) const READ: u32 = 15;
pub(super) const WRITE: u32 = 16;
pub(super) const STATFS: u32 = 17;
pub(super) const RELEASE: u32 = 18;
pub(super) const FSYNC: u32 = 20;
pub(super) const FLUSH: u32 = 25;
pub(super) const INIT: u32 = 26;
pub(super) const INTERRUPT: u32 = 36;
pub(super) const DESTROY: u32 = 38;
pub(super) const BATCH_FORGET: u32 = 42;
pub(super) const FALLOCATE: u32 = 43;

/// Flags of the first message.
pub(super) const ASYNC_READ: u32 = 1;
pub(super) const BIG_WRITES: u32 = 1 << 5;
pub(super) const ASYNC_DIRECT: u32 = 1 << 15;
pub(super) const MAX_PAGES: u32 = 1 << 22;

/// Flags of an open file: no caching by the kernel, and concurrent writes.
pub(super) const OPEN_DIRECT: u32 = 1;
pub(super) const OPEN_PARALLEL_WRITES: u32 = 1 << 6;

/// Modes of `fallocate`.
pub(super) const KEEP_SIZE: u32 = 1;
pub(super) const PUNCH_HOLE: u32 = 2;
pub(super) const ZERO_RANGE: u32 = 16;

/// Errors. The kernel expects them as negative numbers.
pub(super) const NO_ENTRY: i32 = 2;
pub(super) const NO_SYSTEM_CALL: i32 = 38;
pub(super) const NOT_SUPPORTED: i32 = 95;

/// Reads numbers from the front of a byte slice.
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

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_ne_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_ne_bytes)
    }
}

/// Writes them.
pub(super) trait Put {
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
}

impl Put for Vec<u8> {
    fn put_u16(&mut self, value: u16) {
        self.extend(value.to_ne_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend(value.to_ne_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend(value.to_ne_bytes());
    }
}
