//! The host's memory, as a device sees it over the bus: bytes at addresses.

use std::cell::UnsafeCell;

use crate::nvme::Status;

/// Memory from address 0 on. Simultaneous readers and writers use separate addresses. Those of a
/// command belong to the worker that serves it, from its fetch to its completion, and otherwise to
/// the host.
#[derive(Debug)]
pub struct HostMemory {
    bytes: Box<[UnsafeCell<u8>]>,
}

// SAFETY: a command's addresses pass from the host to a worker, from worker to worker and back
// through rings, which release earlier writes and acquire them afterwards.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// `bytes` bytes, all 0.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let zeroes = vec![0_u8; bytes].into_boxed_slice();
        // SAFETY: a cell has the layout of what it holds.
        let bytes = unsafe { Box::from_raw(Box::into_raw(zeroes) as *mut [UnsafeCell<u8>]) };
        Self { bytes }
    }

    fn place(&self, address: u64, bytes: usize) -> Result<*mut u8, Status> {
        let start = usize::try_from(address).map_err(|_| Status::TRANSFER_ERROR)?;
        let end = start.checked_add(bytes).ok_or(Status::TRANSFER_ERROR)?;
        let cells = self.bytes.get(start..end).ok_or(Status::TRANSFER_ERROR)?;
        Ok(UnsafeCell::raw_get(cells.as_ptr()))
    }

    /// Copies from `address` on.
    ///
    /// # Errors
    /// [`Status::TRANSFER_ERROR`] if there is no memory.
    #[inline]
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Status> {
        let from = self.place(address, into.len())?;
        // SAFETY: `place` checked the range, which nobody writes meanwhile; see above.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies to `address`.
    ///
    /// # Errors
    /// [`Status::TRANSFER_ERROR`] if there is no memory.
    #[inline]
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), Status> {
        let into = self.place(address, from.len())?;
        // SAFETY: `place` checked the range, which nobody else accesses meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), into, from.len()) };
        Ok(())
    }
}
