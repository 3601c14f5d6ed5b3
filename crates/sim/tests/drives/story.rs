//! What the oracle saw, compared with the results of the simulator.

use drivelab_ftl::{Cause, OperationKind};
use drivelab_request::{Command, CommandKind, Direction, Histogram};
use drivelab_sim::ssd::{Outcome, PARTS, Part};

use super::ledger::Ledger;

use crate::counted::flash;

/// Something that the window may count, in order of occurrence.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// A flash operation was completed.
    Operation(OperationKind, Cause),
    /// A page was read from the write buffer.
    Hit,
    /// A page was written over one gathered in the buffer.
    Coalesced,
    /// The window opened.
    Opened,
    /// The window closed.
    Closed,
    /// A request was completed.
    Completion {
        /// The request.
        request: Command,
        /// Its stream.
        stream: usize,
        /// Time since its submission, ns.
        latency: u64,
        /// Its parts, by [`drivelab_sim::ssd::Part`], ns.
        parts: [u64; PARTS],
        /// Its time.
        at: u64,
    },
}

/// Everything that happened in a run.
pub struct Story {
    pub ledger: Ledger,
    pub journal: Vec<Entry>,
    /// For every unit, when it was busy.
    pub unit_busy: Vec<Vec<(u64, u64)>>,
    /// For every channel, when it transferred.
    pub channel_busy: Vec<Vec<(u64, u64)>>,
    /// When cores worked, for all of them together.
    pub core_busy: Vec<(u64, u64)>,
}

impl Story {
    /// Request, latency and time of every completion, in order.
    pub fn completions(&self) -> Vec<(Command, u64, u64)> {
        let completion = |entry: &Entry| match *entry {
            Entry::Completion {
                request,
                latency,
                at,
                ..
            } => Some((request, latency, at)),
            _ => None,
        };
        self.journal.iter().filter_map(completion).collect()
    }

    /// Panics at the first quantity in which `outcome` differs.
    pub fn assert_agrees(&self, outcome: &Outcome) {
        let completions = self.completions();
        let (opened, warmup) = self.ledger.opened.unwrap();
        let (closed, end, by) = self.ledger.closed.unwrap();
        assert_eq!(outcome.window.0, closed - opened, "window");
        assert_eq!(outcome.closed_by, Some(by));
        assert_eq!(outcome.warmup_requests as usize, warmup);
        assert_eq!(outcome.measured_requests as usize, end - warmup);
        assert_eq!(outcome.drained_requests as usize, completions.len() - end);
        for direction in Direction::ALL {
            let mut latency = Histogram::new();
            let mut bytes = 0;
            for (request, nanos, _) in &completions[warmup..end] {
                if request.kind == CommandKind::from(direction) {
                    latency.record(*nanos);
                    bytes += u64::from(request.size_bytes);
                }
            }
            assert_eq!(outcome.of(direction).bytes, bytes, "bytes, {direction}");
            let found = &outcome.of(direction).latency;
            assert_eq!(found.sum_ns(), latency.sum_ns(), "{direction}");
            assert!(*found == latency, "histogram, {direction}");
        }
        self.assert_counts(outcome);
        self.assert_split(outcome);
        self.assert_streams(outcome);
        self.assert_half_width(outcome);
        let share = |intervals: &Vec<(u64, u64)>| {
            let inside = |&(from, to): &(u64, u64)| to.min(closed).saturating_sub(from.max(opened));
            let busy: u64 = intervals.iter().map(inside).sum();
            busy as f64 / (closed - opened).max(1) as f64
        };
        let counters = flash(outcome);
        let inside = |&(from, to): &(u64, u64)| to.min(closed).saturating_sub(from.max(opened));
        let worked: u64 = self.core_busy.iter().map(inside).sum();
        assert_eq!(counters.core_busy_ns, worked, "cores");
        let units: Vec<f64> = self.unit_busy.iter().map(share).collect();
        assert_eq!(counters.unit_utilisation_ratio, units, "units");
        let channels: Vec<f64> = self.channel_busy.iter().map(share).collect();
        assert_eq!(counters.channel_utilisation_ratio, channels, "channels");
    }

