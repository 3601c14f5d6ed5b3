//! Random host requests, mostly writes, that fit any layout.

use drivelab_ftl::{Action, FlashLayout, Lpn, PageRun};
use drivelab_request::Content;
use proptest::prelude::*;

/// What a request does, where it starts, how long it is, and which of its ends lie within a
/// page.
pub type Draw = (Action, u32, u32, bool, bool);

pub fn draws(count: usize) -> impl Strategy<Value = Vec<Draw>> {
    let action = prop_oneof![
        16 => Just(Action::Write), 3 => Just(Action::Read), 1 => Just(Action::Trim),
    ];
    let partial = prop::bool::weighted(0.3);
    prop::collection::vec((action, any::<u32>(), 1..20_u32, partial, partial), count)
}

pub fn run(layout: &FlashLayout, (action, start, length, first, last): Draw) -> PageRun {
    let start = start % layout.logical_pages;
    PageRun {
        action,
        first: Lpn(start),
        pages: length.min(layout.logical_pages - start),
        first_partial: first,
        last_partial: last,
        content: Content::Random,
    }
}
