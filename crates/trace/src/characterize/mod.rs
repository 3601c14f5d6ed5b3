//! What a trace asks of a drive, in one pass and bounded memory.
//!
//! ```text
//!   Trace ─> batches ─> Characterizer::add ─> streams    how each request follows others
//!                                             tally      counts, bytes, orders
//!                                             arrivals   gaps, how requests gather
//!                                             sizes      how large
//!                                             depth      what is outstanding
//!                                             service    response, Q2D, D2C
//!                                             reuse      footprint, reuse distances
//!                                             heat       addresses over time
//!                                             windows    the same, a row a window
//!            Characterizer::finish ─> Characterized
//! ```
//!
//! The eight characteristics are those of Huang et al. 2011, equation 4. Counts, bytes, times and
//! values computed from them are exact. Sequentiality is judged with a bounded table ([`streams`]).
//! For a large trace, footprint and reuse are those of a sample ([`reuse`]).
//!
//! [`streams`]: self::MOST_STREAMS [`reuse`]: self::MOST_BLOCKS

mod arrivals;
mod depth;
mod heat;
mod reuse;
mod sample;
mod service;
mod sizes;
mod streams;
mod tally;
mod windows;

pub use arrivals::{Arrivals, Counted, Gaps, SCALES_NS};
pub use depth::{Busy, Depth, MOST_OUTSTANDING};
pub use heat::{COLUMNS, HeatMap, ROWS};
pub use reuse::{Footprint, MOST_BLOCKS, Reuse};
pub use sample::BLOCK_BYTES;
pub use service::Service;
pub use sizes::{MOST_SIZES, Sizes};
pub use streams::{DISTANCES, MOST_STREAMS, MOST_STRIDE_BYTES, RUN_BINS, Runs, TABLES};
pub use tally::{Orders, Tally};
pub use windows::{COUNTED_NS, MOST_WINDOWS, Times, Window};

use crate::error::TraceError;
use crate::record::{Operation, Record};
use sample::hash_of;
use streams::Streams;
use windows::Windows;

/// This many devices have heat maps of their own: the first that appear.
pub const MOST_HEAT_MAPS: usize = 32;
/// Only this many bytes of a larger request count for footprint and reuse.
pub const MOST_COUNTED_BYTES: u64 = 64 << 20;

/// One device of a trace.
#[derive(Clone, Debug, Default)]
pub struct DeviceTotals {
    /// Its requests.
    pub tally: Tally,
    /// The number of known response times of its reads and writes, and their sum, ns.
    pub responses: u64,
    /// See `responses`.
    pub response_ns: u128,
    /// The end of the last requested byte.
    pub end_bytes: u64,
    /// The times of its first and last request, ns.
    pub first_ns: u64,
    /// See `first_ns`.
    pub last_ns: u64,
}

/// A trace being characterized.
#[derive(Debug)]
pub struct Characterizer {
    streams: Streams,
    windows: Option<Windows>,
    found: Characterized,
}

/// What a trace asks of a drive. Arrays of two entries are for reads and writes.
#[derive(Debug, Default)]
pub struct Characterized {
    /// Counts, bytes, and how requests follow one another.
    pub tally: Tally,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// How large they are.
    pub sizes: [Sizes; 2],
    /// How long streams are, and how many are interleaved.
    pub runs: [Runs; 2],
    /// How many are outstanding.
    pub depth: Depth,
    /// How long they take.
    pub service: [Service; 2],
    /// Footprint and reuse.
    pub reuse: Reuse,
    /// Requests of which only the first [`MOST_COUNTED_BYTES`] count in `reuse`.
    pub cut_for_reuse: u64,
    /// Where requests go, for all devices together.
    pub heat: HeatMap,
    /// Where requests go, for the devices that appear first.
    pub device_heat: Vec<HeatMap>,
    /// Every device, in order of appearance.
    pub devices: Vec<DeviceTotals>,
    /// Every window with a request, if windows were requested.
    pub windows: Vec<Window>,
}

impl Characterizer {
    /// Begins, with windows of `window_ns` (above 0) or without windows.
    ///
    /// # Errors
    ///
    /// [`TraceError::Option`] for windows of length 0.
    pub fn new(window_ns: Option<u64>) -> Result<Self, TraceError> {
        if window_ns == Some(0) {
            return Err(TraceError::Option {
                name: crate::words::WINDOW,
                value: "0".to_owned(),
                allowed: "1 ns or more",
            });
        }
        Ok(Self {
            streams: Streams::default(),
            windows: window_ns.map(Windows::new),
            found: Characterized::default(),
        })
    }

    /// Counts the next requests of a trace, in order of arrival.
    ///
    /// # Errors
    ///
    /// [`TraceError::TooManyWindows`] if more windows contain requests than are kept.
    pub fn add(&mut self, records: &[Record]) -> Result<(), TraceError> {
        records.iter().try_for_each(|record| self.count(record))
    }

