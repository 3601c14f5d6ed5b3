//! A block device in `/dev`: the kernel is one more client.
//!
//! ```text
//!   program ─> /dev/nbdN ─> kernel's NBD client ─> socket ─> serve      where the kernel has nbd
//!   program ─> /dev/loopN ─> loop device ─> file of a FUSE mount ─> messages ─> serve
//! ```
//!
//! Only file systems on the device must be unmounted at the end. An NBD or loop device detaches
//! itself when the last program closes it. The mount is in no folder and lives as long as its file
//! is open, which the loop device holds. The socket or the messages end with the process.

mod loop_device;
mod message;
mod mount;
mod mounts;
mod nbd_device;
mod wire;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use thiserror::Error;

pub use message::{
    Heard, MESSAGE_ROOM, MOST_MESSAGE_BYTES, done_answer, error_answer, hear, read_answer,
};

use loop_device::LoopDevice;
use mount::Mount;
use nbd_device::NbdDevice;

use crate::protocol::Export;

/// What to do without a device.
const OTHERWISE: &str = "or leave out --block and let programs come by NBD";

/// The reason why there is no block device.
#[derive(Debug, Error)]
pub enum BlockError {
    /// Neither NBD nor FUSE.
    #[error(
        "--block needs nbd or FUSE, and this kernel offers neither: load one (modprobe nbd), {OTHERWISE}"
    )]
    NoFuse,
    /// No loop devices.
    #[error(
        "--block needs nbd or loop devices, and {path} is not there: load one (modprobe nbd), {OTHERWISE}"
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

/// How the kernel asks for data.
#[derive(Debug)]
pub enum Channel {
    /// By the NBD protocol, which begins with the first request.
    Nbd(UnixStream),
    /// By messages about a file with this name.
    File(OwnedFd, String),
}

/// A device that is not yet joined to the server.
#[derive(Debug)]
pub struct Block {
    parts: Parts,
    channel: Option<Channel>,
    block_bytes: u32,
    name: String,
}

#[derive(Debug)]
enum Parts {
    Nbd(NbdDevice),
    /// The file is dropped first.
    File(Mount, LoopDevice),
}

/// A block device in use.
#[derive(Debug)]
pub struct Attached {
    device: Device,
}

#[derive(Debug)]
enum Device {
    Nbd(NbdDevice),
    Loop(LoopDevice),
}

impl Block {
    /// Prepares one with blocks of `block_bytes`. `name` is the name of the drive.
    ///
    /// # Errors
    /// [`BlockError`]; nothing is left behind.
    pub fn open(block_bytes: u32, name: &str) -> Result<Self, BlockError> {
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
                letter
            } else {
                '-'
            }
        };
        let name = name.chars().take(40).map(plain).collect::<String>();
        let name = format!("drivelab-{name}");
        let (parts, channel) = match NbdDevice::open()? {
            Some((device, socket)) => (Parts::Nbd(device), Channel::Nbd(socket)),
            None => {
                let device = LoopDevice::free()?;
                let mount = Mount::new(&device)?;
                let channel = Channel::File(mount.answered()?, name.clone());
                (Parts::File(mount, device), channel)
            }
        };
        Ok(Self {
            parts,
            channel: Some(channel),
            block_bytes,
            name,
        })
    }

    /// How the kernel asks, for whoever answers; `None` if somebody already does.
    pub const fn channel(&mut self) -> Option<Channel> {
        self.channel.take()
    }

    /// Joins the device to the server, which must answer meanwhile.
    ///
    /// # Errors
    /// [`BlockError`]; nothing is left behind.
    pub fn attach(self, export: &Export) -> Result<Attached, BlockError> {
        let device = match self.parts {
            Parts::Nbd(mut device) => {
                device.connect(export, self.block_bytes)?;
                Device::Nbd(device)
            }
            Parts::File(mount, mut device) => {
                let opened: io::Result<File> = mount.open(&self.name);
                let file = opened.map_err(|error| BlockError::Refused {
                    what: "opening the drive's file",
                    error,
                })?;
                device.attach(&file, self.block_bytes, &self.name)?;
                Device::Loop(device)
            }
        };
        Ok(Attached { device })
    }
}

impl Attached {
    /// The device, as `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/dev/{}", self.device.name())
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        mounts::unmount_all(&self.device.name());
        // Data of programs that never synced is passed on. Whoever did sync has heard of a failure.
        let _ = rustix::fs::fsync(&self.device);
        match &mut self.device {
            Device::Nbd(device) => device.disconnect(),
            Device::Loop(device) => device.detach(),
        }
    }
}

impl Device {
    fn name(&self) -> String {
        match self {
            Self::Nbd(device) => device.name(),
            Self::Loop(device) => device.name(),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Nbd(device) => device.as_fd(),
            Self::Loop(device) => device.as_fd(),
        }
    }
}
