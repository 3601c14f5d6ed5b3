//! Shortest positioning first: what the heads reach soonest, by seek and rotation together.
//!
//! Jacobson and Wilkes 1991, and Seltzer, Chen and Ousterhout 1990 (shortest time first). An
//! access far off may wait as long as nearer ones come: nothing ages here.

use super::{Situation, Waiting};

/// ns until its first sector passes.
#[inline(always)]
pub fn key(now: &Situation<'_>, access: &Waiting) -> u32 {
    if now.is_under_way(access) {
        return 0;
    }
    now.mechanism
        .approach(now.position, now.angle, &access.place, access.writes)
        .time()
}
