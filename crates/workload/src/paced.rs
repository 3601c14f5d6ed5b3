//! Commands that are stored elsewhere, usually in a file, and are read while they are sent.
//!
//! ```text
//!   PacedSource ── open(range) ──> PacedReader ── next_batch ──> Paced, Paced, Paced ...
//!   what is known before           what is read
//! ```
//!
//! A [`Paced`] command is sent at its time, unless as many commands of its stream are outstanding
//! as its depth allows. Then it is sent as soon as fewer are. Commands with time 0 that wait for
//! nothing else form a closed loop, whose depth may differ from command to command.

use std::fmt;
use std::sync::Arc;

use drivelab_request::{Command, CommandKind};

/// A command and when it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// Its `arrival` is the earliest time at which it is sent.
    pub command: Command,
    /// It is sent only while fewer commands than this of its stream are outstanding; at least 1.
    pub depth: u32,
}

/// Commands that can be read any number of times.
pub trait PacedSource: fmt::Debug + Send + Sync {
    /// The number of commands of each kind, by [`CommandKind::index`].
    fn commands(&self) -> [u64; CommandKind::ALL.len()];

    /// The bytes that they name in all.
    fn bytes(&self) -> u64;

    /// One past the last byte that they address, from the start of the drive. `None` if they are
    /// fitted to any drive.
    fn end_bytes(&self) -> Option<u64>;

    /// Whether each has a time at which it should be sent, and so may be late.
    fn is_timed(&self) -> bool;

    /// Begins to read them, fitted to a drive's `range`, given as its start and its bytes.
    ///
    /// # Errors
    /// Why they cannot be read or fitted, and what to do.
    fn open(&self, range: (u64, u64)) -> Result<Box<dyn PacedReader>, String>;
}

/// Commands being read from where they are stored.
pub trait PacedReader: Send {
    /// Replaces `batch` with the next commands, in order of arrival; empty at the end.
    ///
    /// # Errors
    /// Why reading failed, and what to do.
    fn next_batch(&mut self, batch: &mut Vec<Paced>) -> Result<(), String>;
}

/// A source that streams share. It equals only itself.
#[derive(Clone, Debug)]
pub struct SharedSource(pub Arc<dyn PacedSource>);

impl PartialEq for SharedSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
