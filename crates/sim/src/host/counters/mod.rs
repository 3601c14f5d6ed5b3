//! Counters: what a drive's media did while the window was open, and how each is described.
//!
//! ```text
//!   a row of the table ──┬─> the field that the drive counts in
//!                        ├─> its name, unit and meaning: JSON keys, documents
//!                        └─> how the members of an array add up
//! ```
//!
//! Counting adds to a field; the table is read once a run.

mod derived;
mod joining;
mod table;
mod value;

use std::borrow::Cow;

pub use table::{
    ArrayCounters, DiskCounters, Energy, FlashCounters, NamespaceCounters, PlacementCounters,
    ZoneCounters,
};
pub use value::Value;

/// One row of the table: a counter of `W`.
#[derive(Debug)]
pub struct Counter<W: 'static> {
    /// Its name: the field or function of `W` that holds it.
    pub name: &'static str,
    /// Where a run reports it.
    pub place: Place,
    /// What is counted, or the unit of a quantity.
    pub unit: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// How the members' counters combine into the array's, in words.
    pub of_array: &'static str,
    /// Its name in each measurement, if measurements report it too.
    pub measured: Option<&'static str>,
    /// What follows the name in a key: a mark for a list, or nothing.
    pub suffix: &'static str,
    /// If the counter holds several numbers, the name and meaning of each.
    pub parts: &'static [(&'static str, &'static str)],
    /// Reads it.
    pub read: fn(&W) -> Value<'_>,
}

/// Where a run reports a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the object of its kind: `flash`, `placement`, `zones`, `disk`, `array` or `energy`.
    Object,
    /// Among the values of the whole run.
    Run,
    /// Nowhere; it is the input of other counters.
    Core,
}

/// A counter as documentation and Python see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its key in what a run prints, such as `flash.page_reads`.
    pub key: String,
    /// See [`Counter::unit`].
    pub unit: &'static str,
    /// See [`Counter::meaning`].
    pub meaning: &'static str,
    /// See [`Counter::of_array`].
    pub of_array: &'static str,
    /// See [`Counter::measured`].
    pub measured: Option<&'static str>,
}

impl<W> Counter<W> {
    /// Its keys in what a run prints; none if it is not reported.
    fn described(&self, object: &str) -> Vec<Described> {
        let name = match self.place {
            Place::Object => format!("{object}.{}{}", self.name, self.suffix),
            Place::Run => format!("{}{}", self.name, self.suffix),
            Place::Core => return Vec::new(),
        };
        let of = |key, meaning| Described {
            key,
            unit: self.unit,
            meaning,
            of_array: self.of_array,
            measured: self.measured,
        };
        if self.parts.is_empty() {
            return vec![of(name, self.meaning)];
        }
        let parts = self.parts.iter();
        parts
            .map(|(part, meaning)| of(format!("{name}.{part}"), meaning))
            .collect()
    }
}

/// Every counter that a run reports, in the order of the table.
#[must_use]
pub fn described() -> Vec<Described> {
    let flash = FlashCounters::ROWS.iter();
    let disk = DiskCounters::ROWS.iter();
    let placement = PlacementCounters::ROWS.iter();
    let array = ArrayCounters::ROWS.iter();
    let namespaces = NamespaceCounters::ROWS.iter();
    let zones = ZoneCounters::ROWS.iter();
    let energy = Energy::ROWS.iter();
    flash
        .flat_map(|row| row.described(FlashCounters::OBJECT))
        .chain(placement.flat_map(|row| row.described(PlacementCounters::OBJECT)))
        .chain(namespaces.flat_map(|row| row.described(NamespaceCounters::OBJECT)))
        .chain(zones.flat_map(|row| row.described(ZoneCounters::OBJECT)))
        .chain(disk.flat_map(|row| row.described(DiskCounters::OBJECT)))
        .chain(array.flat_map(|row| row.described(ArrayCounters::OBJECT)))
        .chain(energy.flat_map(|row| row.described(Energy::OBJECT)))
        .collect()
}

/// What a drive stores data on, with its counters.
#[derive(Clone, Debug, Default)]
pub enum Media {
    /// The window has not closed, or the device counts only requests.
    #[default]
    Uncounted,
    /// An SSD.
    Flash(Box<FlashCounters>),
    /// A hard disk.
    Disk(DiskCounters),
    /// An array, with the outcome of each member.
    Members(Vec<super::Outcome>),
}

impl Media {
    /// What the flash did. Of an array, the members combined. `None` of other drives.
    #[must_use]
    pub fn flash(&self) -> Option<Cow<'_, FlashCounters>> {
        match self {
            Self::Flash(counters) => Some(Cow::Borrowed(counters)),
            Self::Members(members) => {
                let counters: Vec<_> = members.iter().filter_map(|m| m.media.flash()).collect();
                FlashCounters::joined(counters.iter().map(AsRef::as_ref)).map(Cow::Owned)
            }
            Self::Uncounted | Self::Disk(_) => None,
        }
    }

    /// What the disk did. Of an array, the members combined. `None` of other drives.
    #[must_use]
    pub fn disk(&self) -> Option<DiskCounters> {
        match self {
            Self::Disk(counters) => Some(*counters),
            Self::Members(members) => {
                let counters: Vec<_> = members.iter().filter_map(|m| m.media.disk()).collect();
                DiskCounters::joined(counters.iter())
            }
            Self::Uncounted | Self::Flash(_) => None,
        }
    }

    /// The members of an array; empty for other drives.
    #[must_use]
    pub fn members(&self) -> &[super::Outcome] {
        match self {
            Self::Members(members) => members,
            _ => &[],
        }
    }

    /// The same, to add what is known only at the end of the run.
    pub(crate) fn members_mut(&mut self) -> &mut [super::Outcome] {
        match self {
            Self::Members(members) => members,
            _ => &mut [],
        }
    }
}
