//! A page map with placement handles: the contract, a second simple model of the same rules, and
//! write amplification compared with closed forms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Checked, Exclusive, Firmware, FlashLayout, Isolation, Lpn, OperationBuffer,
    OperationKind, Pace, PageRun, PlacedCounts, ReclaimMap, ReclaimPolicies, Restorable, Undo,
};
use drivelab_request::PlacementId;
use proptest::prelude::*;

use crate::damage::does_no_harm;
use crate::requests::{Draw, draws, run};

type Map = ReclaimMap<Exclusive>;

fn to(handle: u8, group: u8) -> PlacementId {
    PlacementId {
        handle: Some(handle),
        group: Some(group),
    }
}

fn write(page: u32) -> PageRun {
    PageRun::whole(Action::Write, Lpn(page), 1)
}

/// Drives as small as possible, filled as far as possible or less.
fn drives() -> impl Strategy<Value = (FlashLayout, ReclaimPolicies)> {
    let isolation = prop::sample::select(Isolation::ALL);
    let pace = prop::sample::select(Pace::ALL);
    let shape = (1..4_u32, 1..4_u32, 1..5_u32, 1..4_u32, 2..4_u32, 1..4_u32);
    (shape, isolation, pace, 0.3..1.0_f64).prop_map(
        |((groups, planes, pages, handles, reserve, usable), isolation, pace, filled)| {
            let policies = ReclaimPolicies {
                handles,
                groups,
                isolation,
                pace,
                stop_units: None,
            };
            let pages_of_all = groups * planes * pages * usable;
            let layout = FlashLayout {
                planes: groups * planes,
                blocks_per_plane: (usable + policies.units_held_back(reserve)).max(4),
                pages_per_block: pages,
                logical_pages: ((f64::from(pages_of_all) * filled) as u32).max(1),
                reserve_blocks: reserve,
            };
            (layout, policies)
        },
    )
}

/// Identifiers, some of them for handles and groups that do not exist.
fn identifiers(count: usize) -> impl Strategy<Value = Vec<PlacementId>> {
    let one = (prop::option::of(0..5_u8), prop::option::of(0..4_u8));
    prop::collection::vec(
        one.prop_map(|(handle, group)| PlacementId { handle, group }),
        count,
    )
}

/// The same rules, implemented only with lists.
struct Plain {
    layout: FlashLayout,
    policies: ReclaimPolicies,
    units: Vec<Unit>,
    /// For each logical page, its unit and its place there.
    newest: Vec<Option<(usize, usize)>>,
    collected: Vec<Option<(usize, u32, u32)>>,
    collecting: Vec<bool>,
    moves: u64,
    media: Vec<u64>,
}

#[derive(Clone, Default)]
struct Unit {
    group: u32,
    lane: Option<u32>,
    is_victim: bool,
    handle: u32,
    erases: u32,
    /// How many of its places are filled, and with which logical page each.
    filled: usize,
    places: Vec<Option<u32>>,
}

impl Plain {
    fn new(layout: FlashLayout, policies: ReclaimPolicies) -> Self {
        let of_group = |group| {
            vec![
                Unit {
                    group,
                    ..Unit::default()
                };
                layout.blocks_per_plane as usize
            ]
        };
        Self {
            layout,
            policies,
            units: (0..policies.groups).flat_map(of_group).collect(),
            newest: vec![None; layout.logical_pages as usize],
            collected: vec![None; policies.groups as usize],
            collecting: vec![false; policies.groups as usize],
            moves: 0,
            media: vec![0; policies.handles as usize],
        }
    }

    fn size(&self) -> usize {
        (self.layout.planes / self.policies.groups * self.layout.pages_per_block) as usize
    }

    fn of_group(&self, group: u32) -> Vec<usize> {
        let mine = |&unit: &usize| self.units[unit].group == group;
        (0..self.units.len()).filter(mine).collect()
    }

    fn valid(&self, unit: usize) -> usize {
        let here = |place: &Option<(usize, usize)>| place.is_some_and(|(at, _)| at == unit);
        self.newest.iter().filter(|place| here(place)).count()
    }

    fn free(&self, group: u32) -> Vec<usize> {
        let is_free = |&unit: &usize| {
            let unit = &self.units[unit];
            unit.filled == 0 && unit.lane.is_none()
        };
        self.of_group(group).into_iter().filter(is_free).collect()
    }

