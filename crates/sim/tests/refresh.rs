//! Data that is moved before it becomes hard to read: times by hand, and laws.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::ssd::{Outcome, Plan};
use drivelab_workload::Characteristics;

use crate::counted::flash;
use crate::small_drive::{PAGE, closed, drive, read, refused, run, write};

fn reads(queue_depth: u32, random: f64) -> Characteristics {
    Characteristics {
        write_ratio: 0.0,
        queue_depth,
        read_size: PAGE,
        write_size: PAGE,
        read_random: random,
        write_random: random,
        read_stride: 0,
        write_stride: 0,
    }
}

fn measured(changes: &[&str], load: Characteristics, requests: u64) -> Outcome {
    let plan = Plan::counting(0, requests);
    drive(changes)
        .worker()
        .run(&closed(load), plan, 3, 0)
        .unwrap()
}

#[test]
fn a_read_waits_for_the_refresh_that_the_one_before_it_made_necessary() {
    // The first read ends at 60 us. Its block of 16 pages is moved: 60 + 310 us a page; and
    // erased: 1 ms. The read of 100 us is behind that on its die, 16 * 370 + 1,000 us later.
    let outcome = run(
        &drive(&["refresh.read_limit = 1"]),
        vec![read(0, 0), read(100, 0)],
    );
    let longest = outcome.read.latency.max_ns();
    assert_eq!(
        longest,
        Some(60_000 + 16 * 370_000 + 1_000_000 + 60_000 - 100_000)
    );
    let counted = flash(&outcome);
    assert_eq!(
        (counted.refresh_page_programs, counted.block_erases),
        (16, 1)
    );
    assert_eq!(counted.collection_page_programs, 0);
    // A read of the other die waits for nothing.
    let outcome = run(
        &drive(&["refresh.read_limit = 1"]),
        vec![read(0, 0), read(100, 1)],
    );
    assert_eq!(outcome.read.latency.max_ns(), Some(60_000));
}

#[test]
fn reads_of_a_block_lead_to_as_many_refreshes_as_the_limit_says() {
    // One of 400 reads. Those of the refresh itself come after the limit and before the erase. The
    // reads of the 96 blocks at the end are not exactly those at the beginning.
    let outcome = measured(&["refresh.read_limit = 400"], reads(1, 1.0), 40_000);
    let counted = flash(&outcome);
    let refreshed = counted.refreshed_blocks as f64;
    let expected = 40_000.0 / 400.0;
    assert!((refreshed / expected - 1.0).abs() < 0.1, "{refreshed}");
    assert_eq!(counted.page_reads, 40_000 + counted.refresh_page_programs);
    // Nothing else was written.
    assert_eq!(counted.programs(), counted.refresh_page_programs);
}

#[test]
fn all_data_is_moved_once_in_its_retention_time() {
    // 96 blocks hold data. Reads one after the other take 60 us each, or wait for refreshes.
    let outcome = measured(
        &["refresh.retention_ns = 1_000_000_000"],
        reads(1, 1.0),
        20_000,
    );
    let counted = flash(&outcome);
    let periods = outcome.window.0 as f64 / 1e9;
    let refreshed = counted.refreshed_blocks as f64 / periods;
    assert!((refreshed / 96.0 - 1.0).abs() < 0.1, "{refreshed}");
    assert_eq!(
        counted.refresh_page_programs as f64 / counted.refreshed_blocks as f64,
        16.0
    );
}

/// A plane refreshes a block of 16 pages in 6.9 ms or more, so its 48 blocks of data take a third of
/// a second.
#[test]
fn data_that_ages_faster_than_it_is_refreshed_is_counted() {
    let overdue = |retention_ns: u64| {
        let retention = format!("refresh.retention_ns = {retention_ns}");
        let outcome = measured(&[&retention], reads(1, 1.0), 20_000);
        assert!(outcome.window.0 > 1_000_000_000);
        flash(&outcome).overdue_blocks
    };
    assert!(overdue(1_000_000_000) < 5);
    assert!(overdue(200_000_000) > 20);
    assert_eq!(overdue(1_000_000_000_000_000), 0);
    // A block without data has nothing to refresh.
    let writes = Characteristics {
        write_ratio: 1.0,
        ..reads(1, 1.0)
    };
    let fresh = "condition = \"fresh\"\nrefresh.retention_ns = 20_000_000";
    assert_eq!(flash(&measured(&[fresh], writes, 10)).overdue_blocks, 0);
}

