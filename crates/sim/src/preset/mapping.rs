//! The keys of `[mapping]`.

use drivelab_ftl::{BlockPolicies, BlockScheme, CachedPolicies, Policies};

use super::assemble::Keys;
use super::choices::{Allocation, MappingScheme, Replacement, StripingOrder};
use super::config::{Mapping, SsdConfig};
use super::error::PresetError;

const CACHED: &str = "mapping.cached_entries";
const REPLACEMENT: &str = "mapping.cache_replacement";
const LOG_BLOCKS: &str = "mapping.log_blocks_per_plane";

/// Bytes of one entry in a translation page.
const MAP_ENTRY_BYTES: u32 = 4;

pub(super) fn mapping(keys: &Keys<'_>) -> Result<Mapping, PresetError> {
    let scheme = keys.word_or_usual("mapping.scheme", MappingScheme::from_word)?;
    let log_blocks: u32 = keys.integer_or_usual(LOG_BLOCKS)?;
    let has_logs = matches!(scheme, MappingScheme::Bast | MappingScheme::Fast);
    let is_cached = scheme == MappingScheme::DemandCachedPage;
    let cached_entries = keys.optional_integer(CACHED)?;
    let replacement = keys.word_or_usual(REPLACEMENT, Replacement::from_word)?;
    if is_cached {
        keys.need(CACHED)?;
    }
    Ok(Mapping {
        scheme,
        log_blocks_per_plane: has_logs.then_some(log_blocks),
        cached_entries,
        cache_replacement: is_cached.then_some(replacement),
        order: keys.word_or_usual("mapping.order", StripingOrder::from_word)?,
        allocation: keys.word_or_usual("mapping.allocation", Allocation::from_word)?,
    })
}

impl SsdConfig {
    /// The policies of a firmware that maps blocks; `None` for one that maps pages.
    #[must_use]
    pub fn block_policies(&self) -> Option<BlockPolicies> {
        let scheme = match self.mapping.scheme {
            MappingScheme::Page | MappingScheme::DemandCachedPage => return None,
            MappingScheme::Block => BlockScheme::Block,
            MappingScheme::Bast => BlockScheme::Bast,
            MappingScheme::Fast => BlockScheme::Fast,
        };
        let Policies { order, axes, .. } = self.policies();
        Some(BlockPolicies {
            scheme,
            log_blocks: self.mapping.log_blocks_per_plane.unwrap_or(0),
            order,
            axes,
        })
    }

    /// The policies of a firmware whose map lies on the flash; `None` for any other.
    #[must_use]
    pub fn cached_policies(&self) -> Option<CachedPolicies> {
        Some(CachedPolicies {
            pages: self.policies(),
            cached_entries: self.mapping.cached_entries?,
            replacement: self.mapping.cache_replacement?,
            entries_per_page: self.geometry.page_size_bytes / MAP_ENTRY_BYTES,
        })
    }

    /// The most logical pages that fit on this many physical pages, next to the map if it lies
    /// there too.
    pub(super) fn most_logical_pages(&self, pages: u64) -> u64 {
        let entries = u64::from(self.geometry.page_size_bytes / MAP_ENTRY_BYTES);
        match self.mapping.cached_entries {
            None => pages,
            Some(_) => pages - pages.div_ceil(entries + 1),
        }
    }

