//! What the flash did in a run, for tests of drives with flash.
#![allow(clippy::unwrap_used)]

use std::borrow::Cow;

use drivelab_sim::ssd::{FlashCounters, Outcome};

/// What the flash did. Of an array, all members together.
pub fn flash(outcome: &Outcome) -> Cow<'_, FlashCounters> {
    outcome.media.flash().unwrap()
}
