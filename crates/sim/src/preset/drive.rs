//! The resolved description of a drive of any kind.

use std::fmt::Write as _;

use super::choices::DriveKind;
use super::config::SsdConfig;
use super::disk::{self, HddConfig};
use super::document::read_with_base;
use super::error::PresetError;
use super::raid::{self, MemberConfig, RaidConfig};
use super::variability::Variability;
use super::{assemble, schema};

/// A drive of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum DriveConfig {
    /// A solid-state drive.
    Ssd(Box<SsdConfig>),
    /// A hard disk.
    Hdd(Box<HddConfig>),
    /// An array.
    Raid(Box<RaidConfig>),
}

impl DriveConfig {
    /// Reads a preset and the presets that it starts from.
    ///
    /// `resolve_base` gives the text of the preset that `base` names.
    ///
    /// # Errors
    ///
    /// The first key that is unknown, missing or impossible, with the allowed values.
    pub fn from_toml(
        text: &str,
        resolve_base: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, PresetError> {
        let entries = read_with_base(text, &resolve_base)?;
        let kind = schema::kind(&entries)?;
        schema::check(&entries, kind)?;
        match kind {
            DriveKind::Ssd => assemble::assemble(&entries).map(|c| Self::Ssd(Box::new(c))),
            DriveKind::Hdd => disk::assemble(&entries).map(|c| Self::Hdd(Box::new(c))),
            DriveKind::Raid0 | DriveKind::Raid => {
                let config = raid::assemble(&entries, kind, &resolve_base)?;
                Ok(Self::Raid(Box::new(config)))
            }
        }
    }

    /// Reads a preset whose bases are presets of the package.
    ///
    /// # Errors
    ///
    /// As [`DriveConfig::from_toml`].
    pub fn from_text(text: &str) -> Result<Self, PresetError> {
        Self::from_toml(text, |name| super::text(name).map(str::to_owned))
    }

    /// The kind of drive.
    #[must_use]
    pub const fn kind(&self) -> DriveKind {
        match self {
            Self::Ssd(_) => DriveKind::Ssd,
            Self::Hdd(_) => DriveKind::Hdd,
            Self::Raid(config) => config.kind,
        }
    }

    /// The preset's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Ssd(config) => &config.name,
            Self::Hdd(config) => &config.name,
            Self::Raid(config) => &config.name,
        }
    }

    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        match self {
            Self::Ssd(config) => config.geometry.user_capacity_bytes,
            Self::Hdd(config) => config.geometry.user_capacity_bytes,
            Self::Raid(config) => config.geometry.user_capacity_bytes,
        }
    }

    /// How much runs differ.
    #[must_use]
    pub const fn variability(&self) -> &Variability {
        match self {
            Self::Ssd(config) => &config.variability,
            Self::Hdd(config) => &config.variability,
            Self::Raid(config) => &config.variability,
        }
    }

    /// The same drive without variability: every run takes the preset's own times.
    #[must_use]
    pub fn without_variability(self) -> Self {
        match self {
            Self::Ssd(config) => Self::Ssd(Box::new(config.without_variability())),
            Self::Hdd(config) => Self::Hdd(Box::new(config.without_variability())),
            Self::Raid(config) => Self::Raid(Box::new(config.without_variability())),
        }
    }

    /// The same drive after its erase command: it holds nothing, and reads of pages that were never
    /// written are answered. A disk keeps its data.
    #[must_use]
    pub fn purged(mut self) -> Self {
        match &mut self {
            Self::Ssd(config) => config.is_purged = true,
            Self::Hdd(_) => {}
            Self::Raid(config) => **config = RaidConfig::clone(config).purged(),
        }
        self
    }

    /// Which pages hold data before the first measured request, in words. `None` if the preset does
    /// not say.
    #[must_use]
    pub fn filled_words(&self) -> Option<String> {
        let of = |config: &SsdConfig| config.occupancy.map(|_| config.filled_words());
        match self {
            Self::Ssd(config) => of(config),
            Self::Hdd(_) => None,
            Self::Raid(config) => match &config.member_preset {
                MemberConfig::Ssd(member) => {
                    of(member).map(|words| format!("{words} on each member"))
                }
                MemberConfig::Hdd(_) => None,
            },
        }
    }

    /// The whole description as JSON, with keys in a fixed order.
    #[must_use]
    pub fn resolved_json(&self) -> String {
        match self {
            Self::Ssd(config) => config.resolved_json(),
            Self::Hdd(config) => config.resolved_json(),
            Self::Raid(config) => config.resolved_json(),
        }
    }

    /// The whole description as TOML that reads back as the same drive.
    #[must_use]
    pub fn resolved_toml(&self) -> String {
        match self {
            Self::Ssd(config) => config.resolved_toml(),
            Self::Hdd(config) => toml::to_string(config).unwrap_or_default(),
            Self::Raid(config) => config.resolved_toml(),
        }
    }

    /// A fingerprint of everything that decides how the drive behaves, 16 hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        match self {
            Self::Ssd(config) => config.hash(),
            Self::Hdd(config) => config.hash(),
            Self::Raid(config) => config.hash(),
        }
    }
}

impl HddConfig {
    /// The same disk without variability: every run takes the preset's own times.
    #[must_use]
    pub fn without_variability(mut self) -> Self {
        self.variability = Variability::default();
        self
    }

    /// The whole description as JSON, with keys in a fixed order.
    #[must_use]
    pub fn resolved_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A fingerprint of everything that decides how the disk behaves, 16 hexadecimal digits. It
    /// ignores name, summary and published figures.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut behaviour = self.clone();
        behaviour.name.clear();
        behaviour.summary.clear();
        behaviour.published.clear();
        fingerprint(&behaviour.resolved_json())
    }
}

/// FNV-1a of a text as 16 hexadecimal digits. It is the same in every build.
pub(super) fn fingerprint(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let mut digits = String::with_capacity(16);
    let _ = write!(digits, "{hash:016x}");
    digits
}
