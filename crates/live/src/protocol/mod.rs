//! The server's side of the NBD protocol, fixed newstyle: bytes in, requests and replies out.
//!
//! ```text
//!   greeting ─> flags ─> options (haggling) ── GO or EXPORT_NAME ──> transmission ─> over
//! ```
//!
//! Nothing here reads or writes a socket, so tests can try any bytes. Written from the protocol's
//! public description. Left out: TLS, metadata contexts, extended headers, resizing, caching hints.

mod dialogue;
mod option;
mod reply;
mod request;
mod wire;

pub use dialogue::{Dialogue, Step};
pub use option::MOST_OPTION_BYTES;
pub use reply::{ReplyForm, error_reply, read_reply, simple_reply};
pub use request::{Asked, Refused, Request};

/// The most bytes that one request reads or writes.
pub const MOST_REQUEST_BYTES: u32 = 32 << 20;

/// Offsets and lengths are multiples of this.
pub const SECTOR_BYTES: u32 = 512;

/// The size of requests that suits the drive best.
const PREFERRED_BYTES: u32 = 4096;

/// The export offered to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// A name by which a client may select it; the empty name always works.
    pub name: String,
    /// A line for people.
    pub description: String,
    /// Its size.
    pub size_bytes: u64,
    /// Whether it supports TRIM.
    pub takes_trims: bool,
}

impl Export {
    /// The transmission flags.
    pub(crate) const fn flags(&self) -> u16 {
        let always = wire::HAS_FLAGS
            | wire::SEND_FLUSH
            | wire::SEND_FUA
            | wire::SEND_WRITE_ZEROES
            | wire::CAN_MULTI_CONN;
        if self.takes_trims {
            always | wire::SEND_TRIM
        } else {
            always
        }
    }

    fn is_named(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.name.as_bytes()
    }
}

/// The reason why a request failed, with the protocol's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorNumber {
    /// The drive or the file failed.
    Io = 5,
    /// The request is invalid.
    Invalid = 22,
    /// No room, or beyond the end of the drive.
    NoSpace = 28,
}
