//! The words of the command line.

use std::path::PathBuf;

use drivelab_firmware::command_line::{Words, check_events, needed, usage};
use drivelab_firmware::error::RunError;
use drivelab_firmware::geometry::Geometry;
use drivelab_firmware::own_run::Making;
use drivelab_firmware::run::Settings;

pub const HELP: &str = "\
A firmware of your own as a program: it makes a drive, serves a list of requests on a stub
of the flash and counts what it did, record by record of 1000 requests.

usage: PROGRAM --requests FILE [options]

  --requests FILE   List of requests, 16 bytes each, little-endian: first sector (8 bytes),
                    sectors (4), kind (4: 0 read, 1 write, 2 trim). - reads standard input.
  --records FILE    Write one JSON line per record, when it ends. FILE must be new or empty.
                    - writes to standard output.
  --record-requests N
                    Requests of a record (default 1000).
  --geometry CxWxDxBxP
                    Channels x ways x dies a way x blocks a die x pages of 16 KiB a block
                    (default 4x4x2x5120x512, which is 1 TiB with 25 % over-provisioning).
  --overwrite X     Random overwrites after the fill, in drive sizes (default 1.5).
  --workers N       Workers, 1 to 16 (default 4). The first is the front end. The firmware
                    is under one lock.
  --depth N         Commands outstanding, 1 to 255 (default 64).
  --seed N          Seed of the pages that are overwritten, and of the order in which
                    workers take turns (default 1).
  --threads         One thread per worker.
  --events GROUP    Count events of this machine's processor in each record: cycles, stalls,
                    branches, last-cache, first-cache, micro-operations, software.
  --check           Check every operation against the contract of drivelab_firmware.h.

  -h, --help        Show this help.

Exit codes: 0 done, 1 the firmware failed or broke its contract, 2 bad input.
";

pub struct Run {
    pub requests: PathBuf,
    pub records: Option<PathBuf>,
    pub making: Making,
    pub settings: Settings,
    pub is_checked: bool,
    pub events: Option<String>,
}

/// What `words` ask for; nothing but help where that is.
pub fn parse(words: &[String]) -> Result<Option<Run>, RunError> {
    let mut words = Words::new(words);
    let (mut requests, mut records) = (None, None);
    let mut settings = Settings::default();
    let (mut geometry, mut overwrites, mut is_checked) = (Geometry::WHOLE, 1.5, false);
    let mut events = None;
    while let Some(option) = words.option()? {
        match option {
            "-h" | "--help" => return Ok(None),
            "--requests" => requests = Some(words.value(option)?.into()),
            "--records" => records = Some(words.value(option)?.into()),
            "--geometry" => geometry = words.value(option)?.parse()?,
            "--overwrite" => overwrites = words.number(option, (0.0, 100.0))?,
            "--workers" => settings.workers = words.number(option, (1, Settings::MOST_WORKERS))?,
            "--depth" => settings.depth = words.number(option, (1, Settings::MOST_DEPTH))?,
            "--seed" => settings.seed = words.number(option, (0, u64::MAX))?,
            "--record-requests" => {
                settings.record_requests = words.number(option, (1, u64::MAX))?;
            }
            "--threads" => settings.has_threads = true,
            "--check" => is_checked = true,
            "--events" => events = Some(words.value(option)?.to_owned()),
            other => return usage(format!("{other} is no option")),
        }
        words.end_option(option)?;
    }
    check_events(events.as_deref(), &settings)?;
    Ok(Some(Run {
        requests: needed(requests, "--requests", "FILE")?,
        records,
        making: Making {
            geometry,
            overwrites,
            seed: settings.seed,
        },
        settings,
        is_checked,
        events,
    }))
}
