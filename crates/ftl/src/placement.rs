//! Chooses the plane on which a page is written.
//!
//! In static striping the logical page alone decides. Its number modulo the planes is read
//! as four digits; the first letter of the order varies fastest. With two channels and two
//! ways:
//!
//! ```text
//!   logical page    0     1     2     3     4
//!   cwdp            c0w0  c1w0  c0w1  c1w1  c0w0 ..
//!   wcdp            c0w0  c0w1  c1w0  c1w1  c0w0 ..
//! ```
//!
//! With dynamic allocation it goes where there is room: to the next plane in that order, or
//! to the plane with the fewest outstanding operations. Then only the map knows its place.

use crate::LayoutError;
use crate::memory::{Cells, Memory};
use crate::operation::Operation;
use crate::page_map::PageMap;

named! {
    /// The order in which static striping walks channels, ways, dies and planes.
    #[allow(missing_docs, reason = "the words say it all")]
    StripingOrder {
        Cwdp = "cwdp",
        Cwpd = "cwpd",
        Cdwp = "cdwp",
        Cdpw = "cdpw",
        Cpwd = "cpwd",
        Cpdw = "cpdw",
        Wcdp = "wcdp",
        Wcpd = "wcpd",
        Wdcp = "wdcp",
        Wdpc = "wdpc",
        Wpcd = "wpcd",
        Wpdc = "wpdc",
        Dcwp = "dcwp",
        Dcpw = "dcpw",
        Dwcp = "dwcp",
        Dwpc = "dwpc",
        Dpcw = "dpcw",
        Dpwc = "dpwc",
        Pcwd = "pcwd",
        Pcdw = "pcdw",
        Pwcd = "pwcd",
        Pwdc = "pwdc",
        Pdcw = "pdcw",
        Pdwc = "pdwc",
    }
}

impl StripingOrder {
    /// The plane of each logical page below the number of planes, which are numbered channel
    /// fastest, then way, die, plane. `axes` are the channels, ways a channel, dies a way and
    /// planes a die.
    #[must_use]
    pub fn stripe(self, axes: [u32; 4]) -> Vec<u32> {
        const LETTERS: [u8; 4] = *b"cwdp";
        let planes: u32 = axes.iter().product();
        let mut weights = [1; 4];
        for axis in 1..4 {
            weights[axis] = weights[axis - 1] * axes[axis - 1];
        }
        let plane_of = |page: u32| {
            let mut rest = page;
            let mut plane = 0;
            for letter in self.word().bytes() {
                let axis = LETTERS.iter().position(|&other| other == letter);
                let axis = axis.unwrap_or_default();
                plane += rest % axes[axis] * weights[axis];
                rest /= axes[axis];
            }
            plane
        };
        (0..planes).map(plane_of).collect()
    }

    /// Refuses axes that do not give this many planes, if they matter.
    pub(crate) fn check_axes(self, axes: [u32; 4], planes: u32) -> Result<(), LayoutError> {
        let product: u64 = axes.iter().map(|&axis| u64::from(axis)).product();
        if self == Self::Cwdp || product == u64::from(planes) {
            return Ok(());
        }
        Err(LayoutError::Count {
            what: "product of channels, ways, dies and planes",
            value: product,
            low: planes.into(),
            high: planes.into(),
        })
    }
}

named! {
    /// What decides on which plane a page is written.
    Allocation {
        /// Only its number: static striping.
        Static = "static",
        /// Planes take turns.
        RoundRobin = "round_robin",
        /// The plane with the fewest outstanding operations.
        LeastLoaded = "least_loaded",
    }
}

/// The data that the choice of planes needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub allocation: Allocation,
    /// The planes in striping order; empty if that is their numerical order.
    stripe: Vec<u32>,
    /// For every plane, the operations emitted but not completed.
    load: Vec<u32>,
    /// Valid pages that a plane may hold so that its collection finds space.
    most_valid: u32,
}

impl Placement {
    pub fn new(
        allocation: Allocation,
        order: StripingOrder,
        axes: [u32; 4],
        planes: u32,
        most_valid: u32,
    ) -> Self {
        let in_order = order == StripingOrder::Cwdp;
        let counts_load = allocation == Allocation::LeastLoaded;
        Self {
            allocation,
            stripe: if in_order {
                Vec::new()
            } else {
                order.stripe(axes)
            },
            load: vec![0; if counts_load { planes as usize } else { 0 }],
            most_valid,
        }
    }

