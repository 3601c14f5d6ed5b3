//! The questions of the page.

use drivelab_request::{HalfWidth, Nanos, WindowPlan};
use drivelab_sim::host::{Settling, Writing};
use drivelab_workload::{Characteristics, Requests, Source, Stream};
use serde::Deserialize;

/// From this size on, in bytes, random writes settle a drive in larger pieces, as in
/// `drivelab.drives.write_pattern`.
const LARGE_BYTES: u32 = 64 << 10;
/// Piece sizes for settling a drive: for large random writes, and for small ones.
const PIECE_BYTES: [u32; 2] = [128 << 10, 4 << 10];

/// A question.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask", deny_unknown_fields)]
pub enum Question {
    /// Which presets exist, and the values of each that can be changed.
    Presets,
    /// The drive that results from a preset with changes, without a measurement.
    Drive {
        /// The drive.
        drive: Changed,
    },
    /// One measurement.
    Measure {
        /// The drive.
        drive: Changed,
        /// The workload.
        workload: Workload,
        /// The window.
        window: Window,
    },
}

/// A preset and its changes. Values that are not given stay.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The name of a preset of the package.
    pub preset: String,
    /// Channels.
    pub channels: Option<u32>,
    /// Chip positions on a channel.
    pub ways_per_channel: Option<u32>,
    /// Mean time to read a page from the cells; types of pages keep their proportions.
    pub read_cell_ns: Option<u64>,
    /// Mean time to program a page; types of pages keep their proportions.
    pub program_cell_ns: Option<u64>,
    /// Over-provisioning: the flash's capacity over what the host sees, less one.
    pub over_provisioning_ratio: Option<f64>,
    /// Approximate number of flash pages simulated; the drive is scaled down to it.
    pub most_pages: u32,
}

/// A closed loop of reads and writes of one size over the whole drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Fraction of the requests that write, 0 to 1.
    pub write_ratio: f64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Bytes of a request.
    pub size_bytes: u32,
    /// True for random places, false for one after another.
    pub is_random: bool,
}

/// When counting ends, as in a plan: see docs/measurements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Requests completed before counting begins.
    pub warmup_requests: u64,
    /// The least number of counted requests.
    pub requests: u64,
    /// The 95 % half-width of the mean latency, relative to it, that ends the window.
    pub half_width_ratio: f64,
    /// The number of requests that ends it otherwise.
    pub max_requests: u64,
}

impl Workload {
    /// The workload as one of the package's.
    pub fn characteristics(&self) -> Characteristics {
        let random = if self.is_random { 1.0 } else { 0.0 };
        Characteristics {
            write_ratio: self.write_ratio,
            queue_depth: self.queue_depth,
            read_size: self.size_bytes,
            write_size: self.size_bytes,
            read_random: random,
            write_random: random,
            read_stride: 0,
            write_stride: 0,
        }
    }

    /// The workload in the form of the simulator.
    pub fn stream(&self) -> Stream {
        let requests = Requests::from(self.characteristics());
        Stream::new("workload", Source::Closed(requests))
    }

    /// The writing to which the drive has settled before: this workload, until more of it changes
    /// nothing.
    pub fn settling(&self) -> Option<Settling> {
        let writes = self.write_ratio > 0.0;
        let [large, small] = PIECE_BYTES;
        let writing = match (self.is_random, self.size_bytes >= LARGE_BYTES) {
            (false, _) => Writing::InOrder,
            (true, true) => Writing::AtRandom { piece_bytes: large },
            (true, false) => Writing::AtRandom { piece_bytes: small },
        };
        writes.then_some(Settling {
            writing,
            range_bytes: None,
        })
    }
}

impl From<&Window> for WindowPlan {
    fn from(window: &Window) -> Self {
        Self {
            warmup_requests: window.warmup_requests,
            warmup: Nanos::ZERO,
            requests: Some(window.requests),
            duration: None,
            half_width: Some(HalfWidth {
                ratio: window.half_width_ratio,
                max_requests: window.max_requests,
            }),
        }
    }
}
