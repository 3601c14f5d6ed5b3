//! The counts at the opening of the measurement window, and the counters at its closing.

use drivelab_ftl::{Cause, Counts, FirmwareError, OwnCounts, PlacedCounts, ZoneCounts};

use crate::host::{FlashCounters, PlacementCounters, ZoneCounters};
use crate::ssd::flash::Work;

/// The counts when the window opened.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// What the firmware had counted, in the built-in counters and under its own names.
    counts: Counts,
    own: OwnCounts,
    /// What it had counted for placement handles; `None` without them.
    placed: Option<PlacedCounts>,
    /// The same for zones.
    zones: Option<ZoneCounts>,
    /// The opening time, in the drive's time and in the host's.
    at: u64,
    at_host: u64,
}

impl Ledger {
    /// The window is open from the beginning, when the firmware has counted `own`.
    pub fn begin(
        &mut self,
        own: OwnCounts,
        placed: Option<PlacedCounts>,
        zones: Option<ZoneCounts>,
    ) {
        *self = Self {
            own,
            placed,
            zones,
            ..Self::default()
        };
    }

    /// Opens the window at a time given in the drive's time and in the host's.
    pub fn open(
        &mut self,
        counts: Counts,
        (own, placed, zones): (OwnCounts, Option<PlacedCounts>, Option<ZoneCounts>),
        (at, at_host): (u64, u64),
    ) {
        *self = Self {
            counts,
            own,
            placed,
            zones,
            at,
            at_host,
        };
    }

    /// Closes the window at `at` and writes into `counters` what flash and firmware did in it.
    pub fn close(&self, counters: &mut FlashCounters, work: Work, counts: &Counts, at: u64) {
        let Work {
            tally,
            units,
            channels,
            retries,
        } = work;
        let worked = at - self.at;
        let share = |busy: u64| match worked {
            0 => 0.0,
            worked => busy as f64 / worked as f64,
        };
        let [reads, [host, collection, wear, map, fold, refresh], erases] = tally.operations;
        counters.page_reads = reads.iter().sum();
        counters.host_page_programs = host;
        counters.collection_page_programs = collection;
        counters.wear_page_programs = wear;
        counters.map_page_reads = reads[Cause::Map as usize];
        counters.map_page_programs = map;
        counters.fold_page_programs = fold;
        counters.refresh_page_programs = refresh;
        counters.block_erases = erases.iter().sum();
        [
            counters.copyback_page_reads,
            counters.copyback_page_programs,
            _,
        ] = tally.copybacks;
        counters.take_firmware(counts, &self.counts);
        counters.retired_blocks = Some(counts.retired_blocks - self.counts.retired_blocks);
        counters.read_retries = retries;
        counters.unit_utilisation_ratio = units.into_iter().map(share).collect();
        counters.channel_utilisation_ratio = channels.into_iter().map(share).collect();
    }

    /// What the firmware has counted since, under its own names.
    ///
    /// # Errors
    /// A count went backwards, or the names changed.
    pub fn own_since(&self, own: &OwnCounts) -> Result<OwnCounts, FirmwareError> {
        own.since(&self.own)
    }

    /// What it has counted for placement handles since.
    pub fn placed_since(&self, placed: &PlacedCounts) -> PlacementCounters {
        let nothing = PlacedCounts::default();
        let since = placed.since(self.placed.as_ref().unwrap_or(&nothing));
        PlacementCounters {
            host_pages: since.host_pages,
            media_pages: since.media_pages,
            unit_switches: since.unit_switches,
            moved_units: since.moved_units,
            empty_units: since.empty_units,
            invalid_pages: since.invalid_pages,
            displaced_pages: since.displaced_pages,
        }
    }

    /// What it has counted for zones since.
    pub fn zones_since(&self, zones: &ZoneCounts) -> ZoneCounters {
        let since = zones.since(&self.zones.unwrap_or_default());
        let [pointer, full, end, active, open, transition, invalid] = since.refused;
        ZoneCounters {
            appends: since.appends,
            resets: since.resets,
            finishes: since.finishes,
            opens: since.opens,
            closes: since.closes,
            drive_closes: since.drive_closes,
            filled_zones: since.filled,
            refused_not_at_pointer: pointer,
            refused_full: full,
            refused_across_end: end,
            refused_too_many_active: active,
            refused_too_many_open: open,
            refused_transition: transition,
            refused_invalid: invalid,
            most_open: since.open_most,
            most_active: since.active_most,
        }
    }

    /// Converts a part of the window to the host's time, in the ratio in which its whole duration
    /// converts. The window closes at `at`.
    pub fn in_host_time(&self, part: u64, at: u64, host_ns: impl FnOnce(u64) -> u64) -> u64 {
        if at == self.at {
            return part;
        }
        let window = host_ns(at) - self.at_host;
        (part as f64 / (at - self.at) as f64 * window as f64).round() as u64
    }
}
