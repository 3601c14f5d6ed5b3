//! Stores what was written, in memory or in a file.
//!
//! The simulated drive holds no data, so its owner does. Ranges that were never written, or were
//! trimmed, read as zeroes.

mod file;
mod memory;
mod sync;
mod units;
mod versions;
mod volatile;

pub use file::{BackingError, FileStore};
pub use memory::MemoryStore;
pub use sync::Syncs;
pub use volatile::{BegunFlush, BegunWrite, Loss, Volatile};

use std::path::Path;

use crate::protocol::ErrorNumber;

/// Where data is stored.
#[derive(Debug)]
pub enum Store {
    /// In memory, up to a bound.
    Memory(MemoryStore),
    /// In a file.
    File(FileStore),
}

/// The reason why data could not be stored or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The bound of the memory is reached, or the file system is full.
    NoSpace,
    /// The file failed.
    Io,
}

impl From<StoreError> for ErrorNumber {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSpace => Self::NoSpace,
            StoreError::Io => Self::Io,
        }
    }
}

impl Store {
    /// The path of the file, if it will be removed when this is dropped.
    #[must_use]
    pub fn unkept(&self) -> Option<&Path> {
        match self {
            Self::Memory(_) => None,
            Self::File(store) => store.unkept(),
        }
    }

    /// Appends `size` bytes from `offset` on to `out`.
    ///
    /// # Errors
    /// [`StoreError`]; `out` is then unchanged.
    pub fn read(&self, offset: u64, size: u32, out: &mut Vec<u8>) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => {
                store.read(offset, size as usize, out);
                Ok(())
            }
            Self::File(store) => store.read(offset, size as usize, out),
        }
    }

    /// Stores `data` at `offset`.
    ///
    /// # Errors
    /// [`StoreError`]; the range then holds a mixture of old and new data.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => store.write(offset, data),
            Self::File(store) => store.write(offset, data),
        }
    }

    /// Makes the range read as zeroes and frees its room.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn forget(&mut self, offset: u64, size: u64) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => {
                store.forget(offset, size);
                Ok(())
            }
            Self::File(store) => store.forget(offset, size),
        }
    }

    /// Makes the range read as zeroes but keeps its room, so that writes to it find some.
    ///
    /// # Errors
    /// [`StoreError`]; the range then holds a mixture of old data and zeroes.
    pub fn write_zeroes(&mut self, offset: u64, size: u64) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => store.write_zeroes(offset, size),
            Self::File(store) => store.write_zeroes(offset, size),
        }
    }

    /// What makes a file's data durable; `None` for memory, which is never durable.
    ///
    /// # Errors
    /// [`std::io::Error`] if the system refuses a thread or a descriptor.
    pub fn syncs(&self) -> std::io::Result<Option<Syncs>> {
        match self {
            Self::Memory(_) => Ok(None),
            Self::File(store) => store.syncs().map(Some),
        }
    }
}
