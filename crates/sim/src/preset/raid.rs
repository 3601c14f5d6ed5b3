//! The resolved description of one array, and its keys.

use std::collections::BTreeMap;

use serde::Serialize;

use super::assemble::{self, Keys};
use super::choices::{Condition, DriveKind};
use super::config::SsdConfig;
use super::disk::{self, HddConfig};
use super::document::{Entries, Value, read_with_base};
use super::drive::fingerprint;
use super::error::PresetError;
use super::exclusion;
use super::key::{Key, key};
use super::published::{Published, published};
use super::redundancy::{self, CHUNK, MEMBER, MEMBERS, MOST_MEMBERS, RedundancyConfig};
use super::schema::{self, Rule, integer};
use super::variability::{Variability, variability};
use crate::raid::{Level, Mirrors, Rows, Stripes};

/// The keys of an array, in addition to those of every drive.
pub(super) const KEYS: &[Key] = &[
    key(MEMBER, Rule::Text),
    key(MEMBERS, integer(1, MOST_MEMBERS)),
    key(
        "stripe_bytes",
        Rule::Sectors {
            least: 512,
            most: 1 << 30,
        },
    ),
];

/// One array, with checked values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RaidConfig {
    /// The preset's name.
    pub name: String,
    /// The kind of drive.
    pub kind: DriveKind,
    /// One line for lists of drives.
    pub summary: String,
    /// The state of its members before the first measured request; `None` for disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The preset of each member. If members differ, that of the first.
    pub member: String,
    /// If members differ, the presets of all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike_members: Vec<String>,
    /// The number of members.
    pub members: u32,
    /// Bytes of a stripe; `None` if `redundancy` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_bytes: Option<u64>,
    /// Level and its settings; `None` for `raid0`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub redundancy: Option<RedundancyConfig>,
    /// The resulting geometry for the host.
    pub geometry: ArrayGeometry,
    /// Differences between runs of the whole array. The members' own variability is ignored.
    pub variability: Variability,
    /// Figures published for the array, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Published>,
    /// The resolved member, with the array's variability. If members differ, the first.
    pub member_preset: MemberConfig,
    /// If members differ, the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_presets: Vec<MemberConfig>,
}

/// The array as its host sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayGeometry {
    /// Bytes that the host can address: whole stripes or rows of every member.
    pub user_capacity_bytes: u64,
    /// Unused bytes of members larger than the smallest; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unused_bytes: Option<u64>,
}

/// A drive that can be a member of an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MemberConfig {
    /// An SSD.
    Ssd(Box<SsdConfig>),
    /// A hard disk.
    Hdd(Box<HddConfig>),
}

impl MemberConfig {
    /// Bytes that the host of the member can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        match self {
            Self::Ssd(config) => config.geometry.user_capacity_bytes,
            Self::Hdd(config) => config.geometry.user_capacity_bytes,
        }
    }

    fn hash(&self) -> String {
        match self {
            Self::Ssd(config) => config.hash(),
            Self::Hdd(config) => config.hash(),
        }
    }

    fn set_variability(&mut self, variability: Variability) {
        match self {
            Self::Ssd(config) => config.variability = variability,
            Self::Hdd(config) => config.variability = variability,
        }
    }
}

impl RaidConfig {
    /// The preset of every member, in order.
    pub fn member_presets(&self) -> impl Iterator<Item = &MemberConfig> {
        let others = self.other_presets.iter();
        // If all members are equal, the first stands for all of them.
        let alike = self.members as usize - 1 - self.other_presets.len();
        let first = std::iter::repeat_n(&self.member_preset, 1 + alike);
        first.chain(others)
    }

    pub(super) fn every_preset(&mut self) -> impl Iterator<Item = &mut MemberConfig> {
        [&mut self.member_preset]
            .into_iter()
            .chain(&mut self.other_presets)
    }

    /// How data lies on the members.
    #[must_use]
    pub fn level(&self) -> Level {
        let redundancy = self.redundancy.as_ref();
        redundancy.map_or(Level::Raid0, |redundancy| redundancy.level)
    }

    /// Bytes of a stripe of RAID-0.
    #[must_use]
    pub fn stripe_bytes(&self) -> u64 {
        let chunk = self.redundancy.as_ref().and_then(|each| each.chunk_bytes);
        self.stripe_bytes.or(chunk).unwrap_or(0)
    }

    /// The same array after its members were purged.
    #[must_use]
    pub(super) fn purged(mut self) -> Self {
        for member in self.every_preset() {
            if let MemberConfig::Ssd(member) = member {
                member.is_purged = true;
            }
        }
        self
    }

