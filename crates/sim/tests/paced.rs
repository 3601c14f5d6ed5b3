//! Commands that are read while they are sent: when each is sent, and what happens on failures.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_request::{Command, CommandKind};
use drivelab_sim::drive::{self, Drive, State};
use drivelab_sim::host::{Outcome, Plan, SimError};
use drivelab_sim::preset::DriveConfig;
use drivelab_workload::{Paced, PacedReader, PacedSource, SharedSource, Source, Stream};
use proptest::prelude::*;

use crate::small_drive::{self, BASE, LINK, command, read, worker};

/// Commands in memory, read in batches of a few.
#[derive(Clone, Debug)]
struct Listed {
    commands: Vec<Paced>,
    batch: usize,
    is_timed: bool,
    /// The number of commands after which reading fails.
    fails_after: Option<usize>,
}

struct Reading {
    listed: Listed,
    next: usize,
}

impl PacedSource for Listed {
    fn commands(&self) -> [u64; CommandKind::ALL.len()] {
        CommandKind::ALL.map(|kind| {
            let of_kind = self.commands.iter().filter(|c| c.command.kind == kind);
            of_kind.count() as u64
        })
    }

    fn bytes(&self) -> u64 {
        self.commands
            .iter()
            .map(|c| u64::from(c.command.size_bytes))
            .sum()
    }

    fn end_bytes(&self) -> Option<u64> {
        None
    }

    fn is_timed(&self) -> bool {
        self.is_timed
    }

    fn open(&self, _range: (u64, u64)) -> Result<Box<dyn PacedReader>, String> {
        Ok(Box::new(Reading {
            listed: self.clone(),
            next: 0,
        }))
    }
}

impl PacedReader for Reading {
    fn next_batch(&mut self, batch: &mut Vec<Paced>) -> Result<(), String> {
        batch.clear();
        let Listed {
            commands,
            batch: most,
            fails_after,
            ..
        } = &self.listed;
        let until = commands.len().min(self.next + most);
        if fails_after.is_some_and(|after| until > after) {
            return Err("line 7 is none".to_owned());
        }
        batch.extend_from_slice(&commands[self.next..until]);
        self.next = until;
        Ok(())
    }
}

fn listed(commands: &[Command], depth: u32) -> Listed {
    let paced = commands.iter().map(|&command| Paced { command, depth });
    Listed {
        commands: paced.collect(),
        batch: 3,
        is_timed: true,
        fails_after: None,
    }
}

fn stream(listed: Listed) -> Stream {
    let source = SharedSource(Arc::new(listed));
    Stream::new("all", Source::Paced(source))
}

/// Runs to the end and logs every request.
fn run(drive: &mut Drive, stream: Stream) -> Result<Outcome, SimError> {
    let commands = stream.commands().unwrap();
    let plan = Plan {
        log_requests: Some(commands),
        ..Plan::counting(0, commands)
    };
    drive.run(&[stream], plan, (1, 0), State::Returned)
}

/// The whole outcome as text, except how late requests were.
fn text_of(mut outcome: Outcome) -> String {
    for stream in &mut outcome.streams {
        stream.lateness = None;
    }
    format!("{outcome:?}")
}

/// Drives of every kind and loop: a single SSD, one behind a link, a disk, and arrays of both.
fn drives() -> Vec<(&'static str, Drive)> {
    let array = |members: u32| {
        format!(
            "name = \"array\"\nkind = \"raid0\"\nsummary = \"for tests\"\nmember = \"base\"\n\
             members = {members}\nstripe_bytes = 16_384\nvariability.sigma = 0.0\n"
        )
    };
    let made = |text: &str| {
        let base = |name: &str| match name {
            "base" => Some(BASE.to_owned()),
            _ => drivelab_sim::preset::text(name).map(str::to_owned),
        };
        let config = DriveConfig::from_toml(text, base).unwrap();
        let prepared = drive::Prepared::stoppable(config, &AtomicBool::new(false)).unwrap();
        prepared.worker(&Arc::default())
    };
    let sata = format!("host.interface = \"sata\"\n{LINK}");
    let drifts =
        "variability.correlated_sigma = 0.2\nvariability.correlation_time_ns = 100_000_000\n";
    vec![
        ("flash", worker(&small_drive::drive(&[]))),
        ("sata", worker(&small_drive::drive(&[&sata]))),
        ("drifting", worker(&small_drive::drive(&[drifts]))),
        ("disk", made("base = \"spinpoint-m7\"\nname = \"disk\"\n")),
        ("two", made(&array(2))),
        ("three", made(&array(3))),
    ]
}

