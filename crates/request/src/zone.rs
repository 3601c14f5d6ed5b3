//! What a host can ask of a zone, on drives divided into zones: NVMe's zoned namespaces.

/// The action of a command on its zone, in addition to its kind.
///
/// A drive without zones ignores an append, and never receives the other actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ZoneAction {
    /// Nothing.
    #[default]
    None = 0,
    /// For a write: it names its zone, and the drive writes at the zone's write pointer.
    Append = 1,
    /// The zone is empty again.
    Reset = 2,
    /// The zone becomes full, wherever its write pointer is.
    Finish = 3,
    /// The zone stays open until it is closed or full.
    Open = 4,
    /// The zone is no longer open.
    Close = 5,
}

impl ZoneAction {
    /// The actions that concern a whole zone and have no data.
    pub const OF_ZONE: [Self; 4] = [Self::Reset, Self::Finish, Self::Open, Self::Close];

    /// `append`, `reset`, `finish`, `open` or `close`; empty for none.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Append => "append",
            Self::Reset => "reset",
            Self::Finish => "finish",
            Self::Open => "open",
            Self::Close => "close",
        }
    }

    /// Whether it concerns a whole zone and has no data.
    #[inline]
    #[must_use]
    pub const fn is_of_zone(self) -> bool {
        matches!(self, Self::Reset | Self::Finish | Self::Open | Self::Close)
    }
}
