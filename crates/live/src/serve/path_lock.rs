//! One server at a time looks at a socket's path.
//!
//! Whoever finds that nobody listens at a path removes it and makes its own. Two at once would
//! remove each other's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// Held while a path is looked at; a file beside it, removed afterwards.
#[derive(Debug)]
pub(super) struct PathLock {
    file: File,
    path: PathBuf,
}

impl PathLock {
    /// Takes it; nothing where somebody else has it.
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
            // Whoever had it before may have removed it meanwhile.
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
        // A file with something in it is somebody else's.
        if self.file.metadata().is_ok_and(|found| found.len() == 0) {
            // Left behind it is taken the next time.
            let _ = fs::remove_file(&self.path);
        }
    }
}
