//! Requests as text that fio replays: its iolog, version 2.
//!
//! ```text
//! fio version 2 iolog
//! /proc/self/fd/5 add
//! /proc/self/fd/5 open
//! /proc/self/fd/5 read 8192 4096        file, direction, offset and length in bytes
//! ```
//!
//! Unlike version 3, version 2 has no times. fio sends each request as soon as its queue has room,
//! which is the closed loop that a stream describes. Every fio since 2.0 reads it.
//!
//! A request with a time follows a line `wait`. fio takes the number in that line as ms since it
//! started its jobs. This works like a clock: after a late request the next one is in time again.
//! In version 3 each time counts from when the previous request was sent, so every delay adds to
//! all later ones.

use drivelab_request::{Direction, Request};
use thiserror::Error;

/// The longest file name that fio reads, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// A file name that fio would not read back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{name:?} cannot stand in an iolog; allowed: 1 to {MAX_NAME_BYTES} printable ASCII characters \
     without blanks"
)]
pub struct IologNameError {
    /// The name.
    pub name: String,
}

/// An iolog of one file, being written.
#[derive(Debug)]
pub struct Iolog {
    name: String,
    text: Vec<u8>,
}

impl Iolog {
    /// Begins an iolog for the file called `name`.
    ///
    /// # Errors
    ///
    /// [`IologNameError`] if fio would read a different name.
    pub fn new(name: &str) -> Result<Self, IologNameError> {
        let readable = (1..=MAX_NAME_BYTES).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_graphic());
        let name = name.to_owned();
        if !readable {
            return Err(IologNameError { name });
        }
        let text = format!("fio version 2 iolog\n{name} add\n{name} open\n").into_bytes();
        Ok(Self { name, text })
    }

    /// Adds a request.
    pub fn request(&mut self, request: Request) {
        let action = match request.direction {
            Direction::Read => b" read " as &[u8],
            Direction::Write => b" write ",
        };
        self.line(action, request.offset_bytes, request.size_bytes.into());
    }

    /// Adds a flush of the file.
    pub fn flush(&mut self) {
        self.line(b" sync ", 0, 0);
    }

    /// Later requests are not sent until this many ms have passed since fio started its jobs.
    pub fn wait(&mut self, until_ms: u64) {
        self.line(b" wait ", until_ms, 0);
    }

    /// The complete iolog.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    fn line(&mut self, action: &[u8], first: u64, second: u64) {
        let text = &mut self.text;
        text.extend_from_slice(self.name.as_bytes());
        text.extend_from_slice(action);
        decimal(text, first);
        text.push(b' ');
        decimal(text, second);
        text.push(b'\n');
    }
}

/// The iolog of `requests` to the file called `name`.
///
/// # Errors
///
/// [`IologNameError`] if fio would read a different name.
pub fn iolog(
    name: &str,
    requests: impl IntoIterator<Item = Request>,
) -> Result<Vec<u8>, IologNameError> {
    let mut text = Iolog::new(name)?;
    for request in requests {
        text.request(request);
    }
    Ok(text.into_bytes())
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
