//! What a drive was written with, for so long that more of it changes nothing, before a run begins.

/// A kind of writing, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settling {
    /// Where each write goes.
    pub writing: Writing,
    /// The first so many bytes of the drive take all writes; all of it if not given.
    pub range_bytes: Option<u64>,
}

/// Where each write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writing {
    /// Behind the one before.
    InOrder,
    /// Anywhere, in pieces of so many bytes, each at a multiple of its size; a page at least.
    AtRandom {
        /// The size of a write.
        piece_bytes: u32,
    },
}

impl Settling {
    /// The part of it that one member of an array takes; of its bytes `data` over `whole` is what
    /// the members have together of one.
    #[must_use]
    pub fn of_member(self, (data, whole): (u32, u32)) -> Self {
        let share = |bytes: u64| (bytes * u64::from(whole)).div_ceil(u64::from(data.max(1)));
        Self {
            range_bytes: self.range_bytes.map(share),
            ..self
        }
    }
}
