//! The keys of a preset with their types and ranges: the one list that checks and messages use.

use drivelab_ftl::Policies;
use drivelab_request::{Content, Direction, SECTOR_BYTES};
use drivelab_workload::MAX_REQUEST_BYTES;

use super::ageing;
use super::atomic;
use super::cell_times::MOST_PAGE_TYPES;
use super::choices::{
    Allocation, BufferPolicy, ChannelOrder, Condition, Dispatch, DriveKind, FillOrder,
    HostInterface, MappingScheme, MultiPlane, Order, Pace, Replacement, StripingOrder,
    VictimPolicy, WorkUnit, WriteZeroes,
};
use super::compression;
use super::disk;
use super::document::{Entries, Entry, Value};
use super::error::PresetError;
use super::firmware;
use super::host::COMMANDS_OF_LINKS;
use super::key::{Key, key};
use super::namespaces;
use super::occupancy;
use super::placement;
use super::raid;
use super::redundancy;
use super::refresh;
use super::retired::instead_of;
use super::zones;
use crate::near_names::meant;

/// One second. No step of a flash operation takes longer.
pub(super) const LONGEST_NS: u64 = 1_000_000_000;

/// The most entries of an array.
pub(super) const MOST_ENTRIES: usize = 64;

/// The largest over-provisioning ratio. Whoever writes 7 or 28 means per cent.
pub(super) const MOST_OVER_PROVISIONING: f64 = 4.0;

const DIRECTIONS: &[&str] = &[Direction::Read.name(), Direction::Write.name()];

/// The allowed values of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    Integer {
        least: u64,
        most: u64,
    },
    Ratio {
        least: f64,
        most: f64,
    },
    Boolean,
    Text,
    Word(&'static [&'static str]),
    PageSize,
    /// An array with one or more integers.
    Integers {
        least: u64,
        most: u64,
    },
    /// An integer, or an array of them.
    OneOrSeveral {
        most_entries: usize,
        least: u64,
        most: u64,
    },
    /// An array, which may be empty.
    Several {
        most_entries: usize,
        least: u64,
        most: u64,
    },
    /// A whole number of sectors, in bytes.
    Sectors {
        least: u64,
        most: u64,
    },
    PowerOfTwo {
        least: u64,
        most: u64,
    },
    /// An integer from a list.
    OneOf(&'static [u64]),
    /// A text, or an array of texts.
    Texts,
}

pub(crate) const fn integer(least: u64, most: u64) -> Rule {
    Rule::Integer { least, most }
}

pub(super) const TIME: Rule = integer(0, LONGEST_NS);

pub(super) const CELL_TIMES: Rule = Rule::OneOrSeveral {
    most_entries: MOST_PAGE_TYPES,
    least: 0,
    most: LONGEST_NS,
};

/// The keys of every kind of drive that come before its own keys.
const FIRST_KEYS: &[Key] = &[
    key("base", Rule::Text),
    key("name", Rule::Text),
    key("kind", Rule::Word(DriveKind::WORDS)),
    key("summary", Rule::Text),
];

