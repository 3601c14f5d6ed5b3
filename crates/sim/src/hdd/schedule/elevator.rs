//! The elevator (LOOK): as far in one direction as anything waits there, then back.
//!
//! The order is that of sectors, so an access at the heads' own cylinder goes on their way.

use super::{Situation, Waiting};

#[inline(always)]
const fn is_ahead(now: &Situation<'_>, access: &Waiting, inwards: bool) -> bool {
    (access.sector >= now.sector) == inwards
}

/// Whether anything waits in that direction.
pub fn goes_on(now: &Situation<'_>, waiting: &[Waiting], inwards: bool) -> bool {
    waiting.iter().any(|access| is_ahead(now, access, inwards))
}

/// Those in the other direction last; sectors to go.
#[inline(always)]
pub const fn key(now: &Situation<'_>, access: &Waiting, inwards: bool) -> (bool, u64) {
    (
        !is_ahead(now, access, inwards),
        access.sector.abs_diff(now.sector),
    )
}