    /// `from` is the plane of moved data, as its index in its group.
    fn put(&mut self, logical: u32, group: u32, lane: u32, from: Option<usize>) {
        let open = self.of_group(group);
        let open = open
            .into_iter()
            .find(|&unit| self.units[unit].lane == Some(lane));
        let unit = open.unwrap_or_else(|| {
            let free = self.free(group);
            let unit = free.iter().min_by_key(|&&unit| self.units[unit].erases);
            let unit = *unit.unwrap();
            let handles = self.policies.handles;
            let size = self.size();
            let opened = &mut self.units[unit];
            opened.lane = Some(lane);
            opened.places = vec![None; size];
            opened.handle = match self.policies.isolation {
                Isolation::Persistent => lane % handles,
                Isolation::Initial => lane,
            };
            unit
        });
        let planes = (self.layout.planes / self.policies.groups) as usize;
        let places = &self.units[unit].places;
        let next_on = |plane: usize| {
            (plane..places.len())
                .step_by(planes)
                .find(|&p| places[p].is_none())
        };
        let place = match from {
            None => self.units[unit].filled,
            Some(plane) => next_on(plane).unwrap_or_else(|| {
                // The plane with the most room; on a tie the first.
                let next = (0..planes).filter_map(next_on);
                next.min_by_key(|place| place / planes).unwrap()
            }),
        };
        self.newest[logical as usize] = Some((unit, place));
        let size = self.size();
        let opened = &mut self.units[unit];
        opened.places[place] = Some(logical);
        opened.filled += 1;
        if opened.filled == size {
            opened.lane = None;
        }
    }

    fn choose(&mut self, group: u32) -> bool {
        if self.collected[group as usize].is_some() {
            return true;
        }
        let is_closed = |&unit: &usize| self.units[unit].filled == self.size();
        let closed = self.of_group(group).into_iter().filter(is_closed);
        let Some(victim) = closed.min_by_key(|&unit| self.valid(unit)) else {
            return false;
        };
        let valid = self.valid(victim);
        if valid == self.size() {
            return false;
        }
        self.units[victim].is_victim = true;
        self.collected[group as usize] = Some((victim, valid as u32, 0));
        true
    }

    fn collect(&mut self, group: u32, most: u32) {
        let (victim, ..) = self.collected[group as usize].unwrap();
        let handle = self.units[victim].handle;
        let handles = self.policies.handles;
        for _ in 0..most {
            let places = &self.units[victim].places;
            let is_valid = |&place: &usize| {
                let logical = places[place].unwrap();
                self.newest[logical as usize] == Some((victim, place))
            };
            let next = (0..places.len()).find(is_valid);
            let Some(place) = next else { break };
            let logical = places[place].unwrap();
            let lane = match self.policies.isolation {
                Isolation::Persistent => handles + handle,
                Isolation::Initial => handles,
            };
            let planes = (self.layout.planes / self.policies.groups) as usize;
            self.put(logical, group, lane, Some(place % planes));
            self.moves += 1;
            if let Some(media) = self.media.get_mut(handle as usize) {
                *media += 1;
            }
        }
        if self.valid(victim) == 0 {
            let unit = &mut self.units[victim];
            (unit.is_victim, unit.erases) = (false, unit.erases + 1);
            unit.filled = 0;
            self.collected[group as usize] = None;
        }
    }

    fn wants(&mut self, group: u32) -> bool {
        let (free, reserve) = (self.free(group).len() as u32, self.layout.reserve_blocks);
        let place = group as usize;
        let below = self.collecting[place] && free < self.policies.stop_units(reserve);
        self.collecting[place] = free <= reserve || below;
        self.collecting[place]
    }