/// The keys of an SSD, in addition to those of every drive.
const FLASH_KEYS: &[Key] = &[
    key("condition", Rule::Word(Condition::WORDS)),
    key("rated_endurance_bytes", integer(1, 1 << 60)),
    key(occupancy::FILLED, occupancy::SHARE).usually_ratio(1.0),
    key(occupancy::ORDER, Rule::Word(FillOrder::WORDS)).usual_word(FillOrder::InOrder.word()),
    key(occupancy::STEADY, Rule::Boolean),
    key("geometry.channels", integer(1, 256)),
    key("geometry.ways_per_channel", integer(1, 256)),
    key("geometry.dies_per_way", integer(1, 64)),
    key("geometry.planes_per_die", integer(1, 16)),
    key("geometry.blocks_per_plane", integer(1, 1 << 20)),
    key("geometry.pages_per_block", integer(1, 32_767)),
    key("geometry.page_size_bytes", Rule::PageSize),
    key("geometry.user_capacity_bytes", integer(512, 1 << 50)),
    key(
        "geometry.over_provisioning_ratio",
        Rule::Ratio {
            least: 0.0,
            most: MOST_OVER_PROVISIONING,
        },
    ),
    key("geometry.plane_mode", Rule::Boolean).needed(),
    key("timing.read_dispatch_ns", TIME).fitted(6, 1),
    key("timing.write_dispatch_ns", TIME).fitted(7, 1),
    key("timing.erase_dispatch_ns", TIME),
    key("timing.read_register_ns", TIME).fitted(4, 1),
    key("timing.write_register_ns", TIME).fitted(5, 1),
    key("timing.read_cell_ns", CELL_TIMES).fitted(1, 1),
    key("timing.program_cell_ns", CELL_TIMES).fitted(2, 1),
    key("timing.erase_cell_ns", TIME).fitted(3, 1),
    key("timing.suspend_ns", TIME),
    key("timing.resume_ns", TIME),
    key("timing.suspend_progress_ns", TIME),
    key("energy.read_page_nj", integer(0, 1_000_000_000)),
    key("energy.program_page_nj", integer(0, 1_000_000_000)),
    key("energy.erase_block_nj", integer(0, 1_000_000_000)),
    key("energy.transfer_byte_pj", integer(0, 1_000_000)),
    key("energy.idle_power_mw", integer(0, 1_000_000)),
    key("scheduling.dispatch", Rule::Word(Dispatch::WORDS)),
    key("scheduling.order", Rule::Word(Order::WORDS)).usual_word(Order::FirstCome.word()),
    key("scheduling.starvation_limit", integer(1, 65_536)).usually(64),
    key("scheduling.suspends_per_operation", integer(0, 1000)).usually(0),
    key("scheduling.copyback", Rule::Boolean),
    key("scheduling.cache_operations", Rule::Boolean),
    key("scheduling.multi_plane", Rule::Word(MultiPlane::WORDS)).usual_word(MultiPlane::Off.word()),
    key("scheduling.unit", Rule::Word(WorkUnit::WORDS)).usual_word(WorkUnit::Die.word()),
    key("scheduling.map_reads_first", Rule::Boolean),
    key("scheduling.channel", Rule::Word(ChannelOrder::WORDS))
        .usual_word(ChannelOrder::CommandsFirst.word()),
    key("slc.blocks_per_plane", integer(2, 1 << 20)),
    key("slc.pages_per_block", integer(1, 32_767)),
    key("slc.read_cell_ns", TIME).fitted(8, 1),
    key("slc.program_cell_ns", TIME).fitted(9, 1),
    key("slc.idle_ns", integer(1_000, LONGEST_NS)).usually(1_000_000),
    key(compression::SLOT, Rule::PageSize),
    key(compression::ZEROS, Rule::Boolean),
    key(compression::FILLED, Rule::Word(Content::NAMES)).usual_word(Content::Random.name()),
    key("mapping.scheme", Rule::Word(MappingScheme::WORDS)).usual_word(MappingScheme::Page.word()),
    key("mapping.cached_entries", integer(1, u32::MAX as u64)),
    key("mapping.cache_replacement", Rule::Word(Replacement::WORDS))
        .usual_word(Replacement::SegmentedLru.word()),
    key("mapping.log_blocks_per_plane", integer(1, 1 << 20)).usually(8),
    key("mapping.order", Rule::Word(StripingOrder::WORDS)).usual_word(Policies::USUAL.order.word()),
    key("mapping.allocation", Rule::Word(Allocation::WORDS))
        .usual_word(Policies::USUAL.allocation.word()),
    key("collection.policy", Rule::Word(VictimPolicy::WORDS)),
    key("collection.pace", Rule::Word(Pace::WORDS)),
    key("collection.victim_choices", integer(1, 1 << 10))
        .usually(Policies::USUAL.victim_choices as u64),
    key("collection.reserve_blocks_per_plane", integer(2, 1 << 20)).usually(4),
    key("collection.stop_blocks_per_plane", integer(3, 1 << 20))
        .usually_as("`collection.reserve_blocks_per_plane` + 1"),
    key("collection.temperature_classes", integer(3, 4)),
    key(
        "collection.background_blocks_per_plane",
        integer(3, 1 << 20),
    ),
    key("collection.background_idle_ns", integer(1_000, LONGEST_NS)).usually(1_000_000),
    key("wear.least_worn_first", Rule::Boolean),
    key("wear.static_spread", integer(0, 1 << 30)),
    key("wear.worn_erase_count", integer(0, 1 << 30)),
    key("wear.worn_erase_spread", integer(0, 1 << 30)).usually(0),
    key("host.interface", Rule::Word(HostInterface::WORDS)),
    key(
        "host.link_bytes_per_second",
        integer(1_000_000, 1_000_000_000_000),
    )
    .fitted(10, 1),
    key("host.commands", integer(1, 65_536)).usually_as(COMMANDS_OF_LINKS),
    key("host.read_command_ns", TIME).fitted(11, 1),
    key("host.write_command_ns", TIME).fitted(12, 1),
    key("host.write_acknowledge_ns", TIME).fitted(13, 1),
    key(
        "host.link_gigabits_per_second",
        Rule::Ratio {
            least: 1.5,
            most: 12.0,
        },
    ),
    key("host.pcie_generation", integer(1, 6)),
    key("host.pcie_lanes", integer(1, 16)),
    key("host.trim_command_ns", TIME).usually_as("`host.write_command_ns`"),
    key("host.trim_range_ns", TIME).usually(0),
    key(atomic::WRITE, atomic::BYTES).usually(0),
    key(atomic::POWER_LOSS, atomic::BYTES).usually(0),
    key("host.flush_command_ns", TIME).usually_as("`host.write_command_ns`"),
    key("host.write_zeroes_command_ns", TIME).usually_as("`host.write_command_ns`"),
    key("host.write_zeroes", Rule::Word(WriteZeroes::WORDS))
        .usual_word(WriteZeroes::Deallocates.word()),
    key(
        "host.queue_pair_weights",
        Rule::Integers {
            least: 1,
            most: 256,
        },
    )
    .usually_integers(&[1]),
    key(
        "host.queue_pair_classes",
        Rule::Integers { least: 0, most: 3 },
    ),
    key(
        "host.class_weights",
        Rule::Integers {
            least: 1,
            most: 256,
        },
    ),
    key("host.queue_pair_depth", integer(1, 65_536)),
    key("host.interrupt_ns", TIME).usually(0),
    key("host.interrupt_completions", integer(1, 256)).usually(1),
    key("host.interrupt_wait_ns", TIME),
    key("buffer.write_buffer_bytes", integer(0, 1 << 32)).fitted(14, 4096),
    key("buffer.flush_start_bytes", integer(0, 1 << 32)).usually(0),
    key("buffer.flush_stop_bytes", integer(0, 1 << 32)).usually(0),
    key("buffer.read_cache_bytes", integer(0, 1 << 32))
        .usually(0)
        .fitted(15, 4096),
    key("buffer.read_ahead_bytes", integer(0, 1 << 32)).usually(0),
    key("buffer.memory_ns", TIME).usually(0).fitted(16, 1),
    key(
        "buffer.memory_bytes_per_second",
        integer(1_000_000, 1_000_000_000_000),
    )
    .fitted(17, 1),
    key("buffer.memory_takes_writes", Rule::Boolean),
    key("buffer.policy", Rule::Word(BufferPolicy::WORDS))
        .usual_word(BufferPolicy::WriteBack.word()),
    key("buffer.survives_power_loss", Rule::Boolean),
    key("buffer.flush_at_once", Rule::Boolean),
    key("closed_form.rho", integer(1, 1 << 32)),
];

