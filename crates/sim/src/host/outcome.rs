//! What a run of the simulator tells.

use super::request_log::RequestLog;
use super::series::Series;
use super::split::{LatencySplit, PartNames};
use crate::hdd::DiskWork;
use crate::ssd::Energy;
use drivelab_ftl::EraseCounts;
use drivelab_request::{BatchMeans, ClosedBy, CommandKind, Counted, Direction, Nanos};

/// The result of a run. A latency runs from submission by the host to completion.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Reads that completed inside the window, of all streams.
    pub read: Counted,
    /// Writes that did.
    pub write: Counted,
    /// Where the latencies went, by [`Direction::index`].
    pub split: [LatencySplit; 2],
    /// What the parts of a latency are called, in their order.
    pub part_names: PartNames,
    /// Every stream, in the order of the load.
    pub streams: Vec<StreamOutcome>,
    /// What completed when, if [`Plan::series_interval`](super::Plan) asked for it.
    pub series: Option<Series>,
    /// Its requests by themselves, if [`Plan::log_requests`](super::Plan) asked for them.
    pub log: Option<RequestLog>,
    /// All commands of all streams, in batches.
    pub batches: BatchMeans,
    /// What closed the window.
    pub closed_by: Option<ClosedBy>,
    /// Length of the measurement window.
    pub window: Nanos,
    /// Requests completed before the window, in it, and after it while the
    /// drive drained.
    pub warmup_requests: u64,
    /// See `warmup_requests`.
    pub measured_requests: u64,
    /// See `warmup_requests`.
    pub drained_requests: u64,
    /// Page programs for the host inside the window.
    pub host_programs: u64,
    /// Page programs for collection inside the window.
    pub collection_programs: u64,
    /// Page programs of the whole run, warm-up and draining included.
    pub all_programs: u64,
    /// Page programs for wear levelling inside the window.
    pub wear_programs: u64,
    /// Page programs of a map that lies on the flash, inside the window.
    pub map_programs: u64,
    /// Page programs that folded SLC blocks into dense ones, inside the window.
    pub fold_programs: u64,
    /// Page reads of the map.
    pub map_reads: u64,
    /// Of the programs for collection and wear levelling inside the window, those whose data
    /// stayed in its plane's page register.
    pub copyback_programs: u64,
    /// The reads of such moves.
    pub copyback_reads: u64,
    /// Page reads inside the window.
    pub page_reads: u64,
    /// Times that a page was sensed again inside the window; `None` where wear changes no times.
    pub read_retries: Option<u64>,
    /// Blocks erased inside the window.
    pub erases: u64,
    /// Blocks that the firmware finished to collect inside the window, those that it
    /// emptied to level wear apart. It counts when it emits operations, the numbers above
    /// count when the flash has executed them.
    pub collections: u64,
    /// Valid pages that it moved for collections, likewise.
    pub collection_moves: u64,
    /// Valid pages that it moved to level wear, likewise.
    pub wear_moves: u64,
    /// Blocks that became bad, likewise; `None` where none does.
    pub retired_blocks: Option<u64>,
    /// Blocks that were bad when the run was over; `None` where none ever is.
    pub bad_blocks: Option<u32>,
    /// Merges of a drive that maps blocks, likewise: those that copied nothing ...
    pub switch_merges: u64,
    /// ... those that copied what follows the log, ...
    pub partial_merges: u64,
    /// ... and those that copied pages together. None of a drive that maps pages.
    pub full_merges: u64,
    /// Map entries asked for inside the window that were in the controller's memory, where
    /// the map lies on the flash ...
    pub map_hits: u64,
    /// ... and those that were not.
    pub map_misses: u64,
    /// Pages that the host wrote inside the window without a program of their own, where a
    /// drive compresses: packed with others ...
    pub packed_pages: u64,
    /// ... or nothing but zeroes, which take no place.
    pub zero_pages: u64,
    /// Pages read from the write buffer inside the window.
    pub buffer_hits: u64,
    /// Pages written inside the window that replaced one gathered in the write buffer.
    pub coalesced_pages: u64,
    /// Pages that reads found in the read cache or on their way into it, inside the window.
    pub cache_hits: u64,
    /// Pages that reads did not find there; 0 without a read cache.
    pub cache_misses: u64,
    /// Pages read ahead inside the window.
    pub read_ahead_pages: u64,
    /// Share of the window in which each channel transferred, 0 to 1.
    pub channel_utilisation: Vec<f64>,
    /// Share of the window in which each die (or plane, in plane mode) worked
    /// or waited for its channel with an operation in hand, 0 to 1.
    pub unit_utilisation: Vec<f64>,
    /// How often blocks were erased, when the run was over and the drive drained; `None`
    /// of a firmware that does not tell.
    pub erase_counts: Option<EraseCounts>,
    /// What a hard disk did; `None` of other drives. Of a disk everything above that is about
    /// pages, blocks, channels and units is nothing.
    pub disk: Option<DiskWork>,
    /// What the window took of the power supply, where the preset knows.
    pub energy: Option<Energy>,
    /// What each member of an array did; empty of other drives.
    pub members: Vec<Outcome>,
    /// How much longer than the preset says everything took, the mean of the window where
    /// that changes in the course of a run; 1 if the preset has no variability.
    pub variability_factor: f64,
}

