//! The words of the command line.

use std::path::PathBuf;

use drivelab_firmware::command_line::{Words, needed, usage};
use drivelab_firmware::error::RunError;
use drivelab_firmware::serve_options::{
    DRIVE_HELP, DriveOptions, SERVE_HELP, ServeOptions, Serving, no_option,
};

/// The text of `--help`.
pub fn help() -> String {
    format!(
        "\
The firmware of a drive as a program: it serves a list of requests on a stub of the flash
and counts what it did, record by record of 1000 requests.

usage: drivelab-firmware --requests FILE --snapshot FILE [options]
       drivelab-firmware snapshot --out FILE [options]

Serve requests:
{SERVE_HELP}  --snapshot FILE   State of the drive to begin with. The file is not changed.
  --seed N          Seed of the order in which workers take turns (default 1).
  --check           Check afterwards that every mapped page is valid exactly once.

Make a snapshot:
  --out FILE        File to write. An existing file is replaced.
{DRIVE_HELP}  --seed N          Seed of the pages that are overwritten (default 1).

  -h, --help        Show this help.

Exit codes: 0 done, 1 the firmware failed or the snapshot is damaged inside, 2 bad input.
"
    )
}

/// What to do.
pub enum Asked {
    Help,
    Snapshot(Snapshot),
    Run(Run),
}

pub struct Snapshot {
    pub out: PathBuf,
    pub drive: DriveOptions,
    pub seed: u64,
}

pub struct Run {
    pub snapshot: PathBuf,
    pub serving: Serving,
}

/// The request in `words`.
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
    let (mut out, mut drive, mut seed) = (None, DriveOptions::default(), 1);
    while let Some(option) = words.option()? {
        match option {
            "-h" | "--help" => return Ok(Asked::Help),
            "--out" => out = Some(words.value(option)?.into()),
            "--seed" => seed = words.number(option, (0, u64::MAX))?,
            other if drive.take(other, words)? => {}
            other => return usage(format!("{other} is no option of snapshot")),
        }
        words.end_option(option)?;
    }
    Ok(Asked::Snapshot(Snapshot {
        out: needed(out, "--out", "FILE")?,
        drive,
        seed,
    }))
}

fn parse_run(words: &mut Words<'_>) -> Result<Asked, RunError> {
    let (mut snapshot, mut serving) = (None, ServeOptions::default());
    while let Some(option) = words.option()? {
        match option {
            "-h" | "--help" => return Ok(Asked::Help),
            "--snapshot" => snapshot = Some(words.value(option)?.into()),
            other if serving.take(other, words)? => {}
            other => return no_option(other),
        }
        words.end_option(option)?;
    }
    Ok(Asked::Run(Run {
        serving: serving.finish()?,
        snapshot: needed(snapshot, "--snapshot", "FILE")?,
    }))
}
