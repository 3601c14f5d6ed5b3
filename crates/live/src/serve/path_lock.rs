//! Ensures that one server at a time examines a socket's path.
//!
//! A server that finds nobody listening at a path removes it and makes its own socket. Two servers
//! at once would remove each other's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// Held while a path is examined. It is a file next to the socket, removed afterwards.
#[derive(Debug)]
pub(super) struct PathLock {
    file: File,
    path: PathBuf,
}

impl PathLock {
    /// Takes the lock; `None` if another process has it.
    pub fn take(socket: &Path) -> io::Result<Option<Self>> {
        let mut path = socket.as_os_str().to_owned();
        path.push(".drivelab-lock");
        let path = PathBuf::from(path);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
        loop {
            let file = options.open(&path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Ok(None),
                locked => locked?,
            }
            // The previous holder may have removed the file meanwhile.
            let ours = file.metadata()?;
            match fs::symlink_metadata(&path) {
                Ok(found) if (found.dev(), found.ino()) == (ours.dev(), ours.ino()) => {
                    return Ok(Some(Self { file, path }));
                }
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
}

impl Drop for PathLock {
    fn drop(&mut self) {
        // A file with content is somebody else's.
        if self.file.metadata().is_ok_and(|found| found.len() == 0) {
            // If it is left behind, the next server reuses it.
            let _ = fs::remove_file(&self.path);
        }
    }
}
