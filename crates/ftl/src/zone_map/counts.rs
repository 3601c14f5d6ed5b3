//! What a firmware with zones counts of them, and why it refuses a command.

/// Why a command breaks a rule of zones. The status of NVMe stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZoneRefusal {
    /// A write begins elsewhere than where its zone is written next: "zone invalid write".
    NotAtPointer,
    /// The zone is full: "zone is full".
    Full,
    /// A write reaches beyond what can be written of its zone, or a read beyond the zone: "zone
    /// boundary error".
    AcrossEnd,
    /// No more zones may be written to that are not full: "too many active zones".
    TooManyActive,
    /// No more zones may be open, and none was opened by a write alone: "too many open zones".
    TooManyOpen,
    /// A zone cannot be opened or closed as it is: "invalid zone state transition".
    Transition,
    /// A write or an append that no drive could take: of part of a page, an append elsewhere than
    /// at its zone's beginning, or one that is too large: "invalid field in command".
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

    /// Why, in words: "a command that ...".
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

/// Counts of zones and of what was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZoneCounts {
    /// Appends that were taken.
    pub appends: u64,
    /// Zones that were reset, those that held nothing left out.
    pub resets: u64,
    /// Zones that were finished before they were full.
    pub finishes: u64,
    /// Zones that the host opened.
    pub opens: u64,
    /// Zones that the host closed.
    pub closes: u64,
    /// Zones that the drive closed, to open another.
    pub drive_closes: u64,
    /// Zones that were written to their end.
    pub filled: u64,
    /// By [`ZoneRefusal`], in its order.
    pub refused: [u64; ZoneRefusal::ALL.len()],
    /// The most zones that were open at once since they were watched.
    pub open_most: u64,
    /// The most that were active at once.
    pub active_most: u64,
}

impl ZoneCounts {
    /// What was counted since `before`, an earlier count; the most are those since they were
    /// watched.
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