    fn write(&mut self, logical: u32, placement: PlacementId) {
        let (handles, groups) = (self.policies.handles, self.policies.groups);
        let handle = placement.handle.map_or(0, u32::from);
        let handle = if handle < handles { handle } else { 0 };
        let known = placement
            .group
            .map(u32::from)
            .filter(|&group| group < groups);
        let wanted = known.unwrap_or(logical % groups);
        let held = |plain: &Self, group: u32| -> usize {
            plain
                .of_group(group)
                .iter()
                .map(|&unit| plain.valid(unit))
                .sum()
        };
        let usable = self.layout.blocks_per_plane
            - self.policies.units_held_back(self.layout.reserve_blocks);
        let there = self.newest[logical as usize].map(|(unit, _)| self.units[unit].group);
        let group = if there == Some(wanted) || held(self, wanted) < usable as usize * self.size() {
            wanted
        } else {
            // Where it is, unless another holds less.
            let least = (0..groups).map(|group| held(self, group)).min().unwrap();
            (there.into_iter().chain(0..groups))
                .find(|&group| held(self, group) == least)
                .unwrap()
        };
        let is_open = |unit: &Unit| unit.group == group && unit.lane == Some(handle);
        if !self.units.iter().any(is_open) {
            while match self.policies.pace {
                Pace::WholeBlock => self.wants(group),
                Pace::Paced | Pace::Adaptive => self.free(group).len() <= 1,
            } {
                assert!(self.choose(group));
                self.collect(group, u32::MAX);
            }
        }
        self.put(logical, group, handle, None);
        self.media[handle as usize] += 1;
        let is_due =
            |plain: &mut Self| plain.collected[group as usize].is_some() || plain.wants(group);
        if self.policies.pace.is_spread() && is_due(self) && self.choose(group) {
            let size = self.size() as u32;
            let (victim, valid, credit) = self.collected[group as usize].unwrap();
            let credit = credit + valid;
            self.collected[group as usize] = Some((victim, valid, credit % (size - valid)));
            self.collect(group, credit / (size - valid));
        }
    }
}

fn served(drive: &mut Map, runs: &[(PageRun, PlacementId)]) -> OperationBuffer {
    let mut out = OperationBuffer::default();
    for &(run, placement) in runs {
        drive.place(placement);
        drive.submit(&[run], &mut out).unwrap();
    }
    out
}

fn undoing(layout: FlashLayout, policies: ReclaimPolicies) -> ReclaimMap<Undo> {
    let mut start = ReclaimMap::<Undo>::erased(layout, policies).unwrap();
    start.checkpoint();
    start
}

fn writes_of(layout: FlashLayout, draws: Vec<Draw>) -> impl Iterator<Item = PageRun> {
    draws.into_iter().map(move |draw| run(&layout, draw))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Checked from the operations alone: units are written in order, moves carry the newest data,
    /// and erases destroy none.
    #[test]
    fn it_keeps_the_contract((layout, policies) in drives(), draws in draws(250), ids in identifiers(250)) {
        let mut drive = Checked::fresh(Map::erased(layout, policies).unwrap());
        let mut out = OperationBuffer::default();
        for (draw, id) in draws.into_iter().zip(ids) {
            out.clear();
            drive.place(id);
            if let Err(error) = Checked::submit(&mut drive, &[run(&layout, draw)], &mut out) {
                panic!("{error}");
            }
        }
        for page in 0..layout.logical_pages {
            let place = drive.firmware().physical(Lpn(page)).map(|ppn| ppn.0);
            let newest = drive.newest()[page as usize];
            prop_assert_eq!(place, (newest != u32::MAX).then_some(newest));
        }
        prop_assert!(drive.erase_counts().is_ok());
    }

    /// Lists with the same rules give the same moves, erases and places.
    #[test]
    fn a_plain_model_does_the_same(
        (layout, policies) in drives(),
        pages in prop::collection::vec(any::<u32>(), 400),
        ids in identifiers(400),
    ) {
        let mut drive = Map::erased(layout, policies).unwrap();
        let mut plain = Plain::new(layout, policies);
        let mut out = OperationBuffer::default();
        for (page, id) in pages.into_iter().zip(ids) {
            let page = page % layout.logical_pages;
            drive.place(id);
            drive.submit(&[write(page)], &mut out).unwrap();
            plain.write(page, id);
        }
        prop_assert_eq!(out.counts.moves, plain.moves);
        prop_assert_eq!(&drive.placed_counts().unwrap().media_pages, &plain.media);
        let planes = layout.planes / policies.groups;
        for (index, unit) in plain.units.iter().enumerate() {
            let block = index as u32 % layout.blocks_per_plane;
            for place in 0..planes {
                let plane = unit.group + place * policies.groups;
                let erases = Firmware::erase_count(&drive, plane * layout.blocks_per_plane + block);
                prop_assert_eq!(erases, Some(unit.erases));
            }
        }
        for page in 0..layout.logical_pages {
            let place = plain.newest[page as usize].map(|(unit, place)| {
                let (block, place) = (unit as u32 % layout.blocks_per_plane, place as u32);
                let plane = plain.units[unit].group + place % planes * policies.groups;
                (plane * layout.blocks_per_plane + block) * layout.pages_per_block + place / planes
            });
            prop_assert_eq!(drive.physical(Lpn(page)).map(|ppn| ppn.0), place);
        }
    }

    #[test]
    fn a_state_is_kept_returned_to_and_checked(
        (layout, policies) in drives(),
        draws in draws(120),
        ids in identifiers(120),
        damage in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let start = undoing(layout, policies);
        let mut drive = start.clone();
        let work = |drive: &mut ReclaimMap<Undo>| {
            let mut out = OperationBuffer::default();
            for (run, &id) in writes_of(layout, draws.clone()).zip(&ids) {
                drive.place(id);
                drive.submit(&[run], &mut out).unwrap();
            }
            out.operations().to_vec()
        };
        let first = work(&mut drive);
        let bytes = drive.changes_since(&start);
        let mut other = start.clone();
        other.apply_changes(&bytes).unwrap();
        prop_assert_eq!(other.changes_since(&start), bytes);
        prop_assert_eq!(work(&mut other), work(&mut drive));
        drive.rollback(&start);
        prop_assert_eq!(drive.changes_since(&start), start.changes_since(&start));
        prop_assert_eq!(work(&mut drive), first);
        drive.rollback(&start);
        let all = PageRun::whole(Action::Write, Lpn(0), layout.logical_pages);
        let before = writes_of(layout, draws.clone());
        does_no_harm(drive, before, damage, [all; 4].into_iter());
    }
}

