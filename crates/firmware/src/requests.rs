//! The list of requests that the host sends.
//!
//! A binary file or stream without a header, 16 bytes a request, little-endian:
//!
//! ```text
//!   u64  offset in sectors of 512 bytes
//!   u32  length in sectors, at least 1
//!   u32  0 read, 1 write, 2 trim
//! ```

use std::io::{BufReader, Read};

use crate::error::RunError;

/// Bytes of a request.
pub const REQUEST_BYTES: usize = 16;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Trim.
    Trim,
}

/// A request of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The first sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// Its kind.
    pub kind: Kind,
}

impl Request {
    /// Its bytes in a list.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; REQUEST_BYTES] {
        let kind: u32 = match self.kind {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Trim => 2,
        };
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..8].copy_from_slice(&self.sector.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.sectors.to_le_bytes());
        bytes[12..].copy_from_slice(&kind.to_le_bytes());
        bytes
    }
}

/// A list that is read while it is served.
pub struct Requests {
    input: BufReader<Box<dyn Read + Send>>,
    name: String,
    sectors: u64,
    number: u64,
}

impl Requests {
    /// The list `input` for a drive of `sectors`. Errors call it `name`.
    pub fn new(input: impl Read + Send + 'static, name: impl Into<String>, sectors: u64) -> Self {
        let input: Box<dyn Read + Send> = Box::new(input);
        Self {
            input: BufReader::with_capacity(64 << 10, input),
            name: name.into(),
            sectors,
            number: 0,
        }
    }

    /// The next request; `None` at the end.
    ///
    /// # Errors
    /// [`RunError::Request`] names an invalid request, [`RunError::File`] a list that cannot be
    /// read.
    pub fn take(&mut self) -> Result<Option<Request>, RunError> {
        let mut bytes = [0; REQUEST_BYTES];
        let mut filled = 0;
        while filled < REQUEST_BYTES {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => {
                    return self.refuse(format!(
                        "is cut off after {filled} of {REQUEST_BYTES} bytes: write the list again"
                    ));
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(RunError::File {
                        path: self.name.clone().into(),
                        error,
                    });
                }
            }
        }
        let [a, b, c, d, e, f, g, h, rest @ ..] = bytes;
        let [i, j, k, l, m, n, o, p] = rest;
        let sector = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let sectors = u32::from_le_bytes([i, j, k, l]);
        let kind = match u32::from_le_bytes([m, n, o, p]) {
            0 => Kind::Read,
            1 => Kind::Write,
            2 => Kind::Trim,
            other => {
                return self.refuse(format!(
                    "has kind {other}: write 0 for a read, 1 for a write, 2 for a trim"
                ));
            }
        };
        if sectors == 0 {
            return self.refuse("has no length: write at least 1 sector".to_owned());
        }
        if sector
            .checked_add(sectors.into())
            .is_none_or(|end| end > self.sectors)
        {
            return self.refuse(format!(
                "reaches from sector {sector} over {sectors} sectors, beyond the drive's end: it has \
                 {} sectors of 512 bytes",
                self.sectors
            ));
        }
        self.number += 1;
        Ok(Some(Request {
            sector,
            sectors,
            kind,
        }))
    }

    fn refuse<T>(&self, why: String) -> Result<T, RunError> {
        Err(RunError::Request {
            list: self.name.clone(),
            number: self.number,
            why,
        })
    }
}