    fn assert_counts(&self, outcome: &Outcome) {
        let (mut counts, mut hits, mut coalesced) = (0, 0, 0);
        let (mut reads, mut host, mut collection, mut wear, mut erases) = (0, 0, 0, 0, 0);
        let (mut map_reads, mut map_programs, mut folds, mut refreshed) = (0, 0, 0, 0);
        for entry in &self.journal {
            if let Entry::Operation(OperationKind::Read, Cause::Map) = entry {
                map_reads += counts;
            }
            match entry {
                Entry::Operation(OperationKind::Program, Cause::Fold) => folds += counts,
                Entry::Operation(OperationKind::Program, Cause::Refresh) => refreshed += counts,
                Entry::Operation(OperationKind::Program, Cause::Map) => map_programs += counts,
                Entry::Operation(OperationKind::Read, _) => reads += counts,
                Entry::Operation(OperationKind::Program, Cause::Host) => host += counts,
                Entry::Operation(OperationKind::Program, Cause::Collection) => collection += counts,
                Entry::Operation(OperationKind::Program, Cause::Wear) => wear += counts,
                Entry::Operation(OperationKind::Erase, _) => erases += counts,
                Entry::Hit => hits += counts,
                Entry::Coalesced => coalesced += counts,
                Entry::Completion { .. } => {}
                Entry::Opened => counts = 1,
                Entry::Closed => counts = 0,
            }
        }
        let counters = flash(outcome);
        assert_eq!(counters.page_reads, reads, "page reads");
        assert_eq!(counters.host_page_programs, host, "programs for the host");
        assert_eq!(
            counters.collection_page_programs, collection,
            "programs to collect"
        );
        assert_eq!(counters.wear_page_programs, wear, "programs to level wear");
        assert_eq!(
            counters.refresh_page_programs, refreshed,
            "programs to refresh"
        );
        let of_map = (counters.map_page_reads, counters.map_page_programs);
        assert_eq!(
            of_map,
            (map_reads, map_programs),
            "reads and programs of the map"
        );
        assert_eq!(counters.fold_page_programs, folds, "programs to fold");
        assert_eq!(counters.block_erases, erases, "erases");
        assert_eq!(counters.buffer_hit_pages, hits, "buffer hits");
        assert_eq!(counters.coalesced_pages, coalesced, "coalesced");
    }

    fn assert_split(&self, outcome: &Outcome) {
        let (_, warmup) = self.ledger.opened.unwrap();
        let (_, end, _) = self.ledger.closed.unwrap();
        let completion = |entry: &Entry| match *entry {
            Entry::Completion {
                request,
                latency,
                parts,
                ..
            } => Some((request, latency, parts)),
            _ => None,
        };
        let all: Vec<_> = self.journal.iter().filter_map(completion).collect();
        for direction in Direction::ALL {
            let (mut sum_ns, mut max_ns) = ([0; PARTS], [0; PARTS]);
            for (request, latency, parts) in &all[warmup..end] {
                assert_eq!(parts.iter().sum::<u64>(), *latency);
                if request.kind == CommandKind::from(direction) {
                    for (part, &nanos) in parts.iter().enumerate() {
                        sum_ns[part] += nanos;
                        max_ns[part] = nanos.max(max_ns[part]);
                    }
                }
            }
            let found = &outcome.split[direction.index()];
            assert_eq!(found.sum_ns, sum_ns, "parts, {direction}");
            assert_eq!(found.max_ns, max_ns, "largest parts, {direction}");
        }
    }

    /// Compares what each stream counted: numbers, bytes, latencies and their parts.
    fn assert_streams(&self, outcome: &Outcome) {
        let (_, warmup) = self.ledger.opened.unwrap();
        let (_, end, _) = self.ledger.closed.unwrap();
        let mut submitted = vec![0; outcome.streams.len()];
        let mut place = 0;
        let mut sums = vec![[[0_u64; 3]; CommandKind::ALL.len()]; outcome.streams.len()];
        for entry in &self.journal {
            let Entry::Completion {
                request,
                stream,
                parts,
                ..
            } = *entry
            else {
                continue;
            };
            submitted[stream] += 1;
            if (warmup..end).contains(&place) {
                let sum = &mut sums[stream][request.kind.index()];
                sum[0] += 1;
                sum[1] += u64::from(request.size_bytes);
                sum[2] += parts[Part::Queueing as usize];
            }
            place += 1;
        }
        for (index, stream) in outcome.streams.iter().enumerate() {
            assert_eq!(stream.submitted, submitted[index], "submitted");
            for kind in CommandKind::ALL {
                let found = &stream.commands[kind.index()];
                let count = found.counted.latency.count();
                let queueing = found.split.sum_ns[Part::Queueing as usize];
                let found = [count, found.counted.bytes, queueing];
                assert_eq!(found, sums[index][kind.index()], "stream {index}");
            }
        }
    }

    fn assert_half_width(&self, outcome: &Outcome) {
        assert_eq!(
            outcome.batches.requests() as usize,
            self.ledger.counted().len()
        );
        let found = outcome.batches.latency_batches().half_width_ns;
        match (found, self.ledger.half_width()) {
            (Some(found), Some(plain)) => {
                assert!((found - plain).abs() <= 1e-5 * plain, "{found} {plain}");
            }
            (found, plain) => assert_eq!(found, plain, "half-width"),
        }
    }
}
