//! The keys of `[slc]`: blocks used with one bit a cell, to which the host's data is written first.

use drivelab_ftl::{Policies, SlcPolicies};
use serde::Serialize;

use super::assemble::Keys;
use super::config::SsdConfig;
use super::error::PresetError;
use super::schema;

const BLOCKS: &str = "slc.blocks_per_plane";
const PAGES: &str = "slc.pages_per_block";
const READ: &str = "slc.read_cell_ns";
const PROGRAM: &str = "slc.program_cell_ns";
const IDLE: &str = "slc.idle_ns";

/// A pseudo-SLC region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Slc {
    /// Blocks of each plane used in this way.
    pub blocks_per_plane: u32,
    /// Pages of such a block.
    pub pages_per_block: u32,
    /// Transfer of one of its pages from the cells into the register.
    pub read_cell_ns: u64,
    /// Transfer of one page from the register into its cells.
    pub program_cell_ns: u64,
    /// The drive folds full blocks when this long has passed since its last command.
    pub idle_ns: u64,
}

/// The region, if any of its keys is given. All keys but the idle time are then required.
pub(super) fn slc(keys: &Keys<'_>) -> Result<Option<Slc>, PresetError> {
    let all = [BLOCKS, PAGES, READ, PROGRAM, IDLE];
    if all.iter().all(|key| keys.entry(key).is_none()) {
        return Ok(None);
    }
    let pages: u32 = keys.integer("geometry.pages_per_block")?;
    let slc = Slc {
        blocks_per_plane: keys.integer(BLOCKS)?,
        pages_per_block: keys.integer(PAGES)?,
        read_cell_ns: keys.integer(READ)?,
        program_cell_ns: keys.integer(PROGRAM)?,
        idle_ns: keys.integer_or_usual(IDLE)?,
    };
    if slc.pages_per_block > pages {
        let allowed = format!("at most geometry.pages_per_block, {pages}");
        return Err(schema::wrong_value(PAGES, keys.need(PAGES)?, allowed));
    }
    let blocks: u32 = keys.integer("geometry.blocks_per_plane")?;
    if slc.blocks_per_plane > blocks {
        let allowed = format!("fewer than geometry.blocks_per_plane, {blocks}");
        return Err(schema::wrong_value(BLOCKS, keys.need(BLOCKS)?, allowed));
    }
    Ok(Some(slc))
}

impl SsdConfig {
    /// The policies of a firmware with a pseudo-SLC region; `None` for any other.
    #[must_use]
    pub fn slc_policies(&self) -> Option<SlcPolicies> {
        let slc = self.slc?;
        let pages: Policies = self.policies();
        Some(SlcPolicies {
            pages,
            slc_blocks: slc.blocks_per_plane,
            slc_pages: slc.pages_per_block,
        })
    }

    /// How long after its last command the drive works in idle time, if it does.
    #[must_use]
    pub fn idle_ns(&self) -> Option<u64> {
        let folds = self.slc.map(|slc| slc.idle_ns);
        folds.or(self.collection.background_idle_ns)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use crate::preset::{PresetError, SsdConfig};

    const SLC: &str = "slc.blocks_per_plane = 8\nslc.pages_per_block = 64\n\
                       slc.read_cell_ns = 20_000\nslc.program_cell_ns = 200_000\n";

    fn derived(lines: &str) -> Result<SsdConfig, PresetError> {
        SsdConfig::from_text(&format!(
            "base = \"x25m-yoo2014\"\nname = \"mine\"\n{SLC}{lines}\n"
        ))
    }

    #[test]
    fn a_region_is_part_of_the_drive_and_reads_back() {
        let drive = derived("").unwrap();
        assert_eq!(drive.slc.unwrap().idle_ns, 1_000_000);
        assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
        assert_ne!(drive.hash(), derived("slc.idle_ns = 5_000").unwrap().hash());
    }

    #[test]
    fn it_refuses_what_it_cannot_honour() {
        for (lines, expected) in [
            (
                "mapping.allocation = \"round_robin\"",
                "allowed: \"static\", as a drive with [slc]",
            ),
            (
                "mapping.scheme = \"bast\"",
                "allowed: \"page\", as a drive with [slc] folds",
            ),
            (
                "collection.temperature_classes = 4",
                "allowed: none, as a drive with [slc]",
            ),
            (
                "collection.background_blocks_per_plane = 9",
                "allowed: none, as a drive with",
            ),
        ] {
            let message = derived(lines).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        let refusal = |from: &str, to: &str| {
            let text = format!("base = \"x25m-yoo2014\"\nname = \"mine\"\n{SLC}").replace(from, to);
            SsdConfig::from_text(&text).unwrap_err().to_string()
        };
        let message = refusal("slc.read_cell_ns = 20_000\n", "");
        assert!(message.contains("slc.read_cell_ns is missing"), "{message}");
        let message = refusal("block = 64", "block = 640");
        assert!(
            message.contains("at most geometry.pages_per_block, 256"),
            "{message}"
        );
        // The region's blocks add no capacity to the dense ones.
        let message = refusal("plane = 8", "plane = 1000");
        assert!(message.contains("user_capacity_bytes"), "{message}");
    }
}
