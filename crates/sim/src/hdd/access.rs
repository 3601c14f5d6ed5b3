//! What the mechanism does: one access after another, with reading ahead in between.
//!
//! Reading ahead has no events. Its progress is computed when somebody asks for it. An access ends
//! it at once, unless the access continues where the heads are.

use super::Part;
use super::disk::{Access, Ahead, Hdd, Job, OF_CACHE, SECTOR};
use super::schedule::{Situation, Waiting};

impl Hdd {
    /// Invalidates what the segments hold of the sectors from `first` to before `end`.
    pub(super) fn forget(&mut self, first: u64, end: u64, now: u64) {
        self.settle(now);
        self.segments.invalidate(first, end);
        if let Ahead::Reads(segment) | Ahead::Rests(segment) = self.ahead
            && self.segments.is_unused(segment)
        {
            self.ahead = Ahead::Off;
        }
    }

    /// Resumes reading ahead into a full segment once the host has asked for half of it.
    pub(super) fn read_further(&mut self, segment: usize, now: u64) {
        if self.ahead == Ahead::Rests(segment) && self.segments.has_half_room(segment) {
            self.ahead = Ahead::Reads(segment);
            self.course.at = now;
        }
    }

    /// Advances reading ahead to `now`.
    #[inline(always)]
    pub(super) fn settle(&mut self, now: u64) {
        if let Ahead::Reads(segment) = self.ahead {
            self.read_ahead(segment, now);
        }
    }

    pub(super) fn read_ahead(&mut self, segment: usize, now: u64) {
        let limit = self.segments.ahead_limit(segment);
        let limit = limit.min(self.mechanism.geometry.sectors());
        let before = self.course.sector;
        self.course = self.mechanism.progress(self.course, now, limit);
        self.counters.read_ahead_bytes += (self.course.sector - before) * SECTOR;
        self.segments.extend(segment, self.course.sector);
        if self.course.sector >= limit {
            self.ahead = Ahead::Rests(segment);
        }
    }

    /// Starts the next access if the mechanism is free.
    #[inline(always)]
    pub(super) fn dispatch(&mut self, now: u64) {
        if self.access.is_none() && !(self.waiting.is_empty() && self.writes.is_empty()) {
            self.start_next(now);
        }
    }

    pub(super) fn start_next(&mut self, now: u64) {
        self.settle(now);
        let reads_ahead = matches!(self.ahead, Ahead::Reads(_));
        let angle = self.mechanism.rotation.angle(now);
        let situation = Situation {
            mechanism: &self.mechanism,
            position: self.course.position,
            angle,
            sector: self.course.sector,
            reads_ahead,
        };
        let presses = !self.blocked.is_empty() || !self.flushes.is_empty();
        let picked = if self.writes.is_empty() || !(presses || self.waiting.is_empty()) {
            let place = self.scheduler.pick(&situation, &self.waiting);
            place.map(|place| self.waiting.swap_remove(place))
        } else {
            let window = self.config.scheduling.destage_window.unwrap_or(1) as usize;
            let of_cache = |(id, extent): (u32, &Waiting)| Waiting {
                slot: id | OF_CACHE,
                ..*extent
            };
            self.all_waiting.clear();
            self.all_waiting.extend_from_slice(&self.waiting);
            self.all_waiting
                .extend(self.writes.candidates(window).map(of_cache));
            let place = self.scheduler.pick(&situation, &self.all_waiting);
            place.map(|place| match self.waiting.len() {
                commands if place < commands => self.waiting.swap_remove(place),
                _ => {
                    let extent = self.all_waiting[place];
                    self.writes.take(extent.slot & !OF_CACHE);
                    extent
                }
            })
        };
        let Some(what) = picked else { return };
        let (way, begins) = if reads_ahead && what.sector == self.course.sector && !what.writes {
            (None, self.mechanism.begins(self.course, &what.place))
        } else {
            let position = self.course.position;
            let way = self
                .mechanism
                .approach(position, angle, &what.place, what.writes);
            (Some(way), now + u64::from(way.time()))
        };
        let after = self
            .mechanism
            .transfer(what.sector, what.count, what.place, begins);
        if what.slot & OF_CACHE == 0 {
            let slot = &mut self.slots[what.slot as usize];
            let parts = &mut slot.parts;
            parts[Part::Queueing as usize] += now - slot.since;
            let ready = match way {
                Some(way) => {
                    parts[Part::Seek as usize] += u64::from(way.seek);
                    parts[Part::Rotation as usize] += u64::from(way.rotation);
                    begins
                }
                None => now,
            };
            parts[Part::Transfer as usize] += after.at - ready;
        }
        self.ahead = Ahead::Off;
        self.access = Some(Access {
            what,
            started: now,
            begins,
            after,
        });
    }

    /// Ends the current access.
    pub(super) fn end_access(&mut self, access: Access, now: u64) {
        let Access {
            what,
            started,
            begins,
            after,
        } = access;
        self.course = after;
        self.busy_ns += now - started.max(self.opened_at);
        self.counters.media_bytes += u64::from(what.count) * SECTOR;
        if what.slot & OF_CACHE != 0 {
            self.counters.media_writes += 1;
            self.writes.written();
            self.admit_blocked(now);
            self.end_flushes(now);
        } else if what.writes {
            self.counters.media_writes += 1;
            self.acknowledge(what.slot, now);
        } else {
            self.counters.media_reads += 1;
            let segment = self.segments.fill(what.sector, what.end());
            self.ahead = match segment {
                Some(segment) if self.config.cache.read_ahead => Ahead::Reads(segment),
                _ => Ahead::Off,
            };
            // The link takes sectors as they come, so only the last one is left to cross at the
            // end.
            let bytes = u64::from(self.slots[what.slot as usize].bytes);
            let last = now + self.times.link(bytes.min(SECTOR));
            let end = (self.link_free_at.max(begins) + self.times.link(bytes)).max(last);
            self.link_free_at = end;
            self.link.push_back((end, what.slot, Job::ReadData));
        }
    }
}
