//! Streams as one list: the order that shares and times define, and cases without an order.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use drivelab_request::{Command, CommandKind, Content, Direction, Nanos, ZoneAction};
use drivelab_workload::{
    Characteristics, Generator, Key, RequestCount, RequestList, Requests, Source, Stream,
    WriteMode, pack,
};

const CAPACITY_BYTES: u64 = 1 << 24;

fn closed(name: &str, write_ratio: f64) -> Stream {
    let characteristics = Characteristics {
        write_ratio,
        ..Characteristics::default()
    };
    Stream::closed(name, characteristics)
}

fn shared(name: &str, write_ratio: f64, share: f64, burst: u32) -> Stream {
    Stream {
        share: Some(share),
        burst,
        ..closed(name, write_ratio)
    }
}

fn command(at: u64, kind: CommandKind, offset_bytes: u64) -> Command {
    Command {
        arrival: Nanos(at),
        offset_bytes,
        size_bytes: if kind == CommandKind::Flush { 0 } else { 512 },
        kind,
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    }
}

fn first(streams: &[Stream], count: usize) -> Vec<Command> {
    let mut list = RequestList::new(streams, CAPACITY_BYTES, 1).unwrap();
    let next = || list.next_command().unwrap();
    std::iter::from_fn(next).take(count).collect()
}

fn refusal(streams: &[Stream]) -> String {
    let refused = RequestList::new(streams, CAPACITY_BYTES, 1).err();
    refused.unwrap().to_string()
}

#[test]
fn turns_go_by_shares_and_whole_bursts() {
    let kinds = |streams: &[Stream]| -> String {
        let letter = |command: &Command| match command.kind {
            CommandKind::Write => 'w',
            _ => 'r',
        };
        first(streams, 16).iter().map(letter).collect()
    };
    let alike = [shared("r", 0.0, 0.75, 1), shared("w", 1.0, 0.25, 1)];
    assert_eq!(kinds(&alike), "rwrrrwrrrwrrrwrr");
    // A stream in the middle of its burst continues until the burst is complete.
    let bursts = [shared("r", 0.0, 0.5, 1), shared("w", 1.0, 0.5, 4)];
    assert_eq!(kinds(&bursts), "rwwwwrrrrwwwwrrr");
}

#[test]
fn each_stream_draws_what_it_draws_by_itself_on_a_drive() {
    let streams = [shared("r", 0.0, 0.5, 1), shared("w", 1.0, 0.5, 1)];
    let listed = first(&streams, 200);
    for (place, direction) in [(0, Direction::Read), (1, Direction::Write)] {
        let key = Key {
            place,
            ..Key::first(1, 0)
        };
        let Source::Closed(requests) = &streams[place as usize].source else {
            unreachable!()
        };
        let loops = requests.loops((0, CAPACITY_BYTES), key).unwrap();
        let alone = loops[0].generator.clone().take(100).map(Command::from);
        let kind = Command::from(drivelab_request::Request {
            arrival: Nanos::ZERO,
            offset_bytes: 0,
            size_bytes: 512,
            direction,
        })
        .kind;
        let of_kind = listed.iter().copied().filter(|each| each.kind == kind);
        assert!(of_kind.eq(alone));
    }
}

#[test]
fn what_has_times_is_merged_by_them_and_flushes_are_left_out() {
    let a = [
        command(5, CommandKind::Read, 0),
        command(9, CommandKind::Flush, 0),
        command(20, CommandKind::Trim, 512),
    ];
    let b = [
        command(5, CommandKind::Write, 1024),
        command(7, CommandKind::Write, 2048),
    ];
    let streams = [Stream::timed("a", a), Stream::timed("b", b)];
    let mut list = RequestList::new(&streams, CAPACITY_BYTES, 1).unwrap();
    let mut offsets = Vec::new();
    while let Some(command) = list.next_command().unwrap() {
        offsets.push(command.offset_bytes);
    }
    assert_eq!((offsets, list.left_out()), (vec![0, 1024, 2048, 512], 1));
}

#[test]
fn arrivals_and_writes_are_sent_as_the_stream_says() {
    let Source::Closed(requests) = closed("w", 1.0).source else {
        unreachable!()
    };
    let stream = Stream {
        writes: WriteMode::Trim,
        ..Stream::new(
            "w",
            Source::Open {
                requests,
                rate_iops: 1000.0,
                is_poisson: false,
            },
        )
    };
    let found = first(&[stream], 3);
    let arrivals = found.iter().map(|each| (each.kind, each.arrival.0));
    let at = |number: u64| (CommandKind::Trim, number * 1_000_000);
    assert!(arrivals.eq((1..=3).map(at)));
}

#[test]
fn an_order_that_only_a_drive_knows_is_refused() {
    assert_eq!(
        refusal(&[closed("a", 0.0), shared("b", 1.0, 0.5, 1)]),
        "stream \"a\": how many of its requests are sent among the others' is known on a drive \
         alone; give every stream a share"
    );
    let timed = Stream::timed("t", [command(0, CommandKind::Read, 0)]);
    assert!(
        refusal(&[closed("a", 0.0), timed])
            .starts_with("stream \"t\": its requests have times, and those of \"a\" follow")
    );
    assert_eq!(refusal(&[]), "there are no streams; give one at least");
    // A single stream has an order without a share.
    assert_eq!(first(&[closed("a", 0.0)], 5).len(), 5);
}

