//! Where the bytes of an array with copies lie.
//!
//! ```text
//!             member 0   1   2        member 0   1   2   3
//!                    0   0   1               0   0   1   1       RAID-10, near 2
//!                    1   2   2               2   2   3   3
//! ```
//!
//! The copies are numbered: copy k of chunk c has number 2 c + k. These numbers go to all members
//! in turn (md(4), "near"). RAID-1 is a single chunk with a copy on every member.

use super::level::Level;

/// Size of the only chunk of RAID-1.
const WHOLE: u64 = 1 << 62;

/// The copies of an array without parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirrors {
    members: u64,
    copies: u64,
    chunk_bytes: u64,
}

/// The part of a range that lies in one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InChunk {
    chunk: u64,
    inside: u64,
    /// Its bytes.
    pub size: u64,
}

impl Mirrors {
    /// Copies of a level on `members`. RAID-1 has no chunks.
    #[must_use]
    pub const fn new(level: Level, members: u32, chunk_bytes: u64) -> Self {
        let is_whole = matches!(level, Level::Raid1);
        Self {
            members: members as u64,
            copies: level.copies(members) as u64,
            chunk_bytes: if is_whole { WHOLE } else { chunk_bytes },
        }
    }

    /// Capacity of an array whose members have this many bytes. Only whole chunks count.
    #[must_use]
    pub const fn capacity_bytes(self, member_bytes: u64) -> u64 {
        if self.chunk_bytes == WHOLE {
            return member_bytes;
        }
        let chunks = member_bytes / self.chunk_bytes * self.members / self.copies;
        chunks * self.chunk_bytes
    }

    /// The parts of a range of at least one byte, chunk by chunk.
    pub fn split(self, offset: u64, size: u64) -> impl Iterator<Item = InChunk> {
        let (bytes, end) = (self.chunk_bytes, offset + size);
        (offset / bytes..end.div_ceil(bytes)).map(move |chunk| {
            let start = chunk * bytes;
            let from = offset.max(start);
            InChunk {
                chunk,
                inside: from - start,
                size: end.min(start + bytes) - from,
            }
        })
    }

    /// The members that have a copy, and its offset on each.
    pub fn copies(self, part: InChunk) -> impl Iterator<Item = (u32, u64)> {
        let first = part.chunk * self.copies;
        (first..first + self.copies).map(move |copy| {
            let place = copy / self.members * self.chunk_bytes + part.inside;
            ((copy % self.members) as u32, place)
        })
    }

    /// Other members with the data that a member has at `offset`, the offset on each, and the
    /// number of bytes that they share from there on, at most `most`.
    pub fn others(
        self,
        member: u32,
        offset: u64,
        most: u64,
    ) -> (u64, impl Iterator<Item = (u32, u64)>) {
        let inside = offset % self.chunk_bytes;
        let copy = offset / self.chunk_bytes * self.members + u64::from(member);
        let part = InChunk {
            chunk: copy / self.copies,
            inside,
            size: most.min(self.chunk_bytes - inside),
        };
        let others = self.copies(part).filter(move |&(other, _)| other != member);
        (part.size, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_lie_on_neighbours() {
        let of = |members, chunk: u64| {
            let mirrors = Mirrors::new(Level::Raid10, members, 100);
            let part = mirrors.split(chunk * 100 + 7, 10).next();
            let copies: Vec<_> = part.into_iter().flat_map(|p| mirrors.copies(p)).collect();
            copies
        };
        assert_eq!(of(4, 0), [(0, 7), (1, 7)]);
        assert_eq!(of(4, 3), [(2, 107), (3, 107)]);
        assert_eq!(of(3, 1), [(2, 7), (0, 107)]);
        assert_eq!(of(3, 2), [(1, 107), (2, 107)]);
        let mirrors = Mirrors::new(Level::Raid1, 3, 0);
        let whole: Vec<_> = mirrors.split(5_000, 10_000).collect();
        assert_eq!((whole.len(), whole[0].size), (1, 10_000));
        let copies: Vec<_> = mirrors.copies(whole[0]).collect();
        assert_eq!(copies, [(0, 5_000), (1, 5_000), (2, 5_000)]);
    }

    #[test]
    fn who_else_has_it_is_who_has_a_copy() {
        for members in 2..6 {
            let mirrors = Mirrors::new(Level::Raid10, members, 100);
            for part in mirrors.split(0, 2_000) {
                let copies: Vec<_> = mirrors.copies(part).collect();
                for &(member, offset) in &copies {
                    let (size, others) = mirrors.others(member, offset, 1 << 20);
                    assert_eq!(size, 100);
                    let mut all: Vec<_> = others.chain([(member, offset)]).collect();
                    all.sort_unstable();
                    let mut expected = copies.clone();
                    expected.sort_unstable();
                    assert_eq!(all, expected);
                }
            }
        }
    }

    #[test]
    fn half_of_the_bytes_are_data() {
        let bytes = |level, members| Mirrors::new(level, members, 100).capacity_bytes(1_099);
        assert_eq!(bytes(Level::Raid10, 4), 2_000);
        assert_eq!(bytes(Level::Raid10, 3), 1_500);
        assert_eq!(bytes(Level::Raid10, 2), 1_000);
        assert_eq!(bytes(Level::Raid1, 3), 1_099);
    }

    #[test]
    fn an_array_bears_the_loss_of_all_but_one_copy() {
        for members in 2..7_u32 {
            for lost in 0..1_u32 << members {
                let missing = |member| lost >> member & 1 == 1;
                for level in [Level::Raid1, Level::Raid10] {
                    let mirrors = Mirrors::new(level, members, 100);
                    let has = |part| mirrors.copies(part).any(|(member, _)| !missing(member));
                    let all = mirrors.split(0, 100 * 3 * u64::from(members)).all(has);
                    assert_eq!(level.bears(members, missing), all, "{level:?} {lost:b}");
                }
            }
        }
    }
}
