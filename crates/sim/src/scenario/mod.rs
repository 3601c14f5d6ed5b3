//! Scenarios: several streams of requests on one drive, described in TOML.
//!
//! ```text
//! requests = 1_000_000
//!
//! [[stream]]                      # a closed loop
//! name = "database"
//! queue_depth = 16                # with a share it waits for others that have one
//! write_ratio = 0.3
//!
//! [[stream]]                      # an open loop
//! name = "log"
//! rate_iops = 20_000
//! arrivals = "poisson"
//! write_ratio = 1.0
//! write_random = 0.0
//!
//! [[stream]]                      # requests with their times
//! name = "backup"
//! requests_csv = "backup.csv"
//! ```
//!
//! A stream may also be drawn window by window (`windowed.rs`).
//!
//! The caller reads files. This module handles only texts, including those of the package's own
//! scenarios. Unknown keys and impossible values are errors that name the line, the key and the
//! allowed values.

mod error;
mod mixed;
mod read;
mod table;
mod timed;
mod windowed;
mod zoned;

use drivelab_request::{Nanos, WindowPlan};
use drivelab_workload::Stream;

use crate::embedded::Embedded;
use crate::preset::Occupancy;

pub use error::{ScenarioError, Spot};

/// Name and text of every scenario of the package, sorted by name.
static EMBEDDED: Embedded = Embedded(include!(concat!(env!("OUT_DIR"), "/scenarios.rs")));

/// The names of the scenarios that the package contains, in alphabetical order.
#[must_use]
pub fn names() -> Vec<&'static str> {
    EMBEDDED.names()
}

/// The TOML text of one of the package's scenarios.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    EMBEDDED.text(name)
}

/// Several streams on one drive, and how long they run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// One line for people.
    pub summary: Option<String>,
    /// The run ends after this many counted requests. By default, if every stream is a list of
    /// requests, all of them.
    pub requests: Option<u64>,
    /// The run ends after this simulated time.
    pub duration: Option<Nanos>,
    /// Requests completed before counting begins.
    pub warmup_requests: u64,
    /// Simulated time before counting begins.
    pub warmup: Nanos,
    /// Length of the intervals of time series.
    pub interval: Option<Nanos>,
    /// Which pages hold data before the first request; `None` if the drive decides.
    pub occupancy: Option<Occupancy>,
    /// At least one.
    pub streams: Vec<Stream>,
}

impl Scenario {
    /// The files of requests that a scenario names, in order and without duplicates. Empty if the
    /// text is not a scenario; [`Scenario::read`] gives the error for that.
    #[must_use]
    pub fn files(text: &str) -> Vec<String> {
        read::files(text)
    }

    /// Reads a scenario. `file` gives the text of a file that it names.
    ///
    /// # Errors
    /// [`ScenarioError`] names the line, the key and the allowed values.
    pub fn read(text: &str, file: &dyn Fn(&str) -> Option<String>) -> Result<Self, ScenarioError> {
        read::read(text, file)
    }

    /// When counting begins and ends, as far as the scenario says.
    #[must_use]
    pub const fn window(&self) -> WindowPlan {
        WindowPlan {
            warmup_requests: self.warmup_requests,
            warmup: self.warmup,
            requests: self.requests,
            duration: self.duration,
            half_width: None,
        }
    }
}
