//! The counts of a firmware with zones, and why it refuses a command.

/// The rule of zones that a command breaks. The NVMe status follows in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZoneRefusal {
    /// A write does not begin at the write pointer of its zone: "zone invalid write".
    NotAtPointer,
    /// The zone is full: "zone is full".
    Full,
    /// A write goes beyond the writable part of its zone, or a read beyond the zone: "zone boundary
    /// error".
    AcrossEnd,
    /// No more zones may be active (partly written): "too many active zones".
    TooManyActive,
    /// No more zones may be open, and no implicitly open one can be closed: "too many open zones".
    TooManyOpen,
    /// A zone cannot be opened or closed in its state: "invalid zone state transition".
    Transition,
    /// A write or append that is impossible on any drive: a partial page, an append not at the
    /// beginning of its zone, or one that is too large: "invalid field in command".
    Invalid,
}

impl ZoneRefusal {
    /// Every reason, in the order of [`ZoneCounts::refused`].
    pub const ALL: [Self; 7] = [
        Self::NotAtPointer,
        Self::Full,
        Self::AcrossEnd,
        Self::TooManyActive,
        Self::TooManyOpen,
        Self::Transition,
        Self::Invalid,
    ];

    /// The reason in words: "a command that ...".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotAtPointer => "does not write where its zone is written next",
            Self::Full => "writes to a full zone",
            Self::AcrossEnd => "reaches beyond its zone",
            Self::TooManyActive => "begins more zones than may be active",
            Self::TooManyOpen => "opens more zones than may be open",
            Self::Transition => "opens or closes a zone that cannot be",
            Self::Invalid => "is no write of whole pages, or no append",
        }
    }
}

/// Counts of zones and of refused commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneCounts {
    /// Accepted appends.
    pub appends: u64,
    /// Zones that were reset, not counting empty ones.
    pub resets: u64,
    /// Zones that were finished before they were full.
    pub finishes: u64,
    /// Zones that the host opened.
    pub opens: u64,
    /// Zones that the host closed.
    pub closes: u64,
    /// Zones that the drive closed to open another.
    pub drive_closes: u64,
    /// Zones that were written to their end.
    pub filled: u64,
    /// By [`ZoneRefusal`], in its order.
    pub refused: [u64; ZoneRefusal::ALL.len()],
    /// The most zones that were open at once since watching began.
    pub open_most: u64,
    /// The most zones that were active at once.
    pub active_most: u64,
}

impl ZoneCounts {
    /// What was counted since `before`, an earlier count. The maxima are those since watching
    /// began.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut refused = self.refused;
        for (now, then) in refused.iter_mut().zip(before.refused) {
            *now -= then;
        }
        Self {
            appends: self.appends - before.appends,
            resets: self.resets - before.resets,
            finishes: self.finishes - before.finishes,
            opens: self.opens - before.opens,
            closes: self.closes - before.closes,
            drive_closes: self.drive_closes - before.drive_closes,
            filled: self.filled - before.filled,
            refused,
            open_most: self.open_most,
            active_most: self.active_most,
        }
    }
}
