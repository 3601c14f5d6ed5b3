//! What the flash did while the measurement window was open.

use drivelab_ftl::{Firmware, FirmwareError, OwnCounts};

use crate::event::EventKey;
use crate::host::{FlashCounters, Media};
use crate::ssd::engine::Engine;

impl<F: Firmware> Engine<F> {
    /// Opens the window at `at`. Everything up to `served` has happened.
    pub(in crate::ssd) fn open_account(&mut self, at: u64, served: EventKey) {
        let own = self.own_counts();
        let at_host = self.users.clock.host_ns(at);
        let placed = self.firmware.placed_counts().cloned();
        let zones = self.firmware.zone_counts().copied();
        self.firmware.watch_zones();
        (self.ledger).open(self.out.counts, (own, placed, zones), (at, at_host));
        self.counters = FlashCounters {
            page_programs: self.flash.open_window(at, served, &mut self.timeline),
            ..FlashCounters::default()
        };
        self.cores.open_window(at);
        if let Some(namespaces) = &mut self.namespaces {
            namespaces.reset();
        }
    }

    /// Closes the window at `at`. Everything up to `served` has happened. Writes what the flash did
    /// into the outcome.
    pub(in crate::ssd) fn close_account(&mut self, at: u64, served: EventKey) {
        let work = (self.flash).close_window(at, served, &mut self.timeline);
        let mut counters = std::mem::take(&mut self.counters);
        (self.ledger).close(&mut counters, work, &self.out.counts, at);
        if self.firmware.bad_blocks().is_none() {
            counters.retired_blocks = None;
        }
        let busy = self.cores.close_window(at);
        let clock = &mut self.users.clock;
        counters.core_busy_ns = if clock.differs() {
            (self.ledger).in_host_time(busy, at, |at| clock.host_ns(at))
        } else {
            busy
        };
        counters.overdue_blocks = self.overdue_blocks(at);
        let placed = self.firmware.placed_counts();
        self.outcome.placement = placed.map(|placed| self.ledger.placed_since(placed));
        let zones = self.firmware.zone_counts();
        self.outcome.zones = zones.map(|zones| self.ledger.zones_since(zones));
        let namespaces = self.namespaces.as_ref();
        self.outcome.namespaces = namespaces.map(|namespaces| namespaces.counters());
        self.outcome.media = Media::Flash(Box::new(counters));
        let own = self.own_counts();
        match self.ledger.own_since(&own) {
            Ok(counted) => self.outcome.own_counts = counted.0,
            Err(error) => self.fail(error),
        }
    }

    /// Blocks with data that should have been refreshed.
    fn overdue_blocks(&self, at: u64) -> u64 {
        let has_data = |&block: &u32| self.firmware.data_pages(block) != Some(0);
        let refreshing = self.refreshing.as_ref();
        let overdue = refreshing.map(|blocks| blocks.overdue(at).filter(has_data).count());
        overdue.map_or(0, |blocks| blocks as u64)
    }

    /// What the firmware counts under its own names.
    pub(in crate::ssd) fn own_counts(&mut self) -> OwnCounts {
        self.firmware.own_counts().unwrap_or_else(|error| {
            self.fail(error);
            OwnCounts::default()
        })
    }

    fn fail(&mut self, error: FirmwareError) {
        self.failure.get_or_insert(error.into());
    }
}
