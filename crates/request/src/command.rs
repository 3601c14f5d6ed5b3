//! What a host asks of a drive: data, and what is no data.

use std::fmt;

use crate::{Content, Direction, Nanos, Request, SECTOR_BYTES, ZoneAction};

/// What a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CommandKind {
    /// Data from the drive to the host.
    Read = 0,
    /// Data from the host to the drive.
    Write = 1,
    /// The range is not needed any more: its data may be forgotten.
    Trim = 2,
    /// Whatever was completed before is to survive a loss of power.
    Flush = 3,
}

impl CommandKind {
    /// Every kind, in the order of [`CommandKind::index`].
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// The place in arrays of one entry a kind.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// `read`, `write`, `trim` or `flush`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }

    /// Which way its data goes, if it has data.
    #[must_use]
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Self::Read => Some(Direction::Read),
            Self::Write => Some(Direction::Write),
            Self::Trim | Self::Flush => None,
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

/// One command of a host to a drive: a [`Request`], or what moves no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// When it arrives in an open loop; [`Nanos::ZERO`] in a closed loop.
    pub arrival: Nanos,
    /// Where on the drive its first byte lies; 0 for a flush.
    pub offset_bytes: u64,
    /// How many bytes it names; 0 for a flush.
    pub size_bytes: u32,
    /// What it asks for.
    pub kind: CommandKind,
    /// Of a write: complete only when the data is in the flash (force unit access).
    pub is_forced: bool,
    /// Of a write: what its data looks like.
    pub content: Content,
    /// What it asks of its zone, of a drive that has such. What concerns a whole zone is a
    /// [`CommandKind::Trim`]: it has no data.
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

    /// What is asked of the whole zone that lies at `offset_bytes`.
    #[must_use]
    pub const fn of_zone(zone: ZoneAction, offset_bytes: u64, arrival: Nanos) -> Self {
        Self {
            arrival,
            offset_bytes,
            // A place in the zone names it.
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
