//! Runs of nothing but reads of single pages go window by window instead of event by event.
//!
//! ```text
//!   straight way ─> flash given to the lookahead ─> window ─> window ─> ... ─> given back ─> events
//! ```
//!
//! [`crate::ssd::flash::Lookahead`] says why that gives the same results.

use drivelab_ftl::{Action, Lpn, PageRun};
use drivelab_request::{CommandKind, Direction, Nanos, Request};

use super::straight::{Left, Way, unusual};
use super::supply::Supply;
use crate::event::EventKey;
use crate::host::counting::Completed;
use crate::ssd::account::split::{PARTS, Parts};
use crate::ssd::flash::{Lookahead, Reading};

impl Way<'_> {
    /// Goes window by window as far as that is possible, until at most `most` requests are complete.
    /// `None` if it is not possible at all.
    pub(super) fn look_ahead<S: Supply>(
        &mut self,
        ahead: &mut Lookahead,
        supply: &mut S,
        most: u64,
    ) -> Option<Left> {
        let front = &self.front;
        let of_slot = |slot| (front.slot(slot).submitted(), front.slot(slot).stream());
        if !ahead.take_over(self.flash, self.timeline, of_slot) {
            return None;
        }
        let (ended, left) = self.go_ahead(ahead, supply, most);
        self.give_back(ahead, ended);
        Some(left)
    }

    /// Also returns how many ends of the last window have happened.
    fn go_ahead<S: Supply>(
        &mut self,
        ahead: &mut Lookahead,
        supply: &mut S,
        most: u64,
    ) -> (usize, Left) {
        let mut left = most;
        while left > 0 {
            let first = ahead.first_end();
            if first >= self.users.deadline {
                match self.passes_deadline(first) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(left) => return (usize::MAX, left),
                }
            }
            let ends = ahead.next_window(first, self.users.deadline);
            for number in 0..ends {
                let key = ahead.due(number);
                if let Err(left) = self.read_ends(ahead, supply, key) {
                    return (number + 1, left);
                }
                left -= 1;
                if left == 0 {
                    return (number + 1, Left::Between);
                }
            }
        }
        (usize::MAX, Left::Between)
    }

    fn passes_deadline(&mut self, now: u64) -> Result<bool, Left> {
        Ok(now != u64::MAX && self.pass_deadline(now)?)
    }

    /// A read ends, and its loop submits the next one, in the same slot.
    #[inline(always)]
    fn read_ends<S: Supply>(
        &mut self,
        ahead: &mut Lookahead,
        supply: &mut S,
        key: EventKey,
    ) -> Result<(), Left> {
        let now = key.time();
        self.timeline.current = key;
        let (slot, reading, parts) = ahead.end(key, self.flash.times());
        self.flash.count_host_read();
        self.count_read(&reading, &parts, supply, now);
        let stream = reading.stream;
        let request = self.next((slot, stream), supply, now)?;
        let Some(operation) = supply.operation(&self.pages_of(&request)) else {
            return Err(unusual(slot, Some(request), now));
        };
        let unit = self.flash.unit_of(operation.plane);
        ahead.enter(&operation, (slot, stream), (unit, self.flash.times()), now);
        Ok(())
    }

    #[inline(always)]
    fn count_read<S: Supply>(
        &mut self,
        reading: &Reading,
        of_flash: &Parts,
        supply: &mut S,
        now: u64,
    ) {
        let mut parts = [0; PARTS];
        of_flash.put_latency(reading.emitted, &mut parts);
        let request = Completed {
            stream: reading.stream,
            kind: CommandKind::Read,
            bytes: 1 << self.page_shift,
            latency: now - reading.emitted,
            parts,
        };
        self.count(&request, supply, now);
    }

    /// Events take over again. Ends of the last window from `ended` on have not happened.
    fn give_back(&mut self, ahead: &mut Lookahead, ended: usize) {
        let (front, page_shift) = (&mut *self.front, self.page_shift);
        let parts = (&mut *self.flash, &mut *self.timeline);
        ahead.give_back(parts, ended, |slot, reading| {
            let request = Request {
                arrival: Nanos::ZERO,
                offset_bytes: u64::from(reading.lpn) << page_shift,
                size_bytes: 1 << page_shift,
                direction: Direction::Read,
            };
            let run = PageRun::whole(Action::Read, Lpn(reading.lpn), 1);
            let entry = front.slot_mut(slot);
            entry.begin_again(&request, &run, reading.emitted);
        });
    }
}
