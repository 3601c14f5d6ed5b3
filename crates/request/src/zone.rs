//! What a host asks of a zone, of a drive that is divided into such: NVMe's zoned namespaces.

/// What a command asks of the zone in which it lies, beyond what its kind says.
///
/// A drive without zones takes no notice of an append, and is asked for nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ZoneAction {
    /// Nothing.
    #[default]
    None = 0,
    /// Of a write: it names its zone, and goes to where that is written next.
    Append = 1,
    /// The zone is empty again.
    Reset = 2,
    /// The zone is full, wherever it was written to.
    Finish = 3,
    /// The zone stays open until it is closed or full.
    Open = 4,
    /// The zone is open no more.
    Close = 5,
}

impl ZoneAction {
    /// Those that concern a whole zone and have no data.
    pub const OF_ZONE: [Self; 4] = [Self::Reset, Self::Finish, Self::Open, Self::Close];

    /// `append`, `reset`, `finish`, `open` or `close`; nothing for none.
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
