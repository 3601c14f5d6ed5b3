//! The keys of `[ageing]`: how erases change blocks, their times and their reads.

use drivelab_ftl::Failures;
use serde::Serialize;

use super::assemble::Keys;
use super::config::SsdConfig;
use super::error::PresetError;
use super::key::{Key, key};
use super::schema::{LONGEST_NS, Rule, integer};

const PROBABILITY: Rule = Rule::Ratio {
    least: 0.0,
    most: 1.0,
};
const TIME_RATIO: Rule = Rule::Ratio {
    least: 0.1,
    most: 10.0,
};

const RATED: &str = "ageing.rated_erases";
pub(super) const RETRY: &str = "ageing.read_retry_probability";
pub(super) const RETRIES: &str = "ageing.read_retries";
pub(super) const RETRY_TIME: &str = "ageing.read_retry_ns";
pub(super) const FACTORY_BAD: &str = "ageing.factory_bad_ratio";
pub(super) const PROGRAM_FAILS: &str = "ageing.program_failure_probability";
pub(super) const ERASE_FAILS: &str = "ageing.erase_failure_probability";

pub(super) const KEYS: &[Key] = &[
    key(RATED, integer(1, 1 << 30)),
    key("ageing.seed", integer(0, u32::MAX as u64)).usually(0),
    key("ageing.program_time_ratio", TIME_RATIO).usually_ratio(1.0),
    key("ageing.erase_time_ratio", TIME_RATIO).usually_ratio(1.0),
    key(RETRY, PROBABILITY).usually_ratio(0.0),
    key(RETRIES, integer(1, 64)).usually(8),
    key(RETRY_TIME, integer(0, LONGEST_NS)).usually_as("as the page's first read"),
    key(FACTORY_BAD, PROBABILITY).usually_ratio(0.0),
    key(PROGRAM_FAILS, PROBABILITY).usually_ratio(0.0),
    key(ERASE_FAILS, PROBABILITY).usually_ratio(0.0),
];

/// How the flash changes with the erases of its blocks. The ratios and probabilities here hold for
/// a block with `rated_erases` erases. Between a new block and that point they grow in proportion
/// to its erases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ageing {
    /// Erases of a block that its maker guarantees.
    pub rated_erases: u32,
    /// Seed of one specimen of the drive: another specimen has other failing blocks and other pages
    /// that need retries.
    #[serde(skip_serializing_if = "is_zero")]
    pub seed: u64,
    /// Program time relative to that of a new block. It stays constant from the rated count on.
    #[serde(skip_serializing_if = "is_one")]
    pub program_time_ratio: f64,
    /// The same for an erase.
    #[serde(skip_serializing_if = "is_one")]
    pub erase_time_ratio: f64,
    /// Probability that sensing a page gives wrong data, the first time and every further time.
    #[serde(skip_serializing_if = "is_nothing")]
    pub read_retry_probability: f64,
    /// How often a page is sensed again at most; `None` means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_retries: Option<u32>,
    /// The time of each retry; `None` means the time of the page's first read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_retry_ns: Option<u64>,
    /// Fraction of blocks that are bad from the factory.
    #[serde(skip_serializing_if = "is_nothing")]
    pub factory_bad_ratio: f64,
    /// Probability that one of the programs between two erases of a block fails.
    #[serde(skip_serializing_if = "is_nothing")]
    pub program_failure_probability: f64,
    /// Probability that an erase fails.
    #[serde(skip_serializing_if = "is_nothing")]
    pub erase_failure_probability: f64,
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

    /// Whether blocks are bad, or become so.
    #[must_use]
    pub fn has_bad_blocks(&self) -> bool {
        self.factory_bad_ratio > 0.0
            || self.program_failure_probability > 0.0
            || self.erase_failure_probability > 0.0
    }
}

/// Reads the table. Settings without effect are left out of the result.
pub(super) fn ageing(keys: &Keys<'_>) -> Result<Option<Ageing>, PresetError> {
    let Some(given) = KEYS.iter().find(|row| keys.entry(row.name).is_some()) else {
        return Ok(None);
    };
    if keys.entry(RATED).is_none() {
        let rule = keys.rule(RATED).map_or_else(String::new, Rule::allowed);
        return Err(keys.missing(RATED, format!("{rule}, as {} is given", given.name)));
    }
    let read_retry_probability = keys.ratio_or_usual(RETRY)?;
    let retries = read_retry_probability > 0.0;
    let most = keys.integer_or_usual(RETRIES)?;
    let mut ageing = Ageing {
        rated_erases: keys.integer(RATED)?,
        seed: 0,
        program_time_ratio: keys.ratio_or_usual("ageing.program_time_ratio")?,
        erase_time_ratio: keys.ratio_or_usual("ageing.erase_time_ratio")?,
        read_retry_probability,
        read_retries: retries.then_some(most),
        read_retry_ns: keys.optional_integer(RETRY_TIME)?,
        factory_bad_ratio: keys.ratio_or_usual(FACTORY_BAD)?,
        program_failure_probability: keys.ratio_or_usual(PROGRAM_FAILS)?,
        erase_failure_probability: keys.ratio_or_usual(ERASE_FAILS)?,
    };
    if !ageing.changes_times() && !ageing.has_bad_blocks() {
        return Ok(None);
    }
    ageing.seed = keys.integer_or_usual("ageing.seed")?;
    Ok(Some(ageing))
}

impl SsdConfig {
    /// How blocks fail, if they do.
    #[must_use]
    pub fn failures(&self) -> Option<Failures> {
        let ageing = self.ageing.filter(Ageing::has_bad_blocks)?;
        Some(Failures {
            seed: ageing.seed,
            rated_erases: ageing.rated_erases,
            factory_bad: ageing.factory_bad_ratio,
            program: ageing.program_failure_probability,
            erase: ageing.erase_failure_probability,
            worn: (
                self.wear.worn_erase_count.unwrap_or(0),
                self.wear.worn_erase_spread.unwrap_or(0),
            ),
        })
    }
}
