//! Drives as TOML: reading, inheritance, checks, and the presets of the package.
//!
//! ```text
//! text --document--> dotted keys with their lines --inherit--> one set of keys
//!      --schema--> known keys, types and ranges --assemble--> DriveConfig
//! ```
//!
//! A preset is one drive in one stated condition. Unknown keys, wrong types and impossible values
//! are errors that name the key, its value, its line and the allowed values.

mod ageing;
mod assemble;
mod atomic;
mod beside;
mod cell_times;
mod choices;
mod compression;
mod config;
mod disk;
pub(crate) mod document;
mod drive;
mod error;
mod exclusion;
mod exclusions;
mod firmware;
mod flash;
mod host;
mod key;
mod mapping;
mod namespaces;
pub(crate) mod occupancy;
mod placement;
mod published;
mod raid;
mod redundancy;
mod refresh;
mod retired;
mod rule;
pub(crate) mod schema;
mod shape;
mod slc;
mod variability;
mod zones;

pub use ageing::Ageing;
pub use cell_times::CellTimes;
pub(crate) use cell_times::MOST_PAGE_TYPES;
pub use choices::{
    Allocation, BufferPolicy, ChannelOrder, Condition, Dispatch, DriveKind, FillOrder,
    HostInterface, Isolation, MappingScheme, MultiPlane, Order, Pace, Replacement, SeekOrder,
    StripingOrder, VictimPolicy, WorkUnit, WriteZeroes,
};
pub use compression::Compression;
pub use config::{
    Buffer, ClosedFormSettings, Collection, Energy, Geometry, Host, Mapping, Scheduling, SsdConfig,
    Timing, Wear,
};
pub use disk::{DiskCache, DiskGeometry, DiskScheduling, HddConfig, Mechanics};
pub use drive::DriveConfig;
pub use error::{Place, PresetError, SpareShortage};
pub use exclusion::ExclusionRow;
pub use firmware::{Firmware, Time, Work};
pub use key::{Fit, KeyRow};
pub use namespaces::Namespaces;
pub use occupancy::Occupancy;
pub use placement::Placement;
pub use published::Published;
pub use raid::{ArrayGeometry, MemberConfig, RaidConfig};
pub use redundancy::{ParityConfig, RebuildConfig, RedundancyConfig};
pub use refresh::Refresh;
pub use slc::Slc;
pub use variability::Variability;
pub use zones::Zones;

use crate::embedded::Embedded;

/// Name and text of every preset of the package, sorted by name.
static EMBEDDED: Embedded = Embedded(include!(concat!(env!("OUT_DIR"), "/presets.rs")));

/// Every key that a preset of this kind of drive may have.
#[must_use]
pub fn keys(kind: DriveKind) -> Vec<KeyRow> {
    schema::keys(kind).map(KeyRow::from).collect()
}

/// What the keys of this kind of drive exclude, in the order in which it is checked.
#[must_use]
pub fn exclusions(kind: DriveKind) -> Vec<ExclusionRow> {
    exclusion::rows(kind)
}

/// The names of the presets that the package contains, in alphabetical order.
#[must_use]
pub fn names() -> Vec<&'static str> {
    EMBEDDED.names()
}

/// The TOML text of one of the package's presets.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    EMBEDDED.text(name)
}

#[cfg(test)]
mod tests;
