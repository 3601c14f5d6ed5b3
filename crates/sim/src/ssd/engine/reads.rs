//! Reads of drives with a read cache, reading ahead, and what comes from the controller's memory.
//!
//! The memory delivers the pages of one request after another at its rate, each after a fixed
//! latency. If a request waits for flash pages, the last of them determines its parts. If it waited
//! for memory last, that time counts as buffer time.

use drivelab_ftl::{Action, Firmware, Lpn, PageRun};

use crate::ssd::SimError;
use crate::ssd::account::split::{Part, Parts};
use crate::ssd::engine::Engine;
use crate::ssd::firmware::cores::{Done, What};
use crate::ssd::flash::Account;
use crate::ssd::timeline::MEMORY;

impl<F: Firmware> Engine<F> {
    /// A read looks for its pages in the write buffer, the cache and the flash.
    #[inline(never)]
    pub(in crate::ssd) fn read_through_cache(&mut self, slot: u32, run: PageRun, now: u64) {
        self.record_for(Some(slot));
        let entry = self.front.slot_mut(slot);
        entry.begin_stage(now);
        let start = entry.command().offset_bytes;
        let end = start + u64::from(entry.command().size_bytes);
        let (mut pending, mut in_memory) = (0, 0);
        for page in run.first.0..run.first.0 + run.pages {
            if self.buffer.holds(page) {
                self.counters.buffer_hit_pages += 1;
                in_memory += 1;
            } else if self.cache.touch(page) {
                self.counters.cache_hit_pages += 1;
                in_memory += 1;
            } else if self.cache.wait(page, slot) {
                self.counters.cache_hit_pages += 1;
                pending += 1;
            } else {
                self.counters.cache_miss_pages += 1;
                pending += u32::from(self.fetch(page, Some(slot), now));
            }
        }
        if self.out.counts.unmapped_reads > 0 && !self.answers_unwritten {
            self.failure = Some(SimError::Unmapped {
                offset_bytes: start,
            });
            return;
        }
        // Count one more until the lookup in memory is done.
        self.front.slot_mut(slot).await_all(pending + 1);
        if self.cores.is_on() {
            let done = self.done_for(slot, run.pages, true);
            let what = What::ThroughMemory(in_memory);
            self.hand_over_fetched(Some(slot), what, done, now);
        } else {
            self.look_into_memory(slot, in_memory, now);
        }
        let limit = self.firmware.layout().logical_pages;
        let (from, until) = self
            .cache
            .follow(start, end, run.first.0 + run.pages, limit);
        self.read_ahead(from, until, now);
        if !self.fetched.is_empty() {
            let done = Done {
                other_pages: self.fetched.len() as u64,
                ..Done::default()
            };
            self.hand_over_fetched(None, What::Ahead, done, now);
        }
    }

    /// `pages` of a read come from memory. The read continues if it waits for nothing else.
    #[inline(always)]
    pub(in crate::ssd) fn look_into_memory(&mut self, slot: u32, pages: u32, now: u64) {
        let takes_time = pages > 0 && self.wait_for_memory(slot, pages, now);
        if !takes_time && self.front.slot_mut(slot).has_all() {
            self.send_data(slot, now);
        }
    }

    /// Fetches `page` from the flash, for `slot` or ahead. Returns whether there is anything to
    /// read.
    fn fetch(&mut self, page: u32, slot: Option<u32>, now: u64) -> bool {
        let run = PageRun::whole(Action::Read, Lpn(page), 1);
        self.out.clear();
        if let Err(error) = self.ask_firmware(run) {
            self.failure = Some(error.into());
            return false;
        }
        let Some(&operation) = self.out.operations().first() else {
            return false;
        };
        let is_coming = self.cache.is_coming(page);
        let account = match slot {
            // Only one copy of a page may be on its way into the cache at a time.
            Some(slot) if is_coming => Account::request(slot),
            _ => {
                self.cache.expect(page, slot);
                Account::CACHE
            }
        };
        if self.cores.is_on() {
            self.fetched.push((operation, account));
        } else {
            self.enter_flash(&operation, account, now);
        }
        true
    }

    fn read_ahead(&mut self, from: u32, until: u32, now: u64) {
        // Reading ahead over a page that was never written is not an error of the request.
        let unmapped = self.out.counts.unmapped_reads;
        for page in from..until {
            let is_wanted = self.cache.lacks(page) && !self.buffer.holds(page);
            if is_wanted && self.fetch(page, None, now) {
                self.counters.read_ahead_pages += 1;
            }
        }
        self.out.counts.unmapped_reads = unmapped;
    }

    /// Whether fetching `pages` of a request from memory takes time.
    fn wait_for_memory(&mut self, slot: u32, pages: u32, now: u64) -> bool {
        let bytes = self.front.slot(slot).bytes_of(0, pages);
        let takes_time = self.memory.read(slot, bytes, now);
        if takes_time {
            self.timeline.events.set_side(MEMORY, self.memory.next());
        }
        takes_time
    }

    pub(super) fn memory_event(&mut self, now: u64) {
        let Some(passage) = self.memory.take() else {
            return;
        };
        self.timeline.events.set_side(MEMORY, self.memory.next());
        if let Some(pages) = passage.written {
            return self.passed_memory(passage.slot, pages, passage.since, now);
        }
        let slot = passage.slot;
        let entry = self.front.slot_mut(slot);
        if entry.has_all() {
            entry.end_stage(Part::Buffer, now);
            self.send_data(slot, now);
        }
    }

    /// A page has arrived from the flash in the cache.
    #[inline(never)]
    pub(in crate::ssd) fn page_came(&mut self, page: u32, parts: Parts, now: u64) {
        for slot in self.cache.come(page) {
            let entry = self.front.slot_mut(slot);
            if entry.has_all() {
                entry.add_flash(&parts, now);
                self.send_data(slot, now);
            }
        }
    }
}
