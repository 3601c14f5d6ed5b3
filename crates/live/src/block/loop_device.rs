//! A loop device of the kernel, which turns a file into a block device.
//!
//! It detaches itself when the last program closes it, including this one. So a process that dies
//! leaves it free, or free as soon as nobody uses it. Only a device that the kernel reports as free
//! is ever touched.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{self, IntegerSetter, Ioctl, IoctlOutput, Opcode, Setter};

use super::BlockError;

const CONFIGURE: Opcode = 0x4C0A;
const CLEAR: Opcode = 0x4C01;
const GET_FREE: Opcode = 0x4C82;

const AUTOCLEAR: u32 = 4;
const DIRECT: u32 = 16;

/// Another process may take a free device first, so try this often.
const ATTEMPTS: usize = 16;

/// The settings of a device; `struct loop_config` of the kernel.
#[repr(C)]
struct Config {
    file: u32,
    block_bytes: u32,
    device: u64,
    inode: u64,
    real_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encryption: u32,
    key_bytes: u32,
    flags: u32,
    file_name: [u8; 64],
    encryption_name: [u8; 64],
    key: [u8; 32],
    start: [u64; 2],
    reserved: [u64; 8],
}

/// The request for the number of a free device.
struct Free;

// SAFETY: the request has no argument and returns a number.
unsafe impl Ioctl for Free {
    type Output = i32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        GET_FREE
    }

    fn as_ptr(&mut self) -> *mut std::ffi::c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(
        out: IoctlOutput,
        _: *mut std::ffi::c_void,
    ) -> rustix::io::Result<i32> {
        Ok(out)
    }
}

/// A free device, or an attached one.
#[derive(Debug)]
pub(super) struct LoopDevice {
    node: OwnedFd,
    number: i32,
}

impl LoopDevice {
    /// Opens a free one.
    pub fn free() -> Result<Self, BlockError> {
        let control = open("/dev/loop-control")?;
        // SAFETY: this is how the kernel's interface defines the request.
        let number = unsafe { ioctl::ioctl(&control, Free) }.map_err(|error| match error {
            Errno::PERM | Errno::ACCESS => BlockError::NotAllowed {
                what: "/dev/loop-control".to_owned(),
            },
            Errno::NOSPC | Errno::NOMEM | Errno::EXIST => BlockError::NoFreeLoop,
            error => BlockError::Refused {
                what: "/dev/loop-control",
                error: error.into(),
            },
        })?;
        let path = format!("/dev/loop{number}");
        Ok(Self {
            node: open(&path)?,
            number,
        })
    }

    /// Its name in `/dev`.
    pub fn name(&self) -> String {
        format!("loop{}", self.number)
    }

    /// Attaches `file`, to be read and written in blocks of `block_bytes`.
    pub fn attach(&mut self, file: &File, block_bytes: u32, name: &str) -> Result<(), BlockError> {
        let refused = |error: Errno| BlockError::Refused {
            what: "attaching a loop device",
            error: error.into(),
        };
        for _ in 0..ATTEMPTS {
            // SAFETY: the structure is the one that this request expects.
            let asked = unsafe { Setter::<CONFIGURE, _>::new(config(file, block_bytes, name)) };
            // SAFETY: as above; the kernel only reads it.
            match unsafe { ioctl::ioctl(&self.node, asked) } {
                Ok(()) => return Ok(()),
                Err(Errno::BUSY) => {
                    // In the same descriptor, so that the order of closing stays the same.
                    let other = Self::free()?;
                    rustix::io::dup3(&other.node, &mut self.node, rustix::io::DupFlags::CLOEXEC)
                        .map_err(refused)?;
                    self.number = other.number;
                }
                Err(Errno::NOTTY | Errno::INVAL) => return Err(BlockError::OldKernel),
                Err(error) => return Err(refused(error)),
            }
        }
        Err(BlockError::NoFreeLoop)
    }

    /// Detaches it, at once or as soon as nobody uses it.
    pub fn detach(&self) {
        // SAFETY: the kernel ignores the argument of this request.
        let asked = unsafe { IntegerSetter::<CLEAR>::new_usize(0) };
        // SAFETY: as above. If this fails, the device detaches itself when it is closed.
        let _ = unsafe { ioctl::ioctl(&self.node, asked) };
    }
}

impl AsFd for LoopDevice {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.node.as_fd()
    }
}

fn config(file: &File, block_bytes: u32, name: &str) -> Config {
    let mut file_name = [0; 64];
    for (place, byte) in file_name[..63].iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    Config {
        file: file.as_raw_fd() as u32,
        block_bytes,
        device: 0,
        inode: 0,
        real_device: 0,
        offset: 0,
        size_limit: 0,
        number: 0,
        encryption: 0,
        key_bytes: 0,
        flags: AUTOCLEAR | DIRECT,
        file_name,
        encryption_name: [0; 64],
        key: [0; 32],
        start: [0; 2],
        reserved: [0; 8],
    }
}

fn open(path: &str) -> Result<OwnedFd, BlockError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => BlockError::NoLoop {
            path: path.to_owned(),
        },
        Errno::ACCESS | Errno::PERM => BlockError::NotAllowed {
            what: path.to_owned(),
        },
        error => BlockError::Refused {
            what: "opening a loop device",
            error: error.into(),
        },
    })
}