/// The keys of every kind of drive that come after its own keys. `*` stands for the name of a
/// published figure.
const LAST_KEYS: &[Key] = &[
    key(
        "variability.sigma",
        Rule::Ratio {
            least: 0.0,
            most: 1.0,
        },
    ),
    key(
        "variability.outlier_probability",
        Rule::Ratio {
            least: 0.0,
            most: 0.5,
        },
    )
    .usually_ratio(0.0),
    key(
        "variability.outlier_factor",
        Rule::Ratio {
            least: 1.0,
            most: 100.0,
        },
    ),
    key(
        "variability.correlated_sigma",
        Rule::Ratio {
            least: 0.0,
            most: 1.0,
        },
    )
    .usually_ratio(0.0),
    key(
        "variability.correlation_time_ns",
        integer(LONGEST_NS / 10, 3_600 * LONGEST_NS),
    ),
    key("published.*.latency_ns", integer(1, 1_000 * LONGEST_NS)),
    key("published.*.throughput_iops", integer(1, 1_000_000_000)),
    key(
        "published.*.bandwidth_bytes_per_second",
        integer(1, 1_000_000_000_000),
    ),
    key(
        "published.*.rotational_latency_ns",
        integer(1, 1_000 * LONGEST_NS),
    ),
    key(
        "published.*.sequential_to_random_ratio",
        Rule::Ratio {
            least: 0.01,
            most: 1000.0,
        },
    ),
    key("published.*.condition", Rule::Text),
    key(
        "published.*.tolerance_ratio",
        Rule::Ratio {
            least: 0.0,
            most: 1.0,
        },
    ),
    key("published.*.direction", Rule::Word(DIRECTIONS)),
    key("published.*.queue_depth", integer(1, 65_536)),
    key(
        "published.*.size_bytes",
        Rule::Sectors {
            least: SECTOR_BYTES as u64,
            most: MAX_REQUEST_BYTES as u64,
        },
    ),
    key(
        "published.*.random_ratio",
        Rule::Ratio {
            least: 0.0,
            most: 1.0,
        },
    ),
    key("published.*.range_bytes", integer(512, 1 << 50)),
];

