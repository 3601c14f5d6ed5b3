//! How much room a firmware has, and whether it is winning more.

use crate::memory::Memory;
use crate::space::{Field, Space};

/// Writable blocks at one moment; for several drives the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// The number of blocks.
    pub blocks: u64,
    /// Blocks that are erased and not being filled.
    pub free_blocks: u64,
    /// Collection of a plane begins when it has at most this many free blocks, times the planes.
    pub reserve_blocks: u64,
    /// The number of planes.
    pub planes: u64,
    /// Planes on which collection is in progress.
    pub collecting_planes: u64,
}

impl std::ops::AddAssign for Room {
    fn add_assign(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.free_blocks += other.free_blocks;
        self.reserve_blocks += other.reserve_blocks;
        self.planes += other.planes;
        self.collecting_planes += other.collecting_planes;
    }
}

impl<M: Memory> Space<M> {
    /// How much room there is.
    pub(crate) fn room(&self) -> Room {
        let layout = &self.layout;
        let (planes, reserve) = (u64::from(layout.planes), u64::from(layout.reserve_blocks));
        let mut room = Room {
            blocks: planes * u64::from(layout.blocks_per_plane),
            reserve_blocks: planes * reserve,
            planes,
            ..Room::default()
        };
        for plane in 0..layout.planes {
            room.free_blocks += u64::from(self.free_blocks(plane));
            room.collecting_planes += u64::from(self.is_collecting(plane));
        }
        room
    }

    /// Whether collection has begun on a plane and not reached its limit.
    fn is_collecting(&self, plane: u32) -> bool {
        let has_begun = self.field(plane, Field::Collecting) != 0;
        has_begun && self.free_blocks(plane) < self.stop_blocks()
    }
}
