//! Where a host asks a drive to place what it writes: the flexible data placement of NVMe.

/// A placement identifier: the handle under which data is written, and the reclaim group.
///
/// A drive without handles ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PlacementId {
    /// The handle; `None` means the first.
    pub handle: Option<u8>,
    /// The reclaim group; `None` lets the drive choose.
    pub group: Option<u8>,
}
