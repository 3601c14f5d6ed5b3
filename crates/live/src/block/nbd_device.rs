//! A device of the kernel's own NBD client, which speaks with this server by a pair of sockets.
//!
//! ```text
//!   program ─> /dev/nbdN ─> kernel's NBD client ─> socket ─> serve
//! ```
//!
//! A thread waits in the kernel as long as the device is connected. If the process dies, that wait
//! ends, and the kernel fails all outstanding requests and disconnects the device; kernels before
//! Linux 6.1 do not always, so they are not used. Only a device that the kernel reports as free is
//! ever touched. There is also an interface by netlink, where the kernel waits by itself; but
//! requests of a process that died would then wait for ever.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{self, IntegerSetter, Opcode};

use super::BlockError;
use crate::protocol::Export;

const SET_SOCKET: Opcode = 0xAB00;
const SET_BLOCK_BYTES: Opcode = 0xAB01;
const WAIT: Opcode = 0xAB03;
const CLEAR: Opcode = 0xAB04;
const SET_BLOCKS: Opcode = 0xAB07;
const DISCONNECT: Opcode = 0xAB08;
const SET_FLAGS: Opcode = 0xAB0A;

/// The first kernel in which no request waits for ever.
const LEAST_KERNEL: (u32, u32) = (6, 1);
/// The kernel gives sizes in units of this.
const SECTOR_BYTES: u64 = 512;

/// The interval at which to look whether the device has come.
const LOOK: Duration = Duration::from_millis(1);

/// A free device with its socket, or a connected one.
#[derive(Debug)]
pub(super) struct NbdDevice {
    node: Arc<OwnedFd>,
    number: u32,
    waits: Option<JoinHandle<()>>,
}

impl NbdDevice {
    /// Takes a free device and returns the server's end of its socket, too. `None` if this kernel
    /// has no NBD client, or one that is too old.
    pub fn open() -> Result<Option<(Self, UnixStream)>, BlockError> {
        let uname = rustix::system::uname();
        if version(&uname.release().to_string_lossy()) < Some(LEAST_KERNEL) {
            return Ok(None);
        }
        let mut numbers: Vec<u32> = fs::read_dir("/sys/block")
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                entry
                    .ok()?
                    .file_name()
                    .to_str()?
                    .strip_prefix("nbd")?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        let has_any = !numbers.is_empty();
        for number in numbers {
            if is_connected(number) {
                continue;
            }
            if let Some(found) = Self::take(number)? {
                return Ok(Some(found));
            }
        }
        if has_any {
            return Err(BlockError::NoFreeNbd);
        }
        Ok(None)
    }

    /// Takes this device, if it is free.
    fn take(number: u32) -> Result<Option<(Self, UnixStream)>, BlockError> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let not_allowed = || BlockError::NotAllowed {
            what: format!("/dev/nbd{number}"),
        };
        let node = match rustix::fs::open(format!("/dev/nbd{number}"), flags, Mode::empty()) {
            Ok(node) => node,
            Err(Errno::ACCESS | Errno::PERM) => return Err(not_allowed()),
            Err(_) => return Ok(None),
        };
        let refused = |error: io::Error| BlockError::Refused {
            what: "a socket for the kernel's NBD client",
            error,
        };
        let (kernel, server) = UnixStream::pair().map_err(refused)?;
        // When the process dies, the kernel closes the higher descriptor first, so the closing of
        // the device does not wait for answers that nobody gives.
        let least = node.as_raw_fd() + 1;
        let server = rustix::io::fcntl_dupfd_cloexec(server, least);
        let server = server.map_err(|error| refused(error.into()))?;
        match ask::<SET_SOCKET>(&node, kernel.as_raw_fd() as usize) {
            Ok(()) => {}
            Err(Errno::BUSY | Errno::INVAL) => return Ok(None),
            Err(Errno::ACCESS | Errno::PERM) => return Err(not_allowed()),
            Err(error) => return Err(refused(error.into())),
        }
        let device = Self {
            node: Arc::new(node),
            number,
            waits: None,
        };
        Ok(Some((device, server.into())))
    }

    /// The device's name in `/dev`.
    pub fn name(&self) -> String {
        format!("nbd{}", self.number)
    }

    /// Connects the device, to be read and written in blocks of `block_bytes`.
    pub fn connect(&mut self, export: &Export, block_bytes: u32) -> Result<(), BlockError> {
        let refused = |error: io::Error| BlockError::Refused {
            what: "connecting an NBD device",
            error,
        };
        let blocks = (export.size_bytes / u64::from(block_bytes)) as usize;
        ask::<SET_BLOCK_BYTES>(&self.node, block_bytes as usize)
            .and_then(|()| ask::<SET_BLOCKS>(&self.node, blocks))
            .and_then(|()| ask::<SET_FLAGS>(&self.node, export.flags().into()))
            .map_err(|error| refused(error.into()))?;
        let node = Arc::clone(&self.node);
        let waits = thread::Builder::new()
            .name("drivelab-nbd".to_owned())
            .spawn(move || {
                // A signal would end the wait, and with it the device.
                block_signals();
                // How it ended does not matter.
                let _ = ask::<WAIT>(&node, 0);
                let _ = ask::<CLEAR>(&node, 0);
            })
            .map_err(refused)?;
        // The kernel shows the connection before the size.
        while !waits.is_finished() {
            if size_bytes(self.number) == Some(export.size_bytes) {
                self.waits = Some(waits);
                return Ok(());
            }
            thread::sleep(LOOK);
        }
        Err(refused(io::Error::other("the kernel ended it at once")))
    }

    /// Disconnects it. Programs that still use it get errors.
    pub fn disconnect(&mut self) {
        if let Some(waits) = self.waits.take() {
            // If it has ended by itself, this has no effect.
            let _ = ask::<DISCONNECT>(&self.node, 0);
            let _ = waits.join();
        }
    }
}

impl AsFd for NbdDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.node.as_fd()
    }
}

/// Whether the kernel reports a connection.
fn is_connected(number: u32) -> bool {
    PathBuf::from(format!("/sys/block/nbd{number}/pid")).exists()
}

/// The size that the kernel shows.
fn size_bytes(number: u32) -> Option<u64> {
    let sectors = fs::read_to_string(format!("/sys/block/nbd{number}/size")).ok()?;
    Some(sectors.trim_end().parse::<u64>().ok()? * SECTOR_BYTES)
}

/// The first two numbers of a kernel's release, as `6.1.0-57-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Sends a request with a number to the device.
fn ask<const REQUEST: Opcode>(node: &OwnedFd, number: usize) -> Result<(), Errno> {
    // SAFETY: these requests take a number.
    let asked = unsafe { IntegerSetter::<REQUEST>::new_usize(number) };
    // SAFETY: as above.
    unsafe { ioctl::ioctl(node, asked) }
}

fn block_signals() {
    let mut all = MaybeUninit::uninit();
    // SAFETY: the set is initialised before it is used, and the old one is not wanted.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_kernel_is_read_from_its_release() {
        assert_eq!(version("6.1.0-57-amd64"), Some((6, 1)));
        assert_eq!(version("5.15-rc3"), Some((5, 15)));
        assert!(version("5.15-rc3") < Some(LEAST_KERNEL));
        assert!(version("6.18.44") > Some(LEAST_KERNEL));
        assert!(version("unknown") < Some(LEAST_KERNEL));
    }
}
