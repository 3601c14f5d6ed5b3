//! The elevator (LOOK): goes in one direction as far as anything waits, then turns back.
//!
//! The order is that of the sectors, so accesses on the heads' own cylinder are served on the way.

use super::{Situation, Waiting};

#[inline(always)]
const fn is_ahead(now: &Situation<'_>, access: &Waiting, inwards: bool) -> bool {
    (access.sector >= now.sector) == inwards
}

/// Whether anything waits in that direction.
pub fn goes_on(now: &Situation<'_>, waiting: &[Waiting], inwards: bool) -> bool {
    waiting.iter().any(|access| is_ahead(now, access, inwards))
}

/// Accesses in the other direction come last; otherwise the distance in sectors.
#[inline(always)]
pub const fn key(now: &Situation<'_>, access: &Waiting, inwards: bool) -> (bool, u64) {
    (
        !is_ahead(now, access, inwards),
        access.sector.abs_diff(now.sector),
    )
}
