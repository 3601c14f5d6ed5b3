//! Where the bytes of an array lie: in stripes, on one member after another.
//!
//! ```text
//!   array    | 0 | 1 | 2 | 3 | 4 | 5 |
//!   member 0 | 0 | 2 | 4 |                of two members
//!   member 1 | 1 | 3 | 5 |
//! ```

/// The stripes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripes {
    members: u32,
    stripe_bytes: u64,
    /// Set if both numbers are powers of two.
    powers: Option<Powers>,
}

/// Stripes whose place is computed with shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Powers {
    stripe_shift: u8,
    members_shift: u8,
    last_member: u32,
    last_byte: u64,
}

impl Powers {
    /// The member on which a byte lies, and its offset there.
    #[inline(always)]
    const fn place(self, offset: u64) -> (u32, u64) {
        let member = (offset >> self.stripe_shift) as u32 & self.last_member;
        let whole = (offset >> self.members_shift) & !self.last_byte;
        (member, whole | (offset & self.last_byte))
    }
}

/// The part of a range that lies on one member. It is one piece, because its stripes are
/// consecutive there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which member.
    pub member: u32,
    /// Offset on it, in bytes.
    pub offset: u64,
    /// Size, in bytes.
    pub size: u64,
}

impl Stripes {
    /// Stripes of `stripe_bytes` on `members` drives in turn; neither may be 0.
    #[must_use]
    pub fn new(members: u32, stripe_bytes: u64) -> Self {
        Self {
            members,
            stripe_bytes,
            powers: (stripe_bytes.is_power_of_two() && members.is_power_of_two()).then(|| Powers {
                stripe_shift: stripe_bytes.trailing_zeros() as u8,
                members_shift: members.trailing_zeros() as u8,
                last_member: members - 1,
                last_byte: stripe_bytes - 1,
            }),
        }
    }

    /// The number of members.
    #[must_use]
    pub const fn members(&self) -> u32 {
        self.members
    }

    /// The piece of a range within one stripe; `None` for any other range.
    #[inline(always)]
    #[must_use]
    pub fn only(&self, offset: u64, size: u64) -> Option<Piece> {
        let inside = match self.powers {
            Some(powers) => offset & powers.last_byte,
            None => offset % self.stripe_bytes,
        };
        let (member, offset) = self.place(offset);
        (inside + size <= self.stripe_bytes).then_some(Piece {
            member,
            offset,
            size,
        })
    }

    /// The member on which a byte lies, and its offset there.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, offset: u64) -> (u32, u64) {
        match self.powers {
            Some(powers) => powers.place(offset),
            None => self.place_of_any(offset),
        }
    }

    #[inline(never)]
    fn place_of_any(&self, offset: u64) -> (u32, u64) {
        let (stripe, inside) = (offset / self.stripe_bytes, offset % self.stripe_bytes);
        let members = u64::from(self.members);
        let place = stripe / members * self.stripe_bytes + inside;
        ((stripe % members) as u32, place)
    }

    /// The pieces of a range of at least one byte, in the order in which it reaches members.
    pub fn pieces(self, offset: u64, size: u64) -> impl Iterator<Item = Piece> {
        let (stripe, members) = (self.stripe_bytes, u64::from(self.members));
        let last_byte = offset + size.max(1) - 1;
        let (first, last) = (offset / stripe, last_byte / stripe);
        let touched = members.min(last - first + 1);
        (first..first + touched).map(move |begin| {
            let end = begin + (last - begin) / members * members;
            let inside = if begin == first { offset % stripe } else { 0 };
            let start = begin / members * stripe + inside;
            let used = if end == last {
                last_byte % stripe + 1
            } else {
                stripe
            };
            Piece {
                member: (begin % members) as u32,
                offset: start,
                size: end / members * stripe + used - start,
            }
        })
    }

    /// The offset on the array of a byte of a member.
    #[must_use]
    pub const fn offset(&self, member: u32, offset: u64) -> u64 {
        let turn = offset / self.stripe_bytes;
        let stripe = turn * self.members as u64 + member as u64;
        stripe * self.stripe_bytes + offset % self.stripe_bytes
    }

    /// Bytes of an array whose members have `member_bytes` each. Only whole stripes count.
    #[must_use]
    pub const fn capacity_bytes(self, member_bytes: u64) -> u64 {
        member_bytes / self.stripe_bytes * self.stripe_bytes * self.members as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(members: u32, offset: u64, size: u64) -> Vec<(u32, u64, u64)> {
        let stripes = Stripes::new(members, 100);
        let pieces: Vec<_> = stripes.pieces(offset, size).collect();
        if offset / 100 == (offset + size - 1) / 100 {
            assert_eq!(stripes.only(offset, size), pieces.first().copied());
        } else {
            assert_eq!(stripes.only(offset, size), None);
        }
        pieces
            .iter()
            .map(|p| (p.member, p.offset, p.size))
            .collect()
    }

    #[test]
    fn ranges_fall_on_members_in_turn() {
        assert_eq!(pieces(1, 250, 500), [(0, 250, 500)]);
        assert_eq!(pieces(2, 0, 100), [(0, 0, 100)]);
        assert_eq!(pieces(2, 199, 2), [(1, 99, 1), (0, 100, 1)]);
        // Bytes 50 to 449: the end of stripe 0, stripes 1, 2 and 3, the beginning of 4.
        assert_eq!(pieces(2, 50, 400), [(0, 50, 200), (1, 0, 200)]);
        assert_eq!(pieces(3, 50, 400), [(0, 50, 150), (1, 0, 150), (2, 0, 100)]);
    }

    #[test]
    fn every_byte_lies_once_where_its_stripe_does() {
        for members in 1..5_u32 {
            for (offset, size) in [(0, 1), (7, 93), (99, 302), (350, 1000), (400, 400)] {
                let mut found: Vec<_> = pieces(members, offset, size)
                    .into_iter()
                    .flat_map(|(member, start, size)| {
                        (start..start + size).map(move |byte| (member, byte))
                    })
                    .collect();
                let mut expected: Vec<_> = (offset..offset + size)
                    .map(|byte| {
                        let stripe = byte / 100;
                        let member = (stripe % u64::from(members)) as u32;
                        (member, stripe / u64::from(members) * 100 + byte % 100)
                    })
                    .collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn stripes_of_a_power_of_two_and_far_away_lie_as_all_others() {
        let members = [1, 2, 3, 4];
        for (members, stripe_bytes) in members.into_iter().flat_map(|m| [(m, 512), (m, 3 * 512)]) {
            let stripes = Stripes::new(members, stripe_bytes);
            for stripe in [0, 1, 5, 1 << 31, (1 << 32) + 1] {
                let offset = stripe * stripe_bytes + 100;
                let piece = stripes.pieces(offset, 412).next();
                assert_eq!(stripes.only(offset, 412), piece);
                let back = piece.map(|piece| stripes.offset(piece.member, piece.offset));
                assert_eq!(back, Some(offset));
                assert_eq!(stripes.only(offset, stripe_bytes - 99), None);
            }
        }
    }

    #[test]
    fn only_whole_stripes_count() {
        let stripes = Stripes::new(3, 100);
        assert_eq!(stripes.capacity_bytes(1_099), 3_000);
    }
}
