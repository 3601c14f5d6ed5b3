//! Steps of a session go on from each other; a purge begins anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_request::{Content, Counted, Nanos};
use drivelab_sim::drive::Session;
use drivelab_sim::host::step::{Step, StepStream};
use drivelab_sim::host::{MOST_STREAMS, Outcome, SimError};
use drivelab_sim::preset::DriveConfig;
use drivelab_workload::{MAX_THREADS, Stimulus};

use crate::counted::flash;

/// One channel, one die, 64 blocks of 16 pages, half of them user data; a program takes 300 us,
/// and nothing else anything but reads and erases.
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

fn step(read_ratio: f64, duration: Nanos) -> Step {
    Step {
        streams: vec![StepStream {
            stimulus: Stimulus {
                read_ratio,
                is_random: true,
                sizes: vec![(4096, 1.0)],
                zones: vec![(1.0, 1.0)],
                threads: 1,
                queue_depth: 1,
                range_start: 0,
                range_bytes: 512 * 4096,
                begin_bytes: 0,
            },
            content: Content::Random,
            is_forced: false,
            share: None,
        }],
        duration: Some(duration),
        total_bytes: None,
    }
}

const SECOND: Nanos = Nanos(1_000_000_000);

fn told(outcome: &Outcome) -> (u64, u64, u64) {
    (
        outcome.measured_requests,
        flash(outcome).host_page_programs,
        flash(outcome).collection_page_programs,
    )
}

/// The spare half takes 512 pages without an erase, at 300 us a page 0.15 s: the first step of
/// a purged drive moves no page, later ones do.
#[test]
fn a_purge_makes_writes_fast_again_and_steps_add_up() {
    let mut session = session("");
    session.purge().unwrap();
    let fresh = session
        .run(&step(0.0, Nanos(100_000_000)), 1, 0)
        .unwrap()
        .whole;
    // 100 ms at 300 us; the write under way when it closes is not counted.
    assert_eq!(told(&fresh), (333, 333, 0));
    let used = session.run(&step(0.0, SECOND), 1, 1).unwrap().whole;
    assert!(flash(&used).collection_page_programs > 100 && used.measured_requests < 3_000);
    session.purge().unwrap();
    let again = session
        .run(&step(0.0, Nanos(100_000_000)), 1, 0)
        .unwrap()
        .whole;
    assert_eq!(told(&again), told(&fresh));
}

/// A read of what was never written asks nothing of the flash.
#[test]
fn a_purged_drive_answers_reads_from_nowhere() {
    let mut session = session("condition = \"fresh\"\n");
    let refused = session.run(&step(1.0, SECOND), 1, 0).unwrap_err();
    assert!(matches!(refused, SimError::Unmapped { .. }));
    assert!(matches!(
        session.run(&step(0.0, SECOND), 1, 0),
        Err(SimError::StateLost)
    ));
    session.purge().unwrap();
    let mut reads = step(1.0, SECOND);
    reads.duration = None;
    reads.total_bytes = Some(100 * 4096);
    // Nothing takes time on this drive but its flash.
    let outcome = session.run(&reads, 1, 0).unwrap().whole;
    assert_eq!(
        (outcome.measured_requests, flash(&outcome).page_reads),
        (100, 0)
    );
}

#[test]
fn a_state_taken_up_goes_on_as_if_it_had_not_been_left() {
    let mut first = session("");
    first.purge().unwrap();
    first.run(&step(0.0, SECOND), 1, 0).unwrap();
    let state = first.save().unwrap();
    let expected = told(&first.run(&step(0.3, SECOND), 1, 1).unwrap().whole);
    // On another drive of the kind, and on one that was used in between.
    let mut second = session("");
    second.load(&state).unwrap().unwrap();
    assert_eq!(
        told(&second.run(&step(0.3, SECOND), 1, 1).unwrap().whole),
        expected
    );
    second.load(&state).unwrap().unwrap();
    assert_eq!(
        told(&second.run(&step(0.3, SECOND), 1, 1).unwrap().whole),
        expected
    );
    assert!(second.load(&state[..state.len() - 1]).unwrap().is_err());
    let mut other = session("buffer.write_buffer_bytes = 8192\n");
    assert!(other.load(&state).unwrap().is_err());
}

/// In idle time blocks are emptied, so that the writes after it wait for no collection.
#[test]
fn idle_time_is_used_by_drives_that_use_it() {
    let of = |more: &str| {
        let mut session = session(more);
        session.run(&step(0.0, SECOND), 1, 0).unwrap();
        session.idle(Nanos(10 * SECOND.0), 1, 1).unwrap();
        // 30.1 ms of writes are 100 pages: the blocks of spare that idle time makes.
        let outcome = session
            .run(&step(0.0, Nanos(30_100_000)), 1, 2)
            .unwrap()
            .whole;
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
    let first = session.run(&step(1.0, SECOND), 1, 0).unwrap().whole;
    session.idle(SECOND, 1, 1).unwrap();
    let again = session.run(&step(1.0, SECOND), 1, 0).unwrap().whole;
    assert_eq!(first.measured_requests, again.measured_requests);
}

/// Random reads and writes beside writes in order: what all completed is what each did, and
/// another stream at the same time is felt.
#[test]
fn streams_of_a_step_run_at_the_same_time() {
    let mut both = step(0.5, SECOND);
    let mut log = both.streams[0].clone();
    log.stimulus.read_ratio = 0.0;
    log.stimulus.is_random = false;
    log.stimulus.threads = 2;
    both.streams.push(log.clone());
    let told_by = |step: &Step| session("").run(step, 1, 0).unwrap();
    let outcome = told_by(&both);
    let requests = |of: &[Counted; 2]| [of[0].latency.count(), of[1].latency.count()];
    let [pages, log_alone] = outcome.streams.as_slice() else {
        panic!("{:?}", outcome.streams)
    };
    let (pages, log_of_both) = (requests(pages), requests(log_alone));
    let whole = &outcome.whole;
    assert_eq!(pages[0] + log_of_both[0], whole.read.latency.count());
    assert_eq!(pages[1] + log_of_both[1], whole.write.latency.count());
    assert_eq!(log_of_both[0], 0);
    // One random stream is one loop, two threads in order are two.
    assert_eq!(whole.streams.len(), 3);
    // The only die serves them in turn: nobody waits for ever, nobody is as fast as alone.
    let alone = told_by(&step(0.5, SECOND));
    let (beside, alone) = (pages.iter().sum::<u64>(), requests(&alone.streams[0]));
    assert!(beside > 0 && log_of_both[1] > 0);
    assert!(beside < alone.iter().sum::<u64>(), "{beside} {alone:?}");
    // The same again is the same.
    assert_eq!(told(&told_by(&both).whole), told(whole));
}

/// Streams that send alike do not send the same.
#[test]
fn streams_of_a_step_have_random_numbers_of_their_own() {
    let stimulus = &step(0.5, SECOND).streams[0].stimulus;
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

#[test]
fn a_step_of_no_or_too_many_streams_is_refused() {
    let mut many = step(0.5, SECOND);
    many.streams = vec![many.streams[0].clone(); MOST_STREAMS + 1];
    let refused = session("").run(&many, 1, 0).unwrap_err();
    assert!(matches!(refused, SimError::Streams { count: 65 }));
    many.streams.clear();
    assert!(session("").run(&many, 1, 0).is_err());
}