/// A drive with `units` units of 4 planes x 16 pages.
fn layout(units: u32, logical_pages: u32) -> FlashLayout {
    FlashLayout {
        planes: 4,
        blocks_per_plane: units,
        pages_per_block: 16,
        logical_pages,
        reserve_blocks: 2,
    }
}

const UNIT: u32 = 64;

fn policies(handles: u32) -> ReclaimPolicies {
    ReclaimPolicies {
        handles,
        groups: 1,
        isolation: Isolation::Persistent,
        pace: Pace::WholeBlock,
        stop_units: None,
    }
}

/// Four logs that cycle through their own ranges at different speeds. With handles every unit holds
/// pages of one log, which expire together, so nothing is moved. In one unit they are mixed.
#[test]
fn logs_under_handles_of_their_own_cost_no_moves() {
    let speeds = [7, 3, 2, 1];
    let run = |handles: u32| {
        let layout = layout(40, 24 * UNIT);
        let mut drive = Map::erased(layout, policies(handles)).unwrap();
        let mut out = OperationBuffer::default();
        let mut at = [0; 4];
        for _ in 0..4_000 {
            for (log, speed) in speeds.into_iter().enumerate() {
                drive.place(to(log as u8, 0));
                for _ in 0..speed {
                    let first = log as u32 * 6 * UNIT;
                    drive.submit(&[write(first + at[log])], &mut out).unwrap();
                    out.clear();
                    at[log] = (at[log] + 1) % (6 * UNIT);
                }
            }
        }
        (out.counts.moves, drive.placed_counts().unwrap().clone())
    };
    let (moves, counts) = run(4);
    assert_eq!((moves, counts.moved_units, counts.invalid_pages), (0, 0, 0));
    assert_eq!(counts.host_pages, [28_000, 12_000, 8_000, 4_000]);
    assert_eq!(counts.media_pages, counts.host_pages);
    // One for each handle at first, and one for each filled unit.
    let switches: u64 = counts
        .host_pages
        .iter()
        .map(|pages| pages.div_ceil(64))
        .sum();
    assert_eq!(counts.unit_switches, switches);
    let (moves, counts) = run(1);
    assert!(moves > 0 && counts.moved_units > 0);
    // Writes with an unknown handle go to the first one and are counted.
    assert_eq!(counts.invalid_pages, 24_000);
    assert_eq!(counts.host_pages, [52_000]);
}

/// The branch of Lambert's W above -1 at `-b exp(-b)`, by fixed-point iteration.
fn lambert(b: f64) -> f64 {
    let z = -b * (-b).exp();
    (0..1_000).fold(0.0, |w: f64, _| z * (-w).exp())
}

/// Greedy collection with `a` physical over logical pages and `n` pages a unit (Desnoyers 2014).
fn greedy(a: f64, n: f64) -> f64 {
    let b = (1.0 + 0.5 / n) * a;
    n / (n + 1.0 - (0.5 - n / a * lambert(b)))
}

