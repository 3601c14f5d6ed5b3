//! The options of serving requests, which every program of firmware has.

use std::path::PathBuf;

use crate::command_line::{Words, check_events, needed, usage};
use crate::error::RunError;
use crate::geometry::Geometry;
use crate::run::Settings;

/// What they mean, without the firmware's own `--seed` and `--check`.
pub const SERVE_HELP: &str = "\
\x20 --requests FILE   List of requests, 16 bytes each, little-endian: first sector (8 bytes),
                    sectors (4), kind (4: 0 read, 1 write, 2 trim). - reads standard input.
  --records FILE    Write one JSON line per record, when it ends. FILE must be new or empty.
                    - writes to standard output.
  --record-requests N
                    Requests of a record (default 1000).
  --workers N       Workers, 1 to 16 (default 4). The first is the front end.
  --depth N         Commands outstanding, 1 to 255 (default 64).
  --threads         One thread per worker. Without it workers take turns in one thread,
                    and the same seed gives the same counts.
  --events GROUP    Count events of this machine's processor in each record: cycles, stalls,
                    branches, last-cache, first-cache, micro-operations, software.
";

/// What options of the drive that is made mean, without `--seed`.
pub const DRIVE_HELP: &str = "\
\x20 --geometry CxWxDxBxP
                    Channels x ways x dies a way x blocks a die x pages of 16 KiB a block
                    (default 4x4x2x5120x512, which is 1 TiB with 25 % over-provisioning).
  --overwrite X     Random overwrites after the fill, in drive sizes (default 1.5).
";

/// What is served, and how.
#[derive(Debug)]
pub struct Serving {
    /// The list of requests.
    pub requests: PathBuf,
    /// Where records go.
    pub records: Option<PathBuf>,
    /// How the firmware is run.
    pub settings: Settings,
    /// Whether the firmware is checked.
    pub is_checked: bool,
    /// The group of events that is counted.
    pub events: Option<String>,
}

/// What was read of it so far.
#[derive(Debug, Default)]
pub struct ServeOptions {
    requests: Option<PathBuf>,
    records: Option<PathBuf>,
    settings: Settings,
    is_checked: bool,
    events: Option<String>,
}

impl ServeOptions {
    /// Takes `option`, or answers that it is another one.
    ///
    /// # Errors
    /// [`RunError::Usage`] where its value cannot be.
    pub fn take(&mut self, option: &str, words: &mut Words<'_>) -> Result<bool, RunError> {
        let settings = &mut self.settings;
        match option {
            "--requests" => self.requests = Some(words.value(option)?.into()),
            "--records" => self.records = Some(words.value(option)?.into()),
            "--workers" => settings.workers = words.number(option, (1, Settings::MOST_WORKERS))?,
            "--depth" => settings.depth = words.number(option, (1, Settings::MOST_DEPTH))?,
            "--seed" => settings.seed = words.number(option, (0, u64::MAX))?,
            "--record-requests" => {
                settings.record_requests = words.number(option, (1, u64::MAX))?;
            }
            "--threads" => settings.has_threads = true,
            "--check" => self.is_checked = true,
            "--events" => self.events = Some(words.value(option)?.to_owned()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What was read, when all was.
    ///
    /// # Errors
    /// [`RunError::Usage`] where something is missing, or options exclude each other.
    pub fn finish(self) -> Result<Serving, RunError> {
        check_events(self.events.as_deref(), &self.settings)?;
        Ok(Serving {
            requests: needed(self.requests, "--requests", "FILE")?,
            records: self.records,
            settings: self.settings,
            is_checked: self.is_checked,
            events: self.events,
        })
    }
}

/// The drive that is made.
#[derive(Debug)]
pub struct DriveOptions {
    /// Its shape.
    pub geometry: Geometry,
    /// Drive sizes that are overwritten.
    pub overwrites: f64,
}

impl Default for DriveOptions {
    fn default() -> Self {
        Self {
            geometry: Geometry::WHOLE,
            overwrites: 1.5,
        }
    }
}

impl DriveOptions {
    /// Takes `option`, or answers that it is another one.
    ///
    /// # Errors
    /// [`RunError::Usage`] where its value cannot be.
    pub fn take(&mut self, option: &str, words: &mut Words<'_>) -> Result<bool, RunError> {
        match option {
            "--geometry" => self.geometry = words.value(option)?.parse()?,
            "--overwrite" => self.overwrites = words.number(option, (0.0, 100.0))?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Refuses an option that there is none of.
///
/// # Errors
/// [`RunError::Usage`] always.
pub fn no_option<T>(option: &str) -> Result<T, RunError> {
    usage(format!("{option} is no option"))
}
