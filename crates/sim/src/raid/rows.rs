//! Where the bytes of an array with parity lie: rows of one chunk on each member.
//!
//! ```text
//!             member 0   1   2   3
//!   row 0          0   1   2   P         RAID-5 of four members
//!   row 1          4   5   P   3
//!   row 2          8   P   6   7
//!   row 3          P   9  10  11
//! ```
//!
//! The layout is left-symmetric, the default of md(4). Parity moves one member to the left with
//! each row, and data begins behind it. In RAID-6, Q follows P.

use super::level::Level;

/// The rows of an array with parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    members: u32,
    parities: u32,
    chunk_bytes: u64,
}

/// What a chunk of a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The exclusive or of the data.
    P,
    /// The second parity of RAID-6.
    Q,
    /// The data chunk with this number in its row.
    Data(u32),
}

/// A part of one data chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Which data chunk of the row.
    pub chunk: u32,
    /// Where it begins in the chunk, in bytes.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
}

impl Rows {
    /// The rows of a level with parity. It needs more `members` than it has parity chunks.
    #[must_use]
    pub const fn new(level: Level, members: u32, chunk_bytes: u64) -> Self {
        Self {
            members,
            parities: level.parities(),
            chunk_bytes,
        }
    }

    /// Members, each with one chunk of every row.
    #[must_use]
    pub const fn members(self) -> u32 {
        self.members
    }

    /// Parity chunks of a row.
    #[must_use]
    pub const fn parities(self) -> u32 {
        self.parities
    }

    /// Data chunks of a row.
    #[must_use]
    pub const fn data_chunks(self) -> u32 {
        self.members - self.parities
    }

    /// Bytes of a chunk.
    #[must_use]
    pub const fn chunk_bytes(self) -> u64 {
        self.chunk_bytes
    }

    /// Data bytes of a row.
    #[must_use]
    pub const fn row_bytes(self) -> u64 {
        self.chunk_bytes * self.data_chunks() as u64
    }

    /// Data bytes of an array whose members have this many bytes. Only whole rows count.
    #[must_use]
    pub const fn capacity_bytes(self, member_bytes: u64) -> u64 {
        member_bytes / self.chunk_bytes * self.row_bytes()
    }

    /// The member that holds P.
    #[must_use]
    pub const fn p_member(self, row: u64) -> u32 {
        self.members - 1 - (row % self.members as u64) as u32
    }

    /// The member that holds a data chunk.
    #[must_use]
    pub const fn data_member(self, row: u64, chunk: u32) -> u32 {
        (self.p_member(row) + self.parities + chunk) % self.members
    }

    /// The members that hold P and, in RAID-6, Q.
    pub fn parity_members(self, row: u64) -> impl Iterator<Item = u32> {
        (0..self.parities).map(move |parity| (self.p_member(row) + parity) % self.members)
    }

    /// What a member holds of a row.
    #[must_use]
    pub const fn holds(self, row: u64, member: u32) -> Holds {
        let behind = (member + self.members - self.p_member(row)) % self.members;
        match behind {
            0 => Holds::P,
            1 if self.parities == 2 => Holds::Q,
            _ => Holds::Data(behind - self.parities),
        }
    }

    /// The rows of a range of at least one byte, each with its first data byte and the byte after
    /// its last.
    pub fn split(self, offset: u64, size: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let (bytes, end) = (self.row_bytes(), offset + size);
        (offset / bytes..end.div_ceil(bytes)).map(move |row| {
            let start = row * bytes;
            let from = offset.max(start) - start;
            (row, from, end.min(start + bytes) - start)
        })
    }

    /// The parts of data chunks that make up data bytes `from` to `to` of a row.
    pub fn extents(self, from: u64, to: u64) -> impl Iterator<Item = Extent> {
        let bytes = self.chunk_bytes;
        (from / bytes..to.div_ceil(bytes)).map(move |chunk| {
            let start = chunk * bytes;
            Extent {
                chunk: chunk as u32,
                from: from.max(start) - start,
                to: to.min(start + bytes) - start,
            }
        })
    }

    /// The member on which a data byte lies, and its offset there.
    #[must_use]
    pub const fn place(self, offset: u64) -> (u32, u64) {
        let (row, inside) = (offset / self.row_bytes(), offset % self.row_bytes());
        let chunk = (inside / self.chunk_bytes) as u32;
        let member = self.data_member(row, chunk);
        (member, row * self.chunk_bytes + inside % self.chunk_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each member holds of the first rows. Data is numbered through all rows.
    fn table(level: Level, members: u32, rows: u64) -> Vec<Vec<String>> {
        let layout = Rows::new(level, members, 512);
        let of = |row: u64, member| match layout.holds(row, member) {
            Holds::P => "P".to_owned(),
            Holds::Q => "Q".to_owned(),
            Holds::Data(chunk) => {
                assert_eq!(layout.data_member(row, chunk), member);
                format!(
                    "{}",
                    row * u64::from(layout.data_chunks()) + u64::from(chunk)
                )
            }
        };
        (0..rows)
            .map(|row| (0..members).map(|member| of(row, member)).collect())
            .collect()
    }

    #[test]
    fn the_layout_is_left_symmetric() {
        // As `ALGORITHM_LEFT_SYMMETRIC` of Linux's raid5.c.
        assert_eq!(
            table(Level::Raid5, 4, 5),
            [
                ["0", "1", "2", "P"],
                ["4", "5", "P", "3"],
                ["8", "P", "6", "7"],
                ["P", "9", "10", "11"],
                ["12", "13", "14", "P"],
            ]
        );
        assert_eq!(
            table(Level::Raid6, 4, 4),
            [
                ["Q", "0", "1", "P"],
                ["2", "3", "P", "Q"],
                ["5", "P", "Q", "4"],
                ["P", "Q", "6", "7"],
            ]
        );
    }

    #[test]
    fn every_byte_of_a_range_is_in_one_extent_where_it_lies() {
        for (level, members) in [(Level::Raid5, 3), (Level::Raid5, 5), (Level::Raid6, 6)] {
            let layout = Rows::new(level, members, 100);
            for (offset, size) in [(0, 1), (99, 2), (50, 777), (0, 1_200), (399, 1)] {
                let mut next = offset;
                for (row, from, to) in layout.split(offset, size) {
                    for extent in layout.extents(from, to) {
                        let member = layout.data_member(row, extent.chunk);
                        for byte in extent.from..extent.to {
                            assert_eq!(layout.place(next), (member, row * 100 + byte));
                            next += 1;
                        }
                    }
                }
                assert_eq!(next, offset + size);
            }
        }
    }

    #[test]
    fn only_whole_rows_count() {
        assert_eq!(Rows::new(Level::Raid5, 4, 100).capacity_bytes(1_099), 3_000);
        assert_eq!(Rows::new(Level::Raid6, 4, 100).capacity_bytes(1_099), 2_000);
    }
}
