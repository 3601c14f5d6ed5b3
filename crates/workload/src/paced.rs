//! Commands that lie elsewhere, in a file as a rule, and are read while they are sent.
//!
//! ```text
//!   PacedSource ── open(range) ──> PacedReader ── next_batch ──> Paced, Paced, Paced ...
//!   what is known before           what is read
//! ```
//!
//! A [`Paced`] command is sent at its time, unless as many commands of its stream are outstanding as
//! it says; then it is sent as soon as fewer are. What arrives at time 0 and waits for nothing else
//! is a closed loop, whose depth may differ from command to command.

use std::fmt;
use std::sync::Arc;

use drivelab_request::{Command, CommandKind};

/// A command and when it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// Its `arrival` is the time before which it is not sent.
    pub command: Command,
    /// It is sent while fewer commands of its stream are outstanding; 1 or more.
    pub depth: u32,
}

/// Commands that can be read as often as they are asked for.
pub trait PacedSource: fmt::Debug + Send + Sync {
    /// How many of each kind there are, by [`CommandKind::index`].
    fn commands(&self) -> [u64; CommandKind::ALL.len()];

    /// The bytes that they name, all together.
    fn bytes(&self) -> u64;

    /// The last byte that they address, from the drive's first on; none where they are fitted to
    /// any drive.
    fn end_bytes(&self) -> Option<u64>;

    /// Whether each has a time at which it should be sent, so that it may be late.
    fn is_timed(&self) -> bool;

    /// Begins to read them, fitted to a drive's `range`: where it begins and how many bytes it has.
    ///
    /// # Errors
    /// Why they cannot be read or fitted, and what to do.
    fn open(&self, range: (u64, u64)) -> Result<Box<dyn PacedReader>, String>;
}

/// Commands on their way from where they lie.
pub trait PacedReader: Send {
    /// Replaces `batch` by the next commands, in order of arrival; empty at the end.
    ///
    /// # Errors
    /// Why they cannot be read on, and what to do.
    fn next_batch(&mut self, batch: &mut Vec<Paced>) -> Result<(), String>;
}

/// A source that streams share; equal to itself alone.
#[derive(Clone, Debug)]
pub struct SharedSource(pub Arc<dyn PacedSource>);

impl PartialEq for SharedSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