    /// The same array without variability: every run takes its members' own times.
    #[must_use]
    pub fn without_variability(mut self) -> Self {
        let variability = Variability::default();
        self.variability = variability;
        for member in self.every_preset() {
            member.set_variability(variability);
        }
        self
    }

    /// The whole description as JSON, with keys in a fixed order.
    #[must_use]
    pub fn resolved_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The keys of the preset as TOML. It reads back as the same array if its member is known.
    #[must_use]
    pub fn resolved_toml(&self) -> String {
        let member = if self.unlike_members.is_empty() {
            toml::Value::from(self.member.as_str())
        } else {
            toml::Value::from(self.unlike_members.clone())
        };
        let own = [
            ("name", toml::Value::from(self.name.as_str())),
            ("kind", toml::Value::from(self.kind.word())),
            ("summary", toml::Value::from(self.summary.as_str())),
            ("member", member),
            ("members", toml::Value::from(self.members)),
        ];
        let mut table: toml::Table = own.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        if let Some(stripe_bytes) = self.stripe_bytes {
            let bytes = i64::try_from(stripe_bytes).unwrap_or(i64::MAX);
            table.insert("stripe_bytes".to_owned(), toml::Value::from(bytes));
        }
        if let Some(Ok(toml::Value::Table(redundancy))) =
            self.redundancy.as_ref().map(toml::Value::try_from)
        {
            table.extend(redundancy);
        }
        let rest = [
            ("variability", toml::Value::try_from(self.variability)),
            ("published", toml::Value::try_from(&self.published)),
        ];
        for (key, value) in rest {
            if let Ok(value) = value {
                table.insert(key.to_owned(), value);
            }
        }
        toml::to_string(&table).unwrap_or_default()
    }

    /// A fingerprint of everything that decides how the array behaves, 16 hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        // The member's hash includes the variability, which is the array's.
        let member = self.member_preset.hash();
        let stripe_bytes = self.stripe_bytes();
        if self.level() == Level::Raid0 && self.other_presets.is_empty() {
            return fingerprint(&format!("raid0 {} {stripe_bytes} {member}", self.members));
        }
        let redundancy = serde_json::to_string(&self.redundancy).unwrap_or_default();
        let others: String = self.other_presets.iter().map(MemberConfig::hash).collect();
        fingerprint(&format!(
            "raid {} {redundancy} {member} {others}",
            self.members
        ))
    }
}

/// Builds a member from its keys. `None` for an array, which could contain itself.
fn member_of(entries: &Entries) -> Result<Option<MemberConfig>, PresetError> {
    let kind = schema::kind(entries)?;
    let member = match kind {
        DriveKind::Raid0 | DriveKind::Raid => return Ok(None),
        DriveKind::Hdd => {
            schema::check(entries, kind)?;
            MemberConfig::Hdd(Box::new(disk::assemble(entries)?))
        }
        DriveKind::Ssd => {
            schema::check(entries, kind)?;
            MemberConfig::Ssd(Box::new(assemble::assemble(entries)?))
        }
    };
    Ok(Some(member))
}

/// Builds the member with a preset's name. `resolve` gives the text of a preset by name.
fn named_member(
    keys: &Keys<'_>,
    name: &str,
    resolve: &dyn Fn(&str) -> Option<String>,
) -> Result<MemberConfig, PresetError> {
    let wrong = |allowed: String| -> Result<MemberConfig, PresetError> {
        Err(schema::wrong_value("member", keys.need("member")?, allowed))
    };
    let Some(text) = resolve(name) else {
        let known = super::names().join(", ");
        return wrong(format!(
            "the name of a preset ({known}), or of FILE.toml beside this one"
        ));
    };
    let Some(member) = member_of(&read_with_base(&text, resolve)?)? else {
        let allowed = "a solid-state drive or a hard disk, not another array";
        return wrong(allowed.to_owned());
    };
    if let MemberConfig::Ssd(config) = &member
        && config.placement.is_some()
    {
        let allowed = "a drive without placement: an array does not hand placement handles on";
        return wrong(allowed.to_owned());
    }
    if let MemberConfig::Ssd(config) = &member
        && config.zones.is_some()
    {
        let allowed = "a drive without zones: an array stripes over them";
        return wrong(allowed.to_owned());
    }
    if let MemberConfig::Ssd(config) = &member
        && config.namespaces.is_some()
    {
        let allowed = "a drive without namespaces: an array stripes over them";
        return wrong(allowed.to_owned());
    }
    Ok(member)
}

