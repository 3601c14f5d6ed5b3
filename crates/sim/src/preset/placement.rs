//! The keys of `[placement]`: the flexible data placement of NVMe, where the host says which data
//! belongs together.

use drivelab_ftl::{MOST_HANDLES, ReclaimPolicies};
use serde::Serialize;

use super::assemble::Keys;
use super::choices::{Isolation, isolation_word};
use super::config::SsdConfig;
use super::error::PresetError;
use super::key::{Key, key};
use super::schema::{self, Rule, integer};

const HANDLES: &str = "placement.handles";
const GROUPS: &str = "placement.groups";
const ISOLATION: &str = "placement.isolation";
const DISABLED: &str = "placement.disabled";

pub(super) const KEYS: &[Key] = &[
    key(HANDLES, integer(1, MOST_HANDLES as u64)),
    key(GROUPS, integer(1, 256)).usually(1),
    key(ISOLATION, Rule::Word(Isolation::WORDS)).usual_word(Isolation::Initial.word()),
    key(DISABLED, Rule::Boolean),
];

/// Handles under which a host writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// How many there are.
    pub handles: u32,
    /// Groups of channels that share no reclaim unit.
    pub groups: u32,
    /// What happens to the data of a handle when it is collected.
    #[serde(serialize_with = "isolation_word::serialize")]
    pub isolation: Isolation,
    /// The host has not enabled it: all data is written under the first handle.
    #[serde(skip_serializing_if = "is_off")]
    pub disabled: bool,
}

fn is_off(value: &bool) -> bool {
    !*value
}

/// The section, if any of its keys is given. The number of handles is then required.
pub(super) fn placement(keys: &Keys<'_>) -> Result<Option<Placement>, PresetError> {
    if KEYS.iter().all(|row| keys.entry(row.name).is_none()) {
        return Ok(None);
    }
    let groups: u32 = keys.integer_or_usual(GROUPS)?;
    let channels: u32 = keys.integer("geometry.channels")?;
    if !channels.is_multiple_of(groups) {
        let allowed = format!("a divisor of geometry.channels, {channels}");
        return Err(schema::wrong_value(GROUPS, keys.need(GROUPS)?, allowed));
    }
    Ok(Some(Placement {
        handles: keys.integer(HANDLES)?,
        groups,
        isolation: keys.word_or_usual(ISOLATION, Isolation::from_word)?,
        disabled: keys.switch(DISABLED)?,
    }))
}

impl SsdConfig {
    /// The policies of a firmware with placement handles; `None` for any other.
    #[must_use]
    pub fn reclaim_policies(&self) -> Option<ReclaimPolicies> {
        let placement = self.placement?;
        Some(ReclaimPolicies {
            handles: if placement.disabled {
                1
            } else {
                placement.handles
            },
            groups: placement.groups,
            isolation: placement.isolation,
            pace: self.collection.pace,
            stop_units: self.collection.stop_blocks_per_plane,
        })
    }

    /// Whether the host decides where its data goes.
    #[must_use]
    pub fn takes_placements(&self) -> bool {
        self.placement.is_some_and(|placement| !placement.disabled)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use crate::preset::{PresetError, SsdConfig};

    fn derived(lines: &str) -> Result<SsdConfig, PresetError> {
        SsdConfig::from_text(&format!(
            "base = \"x25m-yoo2014\"\nname = \"mine\"\n{lines}\n"
        ))
    }

    #[test]
    fn handles_are_part_of_the_drive_and_read_back() {
        let drive = derived("placement.handles = 8").unwrap();
        let policies = drive.reclaim_policies().unwrap();
        assert_eq!((policies.handles, policies.groups), (8, 1));
        assert!(drive.takes_placements());
        assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
        assert_ne!(drive.hash(), derived("").unwrap().hash());
        let off = derived("placement.handles = 8\nplacement.disabled = true").unwrap();
        assert_eq!(off.reclaim_policies().unwrap().handles, 1);
        assert!(!off.takes_placements());
        assert_eq!(SsdConfig::from_text(&off.resolved_toml()).unwrap(), off);
        let apart = derived("placement.handles = 8\nplacement.isolation = \"persistent\"").unwrap();
        assert_eq!(apart.reclaim_policies().unwrap().lanes(), 16);
    }

    #[test]
    fn it_refuses_what_it_cannot_honour() {
        for (lines, expected) in [
            (
                "mapping.scheme = \"bast\"",
                "allowed: \"page\", as a drive with [placement] maps pages",
            ),
            (
                "mapping.order = \"wcdp\"",
                "allowed: none, as a drive with [placement] fills",
            ),
            (
                "mapping.allocation = \"round_robin\"",
                "allowed: \"static\", as a drive with [placement] fills",
            ),
            (
                "collection.policy = \"fifo\"",
                "allowed: \"greedy\", as a drive with [placement]",
            ),
            ("scheduling.copyback = true", "moves pages to other planes"),
            ("wear.static_spread = 3", "levels no wear"),
            ("wear.least_worn_first = true", "does so anyway"),
            (
                "collection.temperature_classes = 3",
                "learns from its host what is hot",
            ),
            (
                "placement.groups = 3",
                "allowed: a divisor of geometry.channels, 10",
            ),
            ("placement.handles = 129", "an integer from 1 to 128"),
            (
                "placement.isolation = \"none\"",
                "\"initial\" or \"persistent\"",
            ),
        ] {
            let handles = if lines.contains("handles") {
                ""
            } else {
                "placement.handles = 8\n"
            };
            let message = derived(&format!("{handles}{lines}"))
                .unwrap_err()
                .to_string();
            assert!(message.contains(expected), "{message}");
            assert_eq!(message.lines().count(), 1);
        }
        let message = derived("placement.groups = 2").unwrap_err().to_string();
        assert!(
            message.contains("placement.handles is missing"),
            "{message}"
        );
    }
}
