//! What a disk did while the window was open.

/// An access counts in the window in which it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskWork {
    /// Reads of the platters for the host.
    pub media_reads: u64,
    /// Writes to the platters, of the write cache and past it.
    pub media_writes: u64,
    /// Bytes of both.
    pub media_bytes: u64,
    /// Reads that needed no access of the mechanism of their own.
    pub cache_hits: u64,
    /// Bytes read ahead, wanted later or not.
    pub read_ahead_bytes: u64,
    /// Bytes in the write cache that were written again before they were on the platters.
    pub replaced_bytes: u64,
    /// Share of the window in which an access was served, 0 to 1; reading ahead apart.
    pub utilisation: f64,
}