fn commands(count: usize) -> impl Strategy<Value = Vec<Command>> {
    let kinds = prop_oneof![
        4 => Just(CommandKind::Read),
        4 => Just(CommandKind::Write),
        1 => Just(CommandKind::Flush)
    ];
    // Some arrive together, and most come faster than they are served.
    let one = (0_u64..60, kinds, 0_u64..500, 1_u32..6);
    proptest::collection::vec(one, 1..count).prop_map(|drawn| {
        let mut now = 0;
        let mut made = Vec::new();
        for (gap, kind, page, pages) in drawn {
            now += gap / 3 * 10;
            made.push(match kind {
                CommandKind::Flush => Command::flush(drivelab_request::Nanos(now * 1000)),
                _ => command(kind, now, page, pages),
            });
        }
        made
    })
}

/// When each request was sent, in order, and when it completed, from the log.
fn sent(outcome: &Outcome) -> Vec<(u64, u64)> {
    let requests = &outcome.log.as_ref().unwrap().requests;
    let mut sent: Vec<_> = requests
        .iter()
        .map(|r| (r.submitted_ns, r.submitted_ns + r.latency_ns()))
        .collect();
    sent.sort_unstable();
    sent
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_no_depth_holds_back_is_sent_as_a_list_is(commands in commands(120)) {
        for (name, mut drive) in drives() {
            let read_on = run(&mut drive, stream(listed(&commands, u32::MAX))).unwrap();
            let whole = run(&mut drive, Stream::timed("all", commands.clone())).unwrap();
            let lateness = read_on.streams[0].lateness.as_ref().unwrap();
            // If the drive's clock drifts, its next whole ns may be the host's next but one.
            let most = if name == "drifting" { 2 } else { 0 };
            prop_assert!(lateness.max_ns() <= Some(most), "{}", name);
            prop_assert_eq!(lateness.count(), commands.len() as u64, "{}", name);
            prop_assert_eq!(text_of(read_on), text_of(whole), "{}", name);
        }
    }

    #[test]
    fn each_is_sent_as_soon_as_its_time_has_come_and_its_depth_lets_it(
        commands in commands(120),
        depths in proptest::collection::vec(1_u32..9, 120),
    ) {
        let mut listed = listed(&commands, 0);
        for (paced, depth) in listed.commands.iter_mut().zip(&depths) {
            paced.depth = *depth;
        }
        for (name, mut drive) in drives() {
            if name == "drifting" {
                // Times in the log are rounded to the drive's time.
                continue;
            }
            let outcome = run(&mut drive, stream(listed.clone())).unwrap();
            let sent = sent(&outcome);
            prop_assert_eq!(sent.len(), commands.len());
            let mut late = Vec::new();
            let mut last = 0;
            for (place, paced) in listed.commands.iter().enumerate() {
                // The first moment, after its arrival and after the previous request was sent, at
                // which fewer are outstanding: that moment itself, or a completion.
                let arrival = paced.command.arrival.0.max(last);
                let ends = sent[..place].iter().map(|&(_, end)| end);
                let mut moments: Vec<u64> = ends.filter(|&end| end > arrival).collect();
                moments.push(arrival);
                moments.sort_unstable();
                let outstanding = |at: u64| sent[..place].iter().filter(|&&(_, end)| end > at).count();
                let due = moments
                    .into_iter()
                    .find(|&at| outstanding(at) < paced.depth as usize)
                    .unwrap();
                prop_assert_eq!(sent[place].0, due, "{} request {}", name, place);
                late.push(due - paced.command.arrival.0);
                last = due;
            }
            let lateness = outcome.streams[0].lateness.as_ref().unwrap();
            prop_assert_eq!(lateness.sum_ns(), late.iter().map(|&each| u128::from(each)).sum::<u128>());
            prop_assert_eq!(lateness.max_ns(), late.iter().max().copied());
        }
    }
}

