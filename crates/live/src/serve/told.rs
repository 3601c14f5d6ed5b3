//! What was served, and how late.

use drivelab_request::{CommandKind, Histogram};
use drivelab_sim::host::SimError;
use thiserror::Error;

/// Requests of one kind.
#[derive(Clone, Debug, Default)]
pub struct KindTold {
    /// Bytes that they named.
    pub bytes: u64,
    /// How long the drive took, in its own time; their number too.
    pub latency: Histogram,
}

/// What no client can be told.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failure {
    /// The drive failed, and every request since.
    #[error("the drive could not go on: {0}")]
    Drive(SimError),
    /// The file failed when the power went.
    #[error("the backing file failed when the power went: what was to be lost may still be there")]
    Revert,
    /// The file failed when all was over.
    #[error("the last sync of the backing file failed: what was written last may be lost")]
    Sync,
}

/// What was served.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// By kind of request, in the order of [`CommandKind::index`].
    pub kinds: [KindTold; CommandKind::ALL.len()],
    /// How long after it was due each reply was handed to its socket.
    pub lateness: Histogram,
    /// Replies that were later than allowed.
    pub late: u64,
    /// Clients that came.
    pub clients: u64,
    /// Clients that are there.
    pub connected: u64,
    /// Requests that found no room.
    pub no_space: u64,
    /// Requests that failed: the file, or the drive.
    pub failed: u64,
    /// How often the power went.
    pub power_cuts: u64,
    /// Bytes that were lost with it.
    pub lost_bytes: u64,
    /// What went wrong for everybody, if something did.
    pub failure: Option<Failure>,
    /// Wall time since the start, ns.
    pub wall_ns: u64,
}

/// What was served since the start, and since a second began.
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

    /// A request was served; so long did the drive take.
    pub fn served(&mut self, kind: CommandKind, bytes: u32, latency: u64) {
        self.each(|told| {
            let kind = &mut told.kinds[kind.index()];
            kind.bytes += u64::from(bytes);
            kind.latency.record(latency);
        });
    }

    /// A request found no room.
    pub fn found_no_space(&mut self) {
        self.each(|told| told.no_space += 1);
    }

    /// A request failed.
    pub fn failed(&mut self) {
        self.each(|told| told.failed += 1);
    }

    /// A reply went out `late_ns` after it was due.
    pub fn sent(&mut self, late_ns: u64, is_late: bool) {
        self.each(|told| {
            told.lateness.record(late_ns);
            told.late += u64::from(is_late);
        });
    }

    /// A client came.
    pub fn came(&mut self) {
        self.each(|told| told.clients += 1);
        self.total.connected += 1;
    }

    /// A client went.
    pub fn went(&mut self) {
        self.total.connected -= 1;
    }
}

impl Told {
    /// Requests that were served.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.latency.count()).sum()
    }
}
