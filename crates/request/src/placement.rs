//! Where a host asks a drive to put what it writes: the flexible data placement of NVMe.

/// A placement identifier: the handle under which data is written, and the reclaim group.
///
/// A drive without handles takes no notice of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PlacementId {
    /// The handle; the first where it is not said.
    pub handle: Option<u8>,
    /// The reclaim group; where it is not said the drive chooses.
    pub group: Option<u8>,
}