/// Every key of a kind of drive.
pub(super) fn keys(kind: DriveKind) -> impl Iterator<Item = &'static Key> {
    let own = match kind {
        DriveKind::Ssd => [
            FLASH_KEYS,
            firmware::KEYS,
            ageing::KEYS,
            placement::KEYS,
            zones::KEYS,
            namespaces::KEYS,
            refresh::KEYS,
        ],
        DriveKind::Hdd => [disk::KEYS, &[], &[], &[], &[], &[], &[]],
        DriveKind::Raid => [redundancy::KEYS, &[], &[], &[], &[], &[], &[]],
        DriveKind::Raid0 => [raid::KEYS, &[], &[], &[], &[], &[], &[]],
    };
    [&[FIRST_KEYS], &own[..], &[LAST_KEYS]]
        .concat()
        .into_iter()
        .flatten()
}

/// The kind of drive that a preset describes. A wrong kind is reported before any other key,
/// because the meaning of the other keys depends on it. If the preset does not give a kind, it is
/// an SSD, and missing keys are reported as those of an SSD.
///
/// # Errors
///
/// [`PresetError::WrongValue`] if the value is not a kind.
pub(super) fn kind(entries: &Entries) -> Result<DriveKind, PresetError> {
    let Some(entry) = entries.get("kind") else {
        return Ok(DriveKind::Ssd);
    };
    let kind = match &entry.value {
        Value::Text(word) => DriveKind::from_word(word),
        _ => None,
    };
    kind.ok_or_else(|| wrong_value("kind", entry, Rule::Word(DriveKind::WORDS).allowed()))
}

/// The row of a key; `None` if such drives do not have it.
pub(super) fn row(key: &str, kind: DriveKind) -> Option<&'static Key> {
    keys(kind).find(|row| matches(row.name, key))
}

/// The rule for a key.
pub(super) fn rule(key: &str, kind: DriveKind) -> Option<Rule> {
    row(key, kind).map(|row| row.rule)
}

fn matches(pattern: &str, key: &str) -> bool {
    match pattern.split_once(".*.") {
        None => pattern == key,
        Some((table, last)) => {
            let mut parts = key.split('.');
            parts.next() == Some(table)
                && parts.next().is_some_and(|name| !name.is_empty())
                && parts.next() == Some(last)
                && parts.next().is_none()
        }
    }
}

pub(super) fn is_table(key: &str, kind: DriveKind) -> bool {
    keys(kind).any(|row| {
        row.name
            .split_once('.')
            .is_some_and(|(table, _)| table == key)
    })
}

/// Whether a text fits into a one-line message.
pub(super) fn is_one_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// Tables that give a drive a feature. Without keys they would look as if the drive had it.
const FEATURES: &[&str] = &[
    "ageing",
    "compression",
    "energy",
    "firmware",
    "namespaces",
    "occupancy",
    "placement",
    "refresh",
    "slc",
    "zones",
];

