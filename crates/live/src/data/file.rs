//! Data in a file of the drive's size.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;
use thiserror::Error;

use super::{StoreError, Syncs};

/// The reason why a file cannot hold the drive's data.
#[derive(Debug, Error)]
pub enum BackingError {
    /// Not a file, but a folder, a device, a pipe or a socket.
    #[error("{}: {what}; name an ordinary file, or one that does not exist yet", path.display())]
    NoFile {
        /// Its path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Its size differs from that of the drive.
    #[error(
        "{} has {found} bytes, and the drive {wanted}: name a file of that size, or one that does \
         not exist yet", path.display()
    )]
    Size {
        /// Its path.
        path: PathBuf,
        /// Its size.
        found: u64,
        /// The size of the drive.
        wanted: u64,
    },
    /// Another process uses it.
    #[error("{} is in use by another `drivelab serve`: stop that one, or name another file", path.display())]
    InUse {
        /// Its path.
        path: PathBuf,
    },
    /// The system refuses it.
    #[error("{}: {reason}", path.display())]
    Refused {
        /// Its path.
        path: PathBuf,
        /// The message of the system, and the remedy.
        reason: String,
    },
}

/// Data in a file.
#[derive(Debug)]
pub struct FileStore {
    file: File,
    /// Its path, if it will be removed when this is dropped.
    unkept: Option<PathBuf>,
}

impl Drop for FileStore {
    fn drop(&mut self) {
        if let Some(path) = &self.unkept {
            // If it is already gone, that is fine.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl FileStore {
    /// Opens `path`. The file must have `size_bytes` or not exist; in the second case it is made,
    /// without data. It is locked while it is open. A file made here is removed again unless
    /// [`FileStore::keep`] is called.
    ///
    /// # Errors
    /// [`BackingError`]; a file that did not exist is not left behind.
    pub fn open(path: &Path, size_bytes: u64) -> Result<Self, BackingError> {
        let refused = |error: io::Error| BackingError::Refused {
            path: path.to_owned(),
            reason: reason_of(&error),
        };
        let no_file = |what| BackingError::NoFile {
            path: path.to_owned(),
            what,
        };
        // Opening a pipe would block.
        let no_wait = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(no_wait);
        let (file, is_made) = match options.clone().create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let kind = match path.metadata() {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        return Err(no_file("is a link to nothing"));
                    }
                    found => found.map_err(refused)?.file_type(),
                };
                if kind.is_dir() {
                    return Err(no_file("is a folder"));
                } else if kind.is_block_device() {
                    return Err(no_file("is a block device, whose data would be lost"));
                } else if !kind.is_file() {
                    return Err(no_file("is no ordinary file"));
                }
                (options.open(path).map_err(refused)?, false)
            }
            Err(error) => return Err(refused(error)),
        };
        let store = Self {
            unkept: is_made.then(|| path.to_owned()),
            file,
        };
        prepare(&store.file, is_made, path, size_bytes)?;
        Ok(store)
    }

    /// Keeps the file. Returns whether it was made here.
    pub fn keep(&mut self) -> bool {
        self.unkept.take().is_some()
    }

    /// Its path, if it was made here and will be removed.
    #[must_use]
    pub fn unkept(&self) -> Option<&Path> {
        self.unkept.as_deref()
    }

    pub(super) fn read(
        &self,
        offset: u64,
        size: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let start = out.len();
        out.resize(start + size, 0);
        self.file
            .read_exact_at(&mut out[start..], offset)
            .map_err(|error| {
                out.truncate(start);
                store_error(&error)
            })
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> Result<(), StoreError> {
        self.file
            .write_all_at(data, offset)
            .map_err(|error| store_error(&error))
    }

    pub(super) fn forget(&self, offset: u64, size: u64) -> Result<(), StoreError> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, hole, offset, size) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.write_plain_zeroes(offset, size),
            Err(error) => Err(store_error(&error.into())),
        }
    }

    pub(super) fn write_zeroes(&self, offset: u64, size: u64) -> Result<(), StoreError> {
        let zero = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, zero, offset, size) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.write_plain_zeroes(offset, size),
            Err(error) => Err(store_error(&error.into())),
        }
    }

    /// For file systems that offer nothing better.
    fn write_plain_zeroes(&self, offset: u64, size: u64) -> Result<(), StoreError> {
        let zeroes = vec![0; 1 << 20];
        let mut done = 0;
        while done < size {
            let length = (size - done).min(zeroes.len() as u64);
            self.write(offset + done, &zeroes[..length as usize])?;
            done += length;
        }
        Ok(())
    }

    pub(super) fn syncs(&self) -> io::Result<Syncs> {
        Syncs::start(self.file.try_clone()?)
    }
}

fn prepare(file: &File, is_made: bool, path: &Path, wanted: u64) -> Result<(), BackingError> {
    let refused = |error: io::Error| BackingError::Refused {
        path: path.to_owned(),
        reason: reason_of(&error),
    };
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        Errno::WOULDBLOCK => BackingError::InUse {
            path: path.to_owned(),
        },
        error => refused(error.into()),
    })?;
    if is_made {
        return file.set_len(wanted).map_err(refused);
    }
    let found = file.metadata().map_err(refused)?.len();
    if found == wanted {
        return Ok(());
    }
    Err(BackingError::Size {
        path: path.to_owned(),
        found,
        wanted,
    })
}

fn reason_of(error: &io::Error) -> String {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => "; allow it to be written (chmod u+w), or name another",
        io::ErrorKind::NotFound => "; make its folder first (mkdir -p), or name another",
        io::ErrorKind::ReadOnlyFilesystem => "; name a file elsewhere",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space",
        io::ErrorKind::FileTooLarge => {
            "; this file system, or `ulimit -f`, allows no file of the drive's size"
        }
        _ => "",
    };
    format!("{error}{remedy}")
}

fn store_error(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StoreError::NoSpace
        }
        _ => StoreError::Io,
    }
}
