//! Each step of a session continues where the last one ended. A purge starts anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_request::{Command, CommandKind, Nanos, WindowPlan};
use drivelab_sim::drive::Session;
use drivelab_sim::host::{MOST_STREAMS, Outcome, Plan, SimError, StreamOutcome};
use drivelab_sim::preset::DriveConfig;
use drivelab_workload::{MAX_THREADS, Stimulus, Stream};

use crate::counted::flash;

/// One channel, one die, 64 blocks of 16 pages, half of them user data. A program takes 300 us;
/// apart from it only reads and erases take time.
const SMALL: &str = "base = \"bench-64gib\"\nname = \"session\"\n\
    geometry.channels = 1\ngeometry.ways_per_channel = 1\ngeometry.dies_per_way = 1\n\
    geometry.planes_per_die = 1\ngeometry.blocks_per_plane = 64\ngeometry.pages_per_block = 16\n\
    geometry.over_provisioning_ratio = 1.0\n\
    timing.read_register_ns = 0\ntiming.write_register_ns = 0\n\
    timing.read_cell_ns = 50_000\ntiming.program_cell_ns = 300_000\n\
    timing.erase_cell_ns = 1_000_000\n";

fn session(more: &str) -> Session {
    let config = DriveConfig::from_text(&format!("{SMALL}{more}")).unwrap();
    Session::new(config, &Arc::new(AtomicBool::new(false))).unwrap()
}

fn stimulus(read_ratio: f64) -> Stimulus {
    Stimulus {
        read_ratio,
        is_random: true,
        sizes: vec![(4096, 1.0)],
        zones: vec![(1.0, 1.0)],
        threads: 1,
        queue_depth: 1,
        range_start: 0,
        range_bytes: 512 * 4096,
        begin_bytes: 0,
    }
}

fn lasting(duration: Nanos) -> WindowPlan {
    WindowPlan {
        duration: Some(duration),
        ..WindowPlan::default()
    }
}

/// A step with one stimulus, for a given time.
fn step(
    session: &mut Session,
    read_ratio: f64,
    duration: Nanos,
    place: u64,
) -> Result<Outcome, SimError> {
    let streams = [Stream::closed("stimulus", stimulus(read_ratio))];
    let plan = Plan::until(&streams, lasting(duration), None);
    session.run(&streams, plan, 1, place)
}

const SECOND: Nanos = Nanos(1_000_000_000);

fn counts(outcome: &Outcome) -> (u64, u64, u64) {
    (
        outcome.measured_requests,
        flash(outcome).host_page_programs,
        flash(outcome).collection_page_programs,
    )
}

/// The spare half takes 512 pages without an erase, at 300 us a page 0.15 s. The first step of a
/// purged drive moves no page; later ones do.
#[test]
fn a_purge_makes_writes_fast_again_and_steps_add_up() {
    let mut session = session("");
    session.purge().unwrap();
    let fresh = step(&mut session, 0.0, Nanos(100_000_000), 0).unwrap();
    // 100 ms at 300 us. The write in progress at the end of the window does not count.
    assert_eq!(counts(&fresh), (333, 333, 0));
    let used = step(&mut session, 0.0, SECOND, 1).unwrap();
    assert!(flash(&used).collection_page_programs > 100 && used.measured_requests < 3_000);
    session.purge().unwrap();
    let again = step(&mut session, 0.0, Nanos(100_000_000), 0).unwrap();
    assert_eq!(counts(&again), counts(&fresh));
}

/// A read of a page that was never written does not use the flash.
#[test]
fn a_purged_drive_answers_reads_from_nowhere() {
    let mut session = session("condition = \"fresh\"\n");
    let refused = step(&mut session, 1.0, SECOND, 0).unwrap_err();
    assert!(matches!(refused, SimError::Unmapped { .. }));
    assert!(matches!(
        step(&mut session, 0.0, SECOND, 0),
        Err(SimError::StateLost)
    ));
    session.purge().unwrap();
    let reads = [Stream::closed("reads", stimulus(1.0))];
    let plan = Plan::until(&reads, WindowPlan::default(), Some(100 * 4096));
    // On this drive only the flash takes time.
    let outcome = session.run(&reads, plan, 1, 0).unwrap();
    assert_eq!(
        (outcome.measured_requests, flash(&outcome).page_reads),
        (100, 0)
    );
}

