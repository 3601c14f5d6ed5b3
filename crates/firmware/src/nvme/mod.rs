//! The host's interface: submission entries, PRP lists and completion entries of the NVM Express
//! Base and NVM Command Set specifications, as far as reads, writes, deallocation and flushes need
//! them. One namespace, sectors of 512 bytes, one pair of queues.

mod command;
mod completion;
mod prp;
mod status;

pub use command::{COMMAND_BYTES, Command, MAX_TRANSFER_BYTES, Operation, Sectors, entry};
pub use completion::{COMPLETION_BYTES, Completion};
pub use prp::{HOST_PAGE_BYTES, TRANSFER_PAGES, walk};
pub use status::Status;
