//! Replays: a file compared with the same requests in memory, placement, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod fitted;
mod forecasts;
mod refused;
mod replayed;
mod written;
