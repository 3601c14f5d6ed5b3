//! The resolved description of one array, and its keys.

use std::collections::BTreeMap;

use serde::Serialize;

use super::assemble::{self, Keys};
use super::choices::{Condition, DriveKind};
use super::config::SsdConfig;
use super::disk::{self, HddConfig};
use super::document::{Entries, read_with_base};
use super::drive::fingerprint;
use super::error::PresetError;
use super::key::{Key, key};
use super::published::{Published, published};
use super::schema::{self, Rule, integer};
use super::variability::{Variability, variability};
use crate::raid::Stripes;

/// What an array has beside what every drive has.
pub(super) const KEYS: &[Key] = &[
    key("member", Rule::Text),
    key("members", integer(1, 16)),
    key(
        "stripe_bytes",
        Rule::Sectors {
            least: 512,
            most: 1 << 30,
        },
    ),
];

/// One array, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RaidConfig {
    /// The preset's name.
    pub name: String,
    /// What kind of drive this is.
    pub kind: DriveKind,
    /// One line for lists of drives.
    pub summary: String,
    /// The state of its members before the first measured request; absent of disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The preset of each member.
    pub member: String,
    /// How many there are.
    pub members: u32,
    /// Bytes of a stripe.
    pub stripe_bytes: u64,
    /// What follows for the host.
    pub geometry: ArrayGeometry,
    /// Differences between one run and the next, of the whole array: the members' own count
    /// for nothing.
    pub variability: Variability,
    /// Figures published for the array, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Published>,
    /// A member, resolved, with the array's variability.
    pub member_preset: MemberConfig,
}

/// What an array looks like to its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArrayGeometry {
    /// Whole stripes of every member.
    pub user_capacity_bytes: u64,
}

/// A drive that can be in an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MemberConfig {
    /// Of flash.
    Ssd(Box<SsdConfig>),
    /// A disk.
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
    /// The same array, every run of which takes its members' own times.
    #[must_use]
    pub fn without_variability(mut self) -> Self {
        self.variability = Variability::default();
        self.member_preset.set_variability(self.variability);
        self
    }

    /// The whole description as JSON in a fixed order of keys.
    #[must_use]
    pub fn resolved_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The keys of the preset as TOML that reads back as the same array where its member is
    /// known.
    #[must_use]
    pub fn resolved_toml(&self) -> String {
        let own = [
            ("name", toml::Value::from(self.name.as_str())),
            ("kind", toml::Value::from(self.kind.word())),
            ("summary", toml::Value::from(self.summary.as_str())),
            ("member", toml::Value::from(self.member.as_str())),
            ("members", toml::Value::from(self.members)),
            (
                "stripe_bytes",
                toml::Value::from(i64::try_from(self.stripe_bytes).unwrap_or(i64::MAX)),
            ),
        ];
        let mut table: toml::Table = own.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
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
        // The member's has the variability, which is the array's.
        let member = self.member_preset.hash();
        fingerprint(&format!(
            "raid0 {} {} {member}",
            self.members, self.stripe_bytes
        ))
    }
}

/// Builds a member from its keys; nothing of an array, which could name the one that names it.
fn member_of(entries: &Entries) -> Result<Option<MemberConfig>, PresetError> {
    let kind = schema::kind(entries)?;
    if kind == DriveKind::Raid0 {
        return Ok(None);
    }
    schema::check(entries, kind)?;
    let member = match kind {
        DriveKind::Hdd => MemberConfig::Hdd(Box::new(disk::assemble(entries)?)),
        _ => MemberConfig::Ssd(Box::new(assemble::assemble(entries)?)),
    };
    Ok(Some(member))
}

/// Builds the array from its keys; `resolve` gives the text of a preset by its name.
pub(super) fn assemble(
    entries: &Entries,
    resolve: &dyn Fn(&str) -> Option<String>,
) -> Result<RaidConfig, PresetError> {
    let keys = Keys::new(entries, DriveKind::Raid0);
    let member: String = keys.text("member")?;
    let wrong = |key: &str, allowed: String| -> Result<PresetError, PresetError> {
        Ok(schema::wrong_value(key, keys.need(key)?, allowed))
    };
    let Some(text) = resolve(&member) else {
        let known = super::names().join(", ");
        let allowed = format!("the name of a preset ({known}), or of FILE.toml beside this one");
        return Err(wrong("member", allowed)?);
    };
    let variability = variability(&keys)?;
    let Some(mut member_preset) = member_of(&read_with_base(&text, resolve)?)? else {
        let allowed = "a solid-state drive or a hard disk, not another array";
        return Err(wrong("member", allowed.to_owned())?);
    };
    if let MemberConfig::Ssd(config) = &member_preset
        && config.idle_ns().is_some()
    {
        let allowed = "a drive that does nothing in idle time, without slc and without \
                       collection.background_blocks_per_plane: an array does not tell its members when they \
                       are idle";
        return Err(wrong("member", allowed.to_owned())?);
    }
    if let MemberConfig::Ssd(config) = &member_preset
        && config.placement.is_some()
    {
        let allowed = "a drive without placement: an array does not hand placement handles on";
        return Err(wrong("member", allowed.to_owned())?);
    }
    member_preset.set_variability(variability);
    let (members, stripe_bytes) = (keys.integer("members")?, keys.integer("stripe_bytes")?);
    let stripes = Stripes::new(members, stripe_bytes);
    let user_capacity_bytes = stripes.capacity_bytes(member_preset.capacity_bytes());
    if user_capacity_bytes == 0 {
        let most = member_preset.capacity_bytes();
        return Err(wrong(
            "stripe_bytes",
            format!("at most the {most} bytes of a member"),
        )?);
    }
    Ok(RaidConfig {
        name: keys.text("name")?,
        kind: DriveKind::Raid0,
        summary: keys.text("summary")?,
        condition: match &member_preset {
            MemberConfig::Ssd(config) => Some(config.condition),
            MemberConfig::Hdd(_) => None,
        },
        member,
        members,
        stripe_bytes,
        geometry: ArrayGeometry {
            user_capacity_bytes,
        },
        variability,
        published: published(&keys)?,
        member_preset,
    })
}
