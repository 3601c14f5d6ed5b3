//! The keys of an array of any level, and values derived from several of them.

use serde::Serialize;

use super::assemble::Keys;
use super::error::PresetError;
use super::key::{Key, key};
use super::schema::{self, Rule, integer};
use crate::raid::{Level, ParityTimes, Rebuilding, Redundancy};

pub(super) const LEVEL: &str = "level";
pub(super) const MEMBER: &str = "member";
pub(super) const MEMBERS: &str = "members";
pub(super) const CHUNK: &str = "chunk_bytes";
const FAILED: &str = "failed";
pub(super) const REBUILT: &str = "rebuild.member";
pub(super) const DONE: &str = "rebuild.done_ratio";
pub(super) const SLOWEST: &str = "rebuild.min_bytes_per_second";
pub(super) const FASTEST: &str = "rebuild.max_bytes_per_second";
pub(super) const ROW: &str = "parity.row_ns";
pub(super) const SPEED: &str = "parity.bytes_per_second";
pub(super) const GATHER: &str = "parity.gather_ns";
pub(super) const CACHE: &str = "parity.cache_bytes";

/// The most members of an array.
pub(super) const MOST_MEMBERS: u64 = 16;

const SPEEDS: Rule = integer(1_000, 1_000_000_000_000);

/// The keys of such an array, in addition to those of every drive.
pub(super) const KEYS: &[Key] = &[
    key(LEVEL, Rule::OneOf(Level::NUMBERS)),
    key(MEMBER, Rule::Texts),
    key(MEMBERS, integer(1, MOST_MEMBERS)).usually_as("as many as `member` names, if several"),
    key(
        CHUNK,
        Rule::PowerOfTwo {
            least: 4_096,
            most: 1 << 26,
        },
    ),
    key(
        FAILED,
        Rule::Several {
            most_entries: MOST_MEMBERS as usize,
            least: 0,
            most: MOST_MEMBERS - 1,
        },
    ),
    key(REBUILT, integer(0, MOST_MEMBERS - 1)),
    key(
        DONE,
        Rule::Ratio {
            least: 0.0,
            most: 1.0,
        },
    )
    .usually_ratio(0.0),
    // From md(4): sync_speed_min and sync_speed_max, 1000 and 200,000 KiB/s.
    key(SLOWEST, SPEEDS).usually(1_024_000),
    key(FASTEST, SPEEDS).usually(204_800_000),
    // Assumed: the time to wake a thread.
    key(ROW, integer(0, 1_000_000_000)).usually(5_000),
    // Assumed: the order of magnitude that Linux measures for one core when it starts.
    key(SPEED, integer(1_000_000, 1_000_000_000_000)).usually(10_000_000_000),
    key(GATHER, integer(0, 1_000_000_000)).usually(0),
    // From md(4): stripe_cache_size, 256 pages of 4 KiB for each member.
    key(CACHE, integer(4_096, 1 << 30)).usually(1 << 20),
];

/// An array of any level, apart from its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RedundancyConfig {
    /// How data lies on the members.
    pub level: Level,
    /// Bytes of a chunk; `None` for RAID-1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// Members that are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u32>,
    /// The member that is being rebuilt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildConfig>,
    /// How parity is computed; `None` for arrays without parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<ParityConfig>,
}

/// A member that is being rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RebuildConfig {
    /// The member's number.
    pub member: u32,
    /// The fraction of it that is rebuilt before the first request.
    pub done_ratio: f64,
    /// Minimum speed while the host works.
    pub min_bytes_per_second: u64,
    /// Maximum speed.
    pub max_bytes_per_second: u64,
}

/// How parity is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ParityConfig {
    /// Fixed time for every computed row.
    pub row_ns: u64,
    /// Bytes of chunks that the computation handles in a second.
    pub bytes_per_second: u64,
    /// How long a partly written row waits for the rest.
    pub gather_ns: u64,
    /// Bytes of every member that may be in progress at once.
    pub cache_bytes: u64,
}

impl RedundancyConfig {
    /// The same for the simulator; `None` for level 0.
    #[must_use]
    pub fn redundancy(&self) -> Option<Redundancy> {
        let parity = self.parity.unwrap_or(ParityConfig {
            row_ns: 0,
            bytes_per_second: 1,
            gather_ns: 0,
            cache_bytes: 0,
        });
        (self.level != Level::Raid0).then(|| Redundancy {
            level: self.level,
            chunk_bytes: self.chunk_bytes.unwrap_or(0),
            failed: self.failed.iter().fold(0, |set, member| set | 1 << member),
            rebuilding: self.rebuild.map(|rebuild| Rebuilding {
                member: rebuild.member,
                done_ratio: rebuild.done_ratio,
                min_bytes_per_second: rebuild.min_bytes_per_second,
                max_bytes_per_second: rebuild.max_bytes_per_second,
            }),
            parity: ParityTimes {
                row_ns: parity.row_ns,
                bytes_per_second: parity.bytes_per_second,
                gather_ns: parity.gather_ns,
                cache_bytes: parity.cache_bytes,
            },
        })
    }

    /// Whether the array reads data that the host has not asked for and may never have written.
    #[must_use]
    pub const fn reads_by_itself(&self) -> bool {
        self.parity.is_some() || self.rebuild.is_some()
    }
}

