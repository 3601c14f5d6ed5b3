//! Messages of clients, as bytes.

/// An option of the negotiation.
pub fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"IHAVEOPT".to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

/// The data of GO and INFO.
pub fn wanted(name: &str, kinds: &[u16]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name.as_bytes());
    data.extend((kinds.len() as u16).to_be_bytes());
    data.extend(kinds.iter().flat_map(|kind| kind.to_be_bytes()));
    data
}

/// A request without its data.
pub fn request(flags: u16, kind: u16, cookie: u64, (offset, length): (u64, u32)) -> Vec<u8> {
    let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
    bytes.extend(flags.to_be_bytes());
    bytes.extend(kind.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}

/// A simple reply.
pub fn simple(cookie: u64, error: u32) -> Vec<u8> {
    let mut bytes = 0x6744_6698_u32.to_be_bytes().to_vec();
    bytes.extend(error.to_be_bytes());
    bytes.extend(cookie.to_be_bytes());
    bytes
}

/// The client's flags: fixed newstyle, no zeroes.
pub const FLAGS: [u8; 4] = [0, 0, 0, 3];

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const DISCONNECT: u16 = 2;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const WRITE_ZEROES: u16 = 6;

pub const INVALID: u32 = 22;
pub const NO_SPACE: u32 = 28;
