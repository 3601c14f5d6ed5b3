//! Shortest positioning time first: chooses what the heads reach soonest, counting seek and
//! rotation.
//!
//! Jacobson and Wilkes 1991, and Seltzer, Chen and Ousterhout 1990 (shortest time first). There is
//! no ageing: a distant access may wait for as long as nearer ones arrive.

use super::{Situation, Waiting};

/// Time until its first sector passes, ns.
#[inline(always)]
pub fn key(now: &Situation<'_>, access: &Waiting) -> u32 {
    if now.is_under_way(access) {
        return 0;
    }
    now.mechanism
        .approach(now.position, now.angle, &access.place, access.writes)
        .time()
}
