//! First come, first served.

use super::Waiting;

/// When it came.
#[inline(always)]
pub const fn key(access: &Waiting) -> u64 {
    access.number
}
