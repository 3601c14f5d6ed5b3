//! The words of the command line.

use std::path::PathBuf;

use drivelab_firmware::command_line::{Words, check_events, needed, usage};
use drivelab_firmware::error::RunError;
use drivelab_firmware::geometry::Geometry;
use drivelab_firmware::run::Settings;

pub const HELP: &str = "\
The firmware of a drive as a program: it serves a list of requests on a stub of the flash
and counts what it did, record by record of 1000 requests.

usage: drivelab-firmware --requests FILE --snapshot FILE [options]
       drivelab-firmware snapshot --out FILE [options]

Serve requests:
  --requests FILE   List of requests, 16 bytes each, little-endian: first sector (8 bytes),
                    sectors (4), kind (4: 0 read, 1 write, 2 trim). - reads standard input.
  --snapshot FILE   State of the drive to begin with. The file is not changed.
  --records FILE    Write one JSON line per record, when it ends. FILE must be new or empty.
                    - writes to standard output.
  --record-requests N
                    Requests of a record (default 1000).
  --workers N       Workers, 1 to 16 (default 4). The first is the front end.
  --depth N         Commands outstanding, 1 to 255 (default 64).
  --seed N          Seed of the order in which workers take turns (default 1).
  --threads         One thread per worker. Without it workers take turns in one thread,
                    and the same seed gives the same counts.
  --events GROUP    Count events of this machine's processor in each record: cycles, stalls,
                    branches, last-cache, first-cache, micro-operations, software.
  --check           Check afterwards that every mapped page is valid exactly once.

Make a snapshot:
  --out FILE        File to write. An existing file is replaced.
  --geometry CxWxDxBxP
                    Channels x ways x dies a way x blocks a die x pages of 16 KiB a block
                    (default 4x4x2x5120x512, which is 1 TiB with 25 % over-provisioning).
  --overwrite X     Random overwrites after the fill, in drive sizes (default 1.5).
  --seed N          Seed of the pages that are overwritten (default 1).

  -h, --help        Show this help.

Exit codes: 0 done, 1 the firmware failed or the snapshot is damaged inside, 2 bad input.
";

/// What is to be done.
pub enum Asked {
    Help,
    Snapshot(Snapshot),
    Run(Run),
}

pub struct Snapshot {
    pub out: PathBuf,
    pub geometry: Geometry,
    pub overwrites: f64,
    pub seed: u64,
}

pub struct Run {
    pub requests: PathBuf,
    pub snapshot: PathBuf,
    pub records: Option<PathBuf>,
    pub settings: Settings,
    pub is_checked: bool,
    pub events: Option<String>,
}

/// What `words` ask for.
pub fn parse(words: &[String]) -> Result<Asked, RunError> {
    let is_snapshot = words.first().is_some_and(|word| word == "snapshot");
    let mut words = Words::new(&words[usize::from(is_snapshot)..]);
    if is_snapshot {
        parse_snapshot(&mut words)
    } else {
        parse_run(&mut words)
    }
}

fn parse_snapshot(words: &mut Words<'_>) -> Result<Asked, RunError> {
    let (mut out, mut geometry, mut overwrites, mut seed) = (None, Geometry::WHOLE, 1.5, 1);
    while let Some(option) = words.option()? {
        match option {
            "-h" | "--help" => return Ok(Asked::Help),
            "--out" => out = Some(words.value(option)?.into()),
            "--geometry" => geometry = words.value(option)?.parse()?,
            "--overwrite" => overwrites = words.number(option, (0.0, 100.0))?,
            "--seed" => seed = words.number(option, (0, u64::MAX))?,
            other => return usage(format!("{other} is no option of snapshot")),
        }
        words.end_option(option)?;
    }
    Ok(Asked::Snapshot(Snapshot {
        out: needed(out, "--out", "FILE")?,
        geometry,
        overwrites,
        seed,
    }))
}

fn parse_run(words: &mut Words<'_>) -> Result<Asked, RunError> {
    let (mut requests, mut snapshot, mut records) = (None, None, None);
    let mut settings = Settings::default();
    let (mut is_checked, mut events) = (false, None);
    while let Some(option) = words.option()? {
        match option {
            "-h" | "--help" => return Ok(Asked::Help),
            "--requests" => requests = Some(words.value(option)?.into()),
            "--snapshot" => snapshot = Some(words.value(option)?.into()),
            "--records" => records = Some(words.value(option)?.into()),
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
    Ok(Asked::Run(Run {
        requests: needed(requests, "--requests", "FILE")?,
        snapshot: needed(snapshot, "--snapshot", "FILE")?,
        records,
        settings,
        is_checked,
        events,
    }))
}
