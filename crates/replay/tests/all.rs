//! Replays: a file against the same requests in memory, where they fall, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod fitted;
mod forecasts;
mod refused;
mod replayed;
mod written;
