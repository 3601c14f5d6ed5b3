//! What the programs' command lines share: words, files, and the final line.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::crash::tell_crashes;
use crate::error::RunError;
use crate::records::{Counter, Totals};
use crate::requests::Requests;
use crate::run::Settings;

/// Which program runs, for its error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// With the package's map; it begins with a snapshot.
    PageMap,
    /// With the user's own firmware; there is no snapshot.
    Own,
}

impl Program {
    pub(crate) const fn who(self) -> &'static str {
        match self {
            Self::PageMap => "the firmware",
            Self::Own => "your firmware",
        }
    }

    pub(crate) const fn after_crash(self) -> &'static str {
        match self {
            Self::PageMap => "if its snapshot was changed meanwhile, make another",
            Self::Own => "a debugger shows where (gdb --args PROGRAM --requests ...)",
        }
    }

    /// The remedy if the firmware and its flash contradict each other.
    const fn after_contradiction(self) -> &'static str {
        match self {
            Self::PageMap => {
                "if the snapshot is damaged inside, make another with drivelab-firmware snapshot"
            }
            Self::Own => "if your firmware breaks its contract, --check says what it did",
        }
    }
}

/// Does what was asked, or prints a one-line error. Returns the exit code.
pub fn carried_out(
    program: Program,
    work: impl FnOnce() -> Result<(), RunError> + std::panic::UnwindSafe,
) -> u8 {
    tell_panics(program);
    tell_crashes(program);
    match std::panic::catch_unwind(work) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            if error.is_contradiction() {
                eprintln!(
                    "drivelab-firmware: {error}; {}",
                    program.after_contradiction()
                );
            } else {
                eprintln!("drivelab-firmware: {error}");
            }
            if error.is_bad_input() { 2 } else { 1 }
        }
        Err(_) => 1,
    }
}

/// A panic also prints one line: errors in a damaged snapshot are found where it is used.
fn tell_panics(program: Program) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string);
        let payload = panic.payload();
        let what = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("it gave no reason");
        eprintln!(
            "drivelab-firmware: {} cannot go on; {} ({what}, {})",
            program.who(),
            program.after_contradiction(),
            place.unwrap_or_default()
        );
    }));
}

/// Prints help.
///
/// # Errors
/// [`RunError::File`] if it cannot be written.
pub fn print_help(text: &str) -> Result<(), RunError> {
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| RunError::File {
            path: "standard output".into(),
            error,
        })
}

/// Refuses a word.
///
/// # Errors
/// [`RunError::Usage`] saying that `what` is wrong.
pub fn usage<T>(what: impl Into<String>) -> Result<T, RunError> {
    Err(RunError::Usage(what.into()))
}

/// A required value.
///
/// # Errors
/// [`RunError::Usage`] with an example if it is missing.
pub fn needed<T>(value: Option<T>, option: &str, example: &str) -> Result<T, RunError> {
    value.ok_or_else(|| RunError::Usage(format!("{option} is missing: add {option} {example}")))
}

/// The words one by one. An option's value follows it, directly after `=` or as the next word.
pub struct Words<'a> {
    rest: std::slice::Iter<'a, String>,
    behind: Option<&'a str>,
}

impl<'a> Words<'a> {
    /// These words.
    #[must_use]
    pub fn new(words: &'a [String]) -> Self {
        Self {
            rest: words.iter(),
            behind: None,
        }
    }

    /// The next option, if any.
    ///
    /// # Errors
    /// [`RunError::Usage`] if the word is not an option.
    pub fn option(&mut self) -> Result<Option<&'a str>, RunError> {
        let Some(word) = self.rest.next() else {
            return Ok(None);
        };
        if !word.starts_with('-') {
            return usage(format!("{word} is not an option"));
        }
        Ok(Some(match word.split_once('=') {
            Some((option, value)) => {
                self.behind = Some(value);
                option
            }
            None => word,
        }))
    }

    /// The value of `option`.
    ///
    /// # Errors
    /// [`RunError::Usage`] if there is none.
    pub fn value(&mut self, option: &str) -> Result<&'a str, RunError> {
        match self
            .behind
            .take()
            .or_else(|| self.rest.next().map(String::as_str))
        {
            Some(value) => Ok(value),
            None => usage(format!("{option} needs a value")),
        }
    }

    /// The value of `option` as a number within bounds.
    ///
    /// # Errors
    /// [`RunError::Usage`] if it is not one.
    pub fn number<T: std::str::FromStr + PartialOrd + std::fmt::Display + Copy>(
        &mut self,
        option: &str,
        (low, high): (T, T),
    ) -> Result<T, RunError> {
        let value = self.value(option)?;
        match value.parse() {
            Ok(number) if (low..=high).contains(&number) => Ok(number),
            _ => usage(format!(
                "{option} {value}: write a number from {low} to {high}"
            )),
        }
    }

    /// Refuses a value after an option without values.
    ///
    /// # Errors
    /// [`RunError::Usage`] with the value.
    pub fn end_option(&mut self, option: &str) -> Result<(), RunError> {
        match self.behind.take() {
            Some(value) => usage(format!("{option} takes no value, and {value} was given")),
            None => Ok(()),
        }
    }
}

/// Refuses to count events together with threads.
///
/// # Errors
/// [`RunError::Usage`] if both are requested.
pub fn check_events(events: Option<&str>, settings: &Settings) -> Result<(), RunError> {
    if events.is_some() && settings.has_threads {
        return usage("--events counts one thread: leave --threads out");
    }
    Ok(())
}

/// The list of requests `path`; `-` is standard input.
///
/// # Errors
/// [`RunError::File`] if it cannot be read.
pub fn requests_of(path: &Path, sectors: u64) -> Result<Requests, RunError> {
    if path == Path::new("-") {
        return Ok(Requests::new(std::io::stdin(), "standard input", sectors));
    }
    let name = path.display().to_string();
    Ok(Requests::new(open(path)?, name, sectors))
}

/// Where lines of records are written, if anywhere.
pub struct Lines<'a>(Option<(&'a Path, Box<dyn Write>)>);

impl<'a> Lines<'a> {
    /// Opens `path`, so that an unwritable file is noticed before the work.
    ///
    /// # Errors
    /// [`RunError::File`] if it cannot be written.
    pub fn open(path: Option<&'a Path>) -> Result<Self, RunError> {
        Ok(Self(match path {
            Some(path) => Some((path, create(path)?)),
            None => None,
        }))
    }

    /// Writes a complete line when its record ends, so it is kept if the program is killed.
    ///
    /// # Errors
    /// [`RunError::File`] if that fails.
    pub fn write(&mut self, line: String) -> Result<(), RunError> {
        let Some((path, out)) = &mut self.0 else {
            return Ok(());
        };
        let line = line + "\n";
        let written = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        written.map_err(|error| RunError::File {
            path: match *path == Path::new("-") {
                true => "standard output".into(),
                false => path.to_path_buf(),
            },
            error,
        })
    }
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

/// Opens the file for records. A file with content is not changed.
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

/// Prints one line for people, in addition to the records.
pub fn tell(counts: &Totals, wall_ns: u64) {
    let requests = counts.get(Counter::Requests);
    let programs = counts.get(Counter::FlashPrograms);
    let moved = counts.get(Counter::PagesMoved);
    let each = wall_ns as f64 / requests.max(1) as f64;
    eprintln!(
        "{requests} requests in {:.3} s, {each:.0} ns each here; {programs} programs, {moved} of \
         them moves; {} of {} locks waited for",
        wall_ns as f64 / 1e9,
        counts.get(Counter::LockWaits),
        counts.get(Counter::LockAcquisitions),
    );
}
