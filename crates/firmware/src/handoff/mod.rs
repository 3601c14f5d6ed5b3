//! How workers hand work to one another: queues, and locks of planes.

mod lock;
mod ring;

pub use lock::{Guard, PlaneLock};
pub use ring::{Descriptor, Ring};
