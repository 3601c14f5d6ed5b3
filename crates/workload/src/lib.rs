//! Request streams.
//!
//! [`Characteristics`] is the workload vector of Huang et al. 2011, equation 4;
//! [`Generator`] turns it into an endless stream of requests. Nothing here knows
//! time: in a closed loop the drive decides when the next request is drawn.

mod characteristics;
mod generator;
mod random;

pub use characteristics::{
    Characteristics, CharacteristicsError, MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES,
};
pub use generator::Generator;
pub use random::{Chance, keyed_rng, uniform_below};
