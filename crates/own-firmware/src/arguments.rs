//! The words of the command line.

use drivelab_firmware::command_line::Words;
use drivelab_firmware::error::RunError;
use drivelab_firmware::own_run::Making;
use drivelab_firmware::serve_options::{
    DRIVE_HELP, DriveOptions, SERVE_HELP, ServeOptions, Serving, no_option,
};

/// What `--help` prints.
pub fn help() -> String {
    format!(
        "\
A firmware of your own as a program: it makes a drive, serves a list of requests on a stub
of the flash and counts what it did, record by record of 1000 requests.

usage: PROGRAM --requests FILE [options]

{SERVE_HELP}{DRIVE_HELP}  --seed N          Seed of the pages that are overwritten, and of the order in which
                    workers take turns (default 1).
  --check           Check every operation against the contract of drivelab_firmware.h.

  -h, --help        Show this help.

Your firmware is under one lock, however many workers there are.

Exit codes: 0 done, 1 the firmware failed or broke its contract, 2 bad input.
"
    )
}

pub struct Run {
    pub making: Making,
    pub serving: Serving,
}

/// Parses the command line; nothing if it asks for help.
pub fn parse(words: &[String]) -> Result<Option<Run>, RunError> {
    let mut words = Words::new(words);
    let (mut drive, mut serving) = (DriveOptions::default(), ServeOptions::default());
    while let Some(option) = words.option()? {
        match option {
            "-h" | "--help" => return Ok(None),
            other if drive.take(other, &mut words)? => {}
            other if serving.take(other, &mut words)? => {}
            other => return no_option(other),
        }
        words.end_option(option)?;
    }
    let serving = serving.finish()?;
    Ok(Some(Run {
        making: Making {
            geometry: drive.geometry,
            overwrites: drive.overwrites,
            seed: serving.settings.seed,
        },
        serving,
    }))
}
