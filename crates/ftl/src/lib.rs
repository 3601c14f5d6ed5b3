//! The firmware of a solid-state drive: where a logical page is stored, and how space is won back.
//! It has no clock and does no I/O.
//!
//! ```text
//!   host requests ──> Firmware::submit ──> OperationBuffer ──> who owns the flash
//!                          ^                                   (simulator, bench)
//!                          └────────── Firmware::completed <────────┘
//! ```
//!
//! The caller executes the operations of one plane in the order in which they were emitted. Across
//! planes only [`Operation::after`] orders them. The mapping changes when an operation is emitted,
//! not when the flash has executed it.
//!
//! A state is saved as its difference from another state (`snapshot.rs`).

#[macro_use]
mod named;

mod address;
mod any_map;
mod background;
mod block_map;
mod cached_map;
mod chance;
mod check;
mod collection;
mod compressed_map;
mod divisor;
mod external;
mod failures;
mod firmware;
mod in_order;
mod large_pages;
mod memory;
mod operation;
mod pace;
mod page_map;
mod placement;
mod policies;
mod reclaim_map;
mod room;
mod shared;
mod shared_map;
mod slc_map;
mod snapshot;
mod space;
mod temperature;
mod valid;
mod victim;
mod wear;
mod zone_map;

pub use address::{FlashLayout, LayoutError, Lpn, Ppn};
pub use any_map::AnyMap;
pub use block_map::{BlockMap, BlockPolicies, BlockScheme};
pub use cached_map::{CachedMap, CachedPolicies, Replacement};
pub use chance::Chance;
pub use check::{Checked, ContractError};
pub use compressed_map::{CompressedMap, CompressedPolicies};
pub use divisor::Divisor;
pub use external::{External, ExternalError, ExternalFunctions};
pub use failures::Failures;
pub use firmware::{Action, Firmware, FirmwareError, IdleTime, PageRun};
pub use in_order::InOrder;
pub use memory::{Cells, Exclusive, ExclusiveCells, Memory, Undo, UndoCells, prefetch};
pub use operation::{Cause, Counts, NOTHING, Operation, OperationBuffer, OperationKind, OwnCounts};
pub use page_map::PageMap;
pub use placement::{Allocation, StripingOrder};
pub use policies::{Pace, Policies};
pub use reclaim_map::{Isolation, MOST_HANDLES, PlacedCounts, ReclaimMap, ReclaimPolicies};
pub use room::Room;
pub use shared::{Shared, SharedCells, Word};
pub use shared_map::{Table, TablesError};
pub use slc_map::{SlcMap, SlcPolicies};
pub use snapshot::{Restorable, StateError};
pub use victim::VictimPolicy;
pub use wear::EraseCounts;
pub use zone_map::{Judged, ZoneCounts, ZoneMap, ZonePolicies, ZoneRefusal, ZoneShape, ZoneState};
