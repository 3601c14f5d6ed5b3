//! Where pages lie and what is collected: the exchangeable part of the firmware.
//!
//! A [`Mapping`] is called page by page. It puts operations into the queues of the dies, under
//! locks of its own choice:
//!
//! ```text
//!   Paged   crates/ftl's page map, in memory that all share   a lock a plane
//!   Own     a firmware of the user's own, behind the C header   one lock around all of it
//! ```

mod collection;
mod own;
mod paged;

pub(crate) use own::no_plane;
pub use own::{Own, OwnShared};
pub use paged::Paged;

use crate::controller::Controller;
use crate::error::RunError;
use crate::flash::FlashCommand;
use crate::records::Counters;

/// Entries of a die's queue beyond which the host waits, because collection needs room too.
pub const DIE_DEPTH: usize = 256;

/// Whether a step was possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was done.
    Taken,
    /// It must be tried again later.
    Waits,
}

/// The calling server, and what all workers share.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// What all workers share.
    pub shared: &'a Controller,
    /// The counters of the calling worker.
    pub counters: &'a Counters,
    /// The number of the server.
    pub server: usize,
}

/// Where pages lie and what is collected, as one server sees it.
pub trait Mapping: Send {
    /// Whether the queues have room for an operation on a page.
    fn is_ready(&self, desk: Desk<'_>, logical: u32) -> bool;

    /// Makes the flash read a page into a slot of the read buffer. Returns `false` if there is
    /// none, because it was never written or was given up.
    ///
    /// # Errors
    /// [`RunError`] if the firmware is faulty.
    fn read(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<bool, RunError>;

    /// Makes the flash program a page from a slot of the write buffer.
    ///
    /// # Errors
    /// [`RunError`] if the firmware is faulty.
    fn write(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<Step, RunError>;

    /// Gives up a page.
    ///
    /// # Errors
    /// [`RunError`] if the firmware is faulty.
    fn trim(&mut self, desk: Desk<'_>, logical: u32) -> Result<(), RunError>;

    /// Does work other than host requests. Returns whether there was any.
    ///
    /// # Errors
    /// [`RunError`] if the firmware is faulty.
    fn collect(&mut self, desk: Desk<'_>, is_idle: bool) -> Result<bool, RunError>;

    /// The die of `plane` has executed a command.
    #[inline]
    fn completed(&mut self, _desk: Desk<'_>, _plane: u32, _command: &FlashCommand) {}

    /// Whether nothing waits for room in a queue.
    fn is_at_rest(&self) -> bool {
        true
    }
}

/// A die's queue had no room, although everybody leaves room for the others.
fn overflowed(plane: u32) -> RunError {
    RunError::Inconsistent(format!("the queue of die {plane} overflowed"))
}