/// The names of the members' presets, one for all or one each, and the number of members.
fn names_of(keys: &Keys<'_>) -> Result<(Vec<String>, u32), PresetError> {
    let names = match &keys.need(MEMBER)?.value {
        Value::Texts(names) => names.clone(),
        _ => vec![keys.text(MEMBER)?],
    };
    if names.len() == 1 {
        return Ok((names, keys.integer(MEMBERS)?));
    }
    let count = names.len() as u64;
    let given: Option<u64> = keys.optional_integer(MEMBERS)?;
    if let Some(entry) = keys.entry(MEMBERS)
        && given != Some(count)
    {
        let allowed = format!("{count}, as many as member names, or absent");
        return Err(schema::wrong_value(MEMBERS, entry, allowed));
    }
    if count > MOST_MEMBERS {
        let allowed = format!("an array of at most {MOST_MEMBERS} names");
        return Err(schema::wrong_value(MEMBER, keys.need(MEMBER)?, allowed));
    }
    Ok((names, count as u32))
}

/// Builds the array from its keys. `resolve` gives the text of a preset by name.
pub(super) fn assemble(
    entries: &Entries,
    kind: DriveKind,
    resolve: &dyn Fn(&str) -> Option<String>,
) -> Result<RaidConfig, PresetError> {
    let keys = Keys::new(entries, kind);
    exclusion::check(&keys)?;
    let (names, members) = names_of(&keys)?;
    let variability = variability(&keys)?;
    let mut presets = Vec::new();
    for name in &names {
        let mut member = named_member(&keys, name, resolve)?;
        member.set_variability(variability);
        presets.push(member);
    }
    let (stripe_bytes, redundancy) = match kind {
        DriveKind::Raid => (None, Some(redundancy::redundancy(&keys, members)?)),
        _ => (Some(keys.integer("stripe_bytes")?), None),
    };
    if let Some(redundancy) = &redundancy {
        check_written(&keys, redundancy, &presets)?;
    }
    let bytes = presets.iter().map(MemberConfig::capacity_bytes);
    let smallest = bytes.clone().min().unwrap_or(0);
    let unused_bytes = bytes.map(|bytes| bytes - smallest).sum();
    let condition = presets.iter().find_map(|member| match member {
        MemberConfig::Ssd(config) => Some(config.condition),
        MemberConfig::Hdd(_) => None,
    });
    let mut presets = presets.into_iter();
    let Some(member_preset) = presets.next() else {
        return Err(keys.missing(MEMBER, Rule::Texts.allowed()));
    };
    let config = RaidConfig {
        name: keys.text("name")?,
        kind,
        summary: keys.text("summary")?,
        condition,
        member: names[0].clone(),
        unlike_members: if names.len() > 1 { names } else { Vec::new() },
        members,
        stripe_bytes,
        redundancy,
        geometry: ArrayGeometry {
            user_capacity_bytes: 0,
            unused_bytes: (unused_bytes > 0).then_some(unused_bytes),
        },
        variability,
        published: published(&keys)?,
        member_preset,
        other_presets: presets.collect(),
    };
    let user_capacity_bytes = capacity_bytes(&config, smallest);
    if user_capacity_bytes == 0 {
        let key = match kind {
            DriveKind::Raid => CHUNK,
            _ => "stripe_bytes",
        };
        let allowed = format!("at most the {smallest} bytes of a member");
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    Ok(RaidConfig {
        geometry: ArrayGeometry {
            user_capacity_bytes,
            ..config.geometry
        },
        ..config
    })
}

/// The capacity of an array whose smallest member has `smallest` bytes.
fn capacity_bytes(config: &RaidConfig, smallest: u64) -> u64 {
    let (level, members, chunk) = (config.level(), config.members, config.stripe_bytes());
    match level {
        Level::Raid0 => Stripes::new(members, chunk).capacity_bytes(smallest),
        Level::Raid1 | Level::Raid10 => {
            Mirrors::new(level, members, chunk).capacity_bytes(smallest)
        }
        Level::Raid5 | Level::Raid6 => Rows::new(level, members, chunk).capacity_bytes(smallest),
    }
}

/// Refuses members that hold no data if the array reads by itself.
fn check_written(
    keys: &Keys<'_>,
    redundancy: &RedundancyConfig,
    presets: &[MemberConfig],
) -> Result<(), PresetError> {
    let is_fresh = |member: &MemberConfig| match member {
        MemberConfig::Ssd(config) => config.condition == Condition::Fresh,
        MemberConfig::Hdd(_) => false,
    };
    if !(redundancy.reads_by_itself() && presets.iter().any(is_fresh)) {
        return Ok(());
    }
    let allowed = "a drive whose condition is not fresh: such an array reads parity and data \
                   that the host has not written, and a fresh drive has nothing to read";
    let entry = keys.need(MEMBER)?;
    Err(schema::wrong_value(MEMBER, entry, allowed.to_owned()))
}
