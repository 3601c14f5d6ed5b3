//! A map of zones: the rules against a simple second model, the contract, kept and damaged states.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{
    Action, Checked, Exclusive, Firmware, FlashLayout, Lpn, OperationBuffer, OperationKind,
    PageRun, Restorable, Undo, ZoneMap, ZonePolicies, ZoneRefusal, ZoneState,
};
use drivelab_request::ZoneAction;
use proptest::prelude::*;

use crate::damage::does_no_harm;

type Map = ZoneMap<Exclusive>;

/// Small drives: groups of planes, blocks of a zone on each, zones, and a gap behind their capacity.
fn drives() -> impl Strategy<Value = (FlashLayout, ZonePolicies)> {
    let shape = (1..3_u32, 1..4_u32, 1..4_u32, 1..3_u32, 1..6_u32, 0..9_u32);
    let limits = (1..4_u32, 0..4_u32, 1..9_u32);
    (shape, limits).prop_map(
        |((groups, width, pages, blocks, zones, gap), (open, closed, append))| {
            let capacity_pages = width * pages * blocks;
            let policies = ZonePolicies {
                zone_pages: capacity_pages + gap,
                capacity_pages,
                planes: width,
                most_open: open,
                most_active: open + closed,
                most_append_pages: append,
            };
            let layout = FlashLayout {
                planes: groups * width,
                blocks_per_plane: (zones.div_ceil(groups) * blocks + 1).max(4),
                pages_per_block: pages,
                logical_pages: zones * (capacity_pages + gap),
                reserve_blocks: 2,
            };
            (layout, policies)
        },
    )
}

/// A command: its kind, its zone, its distance from the write pointer, its number of pages, and
/// whether it is for part of a page.
type Draw = (u8, u32, i32, u32, bool);

fn draws(count: usize) -> impl Strategy<Value = Vec<Draw>> {
    let off = prop_oneof![6 => Just(0), 1 => -2..3_i32];
    let part = prop::bool::weighted(0.05);
    prop::collection::vec((0..16_u8, any::<u32>(), off, 1..6_u32, part), count)
}

