//! When servers with threads count as stuck: after a number of turns, not after a time.

use drivelab_firmware::progress::{Progress, Watch};

const PATIENCE: u64 = 5_000;

fn servers() -> [Progress; 2] {
    [Progress::default(), Progress::default()]
}

fn turns(server: &Progress, turns: u64) {
    for _ in 0..turns {
        server.count(false);
    }
}

/// Whether the front end finds it stuck within `turns` turns that do nothing.
fn is_stuck_within(watch: &mut Watch<'_>, turns: u64) -> bool {
    (0..turns).any(|_| watch.is_stuck(false))
}

#[test]
fn it_is_stuck_when_each_has_had_its_turns() {
    let servers = servers();
    let mut watch = Watch::new(&servers, PATIENCE);
    // Turns count from the first check on.
    turns(&servers[0], 2 * PATIENCE);
    turns(&servers[1], 2 * PATIENCE);
    assert!(!is_stuck_within(&mut watch, 2 * PATIENCE));
    turns(&servers[0], 2 * PATIENCE);
    turns(&servers[1], PATIENCE);
    assert!(!is_stuck_within(&mut watch, 2 * PATIENCE));
    turns(&servers[1], 1);
    assert!(is_stuck_within(&mut watch, 1_024));
}

#[test]
fn a_server_that_does_not_run_is_not_stuck() {
    let servers = servers();
    let mut watch = Watch::new(&servers, PATIENCE);
    assert!(!is_stuck_within(&mut watch, 2_000));
    turns(&servers[0], 10 * PATIENCE);
    assert!(!is_stuck_within(&mut watch, 100 * PATIENCE));
}

#[test]
fn whatever_moves_begins_the_count_again() {
    let servers = servers();
    let mut watch = Watch::new(&servers, PATIENCE);
    for round in 0..4 {
        assert!(!is_stuck_within(&mut watch, 2 * PATIENCE));
        turns(&servers[0], 2 * PATIENCE);
        turns(&servers[1], 2 * PATIENCE);
        // A server and the front end do something alternately.
        if round % 2 == 0 {
            servers[1].count(true);
        } else {
            assert!(!watch.is_stuck(true));
        }
    }
    assert!(!is_stuck_within(&mut watch, 2 * PATIENCE));
    turns(&servers[0], 2 * PATIENCE);
    turns(&servers[1], 2 * PATIENCE);
    assert!(is_stuck_within(&mut watch, 2 * PATIENCE));
}