#[test]
fn a_request_that_is_held_is_sent_when_the_one_before_it_completes_and_is_late_by_the_rest() {
    // A read takes 60 us and one may be outstanding, so the second goes at 60 us, not earlier.
    for (arrival_us, late_us) in [(0, 60), (59, 1), (60, 0), (61, 0)] {
        let mut drive = worker(&small_drive::drive(&[]));
        let outcome = run(
            &mut drive,
            stream(listed(&[read(0, 0), read(arrival_us, 1)], 1)),
        );
        let outcome = outcome.unwrap();
        let sent_ns = (arrival_us + late_us) * 1000;
        assert_eq!(sent(&outcome), [(0, 60_000), (sent_ns, sent_ns + 60_000)]);
        let lateness = outcome.streams[0].lateness.as_ref().unwrap();
        assert_eq!(lateness.max_ns(), Some(late_us * 1000));
        assert_eq!((lateness.count(), lateness.min_ns()), (2, Some(0)));
    }
}

#[test]
fn a_closed_loop_of_its_own_is_the_one_that_is_drawn() {
    use drivelab_workload::{Characteristics, Generator};
    let workload = Characteristics {
        write_ratio: 0.3,
        queue_depth: 7,
        ..Characteristics::default()
    };
    let mut drive = worker(&small_drive::drive(&[]));
    let capacity = drive.capacity_bytes();
    let generator = Generator::new(&workload, 0, capacity, 1, 0).unwrap();
    let commands: Vec<Command> = generator.take(500).map(Command::from).collect();
    let listed = Listed {
        is_timed: false,
        ..listed(&commands, 7)
    };
    let plan = Plan::counting(0, 400);
    let mut run = |stream| {
        let outcome = drive.run(&[stream], plan, (1, 0), State::Returned).unwrap();
        assert!(outcome.streams[0].lateness.is_none());
        outcome
    };
    let (read_on, drawn) = (run(stream(listed)), run(Stream::closed("all", workload)));
    // Both have more to send when the window closes.
    assert_eq!(
        (
            read_on.window,
            &read_on.read.latency,
            &read_on.write.latency
        ),
        (drawn.window, &drawn.read.latency, &drawn.write.latency)
    );
}

#[test]
fn what_cannot_be_read_on_ends_the_run_in_words_and_leaves_the_drive_as_it_was() {
    let commands: Vec<Command> = (0..20).map(|at| read(at * 10, at)).collect();
    for (name, mut drive) in drives() {
        let before = text_of(run(&mut drive, stream(listed(&commands, 4))).unwrap());
        for fails_after in [0, 1, 3, 10, 19] {
            let broken = Listed {
                fails_after: Some(fails_after),
                ..listed(&commands, 4)
            };
            let error = run(&mut drive, stream(broken)).unwrap_err();
            assert_eq!(
                error.to_string(),
                "stream \"all\": line 7 is none",
                "{name}"
            );
        }
        let after = text_of(run(&mut drive, stream(listed(&commands, 4))).unwrap());
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn a_request_beyond_the_drive_is_refused_when_its_turn_comes() {
    let mut beyond = read(40, 0);
    beyond.offset_bytes = 1 << 40;
    let mut commands: Vec<Command> = (0..200).map(|at| read(at * 10, at)).collect();
    commands[150].offset_bytes = beyond.offset_bytes;
    for (name, mut drive) in drives() {
        if name == "disk" {
            continue;
        }
        let listed = Listed {
            batch: 1000,
            ..listed(&commands, 4)
        };
        let error = run(&mut drive, stream(listed)).unwrap_err();
        assert!(
            error.to_string().contains("does not lie within"),
            "{name}: {error}"
        );
    }
}

#[test]
fn a_window_that_closes_before_the_end_leaves_the_rest_unsent() {
    let commands: Vec<Command> = (0..200).map(|at| read(at * 100, at)).collect();
    for (name, mut drive) in drives() {
        let outcome = drive.run(
            &[stream(listed(&commands, 4))],
            Plan::counting(0, 50),
            (1, 0),
            State::Returned,
        );
        let outcome = outcome.unwrap();
        assert_eq!(outcome.measured_requests, 50, "{name}");
        assert!(outcome.streams[0].submitted < 60, "{name}");
    }
}