/// Checks that every key is known and that every value has the right type and range.
pub(super) fn check(entries: &Entries, kind: DriveKind) -> Result<(), PresetError> {
    for (key, entry) in entries {
        if entry.value == Value::EmptyTable && is_table(key, kind) {
            if FEATURES.contains(&key.as_str()) {
                let its_keys = format!("with at least one of its keys: {}", inside(key, kind));
                return Err(wrong_value(key, entry, its_keys));
            }
            continue;
        }
        let Some(rule) = rule(key, kind) else {
            let left_out = kind_left_out(entries, key, entry);
            if let Some(error) = left_out.or_else(|| of_member(entries, key, kind)) {
                return Err(error);
            }
            let names = keys(kind)
                .map(|row| row.name)
                .filter(|name| !name.contains('*'));
            let (meant, valid) = match instead_of(key) {
                Some(instead) => (String::new(), instead.to_owned()),
                None => (meant(key, names), valid_beside(key, kind)),
            };
            return Err(PresetError::UnknownKey {
                key: key.escape_debug().to_string(),
                place: entry.place.clone(),
                meant,
                valid,
            });
        };
        if !rule.admits(&entry.value) {
            return Err(wrong_value(key, entry, rule.allowed()));
        }
    }
    Ok(())
}

/// The error for a preset without a kind that has a key of a kind other than the assumed one.
fn kind_left_out(entries: &Entries, key: &str, entry: &Entry) -> Option<PresetError> {
    if entries.contains_key("kind") {
        return None;
    }
    let has_key =
        |word: &&&str| DriveKind::from_word(word).is_some_and(|kind| rule(key, kind).is_some());
    let word = DriveKind::WORDS.iter().find(has_key)?;
    Some(PresetError::MissingKey {
        key: "kind".to_owned(),
        preset: entry.place.preset.clone(),
        allowed: format!("{word:?}, the kind of drive that has {key}"),
    })
}

/// The error for an array that has a key of its members. It names the first line of that table.
fn of_member(entries: &Entries, key: &str, kind: DriveKind) -> Option<PresetError> {
    let (table, _) = key.split_once('.')?;
    let mut members = [DriveKind::Ssd, DriveKind::Hdd].into_iter();
    let is_array = matches!(kind, DriveKind::Raid0 | DriveKind::Raid);
    if !is_array || is_table(table, kind) || !members.any(|of| is_table(table, of)) {
        return None;
    }
    let member = match &entries.get("member")?.value {
        Value::Text(member) => member,
        Value::Texts(members) => members.first()?,
        _ => return None,
    };
    let inside = entries.iter().filter(|(other, _)| {
        let rest = other.strip_prefix(table);
        rest.is_some_and(|rest| rest.starts_with('.'))
    });
    let first = inside.min_by_key(|(_, entry)| entry.place.line)?;
    Some(PresetError::OfMember {
        table: table.to_owned(),
        place: first.1.place.clone(),
        member: member.clone(),
    })
}

/// The error for an impossible value, with the allowed values.
pub(super) fn wrong_value(key: &str, entry: &Entry, allowed: String) -> PresetError {
    PresetError::WrongValue {
        key: key.to_owned(),
        value: entry.value.to_string(),
        place: entry.place.clone(),
        allowed,
    }
}

/// The keys of a table; empty if there is no such table.
fn inside(table: &str, kind: DriveKind) -> String {
    keys(kind)
        .filter_map(|row| row.name.strip_prefix(table)?.strip_prefix('.'))
        .map(|last| last.replace("*.", "NAME."))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The keys of the table that contains an unknown key. If there is no such table, the tables.
fn valid_beside(key: &str, kind: DriveKind) -> String {
    let table = key.split_once('.').map(|(table, _)| table);
    match table.map(|table| inside(table, kind)) {
        Some(keys) if !keys.is_empty() => keys,
        _ => {
            let mut names: Vec<String> = Vec::new();
            for row in keys(kind) {
                let name = match row.name.split_once('.') {
                    Some((table, _)) => format!("[{table}]"),
                    None => row.name.to_owned(),
                };
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names.join(", ")
        }
    }
}
