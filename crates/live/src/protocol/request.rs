//! Requests of the transmission phase, checked against the export.

use drivelab_request::CommandKind;

use super::wire::{self, Fields};
use super::{ErrorNumber, Export, MOST_REQUEST_BYTES, SECTOR_BYTES};

/// Bytes before a request's data.
pub(super) const HEADER_BYTES: usize = 28;

/// A request as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub flags: u16,
    pub kind: u16,
    pub cookie: u64,
    pub offset: u64,
    pub length: u32,
}

impl Header {
    /// `None` if the bytes do not begin a request.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.u32()? != wire::REQUEST_MAGIC {
            return None;
        }
        Some(Self {
            flags: fields.u16()?,
            kind: fields.u16()?,
            cookie: fields.u64()?,
            offset: fields.u64()?,
            length: fields.u32()?,
        })
    }

    /// Bytes of data that follow.
    pub const fn data_bytes(&self) -> u32 {
        if self.kind == wire::WRITE {
            self.length
        } else {
            0
        }
    }
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Read data.
    Read,
    /// Store the attached data.
    Write,
    /// Make everything completed before durable.
    Flush,
    /// Forget data; it reads as zeroes here.
    Trim,
    /// Make the range read as zeroes.
    WriteZeroes {
        /// The drive may forget the range.
        may_trim: bool,
        /// Later writes to the range must find room.
        keeps_room: bool,
    },
}

impl Asked {
    /// The kind of command under which it is counted.
    #[must_use]
    pub const fn command(self) -> CommandKind {
        match self {
            Self::Read => CommandKind::Read,
            Self::Write
            | Self::WriteZeroes {
                may_trim: false, ..
            } => CommandKind::Write,
            Self::Trim | Self::WriteZeroes { may_trim: true, .. } => CommandKind::Trim,
            Self::Flush => CommandKind::Flush,
        }
    }
}

/// A valid request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its operation.
    pub asked: Asked,
    /// It completes only when the data is durable.
    pub is_forced: bool,
    /// The client's identifier for it.
    pub cookie: u64,
    /// Offset of its first byte; 0 for a flush.
    pub offset_bytes: u64,
    /// Number of bytes; 0 for a flush.
    pub size_bytes: u32,
}

/// An invalid request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The client's identifier for it.
    pub cookie: u64,
    /// The reason.
    pub error: ErrorNumber,
    /// Whether it was a read, whose reply may have to be in chunks.
    pub is_read: bool,
}

/// The request of a header, if `export` can serve it.
pub(super) fn check(header: &Header, export: &Export) -> Result<Request, Refused> {
    let refused = |error| {
        Err(Refused {
            cookie: header.cookie,
            error,
            is_read: header.kind == wire::READ,
        })
    };
    let (asked, known_flags) = match header.kind {
        wire::READ => (Asked::Read, wire::FORCED | wire::WHOLE),
        wire::WRITE => (Asked::Write, wire::FORCED),
        wire::FLUSH => (Asked::Flush, wire::FORCED),
        wire::TRIM if export.takes_trims => (Asked::Trim, wire::FORCED),
        wire::WRITE_ZEROES => {
            let keeps_room = header.flags & wire::NO_HOLE != 0;
            let zeroes = Asked::WriteZeroes {
                may_trim: export.takes_trims && !keeps_room,
                keeps_room,
            };
            (zeroes, wire::FORCED | wire::NO_HOLE)
        }
        // Operations that were not offered, including a trim of a drive without TRIM.
        _ => return refused(ErrorNumber::Invalid),
    };
    if header.flags & !known_flags != 0 {
        return refused(ErrorNumber::Invalid);
    }
    let is_flush = asked == Asked::Flush;
    let (offset, length) = (header.offset, header.length);
    let sector = u64::from(SECTOR_BYTES);
    let is_whole = offset.is_multiple_of(sector) && u64::from(length).is_multiple_of(sector);
    let moves_data = matches!(asked, Asked::Read | Asked::Write);
    if is_flush {
        if (offset, length) != (0, 0) {
            return refused(ErrorNumber::Invalid);
        }
    } else if length == 0 || !is_whole || (moves_data && length > MOST_REQUEST_BYTES) {
        return refused(ErrorNumber::Invalid);
    } else if offset
        .checked_add(length.into())
        .is_none_or(|end| end > export.size_bytes)
    {
        let is_to_be_kept = matches!(asked, Asked::Write | Asked::WriteZeroes { .. });
        return refused(if is_to_be_kept {
            ErrorNumber::NoSpace
        } else {
            ErrorNumber::Invalid
        });
    }
    Ok(Request {
        asked,
        is_forced: header.flags & wire::FORCED != 0 && asked != Asked::Read,
        cookie: header.cookie,
        offset_bytes: offset,
        size_bytes: length,
    })
}
