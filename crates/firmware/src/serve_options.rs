//! The options for serving requests, shared by all firmware programs.

use std::path::PathBuf;

use crate::command_line::{Words, check_events, needed, usage};
use crate::error::RunError;
use crate::geometry::Geometry;
use crate::run::Settings;

/// Their help text, without the firmware's own `--seed` and `--check`.
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

/// Help text for options of the drive being made, without `--seed`.
pub const DRIVE_HELP: &str = "\
\x20 --geometry CxWxDxBxP
                    Channels x ways x dies a way x blocks a die x pages of 16 KiB a block
                    (default 4x4x2x5120x512, which is 1 TiB with 25 % over-provisioning).
  --overwrite X     Random overwrites after the fill, in drive sizes (default 1.5).
";

/// What to serve, and how.
#[derive(Debug)]
pub struct Serving {
    /// The list of requests.
    pub requests: PathBuf,
    /// Where records are written.
    pub records: Option<PathBuf>,
    /// The settings of the run.
    pub settings: Settings,
    /// Whether the firmware is checked.
    pub is_checked: bool,
    /// The group of events to count.
    pub events: Option<String>,
}

/// The options read so far.
#[derive(Debug, Default)]
pub struct ServeOptions {
    requests: Option<PathBuf>,
    records: Option<PathBuf>,
    settings: Settings,
    is_checked: bool,
    events: Option<String>,
}

impl ServeOptions {
    /// Takes `option`. Returns `false` if it is another one.
    ///
    /// # Errors
    /// [`RunError::Usage`] if its value is invalid.
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

    /// The result, when all options have been read.
    ///
    /// # Errors
    /// [`RunError::Usage`] if an option is missing, or options exclude each other.
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

/// The drive to make.
#[derive(Debug)]
pub struct DriveOptions {
    /// Its shape.
    pub geometry: Geometry,
    /// How often it is overwritten, in units of its size.
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
    /// Takes `option`. Returns `false` if it is another one.
    ///
    /// # Errors
    /// [`RunError::Usage`] if its value is invalid.
    pub fn take(&mut self, option: &str, words: &mut Words<'_>) -> Result<bool, RunError> {
        match option {
            "--geometry" => self.geometry = words.value(option)?.parse()?,
            "--overwrite" => self.overwrites = words.number(option, (0.0, 100.0))?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Refuses an unknown option.
///
/// # Errors
/// [`RunError::Usage`] always.
pub fn no_option<T>(option: &str) -> Result<T, RunError> {
    usage(format!("{option} is no option"))
}
