//! What every reader of outside data must guarantee, for any bytes.
//!
//! ```text
//!   bytes ─> Reader::check ─> returns: the reader kept its promises
//!                         └─> panics:  it did not, and these bytes show it
//! ```
//!
//! There are three users. libFuzzer follows the coverage (`libfuzzer/readers.rs`). The test
//! `tests/replay.rs` replays what once failed and changes the seeds at random. And anyone can check
//! a single file. A new reader is one file and one line in [`READERS`].

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
    /// Its name, and its folder in `regressions/`.
    pub name: &'static str,
    /// Its sources, from the root of the repository: what fuzzing should cover.
    pub sources: &'static [&'static str],
    /// Panics if a promise is broken.
    pub check: fn(&[u8]),
    /// Initial inputs, the same every time.
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
    trace::formats::SPC,
    trace::formats::MSR,
    trace::formats::ALIBABA,
    trace::formats::TENCENT,
    trace::formats::SYSTOR,
    trace::formats::FIU,
    trace::formats::BLKPARSE,
    trace::formats::BLKTRACE,
    trace::formats::FIO_IOLOG,
    trace::formats::DISKSIM,
    trace::formats::MQSIM,
    trace::formats::VSCSI,
    trace::formats::VSCSI_TEXT,
    trace::formats::FLASHNET,
    trace::formats::KV_CACHE,
    trace::formats::PARQUET,
    trace::formats::ORACLE_GENERAL,
    live_block::READER,
    live_protocol::READER,
    processor::READER,
];

/// The reader with this name.
#[must_use]
pub fn reader(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}

/// Checks that a message is one line and not empty.
fn check_message(error: &dyn Display) {
    let text = error.to_string();
    assert!(!text.trim().is_empty(), "a message says nothing");
    assert!(
        !text.contains(['\n', '\r']),
        "a message has several lines: {text:?}"
    );
}

/// The texts of an input with several, separated by zero bytes.
fn texts<const COUNT: usize>(data: &[u8]) -> Option<[&str; COUNT]> {
    let mut parts = data.splitn(COUNT, |&byte| byte == 0);
    let mut found = [""; COUNT];
    for text in &mut found {
        *text = std::str::from_utf8(parts.next().unwrap_or_default()).ok()?;
    }
    Some(found)
}