    /// Whether page `l` lies on plane `l` modulo the planes.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.allocation == Allocation::Static && self.stripe.is_empty()
    }

    /// Whether only the map knows where a page lies.
    #[inline]
    pub fn is_dynamic(&self) -> bool {
        self.allocation != Allocation::Static
    }

    /// Whether the load of the planes matters.
    #[inline]
    pub fn counts_load(&self) -> bool {
        !self.load.is_empty()
    }

    /// An operation was emitted on `plane`.
    #[inline]
    pub fn emitted(&mut self, plane: u32) {
        if let Some(load) = self.load.get_mut(plane as usize) {
            *load += 1;
        }
    }

    /// An operation on `plane` completed.
    #[inline]
    pub fn completed(&mut self, plane: u32) {
        if let Some(load) = self.load.get_mut(plane as usize) {
            *load = load.saturating_sub(1);
        }
    }

    /// Nothing is outstanding any more.
    pub fn settle(&mut self) {
        self.load.fill(0);
    }

    /// The plane of the `turn`th page in striping order.
    pub fn striped(&self, turn: u32) -> u32 {
        self.stripe.get(turn as usize).copied().unwrap_or(turn)
    }
}

/// A way to choose planes. Every loop over pages has one at compile time.
pub(crate) trait Place<M: Memory> {
    /// The plane on which `logical` is written next.
    fn for_write(map: &mut PageMap<M>, logical: u32) -> u32;

    /// The plane on which the page `physical` of `logical` lies.
    fn of(map: &PageMap<M>, logical: u32, physical: u32) -> u32;

    /// `logical` has moved from the page `old` (if it is one) to plane `plane`.
    #[inline(always)]
    fn moved(_map: &mut PageMap<M>, _old: u32, _plane: u32) {}

    /// A page was served by `operations`.
    #[inline(always)]
    fn served(_map: &mut PageMap<M>, _operations: &[Operation]) {}
}

/// The logical page modulo the planes.
pub(crate) struct Modulo;

impl<M: Memory> Place<M> for Modulo {
    #[inline(always)]
    fn for_write(map: &mut PageMap<M>, logical: u32) -> u32 {
        map.by_planes.remainder(logical)
    }

    #[inline(always)]
    fn of(map: &PageMap<M>, logical: u32, _physical: u32) -> u32 {
        map.by_planes.remainder(logical)
    }
}

/// Another order of static striping.
pub(crate) struct Striped;

impl<M: Memory> Place<M> for Striped {
    #[inline(always)]
    fn for_write(map: &mut PageMap<M>, logical: u32) -> u32 {
        map.placement.striped(map.by_planes.remainder(logical))
    }

    #[inline(always)]
    fn of(map: &PageMap<M>, logical: u32, _physical: u32) -> u32 {
        map.placement.striped(map.by_planes.remainder(logical))
    }
}

/// Wherever there is room.
pub(crate) struct Dynamic;

impl<M: Memory> Place<M> for Dynamic {
    fn for_write(map: &mut PageMap<M>, logical: u32) -> u32 {
        let planes = map.layout.planes;
        let turn = map.space.turn();
        let least = |turns: std::ops::Range<u32>| {
            let placement = &map.placement;
            turns
                .map(|turn| (placement.load[placement.striped(turn) as usize], turn))
                .min()
        };
        let first = match map.placement.allocation {
            Allocation::LeastLoaded => {
                // On a tie, the next in turn.
                let (ahead, behind) = (least(turn..planes), least(0..turn));
                match (ahead, behind) {
                    (Some(ahead), Some(behind)) if behind.0 < ahead.0 => behind.1,
                    (Some(ahead), _) => ahead.1,
                    (None, _) => turn,
                }
            }
            Allocation::Static | Allocation::RoundRobin => turn,
        };
        for turn in (first..planes).chain(0..first) {
            let plane = map.placement.striped(turn);
            if map.space.valid_of_plane(plane) < map.placement.most_valid {
                let next = turn + 1;
                map.space.set_turn(if next == planes { 0 } else { next });
                return plane;
            }
        }
        // Every plane is as full as allowed, so the page was written before, and its own plane
        // loses as much as it gains.
        let old = map.map.get(logical as usize);
        map.by_plane_pages.quotient(old).min(planes - 1)
    }

    #[inline(always)]
    fn of(map: &PageMap<M>, _logical: u32, physical: u32) -> u32 {
        map.by_plane_pages.quotient(physical)
    }

    #[inline(always)]
    fn moved(map: &mut PageMap<M>, old: u32, plane: u32) {
        map.space.count_valid(plane, 1);
        map.left(old);
    }

    #[inline(always)]
    fn served(map: &mut PageMap<M>, operations: &[Operation]) {
        for operation in operations {
            map.placement.emitted(operation.plane);
        }
    }
}
