//! A block device in `/dev`: the kernel is one more client.
//!
//! ```text
//!   program ─> /dev/nbdN ─> kernel's NBD client ─> socket ─> serve      where the kernel has nbd
//!   program ─> /dev/loopN ─> loop device ─> file of a FUSE mount ─> messages ─> serve
//! ```
//!
//! Only file systems on the device must be unmounted at the end. The kernel disconnects an NBD
//! device when the process ends. A loop device detaches itself when the last program closes it, and
//! the mount behind it, which is in no folder, lives as long as its file is open.

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
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
        "--block needs FUSE, or nbd from Linux 6.1 on, and this kernel offers neither: load one (modprobe fuse), {OTHERWISE}"
    )]
    NoFuse,
    /// No loop devices.
    #[error(
        "--block needs loop devices, or nbd from Linux 6.1 on, and {path} is not there: load them (modprobe loop), {OTHERWISE}"
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
    /// All NBD devices are in use.
    #[error("no nbd device is free: disconnect one (nbd-client -d /dev/nbd0), {OTHERWISE}")]
    NoFreeNbd,
    /// A size that blocks do not divide.
    #[error(
        "the drive's {size_bytes} bytes are no multiple of {block_bytes}: leave out --block-size"
    )]
    Uneven {
        /// The drive's size.
        size_bytes: u64,
        /// The block size.
        block_bytes: u32,
    },
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
    is_detaching: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Device {
    Nbd(NbdDevice),
    Loop(LoopDevice),
}

impl Block {
    /// Prepares one with blocks of `block_bytes`, for a drive with this size and name.
    ///
    /// # Errors
    /// [`BlockError`]; nothing is left behind.
    pub fn open(block_bytes: u32, size_bytes: u64, name: &str) -> Result<Self, BlockError> {
        if !size_bytes.is_multiple_of(block_bytes.into()) {
            return Err(BlockError::Uneven {
                size_bytes,
                block_bytes,
            });
        }
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
                letter
            } else {
                '-'
            }
        };
        let name = name.chars().take(40).map(plain).collect::<String>();
        let name = format!("drivelab-{name}");
        let (parts, channel) = match NbdDevice::open() {
            Ok(Some((device, socket))) => (Parts::Nbd(device), Channel::Nbd(socket)),
            Ok(None) => file(&name)?,
            // What is wrong with NBD only matters where the other way fails, too.
            Err(error) => file(&name).map_err(|_| error)?,
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

    /// Joins the device to the server, which must answer meanwhile. `is_detaching` is set before
    /// the kernel disconnects because this end asks for it.
    ///
    /// # Errors
    /// [`BlockError`]; nothing is left behind.
    pub fn attach(
        self,
        export: &Export,
        is_detaching: Arc<AtomicBool>,
    ) -> Result<Attached, BlockError> {
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
        Ok(Attached {
            device,
            is_detaching,
        })
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
        let name = self.device.name();
        mounts::unmount_all(&name);
        // Data of programs that never synced is passed on. Whoever did sync has heard of a failure.
        mounts::sync_partitions(&name);
        let _ = rustix::fs::fsync(&self.device);
        self.is_detaching.store(true, Ordering::Relaxed);
        match &mut self.device {
            Device::Nbd(device) => device.disconnect(),
            Device::Loop(device) => device.detach(),
        }
    }
}

/// A file behind a loop device, and how the kernel asks for its data.
fn file(name: &str) -> Result<(Parts, Channel), BlockError> {
    let device = LoopDevice::free()?;
    let mount = Mount::new(&device)?;
    let channel = Channel::File(mount.answered()?, name.to_owned());
    Ok((Parts::File(mount, device), channel))
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
