//! The kind of writing to which a drive settles before a run begins: enough that more of it changes
//! nothing.

/// A kind of writing, and its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settling {
    /// Where each write goes.
    pub writing: Writing,
    /// All writes go to this many bytes at the start of the drive; `None` means the whole drive.
    pub range_bytes: Option<u64>,
}

/// Where each write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writing {
    /// Directly behind the previous write.
    InOrder,
    /// Anywhere, in pieces of this size at multiples of it. A piece is at least a page.
    AtRandom {
        /// The size of a write.
        piece_bytes: u32,
    },
}

impl Settling {
    /// The part of this writing that one member of an array receives. The members together hold
    /// `data` bytes of every `whole` bytes they store.
    #[must_use]
    pub fn of_member(self, (data, whole): (u32, u32)) -> Self {
        let share = |bytes: u64| (bytes * u64::from(whole)).div_ceil(u64::from(data.max(1)));
        Self {
            range_bytes: self.range_bytes.map(share),
            ..self
        }
    }
}
