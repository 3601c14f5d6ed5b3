//! The command line of the firmware program.

mod arguments;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use arguments::{Asked, HELP, Run, Snapshot};
use drivelab_firmware::error::RunError;
use drivelab_firmware::prepare::prepare;
use drivelab_firmware::records::Counter;
use drivelab_firmware::requests::Requests;
use drivelab_firmware::run::{Outcome, run_and_tell};
use drivelab_firmware::snapshot::{self, Unfinished};

/// A panic gets one line too: what a damaged snapshot says is found wrong where it is used.
fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let payload = panic.payload();
        let what = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("it gave no reason");
        eprintln!(
            "drivelab-firmware: the firmware stopped at {}: {what}; if the snapshot is damaged, make \
             another",
            place.unwrap_or_default()
        );
    }));
}

fn main() -> ExitCode {
    tell_panics();
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let done = std::panic::catch_unwind(|| work(&words));
    match done {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("drivelab-firmware: {error}");
            ExitCode::from(if error.is_bad_input() { 2 } else { 1 })
        }
        Err(_) => ExitCode::from(1),
    }
}

fn work(words: &[String]) -> Result<(), RunError> {
    match arguments::parse(words)? {
        Asked::Help => {
            print!("{HELP}");
            Ok(())
        }
        Asked::Snapshot(asked) => make_snapshot(&asked),
        Asked::Run(asked) => serve(&asked),
    }
}

fn make_snapshot(asked: &Snapshot) -> Result<(), RunError> {
    // What cannot be written is found out before the work.
    let file = Unfinished::begin(&asked.out)?;
    let planes = asked.geometry.planes();
    let told = Mutex::new(0);
    let state = prepare(asked.geometry, asked.seed, asked.overwrites, |ready| {
        let Ok(mut told) = told.lock() else {
            return;
        };
        let eighths = ready * 8 / planes;
        if eighths > *told {
            *told = eighths;
            eprintln!("making the snapshot: {ready} of {planes} dies");
        }
    })?;
    file.finish(&state)?;
    eprintln!("wrote {}", asked.out.display());
    Ok(())
}

fn serve(asked: &Run) -> Result<(), RunError> {
    let state = snapshot::load(&asked.snapshot)?;
    let sectors = state.geometry.sectors();
    let requests = if asked.requests == Path::new("-") {
        Requests::new(std::io::stdin(), "standard input", sectors)
    } else {
        let name = asked.requests.display().to_string();
        Requests::new(open(&asked.requests)?, name, sectors)
    };
    // What cannot be written is found out before the work.
    let mut out = match &asked.records {
        Some(path) => Some((path, create(path)?)),
        None => None,
    };
    let outcome = run_and_tell(state, requests, &asked.settings, |number, record| {
        let Some((path, out)) = &mut out else {
            return Ok(());
        };
        // A line is written whole when its record ends: who kills the program keeps it.
        let line = record.line(number) + "\n";
        let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        written.map_err(|error| RunError::File {
            path: path.clone(),
            error,
        })
    })?;
    tell(&outcome);
    if asked.is_checked {
        let mapped = outcome.state.check()?;
        eprintln!("checked: {mapped} mapped pages, each valid once");
    }
    Ok(())
}

fn open(path: &Path) -> Result<File, RunError> {
    let file = File::open(path).and_then(|file| {
        if file.metadata()?.is_dir() {
            return Err(std::io::Error::other(
                "it is a folder, not a list of requests",
            ));
        }
        Ok(file)
    });
    file.map_err(|error| RunError::File {
        path: path.to_owned(),
        error,
    })
}

/// Opens what records are written to; a file that holds something is left as it is.
fn create(path: &Path) -> Result<Box<dyn Write>, RunError> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdout().lock()));
    }
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).open(path);
    let file = file.and_then(|file| {
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() > 0 {
            return Err(std::io::Error::other(
                "it exists and is not empty: choose another file for --records",
            ));
        }
        Ok(file)
    });
    match file {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(RunError::File {
            path: path.to_owned(),
            error,
        }),
    }
}

/// One line for people, beside the records.
fn tell(outcome: &Outcome) {
    let requests = outcome.counts.get(Counter::Requests);
    let programs = outcome.counts.get(Counter::FlashPrograms);
    let moved = outcome.counts.get(Counter::PagesMoved);
    let each = outcome.wall_ns as f64 / requests.max(1) as f64;
    eprintln!(
        "{requests} requests in {:.3} s, {each:.0} ns each here; {programs} programs, {moved} of \
         them moves; {} of {} locks waited for",
        outcome.wall_ns as f64 / 1e9,
        outcome.counts.get(Counter::LockWaits),
        outcome.counts.get(Counter::LockAcquisitions),
    );
}
