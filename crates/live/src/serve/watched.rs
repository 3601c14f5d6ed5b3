//! What watchers see: the last second, and the whole time.
//!
//! ```text
//!   keeps time ── once a second ──> Watched ──> shared ──> any number of watchers
//! ```
//!
//! The thread that keeps time makes it and waits for no watcher. While a watcher is reading, the
//! next state is published later.

use drivelab_sim::host::{DiskCounters, FlashCounters, Media};

use super::told::Told;
use crate::clock::Stretch;

/// The state at the end of a second.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Number of the second since the start; 0 before the first has ended.
    pub number: u64,
    /// Its length, ns of wall time.
    pub length_ns: u64,
    /// What was served in it.
    pub second: Told,
    /// What was served since the start.
    pub total: Told,
    /// What the drive did in it; `None` if nothing is simulated.
    pub stretch: Option<Stretch>,
    /// What the drive did since the start.
    pub media: MediaTotal,
}

/// What the drive's media did since the start.
#[derive(Clone, Debug, Default)]
pub struct MediaTotal {
    /// The duration, s of the drive's own time.
    pub seconds: f64,
    /// Flash counters, without fractions of time. Of an array, all members together.
    pub flash: Option<FlashCounters>,
    /// Disk counters, likewise.
    pub disk: Option<DiskCounters>,
    /// Transfer time of each channel, s of the drive's own time; one member after another.
    pub channel_busy_seconds: Vec<f64>,
    /// Time that each unit worked or held an operation, likewise.
    pub unit_busy_seconds: Vec<f64>,
    /// Busy time of each disk's mechanism, likewise.
    pub disk_busy_seconds: Vec<f64>,
}

impl MediaTotal {
    /// Adds another interval of the drive.
    pub fn add(&mut self, stretch: &Stretch) {
        let seconds = stretch.length_ns as f64 / 1e9;
        self.seconds += seconds;
        if let Some(flash) = stretch.media.flash() {
            add_busy(
                &mut self.channel_busy_seconds,
                &flash.channel_utilisation_ratio,
                seconds,
            );
            add_busy(
                &mut self.unit_busy_seconds,
                &flash.unit_utilisation_ratio,
                seconds,
            );
            let all = self.flash.iter().chain([&*flash]);
            self.flash = FlashCounters::joined(all).map(|joined| FlashCounters {
                channel_utilisation_ratio: Vec::new(),
                unit_utilisation_ratio: Vec::new(),
                ..joined
            });
        }
        if let Some(disk) = stretch.media.disk() {
            add_busy(
                &mut self.disk_busy_seconds,
                &disk_shares(&stretch.media),
                seconds,
            );
            self.disk = DiskCounters::joined(self.disk.iter().chain([&disk]));
            if let Some(disk) = &mut self.disk {
                let busy: f64 = self.disk_busy_seconds.iter().sum();
                let disks = self.disk_busy_seconds.len() as f64;
                disk.utilisation_ratio = busy / (disks * self.seconds).max(f64::MIN_POSITIVE);
            }
        }
    }
}

/// The fraction of an interval in which each disk was busy.
fn disk_shares(media: &Media) -> Vec<f64> {
    match media {
        Media::Members(members) => {
            let shares = members.iter().flat_map(|member| disk_shares(&member.media));
            shares.collect()
        }
        Media::Disk(disk) => vec![disk.utilisation_ratio],
        Media::Uncounted | Media::Flash(_) => Vec::new(),
    }
}

fn add_busy(seconds: &mut Vec<f64>, shares: &[f64], length: f64) {
    seconds.resize(shares.len().max(seconds.len()), 0.0);
    for (sum, share) in seconds.iter_mut().zip(shares) {
        *sum += share * length;
    }
}
