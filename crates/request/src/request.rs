//! One request of a host.

use std::fmt;

use crate::Nanos;

/// The unit of addressing: offsets and sizes are multiples of it.
pub const SECTOR_BYTES: u32 = 512;

/// The direction in which the data of a request moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Direction {
    /// From the drive to the host.
    Read = 0,
    /// From the host to the drive.
    Write = 1,
}

impl Direction {
    /// Both directions, in the order of [`Direction::index`].
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];

    /// 0 for a read, 1 for a write: the index in arrays with one entry for each direction.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// `read` or `write`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One request of a host to a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// When it arrives in an open loop. [`Nanos::ZERO`] in a closed loop, where requests arrive
    /// when an earlier one completes.
    pub arrival: Nanos,
    /// Offset of its first byte on the drive.
    pub offset_bytes: u64,
    /// How many bytes it moves.
    pub size_bytes: u32,
    /// Read or write.
    pub direction: Direction,
}

impl Request {
    /// The offset of the first byte after this request.
    #[inline]
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.size_bytes as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_three_words() {
        assert_eq!(size_of::<Request>(), 24);
    }

    #[test]
    fn directions_index_arrays_and_have_names() {
        for (place, direction) in Direction::ALL.into_iter().enumerate() {
            assert_eq!(direction.index(), place);
        }
        assert_eq!(Direction::Read.to_string(), "read");
        assert_eq!(Direction::Write.to_string(), "write");
    }

    #[test]
    fn a_request_ends_after_its_last_byte() {
        let request = Request {
            arrival: Nanos::ZERO,
            offset_bytes: 8192,
            size_bytes: 4096,
            direction: Direction::Write,
        };
        assert_eq!(request.end_bytes(), 12288);
    }
}
