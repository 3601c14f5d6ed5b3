//! The state of a page map after its first pages were written in order, computed.
//!
//! ```text
//!   plane 0, written alone          every plane
//!   map    [ 0 1 2 .. ]      ->     page i of plane p: place of page i of plane 0, in plane p
//!   owner, blocks, records   ->     the same, with the numbers of plane p
//! ```
//!
//! With static striping, sequential data gives every plane one page after the other, and nothing
//! that a plane does depends on another plane. So writing a plane once tells what all of them hold:
//! two planes are written instead of all, one with the pages of the first planes and one with those
//! of the last, which may have one page less. The other tables are copies with other numbers. This
//! leaves out what makes planes differ: failing blocks, random victims, and planes chosen by load or
//! in turn.

use crate::memory::{Cells, Exclusive, Memory};
use crate::operation::OperationBuffer;
use crate::page_map::PageMap;
use crate::space::{Field, Frontier, PLANE_WORDS, REGISTERS, Space, place_of};
use crate::{Action, Firmware, FlashLayout, Lpn, NOTHING, PageRun, Policies};

/// Pages of a plane that are written between two questions whether to stop.
const BATCH_PAGES: u32 = 1 << 12;

/// What was written in order to a new drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOrder {
    /// The first so many logical pages.
    pub pages: u32,
    /// So many times.
    pub passes: u32,
    /// Whether the reverse map is wanted; if not, the map only serves
    /// [`Restorable::complete`](crate::Restorable::complete).
    pub with_reverse_map: bool,
}

/// A plane that was written alone, as the only one of a drive.
struct Sample(PageMap<Exclusive>);

impl Sample {
    /// `None` if the plane cannot stand for others.
    fn written(
        layout: &FlashLayout,
        policies: Policies,
        (pages, passes): (u32, u32),
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let alone = FlashLayout {
            planes: 1,
            logical_pages: pages.max(1),
            ..*layout
        };
        let policies = Policies {
            order: crate::StripingOrder::Cwdp,
            axes: [1; 4],
            ..policies
        };
        let mut plane = PageMap::erased(alone, policies).ok()?;
        let drawn = plane.space.field(0, Field::Random);
        let mut out = OperationBuffer::with_capacity(BATCH_PAGES as usize);
        for _ in 0..passes {
            for first in (0..pages).step_by(BATCH_PAGES as usize) {
                if is_stopped() {
                    return None;
                }
                let batch = BATCH_PAGES.min(pages - first);
                out.clear();
                let run = PageRun::whole(Action::Write, Lpn(first), batch);
                plane.submit(&[run], &mut out).ok()?;
            }
        }
        (plane.space.field(0, Field::Random) == drawn).then_some(Self(plane))
    }
}

/// Two samples and the planes for which they stand.
struct Samples {
    layout: FlashLayout,
    /// With the pages of the first planes in striping order, and those of the others.
    planes: [Sample; 2],
    /// How many are the first planes.
    first: u32,
    /// The plane of every place in striping order, and the place of every plane.
    striped: Vec<u32>,
    places: Vec<u32>,
}

impl Samples {
    fn of_plane(&self, plane: u32) -> &PageMap<Exclusive> {
        let is_other = self.places[plane as usize] >= self.first;
        &self.planes[usize::from(is_other)].0
    }

    /// The map from logical to physical pages, from logical page `start` on.
    fn map(&self, bases: &[u32], start: usize, piece: &mut [u32]) {
        let planes = self.layout.planes as usize;
        let (mut page, mut place) = (start / planes, start % planes);
        let mut rest = piece;
        while !rest.is_empty() {
            // Up to the end of a row: one page of each plane.
            let (row, later) = rest.split_at_mut((planes - place).min(rest.len()));
            let border = (self.first as usize).clamp(place, place + row.len()) - place;
            let (first, others) = row.split_at_mut(border);
            let (base, other_base) = bases[place..].split_at(border);
            for (sample, row, bases) in [
                (&self.planes[0], first, base),
                (&self.planes[1], others, other_base),
            ] {
                // A sample that holds nothing has a map of one page.
                let map = &sample.0.map;
                let at = if page < map.size() {
                    map.get(page)
                } else {
                    NOTHING
                };
                if at == NOTHING {
                    row.fill(NOTHING);
                    continue;
                }
                for (cell, base) in row.iter_mut().zip(bases) {
                    *cell = base + at;
                }
            }
            (rest, page, place) = (later, page + 1, 0);
        }
    }

