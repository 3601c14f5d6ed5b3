//! Where the data of a command lies in the host's memory, and copies from and to it.
//!
//! The workers copy the data themselves: this firmware has no copy engine. Each copy is
//! counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::host::HostMemory;
use crate::nvme::{HOST_PAGE_BYTES, Status, TRANSFER_PAGES};

const PAGE: u64 = HOST_PAGE_BYTES as u64;

/// The pages of one command's data. The front end writes it before it hands out the command's
/// segments.
#[derive(Debug)]
pub struct Transfer([AtomicU64; TRANSFER_PAGES]);

impl Default for Transfer {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; TRANSFER_PAGES])
    }
}

impl Transfer {
    /// Page `index` of the data is at `address`. The first address includes its offset.
    pub fn set(&self, index: usize, address: u64) {
        if let Some(cell) = self.0.get(index) {
            cell.store(address, Relaxed);
        }
    }

    /// Calls `copy` for the `bytes` from byte `from` on, page by page, with the address and the
    /// range of each piece.
    #[inline]
    fn each_piece(
        &self,
        from: usize,
        bytes: usize,
        mut copy: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let offset = self.0[0].load(Relaxed) % PAGE;
        let mut done = 0;
        while done < bytes {
            let position = offset + (from + done) as u64;
            let page = self.0.get((position / PAGE) as usize);
            let page = page.ok_or(Status::TRANSFER_ERROR)?.load(Relaxed);
            let inside = position % PAGE;
            let piece = (bytes - done).min((PAGE - inside) as usize);
            copy(page - page % PAGE + inside, done..done + piece)?;
            done += piece;
        }
        Ok(())
    }

    /// Copies the data from byte `from` on out of the host's memory.
    ///
    /// # Errors
    /// The status for the host.
    #[inline]
    pub fn copy_in(&self, memory: &HostMemory, from: usize, into: &mut [u8]) -> Result<(), Status> {
        self.each_piece(from, into.len(), |address, piece| {
            memory.read(address, &mut into[piece])
        })
    }

    /// Copies data into the host's memory.
    ///
    /// # Errors
    /// The status for the host.
    #[inline]
    pub fn copy_out(&self, memory: &HostMemory, at: usize, from: &[u8]) -> Result<(), Status> {
        self.each_piece(at, from.len(), |address, piece| {
            memory.write(address, &from[piece])
        })
    }
}