#[test]
fn a_state_taken_up_goes_on_as_if_it_had_not_been_left() {
    let mut first = session("");
    first.purge().unwrap();
    step(&mut first, 0.0, SECOND, 0).unwrap();
    let state = first.save().unwrap();
    let expected = counts(&step(&mut first, 0.3, SECOND, 1).unwrap());
    // On an equal drive, and on one that was used in between.
    let mut second = session("");
    second.load(&state).unwrap().unwrap();
    assert_eq!(
        counts(&step(&mut second, 0.3, SECOND, 1).unwrap()),
        expected
    );
    second.load(&state).unwrap().unwrap();
    assert_eq!(
        counts(&step(&mut second, 0.3, SECOND, 1).unwrap()),
        expected
    );
    assert!(second.load(&state[..state.len() - 1]).unwrap().is_err());
    let mut other = session("buffer.write_buffer_bytes = 8192\n");
    assert!(other.load(&state).unwrap().is_err());
}

/// In idle time blocks are emptied, so later writes wait for no collection.
#[test]
fn idle_time_is_used_by_drives_that_use_it() {
    let of = |more: &str| {
        let mut session = session(more);
        step(&mut session, 0.0, SECOND, 0).unwrap();
        session.idle(Nanos(10 * SECOND.0), 1, 1).unwrap();
        // 30.1 ms of writes are 100 pages: the spare blocks that idle time provides.
        let outcome = step(&mut session, 0.0, Nanos(30_100_000), 2).unwrap();
        (
            outcome.measured_requests,
            flash(&outcome).collection_page_programs,
        )
    };
    let without = of("");
    let with = of(
        "collection.background_blocks_per_plane = 10\ncollection.background_idle_ns = 500_000\n",
    );
    assert!(without.1 > 0 && without.0 < 100, "{without:?}");
    assert_eq!(with, (100, 0));
}

#[test]
fn a_disk_has_sessions_too() {
    let config = DriveConfig::from_text(drivelab_sim::preset::text("spinpoint-m7").unwrap());
    let mut session = Session::new(config.unwrap(), &Arc::new(AtomicBool::new(false))).unwrap();
    session.purge().unwrap();
    let first = step(&mut session, 1.0, SECOND, 0).unwrap();
    session.idle(SECOND, 1, 1).unwrap();
    let again = step(&mut session, 1.0, SECOND, 0).unwrap();
    assert_eq!(first.measured_requests, again.measured_requests);
}

/// Random reads and writes together with sequential writes. The totals are the sum over the
/// streams, and each stream slows the others.
#[test]
fn streams_of_a_step_run_at_the_same_time() {
    let pages = Stream::closed("pages", stimulus(0.5));
    let log = Stimulus {
        read_ratio: 0.0,
        is_random: false,
        threads: 2,
        ..stimulus(0.0)
    };
    let both = [pages.clone(), Stream::closed("log", log)];
    let outcome_of = |streams: &[Stream]| {
        let plan = Plan::until(streams, lasting(SECOND), None);
        session("").run(streams, plan, 1, 0).unwrap()
    };
    let outcome = outcome_of(&both);
    let requests =
        |of: &StreamOutcome| [0, 1].map(|kind: usize| of.commands[kind].counted.latency.count());
    // One random stream is one loop. Two threads in order are two loops, reported together.
    let [pages_of_both, log_of_both] = outcome.streams.as_slice() else {
        panic!("{:?}", outcome.streams)
    };
    assert_eq!(log_of_both.name, "log");
    assert!(log_of_both.submitted > 1);
    let (pages_of_both, log_of_both) = (requests(pages_of_both), requests(log_of_both));
    assert_eq!(
        pages_of_both[0] + log_of_both[0],
        outcome.read.latency.count()
    );
    assert_eq!(
        pages_of_both[1] + log_of_both[1],
        outcome.write.latency.count()
    );
    assert_eq!(log_of_both[0], 0);
    // The only die alternates between them: nobody waits for ever, and nobody is as fast as alone.
    let alone = requests(&outcome_of(&[pages]).streams[0]);
    let pages_of_both = pages_of_both.iter().sum::<u64>();
    assert!(pages_of_both > 0 && log_of_both[1] > 0);
    assert!(
        pages_of_both < alone.iter().sum::<u64>(),
        "{pages_of_both} {alone:?}"
    );
    // A repetition gives the same result.
    assert_eq!(counts(&outcome_of(&both)), counts(&outcome));
}

