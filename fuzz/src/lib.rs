//! What is asked of every reader of outside data, for any bytes.
//!
//! ```text
//!   bytes ─> Reader::check ─> returns: the reader kept its promises
//!                         └─> panics:  it did not, and these bytes show it
//! ```
//!
//! Three ways lead here: libFuzzer, which follows the coverage (`libfuzzer/readers.rs`), the test
//! `tests/replay.rs`, which replays what once failed and changes the seeds at random, and whoever
//! has one file to look at. A new reader is one file and one line in [`READERS`].

mod csv_table;
mod latency_log;
mod live_block;
mod live_protocol;
pub mod mutation;
mod preset;
mod processor;
mod saved_state;
mod scenario;
mod trace;
mod tree_model;

use std::fmt::Display;

/// A reader of outside data.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// What it is called, and its folder in `regressions/`.
    pub name: &'static str,
    /// Where its source lies, from the root of the repository: what fuzzing is to cover.
    pub sources: &'static [&'static str],
    /// Panics where a promise is broken.
    pub check: fn(&[u8]),
    /// Inputs to begin with; the same every time.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every reader.
pub const READERS: &[Reader] = &[
    preset::READER,
    scenario::READER,
    latency_log::READER,
    saved_state::READER,
    csv_table::READER,
    tree_model::READER,
    trace::READER,
    live_block::READER,
    live_protocol::READER,
    processor::READER,
];

/// The reader with this name.
#[must_use]
pub fn reader(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}

/// A message stands on one line, and says something.
fn told(error: &dyn Display) {
    let text = error.to_string();
    assert!(!text.trim().is_empty(), "a message says nothing");
    assert!(
        !text.contains(['\n', '\r']),
        "a message has several lines: {text:?}"
    );
}

/// The texts of an input that holds several, separated by bytes of value 0.
fn texts<const COUNT: usize>(data: &[u8]) -> Option<[&str; COUNT]> {
    let mut parts = data.splitn(COUNT, |&byte| byte == 0);
    let mut found = [""; COUNT];
    for text in &mut found {
        *text = std::str::from_utf8(parts.next().unwrap_or_default()).ok()?;
    }
    Some(found)
}
