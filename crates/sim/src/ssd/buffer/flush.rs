//! What a flush waits for.
//!
//! ```text
//!   pages handed to the flash   p p p p | p p | p p p p
//!   barriers                           F     F
//! ```
//!
//! Buffered pages on their way to the flash belong to the stretch between two flushes. A flush
//! completes when its own stretch and all earlier ones are programmed, so flushes complete in
//! order.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    /// Pages that are not programmed yet.
    pages: u32,
    /// The flush at the end of this stretch.
    flush: Option<u32>,
}

/// Stretches with pages in progress or a waiting flush. The last one is open.
#[derive(Clone, Debug)]
pub(super) struct Barriers {
    stretches: VecDeque<Stretch>,
    /// The number of the first stretch.
    first: u32,
}

impl Barriers {
    pub fn new() -> Self {
        Self {
            stretches: VecDeque::from([Stretch::default()]),
            first: 0,
        }
    }

    /// The number of the open stretch.
    #[inline]
    pub fn open(&self) -> u32 {
        self.first.wrapping_add(self.stretches.len() as u32 - 1)
    }

    /// `pages` of the open stretch go to the flash.
    #[inline]
    pub fn hand_over(&mut self, pages: u32) {
        if let Some(open) = self.stretches.back_mut() {
            open.pages += pages;
        }
    }

    /// A flush arrives. Returns whether it can complete at once; if not, it is remembered.
    pub fn flush(&mut self, slot: u32) -> bool {
        if self.stretches.len() == 1 && self.stretches[0].pages == 0 {
            return true;
        }
        if let Some(open) = self.stretches.back_mut() {
            open.flush = Some(slot);
        }
        self.stretches.push_back(Stretch::default());
        false
    }

    /// A page of stretch `number`, modulo `modulus`, was programmed.
    #[inline]
    pub fn programmed(&mut self, number: u32, modulus: u32) {
        let place = number.wrapping_sub(self.first) % modulus;
        if let Some(stretch) = self.stretches.get_mut(place as usize) {
            stretch.pages -= 1;
        }
    }

    /// Takes the first flush that has nothing left to wait for.
    #[inline]
    pub fn next_done(&mut self) -> Option<u32> {
        if self.stretches.len() == 1 || self.stretches[0].pages > 0 {
            return None;
        }
        self.first = self.first.wrapping_add(1);
        self.stretches.pop_front().and_then(|done| done.flush)
    }
}
