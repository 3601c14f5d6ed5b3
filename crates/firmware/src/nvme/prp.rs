//! Physical region pages: where in the host's memory the data of a command is.
//!
//! ```text
//!   entry 1   may begin inside a page, the others name whole pages
//!   entry 2   nothing, the second page, or a list: further pages, and where one page of
//!             list is not enough its last entry names the next
//! ```

use crate::host::HostMemory;
use crate::nvme::{MAX_TRANSFER_BYTES, Status};

/// Bytes of a page of the host.
pub const HOST_PAGE_BYTES: usize = 4096;
/// The most pages that a command's data can lie on.
pub const TRANSFER_PAGES: usize = MAX_TRANSFER_BYTES as usize / HOST_PAGE_BYTES + 1;
const PAGE: u64 = HOST_PAGE_BYTES as u64;
const ENTRY_BYTES: u64 = 8;

/// Finds the pages of a transfer of `bytes`. Calls `page` with the number and address of each; the
/// first address includes its offset.
///
/// # Errors
/// The status for the host.
pub fn walk(
    memory: &HostMemory,
    prp: [u64; 2],
    bytes: u32,
    mut page: impl FnMut(usize, u64),
) -> Result<(), Status> {
    let [first, second] = prp;
    // Bits 1 and 0 of an offset must be clear.
    if first % 4 != 0 {
        return Err(Status::INVALID_PRP_OFFSET);
    }
    page(0, first);
    let pages = (first % PAGE + u64::from(bytes)).div_ceil(PAGE) as usize;
    if pages > TRANSFER_PAGES {
        return Err(Status::INVALID_FIELD);
    }
    match pages {
        0 | 1 => Ok(()),
        2 if second % PAGE != 0 => Err(Status::INVALID_PRP_OFFSET),
        2 => {
            page(1, second);
            Ok(())
        }
        _ => walk_list(memory, second, pages, page),
    }
}

fn walk_list(
    memory: &HostMemory,
    mut at: u64,
    pages: usize,
    mut page: impl FnMut(usize, u64),
) -> Result<(), Status> {
    if !at.is_multiple_of(ENTRY_BYTES) {
        return Err(Status::INVALID_PRP_OFFSET);
    }
    let mut index = 1;
    while index < pages {
        let mut entry = [0; ENTRY_BYTES as usize];
        memory.read(at, &mut entry)?;
        let entry = u64::from_le_bytes(entry);
        if entry % PAGE != 0 {
            return Err(Status::INVALID_PRP_OFFSET);
        }
        let is_last_of_list = at % PAGE == PAGE - ENTRY_BYTES;
        if is_last_of_list && index + 1 < pages {
            at = entry;
            continue;
        }
        page(index, entry);
        index += 1;
        at += ENTRY_BYTES;
    }
    Ok(())
}