/// Threads of a stream are reported as one stream everywhere: log, series and flash.
#[test]
fn threads_are_told_as_their_stream() {
    let log = Stimulus {
        is_random: false,
        threads: 4,
        ..stimulus(0.0)
    };
    let streams = [
        Stream::closed("log", log),
        Stream::closed("pages", stimulus(1.0)),
    ];
    let mut plan = Plan::until(&streams, lasting(Nanos(100_000_000)), None);
    plan.series_interval = Some(Nanos(10_000_000));
    plan.log_requests = Some(1_000);
    let outcome = session("").run(&streams, plan, 1, 0).unwrap();
    let logged = &outcome.log.as_ref().unwrap().requests;
    for (place, stream) in outcome.streams.iter().enumerate() {
        let counted = stream.commands[1 - place].counted.latency.count();
        let of_log = logged.iter().filter(|r| usize::from(r.stream) == place);
        assert_eq!(of_log.count() as u64, counted);
        let series = outcome.series.as_ref().unwrap();
        let kind = drivelab_request::CommandKind::ALL[1 - place];
        let in_bins = (0..series.intervals()).map(|at| series.bin(at, place, kind).requests);
        assert_eq!(in_bins.sum::<u64>(), counted);
        assert!(counted > 20, "{}", stream.name);
    }
}

/// Two equal streams do not send the same requests.
#[test]
fn streams_of_a_step_have_random_numbers_of_their_own() {
    let stimulus = stimulus(0.5);
    let offsets = |first_thread| {
        let generator = stimulus
            .loops(1, 0, first_thread)
            .unwrap()
            .remove(0)
            .generator;
        generator
            .take(20)
            .map(|r| r.offset_bytes)
            .collect::<Vec<_>>()
    };
    assert_ne!(offsets(0), offsets(1));
    assert!(stimulus.loops(1, 0, MAX_THREADS).is_err());
}

/// Whichever comes first: its window, the bytes, or the end of what is left after the warm-up.
#[test]
fn a_step_ends_at_the_first_of_its_ends() {
    let flushes = (0..10).map(|at| Command::flush(Nanos(at * 1_000)));
    let listed = [Stream::timed("flushes", flushes.collect::<Vec<_>>())];
    let counted = |warmup_requests, requests| {
        let window = WindowPlan {
            warmup_requests,
            requests,
            ..WindowPlan::default()
        };
        let outcome = session("").run(&listed, Plan::until(&listed, window, None), 1, 0);
        let outcome = outcome.unwrap();
        let flushes = &outcome.streams[0].commands[CommandKind::Flush.index()];
        assert_eq!(flushes.counted.latency.count(), outcome.measured_requests);
        outcome.measured_requests
    };
    assert_eq!(
        [(0, None), (3, None), (3, Some(5)), (3, Some(9))]
            .map(|(warmup, requests)| counted(warmup, requests)),
        [10, 7, 5, 7]
    );
}

#[test]
fn a_step_of_no_or_too_many_streams_is_refused() {
    let many = vec![Stream::closed("one of many", stimulus(0.5)); MOST_STREAMS + 1];
    let plan = Plan::until(&many, lasting(SECOND), None);
    let refused = session("").run(&many, plan, 1, 0).unwrap_err();
    assert!(matches!(refused, SimError::Streams { count: 65 }));
    assert!(session("").run(&[], plan, 1, 0).is_err());
}
