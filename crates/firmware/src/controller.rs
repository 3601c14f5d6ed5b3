//! What all workers share: the queues between them, the locks of planes, the tables of transfers
//! and the counters.
//!
//! ```text
//!  worker 0                      workers 1 ..                         the dies' owners
//!  front end ──inbox of w──> look-up, buffers ──queue of the die──> flash, collection
//!      ^                         │    ^                                     │
//!      └────── done of w ────────┘    └───────── done of owner for w ───────┘
//! ```
//!
//! Every worker except the first serves pages and owns some dies. A page always has the same
//! worker, (page + page / planes) modulo the workers. So requests for a page are done in the order
//! in which they came, and consecutive pages go to all workers. All workers serve pages of a plane,
//! under its lock. A single worker does everything.

use std::sync::atomic::{AtomicBool, AtomicU32};

use drivelab_ftl::{Divisor, FlashLayout};

use crate::flash::{FlashCommand, FlashDone};
use crate::geometry::Geometry;
use crate::handoff::{PlaneLock, Ring};
use crate::host::{Host, HostMemory};
use crate::records::Counters;
use crate::segment::{Segment, SegmentDone};
use crate::transfer::Transfer;

/// The most workers.
pub const MOST_WORKERS: usize = 16;
/// The most commands in progress.
pub const CONTEXTS: usize = 256;
/// Entries of a die's queue. Host operations leave room for those of collection.
const DIE_ENTRIES: usize = 1024;
const INBOX_ENTRIES: usize = 256;
const DONE_ENTRIES: usize = 256;

/// What all workers share.
pub struct Controller {
    /// The drive's shape.
    pub geometry: Geometry,
    /// The same as the map sees it.
    pub layout: FlashLayout,
    /// Workers that serve pages.
    pub servers: usize,
    /// The host's memory.
    pub memory: HostMemory,
    /// For every command in progress, where its data is.
    pub transfers: Vec<Transfer>,
    /// A lock for each plane.
    pub locks: Vec<PlaneLock>,
    /// For every plane, the steps of collection that host writes owe.
    pub owed: Vec<AtomicU32>,
    /// From the front end to each server.
    pub inboxes: Vec<Ring<Segment>>,
    /// From each server to the front end.
    pub done: Vec<Ring<SegmentDone>>,
    /// A queue for each die.
    pub dies: Vec<Ring<FlashCommand>>,
    /// From each owner of dies to each server; see [`Controller::flash_done`].
    flash_done: Vec<Ring<FlashDone>>,
    /// One set for each worker.
    pub counters: Vec<Counters>,
    /// Tells workers to stop.
    pub stop: AtomicBool,
    by_planes: Divisor,
    by_servers: Divisor,
}

impl Controller {
    /// Empty queues for `workers`, and a host with `depth` commands.
    #[must_use]
    pub fn new(geometry: Geometry, workers: usize, depth: u16) -> Self {
        let layout = geometry.layout();
        let workers = workers.clamp(1, MOST_WORKERS);
        let servers = workers.saturating_sub(1).max(1);
        let planes = layout.planes as usize;
        Self {
            geometry,
            layout,
            servers,
            memory: Host::memory(depth),
            transfers: (0..CONTEXTS).map(|_| Transfer::default()).collect(),
            locks: (0..planes).map(|_| PlaneLock::default()).collect(),
            owed: (0..planes).map(|_| AtomicU32::new(0)).collect(),
            inboxes: (0..servers)
                .map(|server| Ring::new(INBOX_ENTRIES, server))
                .collect(),
            done: (0..servers)
                .map(|server| Ring::new(DONE_ENTRIES, MOST_WORKERS + server))
                .collect(),
            dies: (0..planes)
                .map(|plane| Ring::new(DIE_ENTRIES, 2 * MOST_WORKERS + plane))
                .collect(),
            flash_done: (0..servers * servers)
                .map(|pair| {
                    let (owner, server) = (pair / servers, pair % servers);
                    Ring::new(
                        DONE_ENTRIES,
                        6 * MOST_WORKERS + owner * MOST_WORKERS + server,
                    )
                })
                .collect(),
            counters: (0..workers).map(|_| Counters::default()).collect(),
            stop: AtomicBool::new(false),
            by_planes: Divisor::new(layout.planes),
            by_servers: Divisor::new(servers as u32),
        }
    }

    /// Logical workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.counters.len()
    }

    /// The server of a logical page.
    #[inline]
    #[must_use]
    pub fn server_of(&self, logical: u32) -> usize {
        let row = self.by_planes.quotient(logical);
        self.by_servers.remainder(logical.wrapping_add(row)) as usize
    }

    /// The plane of a logical page.
    #[inline]
    #[must_use]
    pub fn plane_of(&self, logical: u32) -> u32 {
        self.by_planes.remainder(logical)
    }

    /// The server that owns a die.
    #[inline]
    #[must_use]
    pub fn owner_of(&self, plane: u32) -> usize {
        self.by_servers.remainder(plane) as usize
    }

    /// The worker that is the server `server`. If there are several workers, the front end is a
    /// separate one.
    #[must_use]
    pub fn worker_of(&self, server: usize) -> usize {
        if self.workers() == 1 { 0 } else { server + 1 }
    }

    /// The queue in which the owner of a die reports to a server what the die has done.
    #[inline]
    #[must_use]
    pub fn flash_done(&self, owner: usize, server: usize) -> &Ring<FlashDone> {
        &self.flash_done[owner * self.servers + server]
    }
}
