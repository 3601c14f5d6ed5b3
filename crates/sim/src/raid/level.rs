//! The levels of arrays, and how many failures each survives.
//!
//! | level | copies or parity | least members | failures survived |
//! |---|---|---|---|
//! | 0 | none | 1 | none |
//! | 1 | every member has everything | 2 | all but one |
//! | 5 | one parity chunk a row | 3 | one |
//! | 6 | two parity chunks a row | 4 | two |
//! | 10 | two copies of every chunk | 2 | one of each two that hold the same chunk |
//!
//! Patterson, Gibson and Katz 1988 for levels 1 and 5; levels 6 and 10 as in md(4) of Linux.

use serde::{Serialize, Serializer};

/// How data lies on the members of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Stripes on each member in turn.
    Raid0,
    /// The same data on each member.
    Raid1,
    /// Rows of chunks; one chunk of each row is the exclusive or of the others.
    Raid5,
    /// Rows of chunks; two chunks of each row are computed from the others.
    Raid6,
    /// Every chunk twice, on neighbouring members: "near 2" of md(4).
    Raid10,
}

impl Level {
    /// The numbers of all levels.
    pub const NUMBERS: &'static [u64] = &[0, 1, 5, 6, 10];

    /// The level with this number.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Raid0),
            1 => Some(Self::Raid1),
            5 => Some(Self::Raid5),
            6 => Some(Self::Raid6),
            10 => Some(Self::Raid10),
            _ => None,
        }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Raid0 => 0,
            Self::Raid1 => 1,
            Self::Raid5 => 5,
            Self::Raid6 => 6,
            Self::Raid10 => 10,
        }
    }

    /// The least number of members.
    #[must_use]
    pub const fn least_members(self) -> u32 {
        match self {
            Self::Raid0 => 1,
            Self::Raid1 | Self::Raid10 => 2,
            Self::Raid5 => 3,
            Self::Raid6 => 4,
        }
    }

    /// Parity chunks of a row.
    #[must_use]
    pub const fn parities(self) -> u32 {
        match self {
            Self::Raid5 => 1,
            Self::Raid6 => 2,
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
        }
    }

    /// Copies of every byte on this many members.
    #[must_use]
    pub const fn copies(self, members: u32) -> u32 {
        match self {
            Self::Raid1 => members,
            Self::Raid10 => 2,
            Self::Raid0 | Self::Raid5 | Self::Raid6 => 1,
        }
    }

    /// The fraction of its members' bytes that is data: numerator and denominator.
    #[must_use]
    pub const fn data_ratio(self, members: u32) -> (u32, u32) {
        match self {
            Self::Raid0 => (members, 1),
            Self::Raid1 => (1, 1),
            Self::Raid5 | Self::Raid6 => (members - self.parities(), 1),
            Self::Raid10 => (members, 2),
        }
    }

    /// Whether an array still has all its data without the members for which `missing` is true.
    #[must_use]
    pub fn bears(self, members: u32, missing: impl Fn(u32) -> bool) -> bool {
        let count = (0..members).filter(|&member| missing(member)).count() as u32;
        match self {
            Self::Raid0 => count == 0,
            Self::Raid1 => count < members,
            Self::Raid5 | Self::Raid6 => count <= self.parities(),
            // Copies 2 c and 2 c + 1 of chunk c lie on all members in turn. With an even number of
            // members the pairs are fixed; with an odd number every two neighbours share chunks.
            Self::Raid10 => {
                let step = if members.is_multiple_of(2) { 2 } else { 1 };
                let pairs = (0..members).step_by(step);
                pairs
                    .map(|first| (first, (first + 1) % members))
                    .all(|(first, second)| !(missing(first) && missing(second)))
            }
        }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.number())
    }
}
