//! What the flash of a drive did in a run, for tests of drives that have one.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use drivelab_sim::ssd::{FlashCounters, Outcome};

/// What the flash did, of an array that of all members.
pub fn flash(outcome: &Outcome) -> Cow<'_, FlashCounters> {
    outcome.media.flash().unwrap()
}
