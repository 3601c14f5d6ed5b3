//! The keys of `[ageing]`: what erases do to blocks, to their times and to their reads.

use serde::Serialize;

use super::assemble::Keys;
use super::error::PresetError;
use super::schema::{self, LONGEST_NS, Rule, integer};

const PROBABILITY: Rule = Rule::Ratio {
    least: 0.0,
    most: 1.0,
};
const TIME_RATIO: Rule = Rule::Ratio {
    least: 0.1,
    most: 10.0,
};

const RATED: &str = "ageing.rated_erases";
const RETRY: &str = "ageing.read_retry_probability";
const RETRIES: &str = "ageing.read_retries";
const RETRY_TIME: &str = "ageing.read_retry_ns";

pub(super) const KEYS: &[(&str, Rule)] = &[
    (RATED, integer(1, 1 << 30)),
    ("ageing.seed", integer(0, u32::MAX as u64)),
    ("ageing.program_time_ratio", TIME_RATIO),
    ("ageing.erase_time_ratio", TIME_RATIO),
    (RETRY, PROBABILITY),
    (RETRIES, integer(1, 64)),
    (RETRY_TIME, integer(0, LONGEST_NS)),
];

/// How often a page is sensed again at most, where the preset does not say it.
const DEFAULT_RETRIES: u32 = 8;

/// How the flash changes with the erases of its blocks. At `rated_erases` of a block its
/// ratios and probabilities are those given here; before, they lie between those of new
/// flash and these in proportion to its erases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ageing {
    /// Erases of a block that its maker vouches for.
    pub rated_erases: u32,
    /// Another piece of the same drive has other blocks and pages that fail or are read again.
    #[serde(skip_serializing_if = "is_zero")]
    pub seed: u64,
    /// Time of a program over that of a new block's; from the rated count on it stays.
    #[serde(skip_serializing_if = "is_one")]
    pub program_time_ratio: f64,
    /// The same of an erase.
    #[serde(skip_serializing_if = "is_one")]
    pub erase_time_ratio: f64,
    /// That the data of a page is wrong once it was sensed, and likewise each further time.
    #[serde(skip_serializing_if = "is_nothing")]
    pub read_retry_probability: f64,
    /// How often a page is sensed again at most; absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_retries: Option<u32>,
    /// What each time takes; absent for as much as the page's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_retry_ns: Option<u64>,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn is_one(value: &f64) -> bool {
    *value == 1.0
}

fn is_nothing(value: &f64) -> bool {
    *value == 0.0
}

impl Ageing {
    /// Whether erases change how long anything takes.
    #[must_use]
    pub fn changes_times(&self) -> bool {
        let ratios = [self.program_time_ratio, self.erase_time_ratio];
        self.read_retry_probability > 0.0 || ratios.into_iter().any(|ratio| ratio != 1.0)
    }
}

/// Reads the table; what has no effect leaves no trace.
pub(super) fn ageing(keys: &Keys<'_>) -> Result<Option<Ageing>, PresetError> {
    let Some((given, _)) = KEYS.iter().find(|(key, _)| keys.entry(key).is_some()) else {
        return Ok(None);
    };
    if keys.entry(RATED).is_none() {
        let rule = keys.rule(RATED).map_or_else(String::new, Rule::allowed);
        return Err(keys.missing(RATED, format!("{rule}, as {given} is given")));
    }
    let ratio = |key: &str, usual: f64| -> Result<f64, PresetError> {
        let given = keys.entry(key).map(|_| keys.ratio(key)).transpose()?;
        Ok(given.unwrap_or(usual))
    };
    let read_retry_probability = ratio(RETRY, 0.0)?;
    let retries = read_retry_probability > 0.0;
    for key in [RETRIES, RETRY_TIME] {
        if let Some(entry) = keys.entry(key).filter(|_| !retries) {
            let allowed = format!("none, as {RETRY} is not above 0; or give that");
            return Err(schema::wrong_value(key, entry, allowed));
        }
    }
    let most = keys.optional_integer(RETRIES)?.unwrap_or(DEFAULT_RETRIES);
    let mut ageing = Ageing {
        rated_erases: keys.integer(RATED)?,
        seed: 0,
        program_time_ratio: ratio("ageing.program_time_ratio", 1.0)?,
        erase_time_ratio: ratio("ageing.erase_time_ratio", 1.0)?,
        read_retry_probability,
        read_retries: retries.then_some(most),
        read_retry_ns: keys.optional_integer(RETRY_TIME)?,
    };
    if !ageing.changes_times() {
        return Ok(None);
    }
    ageing.seed = keys.optional_integer("ageing.seed")?.unwrap_or(0);
    Ok(Some(ageing))
}