    /// Sets `piece`, which begins with cell `start` of a table that has `each` cells for a plane: a
    /// cell is what `of` makes of the sample, the plane, and the index within the plane's cells.
    fn by_plane<T>(
        &self,
        each: usize,
        (start, piece): (usize, &mut [T]),
        of: impl Fn(&PageMap<Exclusive>, u32, usize, &mut [T]),
    ) {
        let (mut plane, mut index) = ((start / each) as u32, start % each);
        let mut rest = piece;
        while !rest.is_empty() {
            let (cells, later) = rest.split_at_mut((each - index).min(rest.len()));
            of(self.of_plane(plane), plane, index, cells);
            (rest, plane, index) = (later, plane + 1, 0);
        }
    }

    /// The owners of physical pages.
    fn owners<W: Cells<u32>>(&self) -> W {
        let pages = self.layout.blocks_per_plane as usize * self.layout.pages_per_block as usize;
        W::computed(pages * self.layout.planes as usize, |start, piece| {
            self.by_plane(pages, (start, piece), |sample, plane, from, cells| {
                let place = self.places[plane as usize];
                for (offset, cell) in cells.iter_mut().enumerate() {
                    let owner = sample.owner.get(from + offset);
                    let striped = owner.wrapping_mul(self.layout.planes).wrapping_add(place);
                    *cell = if owner == NOTHING { NOTHING } else { striped };
                }
            });
        })
    }

    /// A table with a word for each block, equal for all planes but for `number` times the plane's
    /// number of blocks.
    fn of_blocks<W: Cells<u32>>(
        &self,
        number: u32,
        of: impl Fn(&Space<Exclusive>, usize) -> u32 + Sync,
    ) -> W {
        let blocks = self.layout.blocks_per_plane;
        W::computed(self.layout.blocks() as usize, |start, piece| {
            let each = blocks as usize;
            self.by_plane(each, (start, piece), |sample, plane, from, cells| {
                for (offset, cell) in cells.iter_mut().enumerate() {
                    *cell = of(&sample.space, from + offset) + number * plane * blocks;
                }
            });
        })
    }

    /// Sets the record of `plane`, whose random numbers stay.
    fn set_record<M: Memory>(&self, space: &mut Space<M>, plane: u32) {
        let sample = &self.of_plane(plane).space;
        let random = space.field(plane, Field::Random);
        for word in 0..PLANE_WORDS {
            let value = sample.planes.get(word);
            let place = place_of(&self.layout, plane, word);
            space.planes.set(place, value);
        }
        space.set_field(plane, Field::Random, random);
        let first_block = plane * self.layout.blocks_per_plane;
        let first_page = first_block * self.layout.pages_per_block;
        for frontier in Frontier::ALL {
            let field = Space::<M>::fields(frontier).0;
            // No block was opened if this is 0: a page follows the first one of an open block.
            let next = sample.field(0, field);
            if next != 0 {
                space.set_field(plane, field, next + first_page);
            }
        }
        let victim = sample.field(0, Field::Victim);
        if victim != NOTHING {
            space.set_field(plane, Field::Victim, victim + first_block);
        }
    }

    fn space<M: Memory>(&self, policies: &Policies) -> Space<M> {
        // The records of an erased drive, with the random numbers of its planes.
        let mut space = Space::<M>::erased(self.layout, policies);
        for plane in 0..self.layout.planes {
            self.set_record(&mut space, plane);
        }
        space.free = self.of_blocks(1, |space, block| space.free.get(block));
        space.closed_at = self.of_blocks(0, |space, block| space.closed_at.get(block));
        space.erases = self.of_blocks(0, |space, block| space.erases.get(block));
        let blocks = self.layout.blocks_per_plane as usize;
        let words = blocks * self.layout.pages_per_block.div_ceil(64) as usize;
        let planes = self.layout.planes as usize;
        let bits = M::Bits::computed(words * planes, |start, piece| {
            self.by_plane(words, (start, piece), |sample, _, from, cells| {
                let bits = sample.space.valid.tables().0;
                for (offset, cell) in cells.iter_mut().enumerate() {
                    *cell = bits.get(from + offset);
                }
            });
        });
        let counts = M::Narrow::computed(blocks * planes, |start, piece| {
            self.by_plane(blocks, (start, piece), |sample, _, from, cells| {
                let counts = sample.space.valid.tables().1;
                for (offset, cell) in cells.iter_mut().enumerate() {
                    *cell = counts.get(from + offset);
                }
            });
        });
        space.valid.set_tables(bits, counts);
        debug_assert_eq!(space.registers.size(), REGISTERS);
        space
    }
}

