//! The server: one thread that serves a drive to programs.
//!
//! ```text
//!   poll ─> receive ─> protocol ─> data, clock ─> due ─> send ─> poll ...
//!     ▲ sleeps until shortly before the next moment of the drive, then asks without waiting
//! ```
//!
//! Data is read and written when a request arrives; the reply waits until it is due. The memory
//! that a client can occupy is bounded: the data of a request, and replies that it does not take.

mod connection;
mod door;
mod kernel;
mod outbox;
mod path_lock;
mod power;
mod server;
mod speech;
mod told;
mod waiting;
mod watched;
mod work;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use drivelab_sim::host::Device;
use thiserror::Error;

use crate::block::{Attached, Block, BlockError};
use crate::clock::{CpuError, Dilation, check_cpu};
use crate::data::Store;
use crate::protocol::Export;

pub use connection::{MOST_IN_FLIGHT_BYTES, MOST_REQUESTS};
pub use door::{Door, DoorError, Place};
pub use power::PowerCuts;
pub use server::{MOST_CONNECTIONS, MOST_ORPHANS};
pub use told::{Failure, KindTold, Told};
pub use watched::{MediaTotal, Watched};

use server::Server;

/// The reason why a drive cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// There is no entrance.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// No block device.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The core given by `--cpu`.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// The system refuses a thread or a descriptor.
    #[error(
        "the server could not be started: {0}; end other programs, or allow more (`ulimit -n`, `ulimit -u`)"
    )]
    System(#[from] std::io::Error),
}

/// What is served, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The export for clients.
    pub export: Export,
    /// The key of the drive's randomness.
    pub seed: u64,
    /// How much slower than simulated time the drive runs.
    pub dilation: Dilation,
    /// The core for the thread that keeps time.
    pub cpu: Option<usize>,
    /// A reply is late if it is sent more than this after it is due, ns.
    pub late_ns: u64,
    /// A client is disconnected if it has not sent its first request, or not taken its last
    /// replies, within this wall time, ns.
    pub patience_ns: u64,
    /// Whether and when the drive's power fails.
    pub power_cuts: Option<PowerCuts>,
}

/// The default patience.
pub const PATIENCE_NS: u64 = 30_000_000_000;

impl Settings {
    /// Refuses what can be refused before anything is opened.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn check(&self) -> Result<(), ServeError> {
        Ok(self.cpu.map_or(Ok(()), check_cpu)?)
    }
}

/// Shared by the server and whoever started it.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    stop: AtomicBool,
    /// The block device is being detached, so the kernel disconnects.
    is_detaching: Arc<AtomicBool>,
    told: Mutex<Told>,
    watched: Mutex<Arc<Watched>>,
}

impl Shared {
    /// Publishes the latest state for watchers, unless one of them is reading the previous one.
    fn show(&self, watched: &mut Option<Arc<Watched>>) {
        if let Ok(mut shown) = self.watched.try_lock()
            && let Some(watched) = watched.take()
        {
            *shown = watched;
        }
    }
}

/// A running server.
#[derive(Debug)]
pub struct Serving {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Told>>,
    /// Dropped before the thread, which answers its messages.
    block: Option<Attached>,
}

impl Serving {
    /// Begins to serve `device`, or data without simulated time if there is no device. A file that
    /// was made for the data is kept from here on.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is left behind, not even that file.
    pub fn start(
        door: Door,
        device: Option<Box<dyn Device + Send>>,
        store: Store,
        settings: Settings,
    ) -> Result<Self, ServeError> {
        Self::start_with_block(door, None, device, store, settings)
    }

    /// As [`Serving::start`], with a block device if one is given.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is left behind, not even a file made for the data.
    pub fn start_with_block(
        door: Door,
        mut block: Option<Block>,
        device: Option<Box<dyn Device + Send>>,
        store: Store,
        settings: Settings,
    ) -> Result<Self, ServeError> {
        settings.check()?;
        let made = store.unkept().map(Path::to_owned);
        let shared = Arc::<Shared>::default();
        let cpu = settings.cpu;
        let channel = block.as_mut().and_then(Block::channel);
        let export = settings.export.clone();
        let server = Server::new(door, device, store, settings, Arc::clone(&shared))?;
        let server = server.with_kernel(channel)?;
        let has_block = block.is_some();
        let thread = thread::Builder::new()
            .name("drivelab-serve".to_owned())
            .spawn(move || {
                crate::clock::pinned(cpu);
                if has_block {
                    // If memory is short, the system must not free some by writing to this very
                    // drive.
                    let _ = rustix::process::configure_io_flusher_behavior(true);
                }
                server.run()
            })?;
        let mut serving = Self {
            shared,
            thread: Some(thread),
            block: None,
        };
        let is_detaching = Arc::clone(&serving.shared.is_detaching);
        let attached = block.map(|block| block.attach(&export, is_detaching));
        match attached.transpose() {
            Ok(block) => {
                serving.block = block;
                Ok(serving)
            }
            Err(error) => {
                serving.stop();
                if let Some(path) = made {
                    // If it is already gone, that is fine.
                    let _ = std::fs::remove_file(path);
                }
                Err(error.into())
            }
        }
    }

    /// The block device in `/dev`, if there is one.
    #[must_use]
    pub fn block_path(&self) -> Option<String> {
        self.block.as_ref().map(Attached::path)
    }

    /// What was served, up to some tenths of a second ago.
    #[must_use]
    pub fn told(&self) -> Told {
        let served = self.shared.told.lock();
        served.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The state at the end of the last second.
    #[must_use]
    pub fn watched(&self) -> Arc<Watched> {
        let watched = self.shared.watched.lock();
        Arc::clone(&watched.unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it has ended by itself, or its drive has failed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let served = self.shared.told.lock();
        let has_failed = served
            .unwrap_or_else(PoisonError::into_inner)
            .failure
            .is_some();
        has_failed || self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it, and returns what was served.
    pub fn stop(&mut self) -> Told {
        self.block = None;
        self.shared.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            None => self.told(),
            Some(thread) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.block = None;
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Whoever dropped it does not want a result.
            let _ = thread.join();
        }
    }
}