/// The same rules, implemented only with lists, as in the specification.
struct Plain {
    policies: ZonePolicies,
    zones: Vec<PlainZone>,
    /// Zones opened by a write, in the order of opening.
    by_write: Vec<usize>,
    /// The most open and active at once; a zone filled by one write counts for a moment.
    most: (usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct PlainZone {
    state: ZoneState,
    pointer: u32,
}

impl Plain {
    fn new(layout: &FlashLayout, policies: ZonePolicies) -> Self {
        let empty = PlainZone {
            state: ZoneState::Empty,
            pointer: 0,
        };
        let zones = layout.logical_pages / policies.zone_pages;
        Self {
            policies,
            zones: vec![empty; zones as usize],
            by_write: Vec::new(),
            most: (0, 0),
        }
    }

    fn open(&self) -> usize {
        let is_open = |zone: &&PlainZone| {
            zone.state == ZoneState::Implicit || zone.state == ZoneState::Explicit
        };
        self.zones.iter().filter(is_open).count()
    }

    fn active(&self) -> usize {
        let closed = |zone: &&PlainZone| zone.state == ZoneState::Closed;
        self.open() + self.zones.iter().filter(closed).count()
    }

    fn become_state(&mut self, zone: usize, state: ZoneState) {
        self.by_write.retain(|&other| other != zone);
        if state == ZoneState::Implicit {
            self.by_write.push(zone);
        }
        self.zones[zone].state = state;
        self.most.0 = self.most.0.max(self.open());
        self.most.1 = self.most.1.max(self.active());
    }

    fn make_room(&mut self, zone: usize) -> Result<(), ZoneRefusal> {
        let is_new = self.zones[zone].state == ZoneState::Empty;
        if is_new && self.active() == self.policies.most_active as usize {
            return Err(ZoneRefusal::TooManyActive);
        }
        if self.open() == self.policies.most_open as usize {
            let Some(&first) = self.by_write.first() else {
                return Err(ZoneRefusal::TooManyOpen);
            };
            self.become_state(first, ZoneState::Closed);
        }
        Ok(())
    }

    /// A write of `pages` at a place of a zone, or an append. Returns the place.
    fn write(
        &mut self,
        (zone, place): (usize, u32),
        (pages, is_part): (u32, bool),
        appends: bool,
    ) -> Result<u32, ZoneRefusal> {
        let is_append_so = place == 0 && pages <= self.policies.most_append_pages;
        if is_part || (appends && !is_append_so) {
            return Err(ZoneRefusal::Invalid);
        }
        let PlainZone { state, pointer } = self.zones[zone];
        if state == ZoneState::Full {
            return Err(ZoneRefusal::Full);
        }
        if !appends && place != pointer {
            return Err(ZoneRefusal::NotAtPointer);
        }
        if pointer + pages > self.policies.capacity_pages {
            return Err(ZoneRefusal::AcrossEnd);
        }
        if state == ZoneState::Empty || state == ZoneState::Closed {
            self.make_room(zone)?;
            self.become_state(zone, ZoneState::Implicit);
        }
        self.zones[zone].pointer += pages;
        if self.zones[zone].pointer == self.policies.capacity_pages {
            self.become_state(zone, ZoneState::Full);
        }
        Ok(pointer)
    }

    fn manage(&mut self, zone: usize, action: ZoneAction) -> Result<(), ZoneRefusal> {
        let state = self.zones[zone].state;
        match (action, state) {
            (ZoneAction::Reset, _) => {
                self.become_state(zone, ZoneState::Empty);
                self.zones[zone].pointer = 0;
            }
            (ZoneAction::Finish, _) => self.become_state(zone, ZoneState::Full),
            (ZoneAction::Open, ZoneState::Full)
            | (ZoneAction::Close, ZoneState::Empty | ZoneState::Full) => {
                return Err(ZoneRefusal::Transition);
            }
            (ZoneAction::Open, ZoneState::Empty | ZoneState::Closed) => {
                self.make_room(zone)?;
                self.become_state(zone, ZoneState::Explicit);
            }
            (ZoneAction::Open, _) => self.become_state(zone, ZoneState::Explicit),
            _ => self.become_state(zone, ZoneState::Closed),
        }
        Ok(())
    }
}

/// The command of a draw, on a drive whose zone has its write pointer at `pointer`.
fn asked(
    policies: &ZonePolicies,
    zones: u32,
    (kind, zone, off, pages, is_part): Draw,
    pointer: impl Fn(u32) -> u32,
) -> (PageRun, ZoneAction, u32) {
    let zone = zone % zones;
    let first = zone * policies.zone_pages;
    let whole = PageRun::whole(Action::Trim, Lpn(first), policies.zone_pages);
    let action = match kind {
        0 => ZoneAction::Reset,
        1 => ZoneAction::Finish,
        2 => ZoneAction::Open,
        3 => ZoneAction::Close,
        4..8 => ZoneAction::Append,
        _ => ZoneAction::None,
    };
    if action.is_of_zone() {
        return (whole, action, zone);
    }
    let off = match action {
        ZoneAction::Append => off.max(0) as u32,
        _ => pointer(zone).saturating_add_signed(off),
    };
    // Any command begins in its zone and ends on the drive.
    let place = off.min(policies.zone_pages - 1);
    let pages = pages.min(zones * policies.zone_pages - first - place);
    let run = PageRun {
        first_partial: is_part,
        ..PageRun::whole(Action::Write, Lpn(first + place), pages)
    };
    (run, action, zone)
}

proptest! {
    #[test]
    fn zones_keep_the_rules_and_the_contract(
        (layout, policies) in drives(),
        draws in draws(300),
    ) {
        let mut drive = Checked::fresh(Map::erased(layout, policies).unwrap());
        let mut plain = Plain::new(&layout, policies);
        let zones = plain.zones.len() as u32;
        let mut out = OperationBuffer::default();
        let mut refused = [0; 7];
        for draw in draws {
            let (run, action, zone) =
                asked(&policies, zones, draw, |zone| plain.zones[zone as usize].pointer);
            let place = run.first.0 % policies.zone_pages;
            let expected = match action.is_of_zone() {
                true => plain.manage(zone as usize, action).map(|()| run.first.0),
                false => {
                    let appends = action == ZoneAction::Append;
                    let what = (run.pages, run.first_partial);
                    let at = plain.write((zone as usize, place), what, appends);
                    at.map(|at| zone * policies.zone_pages + at)
                }
            };
            let judged = drive.judge(&run, action);
            prop_assert_eq!(judged.map(|judged| judged.first.0), expected);
            out.clear();
            match expected {
                Err(refusal) => refused[refusal as usize] += 1,
                Ok(first) if run.action == Action::Write => {
                    let run = PageRun { first: Lpn(first), ..run };
                    Checked::submit(&mut drive, &[run], &mut out).unwrap();
                    prop_assert_eq!(out.operations().len() as u32, run.pages);
                }
                Ok(_) if action == ZoneAction::Reset => {
                    Checked::submit(&mut drive, &[run], &mut out).unwrap();
                    let erases = |o: &drivelab_ftl::Operation| o.kind == OperationKind::Erase;
                    prop_assert!(out.operations().iter().all(erases));
                }
                Ok(_) => {}
            }
            // Everything written can be read, and nothing else.
            let read = PageRun::whole(Action::Read, Lpn(zone * policies.zone_pages), policies.zone_pages);
            out.clear();
            Checked::submit(&mut drive, &[read], &mut out).unwrap();
            for (zone, known) in (0..).zip(&plain.zones) {
                let map = drive.firmware();
                prop_assert_eq!((map.state(zone), map.pointer(zone)), (known.state, known.pointer));
                let last = zone * policies.zone_pages + known.pointer;
                prop_assert!(known.pointer == 0 || map.physical(Lpn(last - 1)).is_some());
                prop_assert!(last == layout.logical_pages || known.pointer == policies.zone_pages
                    || map.physical(Lpn(last)).is_none());
            }
        }
        let counts = drive.zone_counts().unwrap();
        prop_assert_eq!(counts.refused, refused);
        prop_assert_eq!((counts.open_most as usize, counts.active_most as usize), plain.most);
        prop_assert!(drive.erase_counts().is_ok());
    }

    #[test]
    fn a_state_is_kept_returned_to_and_checked(
        (layout, policies) in drives(),
        draws in draws(120),
        damage in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let mut start = ZoneMap::<Undo>::erased(layout, policies).unwrap();
        start.checkpoint();
        let zones = layout.logical_pages / policies.zone_pages;
        let work = |drive: &mut ZoneMap<Undo>| {
            let mut out = OperationBuffer::default();
            for &draw in &draws {
                let (run, action, _) = asked(&policies, zones, draw, |zone| drive.pointer(zone));
                let Ok(judged) = drive.judge(&run, action) else {
                    continue;
                };
                if !action.is_of_zone() || action == ZoneAction::Reset {
                    drive.submit(&[PageRun { first: judged.first, ..run }], &mut out).unwrap();
                }
            }
            out.operations().to_vec()
        };
        let mut drive = start.clone();
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
        let of_zone = |zone: u32, action, pages| {
            PageRun::whole(action, Lpn(zone * policies.zone_pages), pages)
        };
        let before = (0..zones).map(|zone| of_zone(zone, Action::Write, 1));
        let resets = (0..zones).map(|zone| of_zone(zone, Action::Trim, policies.zone_pages));
        let fills = (0..zones).map(|zone| of_zone(zone, Action::Write, policies.capacity_pages));
        does_no_harm(drive, before, damage, resets.chain(fills));
    }
}

/// Two planes of 8 blocks of 4 pages, zones of 2 blocks of each and a gap: three, and one slot more.
fn small() -> (FlashLayout, ZonePolicies) {
    let layout = FlashLayout {
        planes: 2,
        blocks_per_plane: 8,
        pages_per_block: 4,
        logical_pages: 3 * 24,
        reserve_blocks: 2,
    };
    let policies = ZonePolicies {
        zone_pages: 24,
        capacity_pages: 16,
        planes: 2,
        most_open: 2,
        most_active: 2,
        most_append_pages: 16,
    };
    (layout, policies)
}

#[test]
fn a_reset_erases_what_was_written_and_the_next_zone_takes_what_was_erased_least() {
    let (layout, policies) = small();
    let mut drive = Map::erased(layout, policies).unwrap();
    let mut out = OperationBuffer::default();
    let write = |first: u32, pages| PageRun::whole(Action::Write, Lpn(first), pages);
    let reset = PageRun::whole(Action::Trim, Lpn(0), 24);
    // One page of 16: one block of one plane.
    drive.submit(&[write(0, 1), reset], &mut out).unwrap();
    let kinds = |out: &OperationBuffer| -> Vec<_> {
        let all = out.operations().iter();
        all.map(|o| (o.kind, o.plane, o.ppn.0 / 4 % 8)).collect()
    };
    use OperationKind::{Erase, Program};
    assert_eq!(kinds(&out), [(Program, 0, 0), (Erase, 0, 0)]);
    out.clear();
    // Ten pages: the first block of both planes, and the second of both.
    drive.submit(&[write(0, 10), reset], &mut out).unwrap();
    let erased = kinds(&out).split_off(10);
    let slot = [(Erase, 0, 2), (Erase, 1, 2), (Erase, 0, 3), (Erase, 1, 3)];
    assert_eq!(erased, slot);
    // Slots 0 and 1 were erased once.
    out.clear();
    drive
        .submit(&[write(24, 16), write(48, 1)], &mut out)
        .unwrap();
    assert_eq!(kinds(&out)[0], (Program, 0, 4));
    assert_eq!(kinds(&out)[16], (Program, 0, 6));
    assert_eq!(drive.room().unwrap().free_blocks, 8);
}

#[test]
fn what_is_submitted_without_being_judged_is_judged_then() {
    let (layout, policies) = small();
    let mut drive = Map::erased(layout, policies).unwrap();
    let mut out = OperationBuffer::default();
    let write = |first: u32, pages| PageRun::whole(Action::Write, Lpn(first), pages);
    let error = drive.submit(&[write(3, 1)], &mut out).unwrap_err();
    assert_eq!(
        error.to_string(),
        "zone 0 cannot be written so: a command that does not write where its zone is written next"
    );
    // Judged in order but submitted out of order: the data of the first has not come.
    drive.judge(&write(0, 2), ZoneAction::None).unwrap();
    drive.judge(&write(2, 2), ZoneAction::None).unwrap();
    assert!(drive.submit(&[write(2, 2)], &mut out).is_err());
    drive.submit(&[write(0, 2), write(2, 2)], &mut out).unwrap();
    assert_eq!(out.operations().len(), 4);
}

#[test]
fn zones_that_do_not_fit_are_refused() {
    let (layout, policies) = small();
    for (change, expected) in [
        (
            ZonePolicies {
                planes: 3,
                ..policies
            },
            "planes of a zone is 3",
        ),
        (
            ZonePolicies {
                capacity_pages: 12,
                ..policies
            },
            "pages of a zone is 12",
        ),
        (
            ZonePolicies {
                most_open: 3,
                ..policies
            },
            "open zones is 3",
        ),
        (
            ZonePolicies {
                zone_pages: 23,
                ..policies
            },
            "zones is 3",
        ),
    ] {
        let error = Map::erased(layout, change).map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let many = FlashLayout {
        logical_pages: 5 * 24,
        ..layout
    };
    assert!(Map::erased(many, policies).is_err());
}
