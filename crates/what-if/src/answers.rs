//! The answers to the page, with the same names as in `--json`.

use drivelab_request::{ClosedBy, Histogram};
use drivelab_sim::host::Outcome;
use serde::Serialize;

/// The results of a measurement.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// Length of the window in the drive's time.
    pub duration_ns: u64,
    /// Requests a second.
    pub iops: f64,
    /// Bytes a second, in both directions.
    pub bytes_per_second: f64,
    /// Mean over reads and writes.
    pub latency_ns_mean: f64,
    /// Half of the 95 % confidence interval of that mean, relative to it; `None` with fewer than 16
    /// batches.
    pub half_width_ratio: Option<f64>,
    /// What closed the window.
    pub stopped_by: Option<&'static str>,
    /// Results of reads, if there were any.
    pub read: Option<Operation>,
    /// Results of writes, if there were any.
    pub write: Option<Operation>,
    /// Page programs over pages that the host wrote.
    pub write_amplification_ratio: Option<f64>,
    /// Blocks erased in the window.
    pub block_erases: u64,
    /// Fraction of the window in which dies worked; their mean.
    pub die_utilisation_ratio: f64,
    /// The same of channels.
    pub channel_utilisation_ratio: f64,
}

/// Results of one direction.
#[derive(Debug, Serialize)]
pub struct Operation {
    /// Number completed in the window.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their mean latency.
    pub latency_ns_mean: f64,
    /// The median, 99th and 99.9th percentile of the latencies.
    pub latency_ns_p50: Option<u64>,
    /// See `latency_ns_p50`.
    pub latency_ns_p99: Option<u64>,
    /// See `latency_ns_p50`.
    pub latency_ns_p99_9: Option<u64>,
}

impl Operation {
    fn sum_ns(&self) -> f64 {
        self.latency_ns_mean * self.requests as f64
    }

    fn of(bytes: u64, latency: &Histogram) -> Option<Self> {
        Some(Self {
            requests: latency.count(),
            bytes,
            latency_ns_mean: latency.mean_ns()?,
            latency_ns_p50: latency.percentile_ns(50.0),
            latency_ns_p99: latency.percentile_ns(99.0),
            latency_ns_p99_9: latency.percentile_ns(99.9),
        })
    }
}

impl From<&Outcome> for Measured {
    fn from(outcome: &Outcome) -> Self {
        let read = Operation::of(outcome.read.bytes, &outcome.read.latency);
        let write = Operation::of(outcome.write.bytes, &outcome.write.latency);
        let window_ns = outcome.window.0 as f64;
        let bytes = outcome.read.bytes + outcome.write.bytes;
        // The same as in `drivelab.drives.completed`, to the last digit.
        let sums = read.iter().chain(&write).map(Operation::sum_ns);
        let mean = sums.sum::<f64>() / outcome.measured_requests as f64;
        let half_width = outcome.batches.latency_batches().half_width_ns;
        let flash = outcome.media.flash();
        let flash = flash.as_deref();
        Self {
            duration_ns: outcome.window.0,
            iops: outcome.measured_requests as f64 * 1e9 / window_ns,
            bytes_per_second: bytes as f64 * 1e9 / window_ns,
            latency_ns_mean: mean,
            half_width_ratio: half_width.map(|half_width| half_width / mean),
            stopped_by: outcome.closed_by.map(word),
            read,
            write,
            write_amplification_ratio: flash.and_then(|flash| flash.write_amplification_ratio()),
            block_erases: flash.map_or(0, |flash| flash.block_erases),
            die_utilisation_ratio: flash.map_or(0.0, |flash| of(&flash.unit_utilisation_ratio)),
            channel_utilisation_ratio: flash
                .map_or(0.0, |flash| of(&flash.channel_utilisation_ratio)),
        }
    }
}

/// The mean of fractions.
fn of(shares: &[f64]) -> f64 {
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

/// The name in `--json`.
const fn word(by: ClosedBy) -> &'static str {
    match by {
        ClosedBy::Requests => "requests",
        ClosedBy::Duration => "seconds",
        ClosedBy::HalfWidth => "half_width",
        ClosedBy::MaxRequests => "max_requests",
    }
}
