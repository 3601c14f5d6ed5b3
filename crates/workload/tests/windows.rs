//! Requests drawn window by window: counts hold for any seed, and the rest depends on the key.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Direction};
use drivelab_workload::{
    Gap, Kind, Pairs, Place, Region, Train, Window, WindowedRequests, Windows, WindowsError,
};

const DRIVE: (u64, u64) = (0, 1 << 30);

fn pairs(flat: &[u32]) -> Pairs {
    Pairs::of_flat(flat).unwrap()
}

fn kind(direction: Direction, place: Place, group: u32, size: u32) -> Kind {
    Kind {
        direction,
        place,
        group,
        sizes: vec![size],
        ranks: vec![0],
        distances: Vec::new(),
        grid: (4096, 0),
        kinds_after: Pairs::default(),
        gaps_before: Pairs::default(),
    }
}

/// Sequential runs of reads, random writes; a busy window, an idle one and a slow one.
fn windows() -> Windows {
    let mut jump = kind(Direction::Read, Place::Region, 0, 65_536);
    let mut go_on = kind(Direction::Read, Place::Next, 0, 65_536);
    let write = kind(Direction::Write, Place::Region, 1, 4096);
    jump.kinds_after = pairs(&[1, 100]);
    go_on.kinds_after = pairs(&[0, 10, 1, 80, 2, 10]);
    Windows {
        kinds: vec![jump, go_on, write],
        gaps: vec![
            Gap {
                gaps_ns: vec![0, 1000],
                gaps_after: pairs(&[0, 9, 1, 1]),
                begins_train: false,
            },
            Gap {
                gaps_ns: vec![100_000, 1_000_000, 9_000_000],
                gaps_after: Pairs::default(),
                begins_train: true,
            },
        ],
        regions: vec![
            Region {
                offset: 0,
                bytes: 1 << 20,
            },
            Region {
                offset: 1 << 28,
                bytes: 1 << 20,
            },
        ],
        trains: Vec::new(),
        windows: vec![
            Window {
                duration_ns: 1_000_000_000,
                kinds: pairs(&[0, 10, 1, 90, 2, 20]),
                gaps: pairs(&[0, 100, 1, 20]),
                regions: pairs(&[0, 12, 1, 18]),
                trains: Pairs::default(),
            },
            Window {
                duration_ns: 500_000_000,
                ..Window::default()
            },
            Window {
                duration_ns: 1_000_000_000,
                kinds: pairs(&[2, 8]),
                gaps: pairs(&[1, 8]),
                regions: pairs(&[1, 8]),
                trains: Pairs::default(),
            },
        ],
    }
}

fn drawn(windows: &Windows, seed: u64) -> WindowedRequests {
    WindowedRequests::new(&Arc::new(windows.clone()), DRIVE, (seed, 0)).unwrap()
}

fn first(windows: &Windows, seed: u64, count: usize) -> Vec<Command> {
    let mut drawn = drawn(windows, seed);
    (0..count).map(|_| drawn.next_command()).collect()
}

#[test]
fn every_window_has_the_requests_that_it_says_at_times_inside_it() {
    for seed in 0..20 {
        // Two rounds of 128 requests each.
        let sent = first(&windows(), seed, 256);
        assert!(sent.is_sorted_by_key(|command| command.arrival));
        let mut counts: BTreeMap<(u64, bool), u32> = BTreeMap::new();
        for command in &sent {
            let half_second = command.arrival.0 / 500_000_000;
            // Windows of 1 s, 0.5 s and 1 s, by the half seconds of one round.
            let (round, within) = (half_second / 5, half_second % 5);
            let window = round * 3 + [0, 0, 1, 2, 2][within as usize];
            *counts
                .entry((window, command.kind == CommandKind::Write))
                .or_default() += 1;
        }
        let expected = [((0, false), 100), ((0, true), 20), ((2, true), 8)];
        let again = expected.map(|((window, is_write), count)| ((window + 3, is_write), count));
        assert_eq!(counts, expected.into_iter().chain(again).collect());
    }
}

#[test]
fn streams_go_on_and_regions_are_hit_as_often_as_is_said() {
    let sent = first(&windows(), 1, 128);
    let reads: Vec<&Command> = sent
        .iter()
        .filter(|c| c.kind == CommandKind::Read)
        .collect();
    let mut ends = Vec::new();
    let mut in_order = 0;
    for read in &reads {
        in_order += usize::from(ends.contains(&read.offset_bytes));
        ends.push(read.offset_bytes + u64::from(read.size_bytes));
    }
    // All except the ten that jump. The very first may find no stream.
    assert!((88..=91).contains(&in_order), "{in_order}");
    let high = |command: &&Command| command.offset_bytes >= 1 << 28;
    let writes = sent.iter().filter(|c| c.kind == CommandKind::Write);
    let written_high = writes.filter(high).count();
    assert!((8..=26).contains(&written_high), "{written_high}");
}

