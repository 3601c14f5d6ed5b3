//! The saved state of a firmware with one byte changed.

use drivelab_ftl::{IdleTime, OperationBuffer, PageRun, Restorable};
use proptest::prelude::prop;

/// The state that `before` leaves, with a byte changed, is refused or works. `after` it may run out
/// of space, but it must not panic.
pub fn does_no_harm<F: Restorable>(
    mut firmware: F,
    before: impl Iterator<Item = PageRun>,
    (place, byte): (prop::sample::Index, u8),
    after: impl Iterator<Item = PageRun>,
) {
    let mut read = firmware.clone();
    let mut out = OperationBuffer::default();
    for run in before {
        let _ = firmware.submit(&[run], &mut out);
    }
    let mut bytes = firmware.changes_since(&read);
    let place = place.index(bytes.len());
    bytes[place] = byte;
    if read.apply_changes(&bytes).is_ok() {
        for run in after {
            let _ = read.submit(&[run], &mut out);
            let _ = read.background(&IdleTime::on_all_planes(2), &mut out);
        }
    }
}
