//! Requests as text that fio replays: its iolog, version 2.
//!
//! ```text
//! fio version 2 iolog
//! /proc/self/fd/5 add
//! /proc/self/fd/5 open
//! /proc/self/fd/5 read 8192 4096        file, direction, offset and length in bytes
//! ```
//!
//! Version 2 has no times, unlike version 3: fio sends each request as soon as
//! its queue has room, which is the closed loop that a stream means. Every fio
//! since 2.0 reads it.

use std::io::Write;

use drivelab_request::{Direction, Request};
use thiserror::Error;

/// fio reads names of at most so many bytes.
const MAX_NAME_BYTES: usize = 255;

/// A file name that fio would not read back as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{name:?} cannot stand in an iolog; allowed: 1 to {MAX_NAME_BYTES} printable ASCII characters \
     without blanks"
)]
pub struct IologNameError {
    /// The name.
    pub name: String,
}

/// The iolog of `requests` to the file called `name`.
///
/// # Errors
///
/// [`IologNameError`] when fio would read another name.
pub fn iolog(
    name: &str,
    requests: impl IntoIterator<Item = Request>,
) -> Result<Vec<u8>, IologNameError> {
    let readable = (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic());
    if !readable {
        let name = name.to_owned();
        return Err(IologNameError { name });
    }
    let mut text = Vec::new();
    // Writing to a vector does not fail.
    let _ = write!(text, "fio version 2 iolog\n{name} add\n{name} open\n");
    for request in requests {
        let direction = match request.direction {
            Direction::Read => " read ",
            Direction::Write => " write ",
        };
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(direction.as_bytes());
        decimal(&mut text, request.offset_bytes);
        text.push(b' ');
        decimal(&mut text, u64::from(request.size_bytes));
        text.push(b'\n');
    }
    Ok(text)
}

fn decimal(text: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}
