//! The firmware program around a user's own firmware.
//!
//! ```text
//!   mine.c, link.c ──cc──┐
//!                        ├──> a static program, for the host and for the target
//!   this library ────────┘
//! ```
//!
//! `drivelab firmware build` builds it. The functions of `drivelab_firmware.h` come as the table
//! `drivelab_own_firmware` of `link.c`.

mod arguments;

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;

use drivelab_firmware::command_line::{Lines, Program, carried_out, print_help, requests_of, tell};
use drivelab_firmware::error::RunError;
use drivelab_firmware::events::Events;
use drivelab_firmware::own_run::{layout, run_own};
use drivelab_firmware::records::Record;
use drivelab_ftl::{Checked, External, ExternalFunctions, Firmware};

use arguments::Run;

unsafe extern "C" {
    /// The firmware that is linked into this program.
    #[allow(non_upper_case_globals)]
    static drivelab_own_firmware: ExternalFunctions;
}

/// The program.
///
/// # Safety
/// The arguments are those of a C main.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    let words: Vec<String> = (1..usize::try_from(count).unwrap_or(0))
        // SAFETY: `words` has `count` strings.
        .map(|place| unsafe { CStr::from_ptr(*words.add(place)) })
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    carried_out(Program::Own, || work(&words)).into()
}

fn work(words: &[String]) -> Result<(), RunError> {
    let Some(asked) = arguments::parse(words)? else {
        return print_help(&arguments::help());
    };
    // SAFETY: link.c fills the table; that the functions do what the header asks for is up to their
    // author.
    let firmware = unsafe {
        External::linked(
            drivelab_own_firmware,
            Path::new("in this program"),
            layout(&asked.making.geometry),
        )
    };
    let firmware = firmware.map_err(|error| RunError::Own(error.to_string()))?;
    if asked.serving.is_checked {
        serve(Checked::fresh(firmware), &asked)
    } else {
        serve(firmware, &asked)
    }
}

fn serve(firmware: impl Firmware, asked: &Run) -> Result<(), RunError> {
    let (making, asked) = (&asked.making, &asked.serving);
    let requests = requests_of(&asked.requests, making.geometry.sectors())?;
    let mut lines = Lines::open(asked.records.as_deref())?;
    let mut events = asked.events.as_deref().map(Events::open).transpose()?;
    let served = run_own(
        firmware,
        making,
        requests,
        &asked.settings,
        |number, record, own| {
            let line = record.line_with(number, &own.0);
            lines.write(match &mut events {
                Some(events) => Record::with_events(&line, &events.taken()?),
                None => line,
            })
        },
    )?;
    tell(&served.counts, served.wall_ns);
    if asked.is_checked {
        eprintln!("checked: every operation keeps the contract of drivelab_firmware.h");
    }
    Ok(())
}
