//! What a host asks of a drive: transfers of data, and commands without data.

use std::fmt;

use crate::{Content, Direction, Nanos, Request, SECTOR_BYTES, ZoneAction};

/// The kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CommandKind {
    /// Data from the drive to the host.
    Read = 0,
    /// Data from the host to the drive.
    Write = 1,
    /// The range is not needed any more, and its data may be forgotten.
    Trim = 2,
    /// Everything completed before must survive a power loss.
    Flush = 3,
    /// The range is to read as zeroes, which the host does not send.
    WriteZeroes = 4,
}

impl CommandKind {
    /// Every kind, in the order of [`CommandKind::index`].
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Write,
        Self::Trim,
        Self::Flush,
        Self::WriteZeroes,
    ];

    /// The index in arrays with one entry for each kind.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// `read`, `write`, `trim`, `flush` or `write_zeroes`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
            Self::WriteZeroes => "write_zeroes",
        }
    }

    /// The direction of its data, if it has data.
    #[must_use]
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Self::Read => Some(Direction::Read),
            Self::Write => Some(Direction::Write),
            Self::Trim | Self::Flush | Self::WriteZeroes => None,
        }
    }
}

impl From<Direction> for CommandKind {
    #[inline]
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Read => Self::Read,
            Direction::Write => Self::Write,
        }
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One command of a host to a drive: a [`Request`], or a command without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// When it arrives in an open loop; [`Nanos::ZERO`] in a closed loop.
    pub arrival: Nanos,
    /// Offset of its first byte on the drive; 0 for a flush.
    pub offset_bytes: u64,
    /// Number of bytes it names; 0 for a flush.
    pub size_bytes: u32,
    /// Its kind.
    pub kind: CommandKind,
    /// For a write: it completes only when the data is in the flash (force unit access).
    pub is_forced: bool,
    /// For a write: what its data looks like.
    pub content: Content,
    /// Its action on its zone, for drives that have zones. A command for a whole zone is a
    /// [`CommandKind::Trim`], because it has no data.
    pub zone: ZoneAction,
}

impl Command {
    /// A flush that arrives at `arrival`.
    #[must_use]
    pub const fn flush(arrival: Nanos) -> Self {
        Self {
            arrival,
            offset_bytes: 0,
            size_bytes: 0,
            kind: CommandKind::Flush,
            is_forced: false,
            content: Content::Random,
            zone: ZoneAction::None,
        }
    }

    /// A command for the whole zone at `offset_bytes`.
    #[must_use]
    pub const fn of_zone(zone: ZoneAction, offset_bytes: u64, arrival: Nanos) -> Self {
        Self {
            arrival,
            offset_bytes,
            // Any place in the zone identifies it.
            size_bytes: SECTOR_BYTES,
            kind: CommandKind::Trim,
            is_forced: false,
            content: Content::Random,
            zone,
        }
    }
}

impl From<Request> for Command {
    #[inline]
    fn from(request: Request) -> Self {
        Self {
            arrival: request.arrival,
            offset_bytes: request.offset_bytes,
            size_bytes: request.size_bytes,
            kind: request.direction.into(),
            is_forced: false,
            content: Content::Random,
            zone: ZoneAction::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_three_words() {
        assert_eq!(size_of::<Command>(), 24);
    }

    #[test]
    fn kinds_index_arrays_and_directions_keep_their_place() {
        for (place, kind) in CommandKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.index(), place);
        }
        for direction in Direction::ALL {
            let kind = CommandKind::from(direction);
            assert_eq!(kind.index(), direction.index());
            assert_eq!(kind.direction(), Some(direction));
            assert_eq!(kind.to_string(), direction.name());
        }
    }
}