/// Commands of one stream and kind that completed inside the window.
#[derive(Clone, Debug, Default)]
pub struct CommandOutcome {
    /// How many, their bytes and their latencies.
    pub counted: Counted,
    /// Where the latencies went.
    pub split: LatencySplit,
}

/// What became of one stream.
#[derive(Clone, Debug, Default)]
pub struct StreamOutcome {
    /// Its name.
    pub name: String,
    /// By [`CommandKind::index`].
    pub commands: [CommandOutcome; CommandKind::ALL.len()],
    /// Commands it submitted, before, in and after the window; all completed.
    pub submitted: u64,
}

impl Outcome {
    /// Takes the counts of every stream, and their sums.
    pub(crate) fn set_streams(&mut self, streams: Vec<StreamOutcome>) {
        for direction in Direction::ALL {
            let mut counted = Counted::default();
            let split = &mut self.split[direction.index()];
            for stream in &streams {
                let of_stream = &stream.commands[direction.index()];
                counted.merge(&of_stream.counted);
                split.merge(&of_stream.split);
            }
            match direction {
                Direction::Read => self.read = counted,
                Direction::Write => self.write = counted,
            }
        }
        self.streams = streams;
    }

    /// Takes what `flash` tells of a drive's flash; what is told of requests stays.
    pub(crate) fn take_flash(&mut self, flash: Self) {
        let requests = std::mem::take(self);
        *self = Self {
            read: requests.read,
            write: requests.write,
            split: requests.split,
            part_names: requests.part_names,
            streams: requests.streams,
            series: requests.series,
            log: requests.log,
            batches: requests.batches,
            closed_by: requests.closed_by,
            window: requests.window,
            warmup_requests: requests.warmup_requests,
            measured_requests: requests.measured_requests,
            drained_requests: requests.drained_requests,
            members: requests.members,
            variability_factor: requests.variability_factor,
            ..flash
        };
    }

    /// Requests of one direction.
    #[must_use]
    pub fn of(&self, direction: Direction) -> &Counted {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }

    /// Flash page programs inside the window, whatever for.
    #[must_use]
    pub fn programs(&self) -> u64 {
        let own = self.collection_programs + self.wear_programs + self.map_programs;
        self.host_programs + own + self.fold_programs
    }

    /// Pages that the host wrote to the flash: programmed for it, or saved by compression.
    #[must_use]
    pub fn host_pages(&self) -> u64 {
        self.host_programs + self.packed_pages + self.zero_pages
    }

    /// Flash page programs over host page writes; `None` without writes.
    #[must_use]
    pub fn write_amplification(&self) -> Option<f64> {
        let (programs, pages) = (self.programs(), self.host_pages());
        (pages > 0).then(|| programs as f64 / pages as f64)
    }
}
