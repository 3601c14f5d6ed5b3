//! What the flash did while the measurement window was open.

use drivelab_ftl::{Cause, Firmware, OperationKind};

use super::engine::{Engine, Tally};
use crate::event::EventKey;

impl<F: Firmware> Engine<F> {
    /// The window opens at `at`, when everything up to `served` has happened.
    pub(super) fn open_account(&mut self, at: u64, served: EventKey) {
        self.counts_before = self.out.counts;
        self.settle_channels(at);
        self.count_copybacks_until(served);
        let mut early = Tally::default();
        for cause in self.counted_early(served) {
            early.operations[OperationKind::Read as usize][cause as usize] += 1;
        }
        self.outcome.all_programs = self.tally.programs();
        self.tally = early;
        self.flash.open_window(at);
        self.opened_at = at;
    }

    /// It closes at `at`, when everything up to `served` has happened: the outcome is told
    /// what the flash did in it.
    pub(super) fn close_account(&mut self, at: u64, served: EventKey) {
        self.settle_channels(at);
        self.count_copybacks_until(served);
        let (units, channels) = self.flash.close_window(at);
        let worked = at - self.opened_at;
        let share = |busy: u64| match worked {
            0 => 0.0,
            worked => busy as f64 / worked as f64,
        };
        let mut tally = self.tally;
        for cause in self.counted_early(served) {
            tally.operations[OperationKind::Read as usize][cause as usize] -= 1;
        }
        let outcome = &mut self.outcome;
        let [
            reads,
            [
                host_programs,
                collection_programs,
                wear_programs,
                map_programs,
                fold_programs,
            ],
            erases,
        ] = tally.operations;
        outcome.page_reads = reads.iter().sum();
        outcome.host_programs = host_programs;
        outcome.collection_programs = collection_programs;
        outcome.wear_programs = wear_programs;
        outcome.map_reads = reads[Cause::Map as usize];
        outcome.map_programs = map_programs;
        outcome.fold_programs = fold_programs;
        outcome.erases = erases.iter().sum();
        let (counts, before) = (&self.out.counts, &self.counts_before);
        outcome.collections = counts.collections - before.collections;
        outcome.collection_moves = counts.moves - before.moves;
        outcome.wear_moves = counts.wear_moves - before.wear_moves;
        outcome.retired_blocks = self
            .firmware
            .bad_blocks()
            .map(|_| counts.retired_blocks - before.retired_blocks);
        outcome.switch_merges = counts.switch_merges - before.switch_merges;
        outcome.partial_merges = counts.partial_merges - before.partial_merges;
        outcome.full_merges = counts.full_merges - before.full_merges;
        outcome.map_hits = counts.map_hits - before.map_hits;
        outcome.map_misses = counts.map_misses - before.map_misses;
        outcome.packed_pages = counts.packed_pages - before.packed_pages;
        outcome.zero_pages = counts.zero_pages - before.zero_pages;
        [outcome.copyback_reads, outcome.copyback_programs, _] = tally.copybacks;
        outcome.buffer_hits = tally.buffer_hits;
        outcome.coalesced_pages = tally.coalesced;
        outcome.cache_hits = tally.cache_hits;
        outcome.cache_misses = tally.cache_misses;
        outcome.read_ahead_pages = tally.read_ahead;
        outcome.read_retries = self.timing.ageing.as_ref().map(|_| tally.read_retries);
        outcome.unit_utilisation = units.into_iter().map(share).collect();
        outcome.channel_utilisation = channels.into_iter().map(share).collect();
    }
}
