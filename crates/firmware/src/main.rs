//! The command line of the firmware program.

mod arguments;

use std::process::ExitCode;
use std::sync::Mutex;

use arguments::{Asked, Run, Snapshot};
use drivelab_firmware::command_line::{Lines, Program, carried_out, print_help, requests_of, tell};
use drivelab_firmware::error::RunError;
use drivelab_firmware::events::Events;
use drivelab_firmware::prepare::prepare;
use drivelab_firmware::records::Record;
use drivelab_firmware::run::run_and_tell;
use drivelab_firmware::snapshot::{self, Unfinished};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    ExitCode::from(carried_out(Program::PageMap, || work(&words)))
}

fn work(words: &[String]) -> Result<(), RunError> {
    match arguments::parse(words)? {
        Asked::Help => print_help(&arguments::help()),
        Asked::Snapshot(asked) => make_snapshot(&asked),
        Asked::Run(asked) => serve(&asked),
    }
}

fn make_snapshot(asked: &Snapshot) -> Result<(), RunError> {
    // Find out before the work whether the file can be written.
    let file = Unfinished::begin(&asked.out)?;
    let drive = &asked.drive;
    let planes = drive.geometry.planes();
    let told = Mutex::new(0);
    let state = prepare(drive.geometry, asked.seed, drive.overwrites, |ready| {
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
    let asked = &asked.serving;
    let requests = requests_of(&asked.requests, state.geometry.sectors())?;
    let mut lines = Lines::open(asked.records.as_deref())?;
    let mut events = asked.events.as_deref().map(Events::open).transpose()?;
    let outcome = run_and_tell(state, requests, &asked.settings, |number, record| {
        let line = record.line(number);
        lines.write(match &mut events {
            Some(events) => Record::with_events(&line, &events.taken()?),
            None => line,
        })
    })?;
    tell(&outcome.counts, outcome.wall_ns);
    if asked.is_checked {
        let mapped = outcome.state.check()?;
        eprintln!("checked: {mapped} mapped pages, each valid once");
    }
    Ok(())
}