    /// Blocks of each plane that can hold no host data.
    pub(super) fn blocks_held_back(&self) -> u64 {
        let reserve = self.collection.reserve_blocks_per_plane;
        if let Some(policies) = self.slc_policies() {
            return policies.blocks_held_back(&self.layout()).into();
        }
        if let Some(policies) = self.reclaim_policies() {
            return policies.units_held_back(reserve).into();
        }
        let held_back = match (self.block_policies(), self.cached_policies()) {
            (Some(policies), _) => policies.blocks_held_back(),
            (None, Some(policies)) => policies.blocks_held_back(reserve),
            (None, None) => self.policies().blocks_held_back(reserve),
        };
        held_back.into()
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

    fn refusal(lines: &str) -> String {
        derived(lines).unwrap_err().to_string()
    }

    #[test]
    fn a_scheme_refuses_what_it_cannot_honour() {
        let bast = |lines: &str| refusal(&format!("mapping.scheme = \"bast\"\n{lines}"));
        for (lines, expected) in [
            (
                "mapping.allocation = \"round_robin\"",
                "allowed: \"static\", as mapping.scheme = \"bast\" ties",
            ),
            (
                "collection.temperature_classes = 4",
                "allowed: none, as mapping.scheme = \"bast\" merges",
            ),
            (
                "collection.background_blocks_per_plane = 9",
                "allowed: none, as mapping.scheme",
            ),
            (
                "collection.stop_blocks_per_plane = 9",
                "allowed: none, as mapping.scheme",
            ),
            ("wear.static_spread = 9", "allowed: none, as mapping.scheme"),
            (
                "wear.least_worn_first = true",
                "allowed: false, as mapping.scheme",
            ),
        ] {
            let message = bast(lines);
            assert!(message.contains(expected), "{message}");
            assert_eq!(message.lines().count(), 1);
        }
        let adaptive = "collection.pace = \"adaptive\"";
        let message = bast(adaptive);
        let expected = "allowed: \"paced\" or \"whole_block\", as mapping.scheme = \"bast\" merges";
        assert!(message.contains(expected), "{message}");
        let message = refusal(&format!("{adaptive}\ncompression.slot_size_bytes = 1024"));
        assert!(message.contains("with [compression]"), "{message}");
        assert!(derived(adaptive).is_ok());
        let message = refusal("mapping.log_blocks_per_plane = 9");
        assert!(
            message.contains("mapping.scheme = \"page\" (the default) has no log blocks"),
            "{message}"
        );
        let message = refusal("mapping.scheme = \"fast\"\nmapping.log_blocks_per_plane = 1");
        assert!(
            message.contains("allowed: at least 2, as mapping.scheme = \"fast\""),
            "{message}"
        );
        let cached = |lines: &str| {
            let lines = format!("mapping.cached_entries = 9\n{lines}");
            refusal(&format!("mapping.scheme = \"demand_cached_page\"\n{lines}"))
        };
        for (lines, expected) in [
            (
                "mapping.allocation = \"round_robin\"",
                "allowed: \"static\", as mapping.scheme",
            ),
            (
                "collection.temperature_classes = 4",
                "allowed: none, as mapping.scheme",
            ),
            (
                "collection.background_blocks_per_plane = 9",
                "which idle time has no room for",
            ),
            (
                "buffer.read_cache_bytes = 4096",
                "allowed: 0, as mapping.scheme",
            ),
            ("mapping.log_blocks_per_plane = 2", "has no log blocks"),
        ] {
            let message = cached(lines);
            assert!(message.contains(expected), "{message}");
        }
        let message = refusal("mapping.scheme = \"demand_cached_page\"");
        assert!(
            message.contains("mapping.cached_entries is missing"),
            "{message}"
        );
        let message = refusal("mapping.cached_entries = 5");
        assert!(
            message.contains("mapping.scheme = \"page\" (the default) has no map on the flash"),
            "{message}"
        );
        let message = refusal("mapping.scheme = \"dftl\"");
        assert!(
            message.contains(
                "\"page\" or \"demand_cached_page\" or \"block\" or \"bast\" or \"fast\""
            ),
            "{message}"
        );
        // Every log block is one block less for data.
        let message = bast("mapping.log_blocks_per_plane = 2000");
        assert!(message.contains("user_capacity_bytes"), "{message}");
        let message = bast("mapping.log_blocks_per_plane = 4000");
        assert!(
            message.contains("at least 4002: 4000 for what is overwritten"),
            "{message}"
        );
        // The setting is part of the drive and survives writing and reading.
        let drive = derived("mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 9");
        let drive = drive.unwrap();
        assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
        let drive = derived("mapping.scheme = \"bast\"").unwrap();
        assert_eq!(drive.mapping.log_blocks_per_plane, Some(8));
        assert_ne!(drive.hash(), derived("").unwrap().hash());
        assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
    }
}
