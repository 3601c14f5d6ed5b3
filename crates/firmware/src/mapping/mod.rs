//! Where pages lie and what is collected: the part of the firmware that can be another.
//!
//! A [`Mapping`] is asked page by page. It puts operations into the queues of the dies, under
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

/// Entries of a die's queue beyond which the host waits: collection needs room too.
pub const DIE_DEPTH: usize = 256;

/// A step that could be taken, or has to wait for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is taken.
    Taken,
    /// It is tried again later.
    Waits,
}

/// Who asks: a server, with what all share.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// What all workers share.
    pub shared: &'a Controller,
    /// The counts of the worker that asks.
    pub counters: &'a Counters,
    /// The server's number.
    pub server: usize,
}

/// Where pages lie and what is collected, as one server sees it.
pub trait Mapping: Send {
    /// Whether the queues have room for an operation on a page.
    fn is_ready(&self, desk: Desk<'_>, logical: u32) -> bool;

    /// Has the flash read a page into a slot of the read buffer; `false` where there is none:
    /// it was never written, or given up.
    ///
    /// # Errors
    /// [`RunError`] where the firmware is wrong.
    fn read(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<bool, RunError>;

    /// Has the flash program a page from a slot of the write buffer.
    ///
    /// # Errors
    /// [`RunError`] where the firmware is wrong.
    fn write(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<Step, RunError>;

    /// Gives a page up.
    ///
    /// # Errors
    /// [`RunError`] where the firmware is wrong.
    fn trim(&mut self, desk: Desk<'_>, logical: u32) -> Result<(), RunError>;

    /// Does what is to be done beside the host's requests; whether there was anything.
    ///
    /// # Errors
    /// [`RunError`] where the firmware is wrong.
    fn collect(&mut self, desk: Desk<'_>, is_idle: bool) -> Result<bool, RunError>;

    /// The die of `plane` has executed a command.
    #[inline]
    fn completed(&mut self, _desk: Desk<'_>, _plane: u32, _command: &FlashCommand) {}

    /// Whether nothing waits for a queue to have room.
    fn is_at_rest(&self) -> bool {
        true
    }
}

/// A die's queue had no room, though who puts something in leaves room for the others.
fn overflowed(plane: u32) -> RunError {
    RunError::Inconsistent(format!("the queue of die {plane} overflowed"))
}
