//! The server: one thread that serves a drive to programs.
//!
//! ```text
//!   poll ─> receive ─> protocol ─> data, clock ─> due ─> send ─> poll ...
//!     ▲ sleeps until shortly before the next moment of the drive, then asks without waiting
//! ```
//!
//! Data are read and written when a request arrives; its reply waits until it is due. What a
//! client may keep here is bounded: a request's data, and the replies that it does not take.

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

/// Why a drive cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// No way in.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// No block device.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The core for `--cpu`.
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
    /// What clients are told of it.
    pub export: Export,
    /// Keys what is random about the drive.
    pub seed: u64,
    /// How much slower than the simulator's the wall clock's drive is.
    pub dilation: Dilation,
    /// The core on which time is kept.
    pub cpu: Option<usize>,
    /// A reply is late when it goes out so much after it is due, ns.
    pub late_ns: u64,
    /// A client that has not come to its first request by then, or not taken its last replies, is
    /// sent away, ns of wall time.
    pub patience_ns: u64,
    /// Whether and when the drive's power goes.
    pub power_cuts: Option<PowerCuts>,
}

/// The usual patience.
pub const PATIENCE_NS: u64 = 30_000_000_000;

impl Settings {
    /// What can be refused before anything is opened.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn check(&self) -> Result<(), ServeError> {
        Ok(self.cpu.map_or(Ok(()), check_cpu)?)
    }
}

/// What the server and whoever started it share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    stop: AtomicBool,
    told: Mutex<Told>,
    watched: Mutex<Arc<Watched>>,
}

impl Shared {
    /// Shows what there is to those who watch, unless one of them takes the last just now.
    fn show(&self, watched: &mut Option<Arc<Watched>>) {
        if let Ok(mut shown) = self.watched.try_lock()
            && let Some(watched) = watched.take()
        {
            *shown = watched;
        }
    }
}

/// A server at work.
#[derive(Debug)]
pub struct Serving {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Told>>,
    /// Gone before the thread is, which answers what comes from it.
    block: Option<Attached>,
}

impl Serving {
    /// Begins to serve `device`, or, without one, data that are there at once. A file that was made
    /// for the data stays from here on.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is left behind then, nor that file.
    pub fn start(
        door: Door,
        device: Option<Box<dyn Device + Send>>,
        store: Store,
        settings: Settings,
    ) -> Result<Self, ServeError> {
        Self::start_with_block(door, None, device, store, settings)
    }

    /// As [`Serving::start`], with a block device too if one is given.
    ///
    /// # Errors
    /// [`ServeError`]; nothing is left behind then, nor a file that was made for the data.
    pub fn start_with_block(
        door: Door,
        block: Option<Block>,
        device: Option<Box<dyn Device + Send>>,
        store: Store,
        settings: Settings,
    ) -> Result<Self, ServeError> {
        settings.check()?;
        let made = store.unkept().map(Path::to_owned);
        let shared = Arc::<Shared>::default();
        let cpu = settings.cpu;
        let channel = block.as_ref().map(Block::channel).transpose()?;
        let server = Server::new(door, device, store, settings, Arc::clone(&shared))?;
        let server = server.with_kernel(channel);
        let has_block = block.is_some();
        let thread = thread::Builder::new()
            .name("drivelab-serve".to_owned())
            .spawn(move || {
                crate::clock::pinned(cpu);
                if has_block {
                    // Where memory is scarce it is not got by writing to this very drive.
                    let _ = rustix::process::configure_io_flusher_behavior(true);
                }
                server.run()
            })?;
        let mut serving = Self {
            shared,
            thread: Some(thread),
            block: None,
        };
        match block.map(Block::attach).transpose() {
            Ok(block) => {
                serving.block = block;
                Ok(serving)
            }
            Err(error) => {
                serving.stop();
                if let Some(path) = made {
                    // Gone already is as good.
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

    /// What was served up to some tenths of a second ago.
    #[must_use]
    pub fn told(&self) -> Told {
        let told = self.shared.told.lock();
        told.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How things stood at the end of the last second.
    #[must_use]
    pub fn watched(&self) -> Arc<Watched> {
        let watched = self.shared.watched.lock();
        Arc::clone(&watched.unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether it has ended by itself, or its drive has failed and does nothing more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let told = self.shared.told.lock();
        let has_failed = told
            .unwrap_or_else(PoisonError::into_inner)
            .failure
            .is_some();
        has_failed || self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it, and says what was served.
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
            // Whoever dropped it wants no result.
            let _ = thread.join();
        }
    }
}