/// The level and its settings, for this many members.
pub(super) fn redundancy(keys: &Keys<'_>, members: u32) -> Result<RedundancyConfig, PresetError> {
    let wrong = |key: &str, allowed: String| -> Result<PresetError, PresetError> {
        Ok(schema::wrong_value(key, keys.need(key)?, allowed))
    };
    let level = Level::from_number(keys.integer(LEVEL)?)
        .ok_or_else(|| keys.missing(LEVEL, Rule::OneOf(Level::NUMBERS).allowed()))?;
    let number = level.number();
    if members < level.least_members() {
        let key = if keys.entry(MEMBERS).is_some() {
            MEMBERS
        } else {
            MEMBER
        };
        let least = level.least_members();
        let allowed = format!("at least {least} members, as RAID-{number} has");
        return Err(wrong(key, allowed)?);
    }
    let chunk_bytes: Option<u64> = keys.optional_integer(CHUNK)?;
    if level != Level::Raid1 {
        keys.need(CHUNK)?;
    }
    let config = RedundancyConfig {
        level,
        chunk_bytes,
        failed: failed(keys, members)?,
        rebuild: rebuild(keys, members)?,
        parity: parity(keys, level)?,
    };
    check_losses(&config, keys, members)?;
    Ok(config)
}

fn failed(keys: &Keys<'_>, members: u32) -> Result<Vec<u32>, PresetError> {
    let Some(entry) = keys.entry(FAILED) else {
        return Ok(Vec::new());
    };
    let mut failed = keys.integers(FAILED)?;
    failed.sort_unstable();
    let count = failed.len();
    failed.dedup();
    if failed.len() < count || failed.last().is_some_and(|&last| last >= members) {
        let allowed = format!("different members, 0 to {}", members - 1);
        return Err(schema::wrong_value(FAILED, entry, allowed));
    }
    Ok(failed)
}

fn rebuild(keys: &Keys<'_>, members: u32) -> Result<Option<RebuildConfig>, PresetError> {
    let Some(entry) = keys.entry(REBUILT) else {
        for name in [DONE, SLOWEST, FASTEST] {
            if keys.entry(name).is_some() {
                let allowed = format!("a member, 0 to {}: the one that is rebuilt", members - 1);
                return Err(keys.missing(REBUILT, allowed));
            }
        }
        return Ok(None);
    };
    let member: u32 = keys.integer(REBUILT)?;
    let wrong = |allowed: String| Err(schema::wrong_value(REBUILT, entry, allowed));
    if member >= members {
        return wrong(format!("a member, 0 to {}", members - 1));
    }
    if keys.entry(FAILED).is_some() && keys.integers(FAILED)?.contains(&member) {
        return wrong("a member that is not among those that failed".to_owned());
    }
    let config = RebuildConfig {
        member,
        done_ratio: keys.ratio_or_usual(DONE)?,
        min_bytes_per_second: keys.integer_or_usual(SLOWEST)?,
        max_bytes_per_second: keys.integer_or_usual(FASTEST)?,
    };
    if config.min_bytes_per_second > config.max_bytes_per_second {
        let key = if keys.entry(SLOWEST).is_some() {
            SLOWEST
        } else {
            FASTEST
        };
        let allowed = format!(
            "such that the least speed, {}, is at most the greatest, {}",
            config.min_bytes_per_second, config.max_bytes_per_second
        );
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    Ok(Some(config))
}

fn parity(keys: &Keys<'_>, level: Level) -> Result<Option<ParityConfig>, PresetError> {
    if level.parities() == 0 {
        return Ok(None);
    }
    Ok(Some(ParityConfig {
        row_ns: keys.integer_or_usual(ROW)?,
        bytes_per_second: keys.integer_or_usual(SPEED)?,
        gather_ns: keys.integer_or_usual(GATHER)?,
        cache_bytes: keys.integer_or_usual(CACHE)?,
    }))
}

/// Refuses an array that has lost data.
fn check_losses(
    config: &RedundancyConfig,
    keys: &Keys<'_>,
    members: u32,
) -> Result<(), PresetError> {
    let rebuilt = config.rebuild.map(|rebuild| rebuild.member);
    let missing = |member| config.failed.contains(&member) || rebuilt == Some(member);
    if config.level.bears(members, missing) {
        return Ok(());
    }
    let key = if config.failed.is_empty() {
        REBUILT
    } else {
        FAILED
    };
    let with = match (rebuilt, key) {
        (Some(member), FAILED) => format!(" while member {member} is rebuilt"),
        _ => String::new(),
    };
    let bears = match config.level {
        Level::Raid0 => "none".to_owned(),
        Level::Raid1 => format!("all but one of its {members} members"),
        Level::Raid5 => "one member".to_owned(),
        Level::Raid6 => "two members".to_owned(),
        Level::Raid10 => "one member of each two that hold the same chunk".to_owned(),
    };
    let allowed = format!(
        "fewer members{with}: this array has lost data, RAID-{} bears the loss of {bears}",
        config.level.number()
    );
    Err(schema::wrong_value(key, keys.need(key)?, allowed))
}
