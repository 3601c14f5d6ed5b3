//! A run reports its progress to a watcher.

use std::sync::Arc;

use drivelab_sim::ssd::{Plan, Watch};

use crate::small_drive::{ONE_DIE, drive, timed, write};

/// Twenty writes at once, one every 310 us. The window is closed after five of them.
#[test]
fn a_run_that_drains_says_what_is_left() -> Result<(), Box<dyn std::error::Error>> {
    let watch = Arc::new(Watch::default());
    let mut worker = drive(&[ONE_DIE]).worker();
    worker.watch(&watch);
    let writes = (0..20).map(|page| write(0, page));
    worker.run(&timed(writes), Plan::counting(0, 5), 0, 0)?;
    let standing = watch.standing();
    assert!(standing.drains);
    // Reported before the events of that moment, at most a millisecond and one write from the end.
    assert_eq!(standing.completed, (standing.simulated_ns - 1) / 310_000);
    assert_eq!(standing.completed + standing.outstanding, 20);
    let end = 20 * 310_000;
    assert!(standing.simulated_ns >= end - 1_310_000 && standing.simulated_ns <= end);
    Ok(())
}
