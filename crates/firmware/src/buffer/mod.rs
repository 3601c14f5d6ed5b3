//! The buffers: 1 MiB for reads and 1 MiB for writes, in slots of a page.
//!
//! Each server has its share of the slots, used by nobody else. A page belongs to one server, so
//! buffers need no locks. Slots are found by a hash of the logical page and replaced in order of
//! last use.

mod read;
mod slots;
mod write;

pub use read::{ReadBuffer, ReadState, Waiter};
pub use slots::{NO_SLOT, Slots};
pub use write::{WriteBuffer, WriteState};

use crate::geometry::{PAGE_BYTES, SECTOR_BYTES};

/// Bytes of each buffer.
pub const BUFFER_BYTES: usize = 1 << 20;

/// The slots of server `server` of `servers`.
#[must_use]
pub fn share_of(server: usize, servers: usize) -> usize {
    let slots = BUFFER_BYTES / PAGE_BYTES;
    slots * (server + 1) / servers - slots * server / servers
}

/// The runs of set bits of `mask`, as byte ranges of a page.
pub fn runs(mut mask: u32) -> impl Iterator<Item = std::ops::Range<usize>> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let first = mask.trailing_zeros();
        let count = (!(mask >> first)).trailing_zeros();
        let end = first + count;
        mask = if end < 32 {
            mask & (u32::MAX << end)
        } else {
            0
        };
        Some(first as usize * SECTOR_BYTES..end as usize * SECTOR_BYTES)
    })
}
