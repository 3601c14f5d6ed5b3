//! Between the host and everything else: who may enter, what crosses the link, what is on its way.

pub mod link;
pub mod queue_pair;
pub mod slot;
pub mod times;
