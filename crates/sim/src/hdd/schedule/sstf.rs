//! Shortest seek first: fewest cylinders away, and on the same cylinder the same head.

use super::{Situation, Waiting};

/// Cylinders to go, and whether the head changes.
#[inline(always)]
pub const fn key(now: &Situation<'_>, access: &Waiting) -> (u32, bool) {
    let place = &access.place;
    (
        now.position.cylinder.abs_diff(place.cylinder),
        now.position.head != place.head,
    )
}
