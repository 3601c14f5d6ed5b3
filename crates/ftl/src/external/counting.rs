//! The counts of the user's own firmware.

use std::ffi::{CStr, c_void};
use std::path::Path;

use super::functions::ExternalFunctions;
use super::library::ExternalError;
use crate::{Counts, FirmwareError, OwnCounts};

/// The most counts of a firmware.
const MOST_COUNTS: u32 = 32;
/// The most letters of a name.
const MOST_LETTERS: usize = 40;
/// Programs that move pages. The reported number is checked.
const MOVED: &str = "pages_moved";

/// The names, and the last values of those that the built-in firmware counts too.
pub(super) struct Counting {
    functions: ExternalFunctions,
    names: Vec<String>,
    shared: Vec<Shared>,
    /// Moves emitted so far.
    pub moved: u64,
}

/// A count that the built-in firmware has too.
struct Shared {
    index: u32,
    field: fn(&mut Counts) -> &mut u64,
    before: u64,
}

fn field(name: &str) -> Option<fn(&mut Counts) -> &mut u64> {
    Some(match name {
        "map_lookups" => |counts| &mut counts.lookups,
        "map_hits" => |counts| &mut counts.map_hits,
        "map_misses" => |counts| &mut counts.map_misses,
        _ => return None,
    })
}

fn is_name(name: &str) -> bool {
    let is_letter = |letter: u8| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'_');
    name.len() <= MOST_LETTERS
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(is_letter)
}

impl Counting {
    /// The counts named by `functions`.
    pub fn of(functions: &ExternalFunctions, path: &Path) -> Result<Self, ExternalError> {
        let mut names: Vec<String> = Vec::new();
        if let Some(name_of) = functions.count_name {
            for index in 0..=MOST_COUNTS {
                // SAFETY: as the header says.
                let name = unsafe { name_of(index) };
                if name.is_null() {
                    break;
                }
                // SAFETY: the header requires a string that stays valid.
                let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
                let why = if index == MOST_COUNTS {
                    format!("there are more than {MOST_COUNTS}")
                } else if !is_name(&name) {
                    format!(
                        "use up to {MOST_LETTERS} lower-case letters, digits and underscores, a \
                         letter first"
                    )
                } else if names.iter().any(|other| *other == name) {
                    "the name stands twice".to_owned()
                } else {
                    names.push(name.into_owned());
                    continue;
                };
                return Err(ExternalError::Count {
                    path: path.to_owned(),
                    index,
                    name: name.chars().take(MOST_LETTERS).collect(),
                    why,
                });
            }
        }
        let shared = (0..).zip(&names).filter_map(|(index, name)| {
            Some(Shared {
                index,
                field: field(name)?,
                before: 0,
            })
        });
        Ok(Self {
            shared: shared.collect(),
            functions: *functions,
            names,
            moved: 0,
        })
    }

    fn count(&self, state: *mut c_void, index: u32) -> u64 {
        // SAFETY: the state lives until the call returns.
        self.functions
            .count
            .map_or(0, |count| unsafe { count(state, index) })
    }

    /// Adds what was counted since the last call to the built-in firmware's counts.
    pub fn add_to(&mut self, counts: &mut Counts, state: *mut c_void) -> Result<(), FirmwareError> {
        for place in 0..self.shared.len() {
            let now = self.count(state, self.shared[place].index);
            let shared = &mut self.shared[place];
            let Some(more) = now.checked_sub(shared.before) else {
                return Err(became_less(
                    &self.names[shared.index as usize],
                    shared.before,
                    now,
                ));
            };
            shared.before = now;
            *(shared.field)(counts) += more;
        }
        Ok(())
    }

    /// All counts.
    pub fn told(&self, state: *mut c_void) -> Result<OwnCounts, FirmwareError> {
        let mut told = Vec::with_capacity(self.names.len());
        for (index, name) in (0..).zip(&self.names) {
            let count = self.count(state, index);
            if name == MOVED && count != self.moved {
                return Err(FirmwareError::Contract {
                    what: format!(
                        "the firmware tells {count} as {MOVED}, and has emitted {} programs that \
                         move a page",
                        self.moved
                    ),
                });
            }
            told.push((name.clone(), count));
        }
        Ok(OwnCounts(told))
    }
}

/// The error for a count that decreased.
pub(crate) fn became_less(name: &str, before: u64, now: u64) -> FirmwareError {
    FirmwareError::Contract {
        what: format!("the firmware's count {name} became smaller: {before}, then {now}"),
    }
}
