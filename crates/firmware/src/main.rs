//! The command line of the firmware program.

mod arguments;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use arguments::{Asked, HELP, Run, Snapshot};
use drivelab_firmware::error::RunError;
use drivelab_firmware::prepare::prepare;
use drivelab_firmware::records::{Counter, Record};
use drivelab_firmware::requests::Requests;
use drivelab_firmware::run::{Outcome, run};
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
    let out = asked
        .records
        .as_ref()
        .map(|path| create(path))
        .transpose()?;
    let outcome = run(state, requests, &asked.settings)?;
    if let (Some(out), Some(path)) = (out, &asked.records) {
        write_records(out, &outcome.records).map_err(|error| RunError::File {
            path: path.clone(),
            error,
        })?;
    }
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

fn create(path: &PathBuf) -> Result<Box<dyn Write>, RunError> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdout().lock()));
    }
    match File::create(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(RunError::File {
            path: path.clone(),
            error,
        }),
    }
}

fn write_records(out: Box<dyn Write>, records: &[Record]) -> std::io::Result<()> {
    let mut out = BufWriter::new(out);
    for (number, record) in records.iter().enumerate() {
        writeln!(out, "{}", record.line(number))?;
    }
    out.flush()
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
