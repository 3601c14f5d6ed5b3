//! Statistics of what was served, and how late.

use drivelab_request::{CommandKind, Histogram};
use drivelab_sim::host::SimError;
use thiserror::Error;

/// Requests of one kind.
#[derive(Clone, Debug, Default)]
pub struct KindTold {
    /// Their total bytes.
    pub bytes: u64,
    /// How long the drive took, in its own time. Also gives their number.
    pub latency: Histogram,
}

/// Failures that no client can be informed of.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// The drive failed, and with it every later request.
    #[error("the drive could not go on: {0}")]
    Drive(SimError),
    /// The kernel disconnected the block device.
    #[error(
        "the kernel disconnected the block device, as it does when the server is stopped (kill -STOP), \
         the machine sleeps, or somebody detaches it: serve the drive again"
    )]
    Kernel,
    /// The file failed at a power loss.
    #[error("the backing file failed when the power went: what was to be lost may still be there")]
    Revert,
    /// The file failed at the end.
    #[error("the last sync of the backing file failed: what was written last may be lost")]
    Sync,
}

/// What was served.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// By kind of request, in the order of [`CommandKind::index`].
    pub kinds: [KindTold; CommandKind::ALL.len()],
    /// The time from each reply's due time to its sending.
    pub lateness: Histogram,
    /// Replies later than allowed.
    pub late: u64,
    /// Clients that connected.
    pub clients: u64,
    /// Clients connected now.
    pub connected: u64,
    /// Requests that found no room.
    pub no_space: u64,
    /// Requests that failed in the file or the drive.
    pub failed: u64,
    /// Number of power failures.
    pub power_cuts: u64,
    /// Bytes lost in them.
    pub lost_bytes: u64,
    /// A failure that concerns everybody, if there was one.
    pub failure: Option<Failure>,
    /// Wall time since the start, ns.
    pub wall_ns: u64,
}

/// What was served since the start, and since the beginning of the current second.
#[derive(Debug, Default)]
pub(super) struct Tellings {
    pub total: Told,
    pub second: Told,
}

impl Tellings {
    fn each(&mut self, tell: impl Fn(&mut Told)) {
        tell(&mut self.total);
        tell(&mut self.second);
    }

    /// A request was served; the drive took `latency`.
    pub fn served(&mut self, kind: CommandKind, bytes: u32, latency: u64) {
        self.each(|counts| {
            let kind = &mut counts.kinds[kind.index()];
            kind.bytes += u64::from(bytes);
            kind.latency.record(latency);
        });
    }

    /// A request found no room.
    pub fn found_no_space(&mut self) {
        self.each(|counts| counts.no_space += 1);
    }

    /// A request failed.
    pub fn failed(&mut self) {
        self.each(|counts| counts.failed += 1);
    }

    /// A reply was sent `late_ns` after it was due.
    pub fn sent(&mut self, late_ns: u64, is_late: bool) {
        self.each(|counts| {
            counts.lateness.record(late_ns);
            counts.late += u64::from(is_late);
        });
    }

    /// A client connected.
    pub fn came(&mut self) {
        self.each(|counts| counts.clients += 1);
        self.total.connected += 1;
    }

    /// A client disconnected.
    pub fn went(&mut self) {
        self.total.connected -= 1;
    }
}

impl Told {
    /// Number of served requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.latency.count()).sum()
    }
}