#[test]
fn what_does_not_lie_on_the_drive_is_refused() {
    let stream = Stream {
        range: Some((CAPACITY_BYTES, 4096)),
        ..closed("a", 0.0)
    };
    assert!(refusal(&[stream]).contains("does not lie on the drive of 16777216 bytes"));
    let beyond = Stream::timed("t", [command(0, CommandKind::Read, CAPACITY_BYTES)]);
    let mut list = RequestList::new(&[beyond], CAPACITY_BYTES, 1).unwrap();
    assert_eq!(
        list.next_command().unwrap_err().to_string(),
        "stream \"t\": a request of 512 bytes at 16777216 does not lie between bytes 0 and 16777216"
    );
}

#[test]
fn what_is_for_simulated_drives_alone_is_refused() {
    let in_namespace = Stream {
        namespace: Some("database".to_owned()),
        ..closed("a", 1.0)
    };
    assert!(refusal(&[in_namespace]).contains("it is for namespace \"database\""));
    let ranges = Stream {
        writes: WriteMode::Trim,
        ranges_per_trim: 16,
        ..closed("a", 1.0)
    };
    assert!(refusal(&[ranges]).contains("trims of several ranges"));
    let zeroes = Stream {
        writes: WriteMode::Zeroes,
        ..closed("a", 1.0)
    };
    let mut list = RequestList::new(&[zeroes], CAPACITY_BYTES, 1).unwrap();
    let said = list.next_command().unwrap_err().to_string();
    assert!(said.contains("it writes zeroes without data"), "{said}");
}

#[test]
fn each_place_comes_once_before_any_comes_again() {
    let characteristics = Characteristics {
        write_ratio: 0.5,
        write_size: 8192,
        ..Characteristics::default()
    };
    let (start, bytes) = (1 << 20, 4096 * 1001);
    let mut generator = Generator::each_once(&characteristics, start, bytes, 3, 4).unwrap();
    let mut places = [Vec::new(), Vec::new()];
    for request in generator.by_ref().take(10_000) {
        places[request.direction.index()].push(request.offset_bytes);
    }
    for (of, slots, size) in [(0, 1001_usize, 4096), (1, 500, 8192)] {
        let round: BTreeSet<u64> = places[of][..slots].iter().copied().collect();
        assert_eq!(round.len(), slots);
        assert_eq!(
            round.last().copied(),
            Some(start + (slots as u64 - 1) * size)
        );
        assert!(!places[of][..slots].is_sorted());
        assert_eq!(places[of][slots], places[of][0]);
    }
    let halves = |list: &[u64], size| -> Vec<u64> {
        list[..500].iter().map(|at| (at - start) / size).collect()
    };
    assert_ne!(halves(&places[0], 4096), halves(&places[1], 8192));
}

#[test]
fn what_is_random_in_part_has_no_order_in_which_each_comes_once() {
    let characteristics = Characteristics {
        read_random: 0.5,
        ..Characteristics::default()
    };
    let stream = Stream::closed("a", Requests::EachOnce(characteristics));
    assert_eq!(
        refusal(&[stream]),
        "stream \"a\": of the reads 0.5 are random; allowed where each place comes once: 0 or 1"
    );
}

#[test]
fn what_is_packed_is_counted() {
    let mut packed = Vec::new();
    for (kind, offset) in [
        (CommandKind::Read, 0),
        (CommandKind::Write, 512),
        (CommandKind::Write, 512),
        (CommandKind::Flush, 0),
        (CommandKind::Trim, 2048),
    ] {
        pack(&command(0, kind, offset), &mut packed);
    }
    let trim = [4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(packed[48..], trim);
    let mut count = RequestCount::new(CAPACITY_BYTES);
    count.add(&packed).unwrap();
    let counts_of = |place: usize| {
        let kind = &count.kinds()[place];
        let touched = (kind.touched.bytes(), kind.touched.end_bytes());
        (kind.requests, kind.bytes, touched.0, touched.1)
    };
    assert_eq!(
        [counts_of(0), counts_of(1), counts_of(2)],
        [
            (1, 512, 512, 512),
            (2, 1024, 512, 1024),
            (1, 512, 512, 2560)
        ]
    );
    assert!(count.add(&packed[1..]).unwrap_err().contains("takes 16"));
    let beyond = command(0, CommandKind::Read, CAPACITY_BYTES);
    let mut packed = Vec::new();
    pack(&beyond, &mut packed);
    assert!(
        count
            .add(&packed)
            .unwrap_err()
            .contains("within 32768 sectors")
    );
    let kind_three = 3_u128 << 96 | 1 << 64;
    assert!(
        count
            .add(&kind_three.to_le_bytes())
            .unwrap_err()
            .contains("of kind 3; allowed: 0 (read)")
    );
}
