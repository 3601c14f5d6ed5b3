//! The other side of the interface: the host's memory, and a host that sends a list of requests.
//! Nothing here is firmware, and no worker runs at the same time.

mod memory;
mod sender;

pub use memory::HostMemory;
pub use sender::{Doorbell, Host, QUEUE_ENTRIES};
