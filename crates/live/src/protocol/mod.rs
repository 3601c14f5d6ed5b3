//! The server's side of the NBD protocol, fixed newstyle: bytes in, requests and replies out.
//!
//! ```text
//!   greeting ─> flags ─> options (haggling) ── GO or EXPORT_NAME ──> transmission ─> over
//! ```
//!
//! Nothing here reads or writes a socket, so any bytes can be tried. Written from the protocol's
//! public description. Left out: TLS, metadata contexts, extended headers, resizing, caching
//! hints.

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

/// What is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name by which a client may ask for it; the empty one always works.
    pub name: String,
    /// A line for people.
    pub description: String,
    /// Its size.
    pub size_bytes: u64,
    /// Whether it knows TRIM.
    pub takes_trims: bool,
}

impl Export {
    /// The transmission flags.
    const fn flags(&self) -> u16 {
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

/// Why a request failed, as the protocol numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorNumber {
    /// The drive or the file failed.
    Io = 5,
    /// The request cannot be.
    Invalid = 22,
    /// No room, or behind the end of the drive.
    NoSpace = 28,
}
