//! A block device in `/dev`: the kernel is one more client.
//!
//! ```text
//!   program ─> /dev/loopN ─> loop device ─> file of a FUSE mount ─> messages ─> serve
//! ```
//!
//! Only file systems on the device must be unmounted at the end. The mount is in no folder and
//! lives as long as its file is open. The loop device holds the file and detaches itself when the
//! last program closes it. The messages end with the process.

mod loop_device;
mod message;
mod mount;
mod mounts;
mod wire;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use thiserror::Error;

pub use message::{
    Heard, MESSAGE_ROOM, MOST_MESSAGE_BYTES, done_answer, error_answer, hear, read_answer,
};

use loop_device::LoopDevice;
use mount::Mount;

/// What to do without a device.
const OTHERWISE: &str = "or leave out --block and let programs come by NBD";

/// The reason why there is no block device.
#[derive(Debug, Error)]
pub enum BlockError {
    /// No FUSE.
    #[error(
        "--block needs FUSE, and this kernel offers none: load it (modprobe fuse), {OTHERWISE}"
    )]
    NoFuse,
    /// No loop devices.
    #[error(
        "--block needs loop devices, and {path} is not there: load them (modprobe loop), {OTHERWISE}"
    )]
    NoLoop {
        /// What is missing.
        path: String,
    },
    /// No device is free.
    #[error(
        "no loop device is free: detach one (losetup -l lists them, losetup -d detaches), {OTHERWISE}"
    )]
    NoFreeLoop,
    /// No privileges.
    #[error("--block needs root, and {what} is not allowed: use sudo, {OTHERWISE}")]
    NotAllowed {
        /// The refused action.
        what: String,
    },
    /// Features of Linux 5.8 are missing.
    #[error("--block needs Linux 5.8 or later: use a newer kernel, {OTHERWISE}")]
    OldKernel,
    /// The system refuses it.
    #[error("no block device: {what}: {error}")]
    Refused {
        /// The failed action.
        what: &'static str,
        /// The message of the system.
        error: io::Error,
    },
}

/// The file's mount and a free loop device, before they are joined.
#[derive(Debug)]
pub struct Block {
    mount: Mount,
    device: LoopDevice,
    block_bytes: u32,
    name: String,
}

/// A block device in use.
#[derive(Debug)]
pub struct Attached {
    device: LoopDevice,
}

impl Block {
    /// Makes both, for a device with blocks of `block_bytes`. `name` is the name of the drive.
    ///
    /// # Errors
    /// [`BlockError`]; nothing is left behind.
    pub fn open(block_bytes: u32, name: &str) -> Result<Self, BlockError> {
        let device = LoopDevice::free()?;
        let mount = Mount::new(&device)?;
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
                letter
            } else {
                '-'
            }
        };
        let name = name.chars().take(40).map(plain).collect::<String>();
        Ok(Self {
            mount,
            device,
            block_bytes,
            name: format!("drivelab-{name}"),
        })
    }

    /// The source of the kernel's messages, for whoever answers them, and the name of the file.
    ///
    /// # Errors
    /// [`io::Error`] if the system refuses a descriptor.
    pub fn channel(&self) -> io::Result<(OwnedFd, String)> {
        use std::os::fd::AsRawFd;
        // Also after the loop device.
        let least = self.mount.channel.as_raw_fd() + 1;
        let channel = rustix::io::fcntl_dupfd_cloexec(&self.mount.channel, least)?;
        Ok((channel, self.name.clone()))
    }

    /// Joins them. Somebody must answer messages meanwhile.
    ///
    /// # Errors
    /// [`BlockError`]; nothing is left behind.
    pub fn attach(mut self) -> Result<Attached, BlockError> {
        let opened: io::Result<File> = self.mount.open(&self.name);
        let file = opened.map_err(|error| BlockError::Refused {
            what: "opening the drive's file",
            error,
        })?;
        self.device.attach(&file, self.block_bytes, &self.name)?;
        Ok(Attached {
            device: self.device,
        })
    }
}

impl Attached {
    /// The device, as `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> String {
        self.device.path()
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        mounts::unmount_all(self.device.number());
        // Data of programs that never synced is passed on. Whoever did sync has heard of a failure.
        let _ = self.device.sync();
        self.device.detach();
    }
}