    fn count(&mut self, record: &Record) -> Result<(), TraceError> {
        let at_ns = record.arrival_ns;
        self.end_windows(at_ns)?;
        let direction = record.operation.index();
        let place = record
            .operation
            .moves_data()
            .then(|| self.streams.place(record, direction));
        let found = &mut self.found;
        let gap_ns = found.arrivals.count(at_ns);
        found.depth.arrive(at_ns, record.device, record.response_ns);
        found.tally.count(record, place.as_ref());
        found.device(record).count(record, place.as_ref());
        if let Some(windows) = &mut self.windows {
            windows.count(record, place.as_ref(), gap_ns);
        }
        if place.is_some() {
            found.sizes[direction].count(record.size_bytes);
            found.service[direction].count(record);
            found.draw(record, direction);
            found.access(record, direction, self.windows.as_mut());
        }
        Ok(())
    }

    /// Ends the current window if a request arrives after it.
    fn end_windows(&mut self, at_ns: u64) -> Result<(), TraceError> {
        let Some(windows) = &mut self.windows else {
            return Ok(());
        };
        let Some(end_ns) = windows.end_before(at_ns) else {
            return Ok(());
        };
        let found = &mut self.found;
        found.depth.go_to(end_ns);
        windows.end(end_ns, at_ns, found.depth.whole(), found.reuse.blocks())?;
        found.depth.go_to(windows.begin_ns());
        if let Some(busy) = found.depth.whole() {
            windows.begin_busy(busy);
        }
        Ok(())
    }

    /// Ends the trace.
    ///
    /// # Errors
    ///
    /// As [`Characterizer::add`].
    pub fn finish(mut self) -> Result<Characterized, TraceError> {
        let mut found = self.found;
        if let (Some(mut windows), Some(last_ns)) = (self.windows.take(), found.arrivals.last_ns())
        {
            found.depth.go_to(last_ns);
            windows.end(last_ns, last_ns, found.depth.whole(), found.reuse.blocks())?;
            found.windows = windows.rows();
        }
        found.depth.finish();
        found.runs = self.streams.finish();
        found.sizes.iter_mut().for_each(Sizes::finish);
        Ok(found)
    }
}

impl Characterized {
    /// The indices of the busiest devices, at most `most`, and the sum of all others.
    #[must_use]
    pub fn busiest(&self, most: usize) -> (Vec<usize>, Tally) {
        let mut places: Vec<usize> = (0..self.devices.len()).collect();
        // Ties keep the order of appearance.
        places.sort_by_key(|&place| std::cmp::Reverse(self.devices[place].tally.all_requests()));
        let mut others = Tally::default();
        for &place in places.iter().skip(most) {
            others.merge(&self.devices[place].tally);
        }
        places.truncate(most);
        (places, others)
    }

    fn device(&mut self, record: &Record) -> &mut DeviceTotals {
        let place = record.device as usize;
        if self.devices.len() <= place {
            self.devices.resize_with(place + 1, DeviceTotals::default);
        }
        &mut self.devices[place]
    }

    fn draw(&mut self, record: &Record, direction: usize) {
        let place = record.device as usize;
        let (at_ns, offset_bytes) = (record.arrival_ns, record.offset_bytes);
        self.heat.count(at_ns, offset_bytes, direction);
        if place < MOST_HEAT_MAPS {
            if self.device_heat.len() <= place {
                self.device_heat.resize_with(place + 1, HeatMap::default);
            }
            self.device_heat[place].count(at_ns, offset_bytes, direction);
        }
    }

    fn access(&mut self, record: &Record, direction: usize, mut windows: Option<&mut Windows>) {
        let bytes = record.size_bytes.min(MOST_COUNTED_BYTES);
        self.cut_for_reuse += u64::from(bytes < record.size_bytes);
        // Reads and writes have at least one byte.
        let last = (record.offset_bytes + bytes - 1) / BLOCK_BYTES;
        for block in record.offset_bytes / BLOCK_BYTES..=last {
            let hash = hash_of(record.device, block);
            self.reuse.access(hash, direction);
            if let Some(windows) = &mut windows {
                windows.access(hash);
            }
        }
    }
}

impl DeviceTotals {
    fn count(&mut self, record: &Record, place: Option<&streams::Place>) {
        if self.tally.all_requests() == 0 {
            self.first_ns = record.arrival_ns;
        }
        self.last_ns = record.arrival_ns;
        self.tally.count(record, place);
        if record.operation == Operation::Read || record.operation == Operation::Write {
            // Checked when the request was read.
            self.end_bytes = self.end_bytes.max(record.offset_bytes + record.size_bytes);
            if record.response_ns != crate::record::UNKNOWN {
                self.responses += 1;
                self.response_ns += u128::from(record.response_ns);
            }
        }
    }
}
