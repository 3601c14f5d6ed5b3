//! Shortest seek first: fewest cylinders away; on the same cylinder, the same head first.

use super::{Situation, Waiting};

/// The distance in cylinders, and whether the head changes.
#[inline(always)]
pub const fn key(now: &Situation<'_>, access: &Waiting) -> (u32, bool) {
    let place = &access.place;
    (
        now.position.cylinder.abs_diff(place.cylinder),
        now.position.head != place.head,
    )
}
