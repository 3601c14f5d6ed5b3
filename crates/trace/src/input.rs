//! One file of a trace as blocks of bytes, decompressed while it is read.
//!
//! Nothing grows with the file. One buffer holds what is being examined, and a decompressor
//! produces no more than fits into it. So a small file that expands to terabytes is read like any
//! other.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use crate::error::TraceError;
use crate::gzip::{BEHIND_THE_END, GzipMembers};

/// The longest line of text that is read, far beyond what any format writes.
pub const MOST_LINE_BYTES: usize = 1 << 16;

/// Bytes examined to recognise the format. Two lines of the largest size fit.
const HEAD_BYTES: usize = 2 * MOST_LINE_BYTES;

const BUFFER_BYTES: usize = 1 << 18;

/// The source of a trace's bytes.
#[derive(Clone, Debug)]
pub enum Given {
    /// A file.
    Path(PathBuf),
    /// Bytes in memory, and their name in messages.
    Memory(String, bytes::Bytes),
}

impl Given {
    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Memory(name, _) => name.clone(),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Path(path) => {
                let file = File::open(path)?;
                if file.metadata()?.is_dir() {
                    return Err(io::Error::other("it is a directory; name the files in it"));
                }
                Box::new(file)
            }
            Self::Memory(_, bytes) => Box::new(io::Cursor::new(bytes.clone())),
        })
    }
}

/// One file, being read.
pub(crate) struct Input {
    pub given: Given,
    pub name: String,
    reader: Box<dyn Read + Send>,
    is_compressed: bool,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// Bytes before `start`.
    offset: u64,
}

impl Input {
    /// Opens a file, and reads enough to recognise its format.
    pub fn open(given: &Given) -> Result<Self, TraceError> {
        let name = given.name();
        let mut input = Self {
            reader: given.open().map_err(|error| TraceError::Open {
                file: name.clone(),
                error,
            })?,
            given: given.clone(),
            name,
            is_compressed: false,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            ended: false,
            offset: 0,
        };
        input.fill_to(8)?;
        match input.bytes() {
            [] => {
                let file = input.name;
                return Err(TraceError::Empty { file });
            }
            [0x1f, 0x8b, ..] => {
                input
                    .decompress(|reader| Ok(Box::new(GzipMembers::new(BufReader::new(reader)))))?;
            }
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                input
                    .decompress(|reader| Ok(Box::new(zstd::stream::read::Decoder::new(reader)?)))?;
            }
            bytes => {
                if let Some(method) = unread_compression(bytes) {
                    let file = input.name;
                    return Err(TraceError::Compression { file, method });
                }
            }
        }
        input.fill_to(HEAD_BYTES)?;
        if input.bytes().is_empty() {
            let file = input.name;
            return Err(TraceError::Empty { file });
        }
        Ok(input)
    }

    fn decompress(
        &mut self,
        with: impl FnOnce(Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>>,
    ) -> Result<(), TraceError> {
        let begun = self.bytes().to_vec();
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let joined = Box::new(io::Cursor::new(begun).chain(rest));
        self.reader = with(joined).map_err(|error| self.trouble(error))?;
        (self.start, self.end, self.ended) = (0, 0, false);
        self.is_compressed = true;
        Ok(())
    }

    fn trouble(&self, error: io::Error) -> TraceError {
        let remedy = if self.is_compressed && error.kind() == BEHIND_THE_END {
            "`gzip -dc` leaves them out with a warning; read what it writes"
        } else if self.is_compressed {
            "the compressed file is cut off or damaged: get it again, or decompress what is sound \
             and read that"
        } else {
            "get the file again"
        };
        TraceError::Read {
            file: self.name.clone(),
            offset: self.offset + (self.end - self.start) as u64,
            error,
            remedy,
        }
    }

    /// The bytes in the buffer.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Number of bytes before those in the buffer.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether nothing follows the buffer.
    pub const fn is_at_end(&self) -> bool {
        self.ended
    }

    /// Whether the file is compressed.
    pub const fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Discards the first `count` bytes.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads more bytes behind those in the buffer. Nothing changes at the end of the file or
    /// without room.
    pub fn fill(&mut self) -> Result<(), TraceError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while !self.ended && self.end < self.buffer.len() {
            let room = self.buffer.get_mut(self.end..).unwrap_or_default();
            match self.reader.read(room) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    self.end += count;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.trouble(error)),
            }
        }
        Ok(())
    }

    /// Reads until the buffer has `least` bytes, or the file ends.
    pub fn fill_to(&mut self, least: usize) -> Result<(), TraceError> {
        while !self.ended && self.end - self.start < least {
            self.fill()?;
        }
        Ok(())
    }
}

fn unread_compression(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz",
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => "bzip2",
        [b'P', b'K', 3, 4, ..] => "zip",
        [4, 0x22, 0x4d, 0x18, ..] => "lz4",
        [b'7', b'z', 0xbc, 0xaf, ..] => "7-Zip",
        _ => return None,
    })
}
