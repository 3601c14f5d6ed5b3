//! First come, first served.

use super::Waiting;

/// The order of arrival.
#[inline(always)]
pub const fn key(access: &Waiting) -> u64 {
    access.number
}