impl<M: Memory> PageMap<M> {
    /// A new drive to which `written` was written, without writing it all: the same state at a
    /// fraction of the cost. `None` if planes may differ, if the layout does not work, if space runs
    /// out or if `is_stopped` says so.
    #[must_use]
    pub fn written_in_order(
        layout: FlashLayout,
        policies: Policies,
        written: InOrder,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<Self> {
        policies.validate(&layout).ok()?;
        let empty = Self::without_tables(layout, policies);
        if policies.failures.is_some() || empty.placement.is_dynamic() {
            return None;
        }
        let planes = layout.planes;
        let pages = written.pages.min(layout.logical_pages);
        let striped: Vec<u32> = (0..planes)
            .map(|place| empty.placement.striped(place))
            .collect();
        let mut places = vec![0; planes as usize];
        for (place, &plane) in (0..).zip(&striped) {
            *places.get_mut(plane as usize)? = place;
        }
        let first = pages % planes;
        let sample =
            |pages| Sample::written(&layout, policies, (pages, written.passes), is_stopped);
        let samples = Samples {
            layout,
            planes: [
                sample(if first > 0 { pages / planes + 1 } else { 0 })?,
                sample(pages / planes)?,
            ],
            first,
            striped,
            places,
        };
        let plane_pages = layout.blocks_per_plane * layout.pages_per_block;
        let bases: Vec<u32> = samples
            .striped
            .iter()
            .map(|plane| plane * plane_pages)
            .collect();
        let owner = match written.with_reverse_map {
            true => samples.owners(),
            false => M::Wide::filled(0, NOTHING),
        };
        Some(Self {
            map: M::Wide::computed(layout.logical_pages as usize, |start, piece| {
                samples.map(&bases, start, piece);
            }),
            owner,
            space: samples.space(&policies),
            ..empty
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use proptest::prelude::*;

    use super::InOrder;
    use crate::memory::Cells;
    use crate::{
        Action, Allocation, Exclusive, Firmware, FlashLayout, Lpn, OperationBuffer, Pace, PageMap,
        PageRun, Policies, Restorable, StripingOrder, VictimPolicy,
    };

    type Map = PageMap<Exclusive>;

    fn policies() -> impl Strategy<Value = Policies> {
        let choices = (
            prop::sample::select(Pace::ALL),
            prop::sample::select(VictimPolicy::ALL),
            prop::sample::select(StripingOrder::ALL),
            prop::bool::weighted(0.2),
        );
        let wear = (
            any::<bool>(),
            prop::option::of(0..3_u32),
            prop::option::of(3..5_u32),
            prop::option::of(1..4_u32),
        );
        let axes = [1..3_u32, 1..3_u32, 1..4_u32, 1..3_u32];
        (choices, 0..4_u32, axes, wear).prop_map(|(choices, more, axes, wear)| Policies {
            pace: choices.0,
            victim: choices.1,
            order: choices.2,
            allocation: match choices.3 {
                true => Allocation::RoundRobin,
                false => Allocation::Static,
            },
            // As far above the reserve, which is 2 or 3; none means the default.
            stop_blocks: (more > 0).then_some(3 + more),
            axes,
            least_worn_first: wear.0,
            wear_spread: wear.1,
            temperature_classes: wear.2,
            background_blocks: wear.3.map(|more| 3 + more),
            ..Policies::USUAL
        })
    }

    /// Small drives, up to the fullest that their policies allow, and what is written to them.
    fn written() -> impl Strategy<Value = (FlashLayout, Policies, InOrder)> {
        let pages = prop_oneof![Just(1_u32), Just(4), Just(7), Just(64), Just(65)];
        let part = prop_oneof![Just(1.0), 0.0..1.0];
        (policies(), 1..13_u32, pages, 2..4_u32, part, 0..4_u32).prop_flat_map(
            |(policies, usable, pages_per_block, reserve, part, passes)| {
                let planes: u32 = policies.axes.iter().product();
                let most = planes * usable * pages_per_block;
                (prop_oneof![Just(most), 1..=most]).prop_map(move |logical_pages| {
                    let layout = FlashLayout {
                        planes,
                        blocks_per_plane: usable + policies.blocks_held_back(reserve),
                        pages_per_block,
                        logical_pages,
                        reserve_blocks: reserve,
                    };
                    let written = InOrder {
                        pages: (f64::from(logical_pages) * part) as u32,
                        passes,
                        with_reverse_map: true,
                    };
                    (layout, policies, written)
                })
            },
        )
    }

    /// The same written, 32 pages a request.
    fn played(layout: FlashLayout, policies: Policies, written: InOrder) -> Map {
        let mut map = Map::erased(layout, policies).unwrap();
        let mut out = OperationBuffer::default();
        for _ in 0..written.passes {
            for first in (0..written.pages).step_by(32) {
                let pages = 32.min(written.pages - first);
                out.clear();
                map.submit(
                    &[PageRun::whole(Action::Write, Lpn(first), pages)],
                    &mut out,
                )
                .unwrap();
            }
        }
        map
    }

    fn all<T: Copy + Ord>(cells: &impl Cells<T>) -> Vec<T> {
        (0..cells.size()).map(|index| cells.get(index)).collect()
    }

    fn check_equal(found: &Map, wanted: &Map) -> Result<(), TestCaseError> {
        prop_assert_eq!(all(&found.map), all(&wanted.map));
        prop_assert_eq!(all(&found.owner), all(&wanted.owner));
        let (space, other) = (&found.space, &wanted.space);
        prop_assert_eq!(all(&space.planes), all(&other.planes));
        prop_assert_eq!(all(&space.free), all(&other.free));
        prop_assert_eq!(all(&space.closed_at), all(&other.closed_at));
        prop_assert_eq!(all(&space.erases), all(&other.erases));
        prop_assert_eq!(all(&space.registers), all(&other.registers));
        prop_assert_eq!(all(&space.health), all(&other.health));
        let (valid, other) = (space.valid.tables(), other.valid.tables());
        prop_assert_eq!(all(valid.0), all(other.0));
        prop_assert_eq!(all(valid.1), all(other.1));
        prop_assert_eq!(&found.placement, &wanted.placement);
        Ok(())
    }

    /// Whether every plane does the same, whatever is written.
    fn is_alike(policies: &Policies) -> bool {
        let random = matches!(
            policies.victim,
            VictimPolicy::Random | VictimPolicy::DChoices
        );
        policies.allocation == Allocation::Static && !random
    }

    proptest! {
        #[test]
        fn a_computed_state_is_the_one_that_writing_leaves(
            (layout, policies, written) in written()
        ) {
            let found = Map::written_in_order(layout, policies, written, &|| false);
            prop_assert!(found.is_some() || !is_alike(&policies));
            if let Some(found) = found {
                check_equal(&found, &played(layout, policies, written))?;
            }
        }
    }

    #[test]
    fn without_a_reverse_map_it_is_completed_later() {
        let layout = FlashLayout {
            planes: 6,
            blocks_per_plane: 12,
            pages_per_block: 64,
            logical_pages: 6 * 64 * 7 - 5,
            reserve_blocks: 2,
        };
        let written = InOrder {
            pages: layout.logical_pages,
            passes: 2,
            with_reverse_map: false,
        };
        let found = Map::written_in_order(layout, Policies::USUAL, written, &|| false);
        let played = played(layout, Policies::USUAL, written).without_derived(0);
        let (found, wanted) = (found.expect("computed").complete(), played.complete());
        check_equal(&found, &wanted).unwrap();
    }

    #[test]
    fn it_stops_when_asked() {
        let layout = FlashLayout {
            planes: 1,
            blocks_per_plane: 12,
            pages_per_block: 64,
            logical_pages: 64 * 7,
            reserve_blocks: 2,
        };
        let written = InOrder {
            pages: 100,
            passes: 1,
            with_reverse_map: true,
        };
        assert!(Map::written_in_order(layout, Policies::USUAL, written, &|| true).is_none());
    }
}
