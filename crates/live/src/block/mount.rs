//! The file of the drive, in a file system of its own that nobody else sees.
//!
//! The mount is in no folder. It lives as long as the file is open, so a process that dies leaves
//! none behind, however it dies.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};

use super::BlockError;

/// The kernel's side of the file. Messages come from `channel`.
#[derive(Debug)]
pub(super) struct Mount {
    channel: OwnedFd,
    root: OwnedFd,
}

impl Mount {
    /// Makes the file system. The number of its message descriptor is above that of `after`. When
    /// the process dies, the kernel closes the message descriptor first, so the closing of `after`
    /// does not wait for answers that nobody gives.
    pub fn new(after: impl AsFd) -> Result<Self, BlockError> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened =
            rustix::fs::open("/dev/fuse", flags, Mode::empty()).map_err(|error| match error {
                Errno::NOENT | Errno::NODEV | Errno::NXIO => BlockError::NoFuse,
                Errno::ACCESS | Errno::PERM => BlockError::NotAllowed {
                    what: "/dev/fuse".to_owned(),
                },
                error => BlockError::Refused {
                    what: "/dev/fuse",
                    error: error.into(),
                },
            })?;
        let least = after.as_fd().as_raw_fd() + 1;
        let refused = |error: Errno| BlockError::Refused {
            what: "mounting the drive's file",
            error: error.into(),
        };
        let channel = fcntl_dupfd_cloexec(&opened, least).map_err(refused)?;
        drop(opened);
        let root = mounted(&channel).map_err(|error| match error {
            Errno::PERM | Errno::ACCESS => BlockError::NotAllowed {
                what: "mount".to_owned(),
            },
            Errno::NODEV => BlockError::NoFuse,
            Errno::NOSYS => BlockError::OldKernel,
            error => refused(error),
        })?;
        Ok(Self { channel, root })
    }

    /// The source of messages, for whoever answers them; also after the loop device.
    pub fn answered(&self) -> Result<OwnedFd, BlockError> {
        let least = self.channel.as_raw_fd() + 1;
        fcntl_dupfd_cloexec(&self.channel, least).map_err(|error| BlockError::Refused {
            what: "mounting the drive's file",
            error: error.into(),
        })
    }

    /// Opens the file. Somebody must answer messages meanwhile.
    pub fn open(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(openat(&self.root, name, flags, Mode::empty())?.into())
    }
}

fn mounted(channel: &OwnedFd) -> Result<OwnedFd, Errno> {
    let user = rustix::process::geteuid().as_raw().to_string();
    let group = rustix::process::getegid().as_raw().to_string();
    let number = channel.as_raw_fd().to_string();
    let system = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let options = [
        ("source", "drivelab"),
        ("fd", number.as_str()),
        ("rootmode", "40000"),
        ("user_id", user.as_str()),
        ("group_id", group.as_str()),
    ];
    for (key, value) in options {
        fsconfig_set_string(&system, key, value)?;
    }
    fsconfig_create(&system)?;
    let guarded = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, guarded)
}
