//! The entrance: a socket in the file system, or a port of this machine.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::connection::Socket;
use super::path_lock::PathLock;

/// The longest path of a socket, in bytes (`sun_path` without its terminating zero).
const MOST_PATH_BYTES: usize = 107;

/// Where clients connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A path for a unix socket.
    Path(PathBuf),
    /// A TCP port of 127.0.0.1; 0 chooses a free one.
    Port(u16),
}

impl Place {
    /// The port, if it is one.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        match self {
            Self::Path(_) => None,
            Self::Port(port) => Some(*port),
        }
    }
}

/// The reason why there is no entrance.
#[derive(Debug, Error)]
pub enum DoorError {
    /// A path that is too long for a socket.
    #[error(
        "the socket's path has {length} bytes, and may have {MOST_PATH_BYTES}: name a shorter one \
         with --socket"
    )]
    TooLong {
        /// Its bytes.
        length: usize,
    },
    /// Something else has this name.
    #[error("{} exists and is no socket: name another path with --socket", path.display())]
    Exists {
        /// Its path.
        path: PathBuf,
    },
    /// Another server listens there.
    #[error("{} is in use by another server: stop that one, or name another path with --socket", path.display())]
    SocketInUse {
        /// Its path.
        path: PathBuf,
    },
    /// Another program listens there.
    #[error(
        "port {port} is in use by another program: choose another with --port, or --port 0 for any that is free"
    )]
    PortInUse {
        /// Its number.
        port: u16,
    },
    /// A port reserved for the system.
    #[error(
        "port {port} is for the system's own services: choose one from 1024 on, or --port 0 for any that is free"
    )]
    Privileged {
        /// Its number.
        port: u16,
    },
    /// The system refuses it.
    #[error("no socket at {place}: {reason}")]
    Refused {
        /// The place.
        place: String,
        /// The message of the system, and the remedy.
        reason: String,
    },
}

#[derive(Debug)]
enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// An open entrance. It is closed when this is dropped.
#[derive(Debug)]
pub struct Door {
    listener: Listener,
    place: Place,
    /// Device and inode of the socket's file, so that only a file made here is removed.
    made: Option<(u64, u64)>,
}

impl Door {
    /// Opens it. The socket of a dead server is replaced.
    ///
    /// # Errors
    /// [`DoorError`].
    pub fn open(place: Place) -> Result<Self, DoorError> {
        let (listener, place, made) = match place {
            Place::Path(path) => {
                let listener = unix(&path)?;
                let made = fs::symlink_metadata(&path).ok();
                let made = made.map(|found| (found.dev(), found.ino()));
                (Listener::Unix(listener), Place::Path(path), made)
            }
            Place::Port(port) => {
                let listener = tcp(port)?;
                let port = listener.local_addr().map_or(port, |address| address.port());
                (Listener::Tcp(listener), Place::Port(port), None)
            }
        };
        let door = Self {
            listener,
            place,
            made,
        };
        door.wait_for_nobody().map_err(|error| DoorError::Refused {
            place: door.uri(),
            reason: error.to_string(),
        })?;
        Ok(door)
    }

    fn wait_for_nobody(&self) -> io::Result<()> {
        match &self.listener {
            Listener::Unix(listener) => listener.set_nonblocking(true),
            Listener::Tcp(listener) => listener.set_nonblocking(true),
        }
    }

    /// Its place; a chosen port is filled in.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// Its address for clients.
    #[must_use]
    pub fn uri(&self) -> String {
        match &self.place {
            Place::Path(path) => format!("nbd+unix:///?socket={}", escaped(path)),
            Place::Port(port) => format!("nbd://127.0.0.1:{port}/"),
        }
    }

    /// The next waiting client; `None` if there is none.
    pub(super) fn admit(&self) -> io::Result<Option<Socket>> {
        let socket = match &self.listener {
            Listener::Unix(listener) => listener.accept().map(|(socket, _)| Socket::Unix(socket)),
            Listener::Tcp(listener) => listener.accept().map(|(socket, _)| Socket::Tcp(socket)),
        };
        match socket {
            Ok(socket) => {
                socket.prepare()?;
                Ok(Some(socket))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.listener {
            Listener::Unix(listener) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let Place::Path(path) = &self.place else {
            return;
        };
        let found = fs::symlink_metadata(path).ok();
        if found.map(|found| (found.dev(), found.ino())) == self.made {
            // If it is already gone, that is fine.
            let _ = fs::remove_file(path);
        }
    }
}

fn unix(path: &Path) -> Result<UnixListener, DoorError> {
    let length = path.as_os_str().len();
    if length > MOST_PATH_BYTES {
        return Err(DoorError::TooLong { length });
    }
    let refused = |error: io::Error| DoorError::Refused {
        place: path.display().to_string(),
        reason: match error.kind() {
            ErrorKind::NotFound => {
                format!("{error}; make its folder first (mkdir -p), or name another")
            }
            ErrorKind::PermissionDenied => format!("{error}; name a path in a folder of yours"),
            _ => error.to_string(),
        },
    };
    let in_use = || DoorError::SocketInUse {
        path: path.to_owned(),
    };
    let _lock = PathLock::take(path).map_err(refused)?.ok_or_else(in_use)?;
    match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {}
        bound => return bound.map_err(refused),
    }
    let found = fs::symlink_metadata(path).map_err(refused)?;
    if !found.file_type().is_socket() {
        return Err(DoorError::Exists {
            path: path.to_owned(),
        });
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(refused)?;
            UnixListener::bind(path).map_err(refused)
        }
        _ => Err(in_use()),
    }
}

fn tcp(port: u16) -> Result<TcpListener, DoorError> {
    if (1..1024).contains(&port) {
        return Err(DoorError::Privileged { port });
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => DoorError::PortInUse { port },
        _ => DoorError::Refused {
            place: format!("127.0.0.1:{port}"),
            reason: error.to_string(),
        },
    })
}

/// A path as the value of a query: everything but letters, digits and `-._~/` becomes %XX.
fn escaped(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}