#[test]
fn the_same_key_draws_the_same_and_going_on_is_continuing() {
    let whole = first(&windows(), 7, 300);
    assert_eq!(whole, first(&windows(), 7, 300));
    assert_ne!(whole, first(&windows(), 8, 300));
    let mut parts = drawn(&windows(), 7);
    let mut joined: Vec<Command> = (0..100).map(|_| parts.next_command()).collect();
    let mut later = parts.clone();
    joined.extend((100..300).map(|_| later.next_command()));
    assert_eq!(whole, joined);
}

/// Beyond the range, addresses wrap around to its start, and nothing crosses its end.
#[test]
fn a_small_range_holds_all_requests() {
    let range = (1 << 20, 3 * 65_536);
    let windows = Arc::new(windows());
    let mut drawn = WindowedRequests::new(&windows, range, (0, 0)).unwrap();
    for _ in 0..1000 {
        let command = drawn.next_command();
        let end = command.offset_bytes + u64::from(command.size_bytes);
        assert!(command.offset_bytes >= range.0 && end <= range.0 + range.1);
    }
    let too_small = WindowedRequests::new(&windows, (0, 4096), (0, 0));
    assert!(matches!(too_small, Err(WindowsError::DoesNotFit { .. })));
}

/// A repeated request has the size and place of an earlier one.
#[test]
fn what_comes_again_was_there_before() {
    let mut again = windows();
    again.kinds[1].place = Place::Again;
    again.kinds[2].place = Place::AgainOther;
    again.kinds[2].group = 0;
    let sent = first(&again, 3, 120);
    let mut seen = Vec::new();
    let mut repeated = 0;
    for command in &sent {
        let what = (command.offset_bytes, command.size_bytes);
        repeated += usize::from(seen.contains(&what));
        seen.push(what);
    }
    assert!(repeated >= 105, "{repeated}");
}

/// Twenty trains of six requests: gaps within a train are short, those between trains long.
#[test]
fn requests_come_in_the_trains_that_are_counted() {
    let mut in_trains = windows();
    in_trains.trains = vec![Train { lengths: vec![6] }];
    in_trains.windows[0].trains = pairs(&[0, 20]);
    let sent = first(&in_trains, 5, 120);
    let mut lengths = vec![1];
    for pair in sent.windows(2) {
        if pair[1].arrival.0 - pair[0].arrival.0 > 20_000 {
            lengths.push(0);
        }
        *lengths.last_mut().unwrap() += 1;
    }
    assert_eq!(lengths, vec![6; 20]);
}

#[test]
fn what_cannot_be_is_refused_in_a_line() {
    type Change = fn(&mut Windows);
    let cases: [(Change, &str); 10] = [
        (
            |w| w.windows[2].trains = pairs(&[0, 1]),
            "trains of window 2 names train 0",
        ),
        (
            |w| {
                w.trains = vec![Train { lengths: vec![1] }];
                w.windows[2].trains = pairs(&[0, 9]);
            },
            "window 2 has 9 trains and 8 requests",
        ),
        (
            |w| w.kinds.clear(),
            "there are 0 kinds of requests; allowed: 1 to 64",
        ),
        (
            |w| w.windows[0].kinds = pairs(&[5, 120]),
            "kinds of window 0 names kind 5; allowed: 0 to 2",
        ),
        (
            |w| w.windows[0].gaps = pairs(&[0, 1]),
            "window 0 has 120 requests by kinds and 1 by gaps",
        ),
        (
            |w| w.gaps[1].gaps_ns = vec![5, 1],
            "gaps_ns of gap 1 is not possible; allowed: 2 to 33 numbers in order",
        ),
        (
            |w| w.regions.swap(0, 1),
            "range_bytes of region 1 is not possible",
        ),
        (
            |w| w.kinds[0].sizes = vec![100],
            "sizes_bytes of kind 0 is not possible; allowed: 1 to 32 multiples of 512",
        ),
        (
            |w| w.kinds[0].place = Place::Ahead,
            "distances_bytes of kind 0 is not possible",
        ),
        (
            |w| w.windows.retain(|window| window.kinds == Pairs::default()),
            "no window has a request; give one at least",
        ),
    ];
    for (change, expected) in cases {
        let mut changed = windows();
        change(&mut changed);
        let message = changed.validate().unwrap_err().to_string();
        assert!(message.contains(expected), "{message:?} lacks {expected:?}");
    }
}
