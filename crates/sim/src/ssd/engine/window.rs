//! What the flash did while the measurement window was open.

use drivelab_ftl::{Cause, Firmware, FirmwareError, OwnCounts};

use crate::event::EventKey;
use crate::host::{FlashCounters, Media};
use crate::ssd::engine::Engine;
use crate::ssd::flash::Work;

impl<F: Firmware> Engine<F> {
    /// The window opens at `at`, when everything up to `served` has happened.
    pub(in crate::ssd) fn open_account(&mut self, at: u64, served: EventKey) {
        self.counts_before = self.out.counts;
        self.own_before = self.own_counts();
        self.counters = FlashCounters {
            page_programs: self.flash.open_window(at, served, &mut self.timeline),
            ..FlashCounters::default()
        };
        self.cores.open_window(at);
        self.opened_at = at;
        self.opened_at_host = self.users.clock.host_ns(at);
    }

    /// It closes at `at`, when everything up to `served` has happened: the outcome is told
    /// what the flash did in it.
    pub(in crate::ssd) fn close_account(&mut self, at: u64, served: EventKey) {
        let Work {
            tally,
            units,
            channels,
            retries,
        } = self.flash.close_window(at, served, &mut self.timeline);
        let worked = at - self.opened_at;
        let share = |busy: u64| match worked {
            0 => 0.0,
            worked => busy as f64 / worked as f64,
        };
        let [reads, [host, collection, wear, map, fold], erases] = tally.operations;
        let mut counters = std::mem::take(&mut self.counters);
        counters.page_reads = reads.iter().sum();
        counters.host_page_programs = host;
        counters.collection_page_programs = collection;
        counters.wear_page_programs = wear;
        counters.map_page_reads = reads[Cause::Map as usize];
        counters.map_page_programs = map;
        counters.fold_page_programs = fold;
        counters.block_erases = erases.iter().sum();
        let busy = self.cores.close_window(at);
        counters.core_busy_ns = self.in_host_time(busy, at);
        [
            counters.copyback_page_reads,
            counters.copyback_page_programs,
            _,
        ] = tally.copybacks;
        let (counts, before) = (&self.out.counts, &self.counts_before);
        counters.take_firmware(counts, before);
        let retired_blocks = counts.retired_blocks - before.retired_blocks;
        counters.retired_blocks = self.firmware.bad_blocks().map(|_| retired_blocks);
        counters.read_retries = retries;
        counters.unit_utilisation_ratio = units.into_iter().map(share).collect();
        counters.channel_utilisation_ratio = channels.into_iter().map(share).collect();
        self.outcome.media = Media::Flash(Box::new(counters));
        match self.own_counts().since(&self.own_before) {
            Ok(counted) => self.outcome.own_counts = counted.0,
            Err(error) => self.fail(error),
        }
    }

    /// A part of the window that closes at `at`, in the host's time, as its duration is.
    fn in_host_time(&mut self, part: u64, at: u64) -> u64 {
        let clock = &mut self.users.clock;
        if !clock.differs() || at == self.opened_at {
            return part;
        }
        let window = clock.host_ns(at) - self.opened_at_host;
        (part as f64 / (at - self.opened_at) as f64 * window as f64).round() as u64
    }

    /// What the firmware counts by names of its own.
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