#[test]
fn data_that_is_younger_than_its_retention_time_is_not_moved() {
    // Everything is written in the run, though blocks come due while they are still empty.
    let load = Characteristics {
        write_ratio: 1.0,
        ..reads(4, 1.0)
    };
    let retention = "condition = \"fresh\"\nrefresh.retention_ns = 3_000_000_000";
    let outcome = measured(&[retention], load, 4_000);
    assert!(outcome.window.0 < 3_000_000_000);
    assert_eq!(flash(&outcome).refreshed_blocks, 0);
}

#[test]
fn a_threshold_that_is_never_reached_changes_nothing() {
    let load = Characteristics {
        write_ratio: 0.5,
        ..reads(4, 1.0)
    };
    let steady = "condition = \"preconditioned\"";
    let plain = measured(&[steady], load, 4_000);
    let far = "refresh.retention_ns = 1_000_000_000_000_000";
    let never = measured(&[steady, far], load, 4_000);
    assert_eq!(plain.window, never.window);
    assert_eq!(flash(&plain), flash(&never));
}

#[test]
fn refreshes_and_collection_go_on_together() {
    let load = Characteristics {
        write_ratio: 0.5,
        ..reads(8, 1.0)
    };
    for pace in ["paced", "whole_block"] {
        let pace = format!("condition = \"preconditioned\"\ncollection.pace = \"{pace}\"");
        let outcome = measured(
            &[
                &pace,
                "refresh.read_limit = 60\nrefresh.retention_ns = 500_000_000",
            ],
            load,
            10_000,
        );
        let counted = flash(&outcome);
        assert!(counted.refreshed_blocks > 20, "{counted:?}");
        assert!(counted.collection_page_programs > 0);
        let moved = counted.collection_page_programs + counted.refresh_page_programs;
        assert_eq!(counted.programs(), counted.host_page_programs + moved);
    }
}

/// Bursts of writes and reads, 50 ms apart. Refreshes and collection in idle time share the dies;
/// each has its share of the work, and the counters add up.
#[test]
fn refreshes_go_on_together_with_collection_in_idle_time() {
    let commands = |bursts: u64| -> Vec<_> {
        (0..bursts * 16)
            .map(|place| {
                let page = place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                let at_us = place / 16 * 50_000;
                match place % 4 {
                    0 => read(at_us, page % 1_536),
                    _ => write(at_us, page % 1_536),
                }
            })
            .collect()
    };
    let refresh = "condition = \"preconditioned\"\n\
                   refresh.read_limit = 200\nrefresh.retention_ns = 5_000_000_000";
    let idle =
        "collection.background_blocks_per_plane = 4\ncollection.background_idle_ns = 100_000";
    let busy = run(&drive(&[refresh]), commands(600));
    let rested = run(&drive(&[refresh, idle]), commands(600));
    for outcome in [&busy, &rested] {
        let counted = flash(outcome);
        assert!(counted.refreshed_blocks > 100, "{counted:?}");
        assert!(counted.collection_page_programs > 1_000, "{counted:?}");
        let moved = counted.collection_page_programs + counted.refresh_page_programs;
        assert_eq!(counted.programs(), counted.host_page_programs + moved);
    }
    // Whether or not it rests, the same data grow old; and fewer writes wait.
    let [mean_busy, mean_rested] = [&busy, &rested].map(|one| one.write.latency.mean_ns());
    assert!(mean_rested < mean_busy, "{mean_rested:?} {mean_busy:?}");
}

#[test]
fn drives_that_cannot_refresh_say_so() {
    let said = refused("refresh.read_limit = 1\nmapping.scheme = \"block\"");
    assert!(said.contains("\"page\""), "{said}");
    let said = refused(
        "refresh.retention_ns = 1000\nageing.rated_erases = 100\nageing.factory_bad_ratio = 0.1",
    );
    assert!(said.contains("blocks that do not fail"), "{said}");
}