/// A small part overwritten at random next to a long log, each with a handle. The log needs no
/// moves, so the random part has all spare space to itself, and behaves as the closed form says for
/// a drive of that size. Free units, and half of the open ones, serve neither.
#[test]
fn a_small_random_part_beside_a_log_is_a_drive_of_its_own() {
    let (units, log, random) = (400, 330 * UNIT, 30 * UNIT);
    let layout = layout(units, log + random);
    for isolation in Isolation::ALL {
        let policies = ReclaimPolicies {
            isolation: *isolation,
            ..policies(2)
        };
        let mut drive = Map::erased(layout, policies).unwrap();
        let mut out = OperationBuffer::default();
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let (mut at, mut before) = (0, PlacedCounts::default());
        for round in 0..600_000 {
            if round == 300_000 {
                before = drive.placed_counts().unwrap().clone();
            }
            drive.place(to(0, 0));
            for _ in 0..2 {
                drive.submit(&[write(at)], &mut out).unwrap();
                at = (at + 1) % log;
            }
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            drive.place(to(1, 0));
            let page = log + (state >> 33) as u32 % random;
            drive.submit(&[write(page)], &mut out).unwrap();
            out.clear();
        }
        let counts = drive.placed_counts().unwrap().since(&before);
        assert_eq!(counts.media_pages[0], counts.host_pages[0]);
        if *isolation == Isolation::Initial {
            // Moved data belongs to no handle any more.
            continue;
        }
        let found = counts.media_pages[1] as f64 / counts.host_pages[1] as f64;
        // Two free and half a third; the log's two units, half filled and half overwritten; half of
        // the two in which the random part is written and moved.
        let spare = 2.5 + 1.0 + 1.0;
        let physical = f64::from(units) - f64::from(log / UNIT) - spare;
        let expected = greedy(physical / f64::from(random / UNIT), f64::from(UNIT));
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }
}

/// A group takes no more than it has room for; the rest goes where most room is.
#[test]
fn a_full_group_is_left_for_another() {
    let layout = FlashLayout {
        planes: 4,
        ..layout(16, 600)
    };
    let policies = ReclaimPolicies {
        groups: 2,
        ..policies(2)
    };
    let mut drive = Map::erased(layout, policies).unwrap();
    let most = (16 - policies.units_held_back(2)) * 2 * 16;
    let runs: Vec<_> = (0..most + 5).map(|page| (write(page), to(0, 1))).collect();
    let out = served(&mut drive, &runs);
    let counts = drive.placed_counts().unwrap();
    assert_eq!(counts.displaced_pages, 5);
    let planes = |of: &OperationBuffer| -> Vec<u32> {
        let mut planes: Vec<u32> = of.operations().iter().map(|o| o.plane).collect();
        planes.sort_unstable();
        planes.dedup();
        planes
    };
    assert_eq!(planes(&out), [0, 1, 2, 3]);
    // A page that is there already is overwritten there.
    let out = served(&mut drive, &[(write(0), to(0, 1))]);
    let programs = out.operations().iter();
    let mut programs = programs.filter(|o| o.kind == OperationKind::Program);
    assert!(programs.all(|program| program.plane % 2 == 1));
}

/// A group that does not exist, and one that is not given.
#[test]
fn groups_are_taken_in_turn_where_none_is_said() {
    let policies = ReclaimPolicies {
        groups: 2,
        ..policies(2)
    };
    let mut drive = Map::erased(layout(16, 64), policies).unwrap();
    let nowhere = PlacementId::default();
    let out = served(&mut drive, &[0, 1, 2, 3].map(|page| (write(page), nowhere)));
    let planes: Vec<_> = out.operations().iter().map(|o| o.plane).collect();
    assert_eq!(planes, [0, 1, 2, 3]);
    served(&mut drive, &[(write(4), to(0, 5))]);
    assert_eq!(drive.placed_counts().unwrap().invalid_pages, 1);
}

#[test]
fn drives_that_cannot_work_are_refused() {
    let refusal = |layout, policies| Map::erased(layout, policies).err().unwrap().to_string();
    let none = refusal(layout(40, 100), policies(0));
    assert!(
        none.contains("placement handles is 0: it must lie between 1 and 128"),
        "{none}"
    );
    let three = ReclaimPolicies {
        groups: 3,
        ..policies(1)
    };
    let left = refusal(layout(40, 100), three);
    assert!(
        left.contains("planes left over by the reclaim groups"),
        "{left}"
    );
    let early = ReclaimPolicies {
        stop_units: Some(2),
        ..policies(1)
    };
    assert!(refusal(layout(40, 100), early).contains("stops at 2"));
    // Eight handles have sixteen units open, and two are free: 21 of 40 are left.
    let full = refusal(layout(40, 23 * UNIT), policies(8));
    assert!(full.contains("at most 1408 logical pages work"), "{full}");
}
