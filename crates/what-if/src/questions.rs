//! What the page asks.

use drivelab_request::{HalfWidth, Nanos, WindowPlan};
use drivelab_sim::host::{Settling, Writing};
use drivelab_workload::{Characteristics, Requests, Source, Stream};
use serde::Deserialize;

/// Writes at random from this size on, bytes, settle a drive in larger pieces, as
/// `drivelab.drives.write_pattern` has it.
const LARGE_BYTES: u32 = 64 << 10;
/// Pieces of a drive settled by large writes at random, and by small ones.
const PIECE_BYTES: [u32; 2] = [128 << 10, 4 << 10];

/// A question.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask", deny_unknown_fields)]
pub enum Question {
    /// Which presets there are, and what each says of what can be changed.
    Presets,
    /// The drive that a preset with changes is, without a measurement.
    Drive {
        /// Which.
        drive: Changed,
    },
    /// One measurement.
    Measure {
        /// On which drive.
        drive: Changed,
        /// Of what.
        workload: Workload,
        /// How long.
        window: Window,
    },
}

/// A preset and what is to be different; what is not said stays.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// A name of the package's.
    pub preset: String,
    /// Channels.
    pub channels: Option<u32>,
    /// Chip positions on a channel.
    pub ways_per_channel: Option<u32>,
    /// Mean time to read a page from the cells; types of pages keep their proportions.
    pub read_cell_ns: Option<u64>,
    /// Mean time to program a page; likewise.
    pub program_cell_ns: Option<u64>,
    /// Flash over what the host sees, less one.
    pub over_provisioning_ratio: Option<f64>,
    /// Flash pages simulated, about; the drive is scaled down to them.
    pub most_pages: u32,
}

/// A closed loop of reads and writes of one size over the whole drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Share of the requests that write, 0 to 1.
    pub write_ratio: f64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Bytes of a request.
    pub size_bytes: u32,
    /// Anywhere, or one behind the other.
    pub is_random: bool,
}

/// When counting ends, as a plan's: see docs/measurements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Completed before counting begins.
    pub warmup_requests: u64,
    /// Counted at least.
    pub requests: u64,
    /// 95 % half-width of the mean latency over that mean, which ends it.
    pub half_width_ratio: f64,
    /// Ends it without.
    pub max_requests: u64,
}

impl Workload {
    /// As one of the package's workloads.
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

    /// As the simulator takes it.
    pub fn stream(&self) -> Stream {
        let requests = Requests::from(self.characteristics());
        Stream::new("workload", Source::Closed(requests))
    }

    /// What the drive has been written with before: this, for so long that more changes nothing.
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
