//! What was written stays: in memory, or in a file.
//!
//! The drive of the simulator holds no data, so whoever owns it does. Ranges that were never
//! written, or trimmed, read as zeroes.

mod file;
mod memory;
mod sync;
mod volatile;

pub use file::{BackingError, FileStore};
pub use memory::MemoryStore;
pub use sync::Syncs;
pub use volatile::{Loss, Volatile};

use std::path::Path;

use crate::protocol::ErrorNumber;

/// Where data lie.
#[derive(Debug)]
pub enum Store {
    /// In memory, as far as a bound allows.
    Memory(MemoryStore),
    /// In a file.
    File(FileStore),
}

/// Why data could not be kept or given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The bound of memory, or the file system, leaves no room.
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
    /// The file's path, if it would be removed with this.
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
    /// [`StoreError`]; `out` is then as it was.
    pub fn read(&self, offset: u64, size: u32, out: &mut Vec<u8>) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => {
                store.read(offset, size as usize, out);
                Ok(())
            }
            Self::File(store) => store.read(offset, size as usize, out),
        }
    }

    /// Keeps `data` at `offset`.
    ///
    /// # Errors
    /// [`StoreError`]; what lies in the range is then the old or the new.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => store.write(offset, data),
            Self::File(store) => store.write(offset, data),
        }
    }

    /// The range reads as zeroes from here on, and takes no room.
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

    /// The range reads as zeroes from here on, and keeps its room: writes to it find some.
    ///
    /// # Errors
    /// [`StoreError`]; what lies in the range is then the old or zeroes.
    pub fn write_zeroes(&mut self, offset: u64, size: u64) -> Result<(), StoreError> {
        match self {
            Self::Memory(store) => store.write_zeroes(offset, size),
            Self::File(store) => store.write_zeroes(offset, size),
        }
    }

    /// Who makes a file's data survive; nothing for memory, where nothing does.
    ///
    /// # Errors
    /// [`std::io::Error`] where the system refuses a thread or a descriptor.
    pub fn syncs(&self) -> std::io::Result<Option<Syncs>> {
        match self {
            Self::Memory(_) => Ok(None),
            Self::File(store) => store.syncs().map(Some),
        }
    }
}
