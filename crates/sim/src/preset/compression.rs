//! The keys of `[compression]`: a controller that stores less than the host writes.

use drivelab_ftl::{CompressedPolicies, Policies};
use drivelab_request::Content;
use serde::{Serialize, Serializer};

use super::assemble::Keys;
use super::config::SsdConfig;
use super::error::PresetError;
use super::schema;

pub(super) const SLOT: &str = "compression.slot_size_bytes";
pub(super) const ZEROS: &str = "compression.deduplicates_zeros";
pub(super) const FILLED: &str = "compression.condition_content";

/// The most compressed pages in one flash page.
const MOST_SLOTS: u32 = 16;

/// What a controller does with compressible data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Compression {
    /// The size of a slot; the page size if nothing is compressed. A compressed page takes a power of
    /// two of slots.
    pub slot_size_bytes: u32,
    /// Pages of zeroes take no space.
    pub deduplicates_zeros: bool,
    /// The content that filled the drive in its condition.
    #[serde(serialize_with = "by_name")]
    pub condition_content: Content,
}

fn by_name<S: Serializer>(content: &Content, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(content.name())
}

/// The section, if any of its keys is given. The slot size is then required.
pub(super) fn compression(keys: &Keys<'_>) -> Result<Option<Compression>, PresetError> {
    if [SLOT, ZEROS, FILLED]
        .iter()
        .all(|key| keys.entry(key).is_none())
    {
        return Ok(None);
    }
    let page: u32 = keys.integer("geometry.page_size_bytes")?;
    let slot: u32 = keys.integer(SLOT)?;
    let least = page / MOST_SLOTS;
    if slot > page || slot < least {
        let allowed =
            format!("{least} to {page}, at most {MOST_SLOTS} to a page (geometry.page_size_bytes)");
        return Err(schema::wrong_value(SLOT, keys.need(SLOT)?, allowed));
    }
    Ok(Some(Compression {
        slot_size_bytes: slot,
        deduplicates_zeros: keys.switch(ZEROS)?,
        condition_content: keys.word_or_usual(FILLED, Content::from_name)?,
    }))
}

/// Refuses what a compressing drive cannot do.
pub(super) fn check(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let Some(policies) = config.compressed_policies() else {
        return Ok(());
    };
    if let Err(error) = policies.validate(&config.layout()) {
        // Other errors were reported for the layout without slots, or follow later.
        if CompressedPolicies::is_of_slots(&error) {
            let allowed = format!("larger slots: {error}");
            return Err(schema::wrong_value(SLOT, keys.need(SLOT)?, allowed));
        }
    }
    Ok(())
}

impl SsdConfig {
    /// The policies of a compressing firmware; `None` for any other.
    #[must_use]
    pub fn compressed_policies(&self) -> Option<CompressedPolicies> {
        let compression = self.compression?;
        let pages: Policies = self.policies();
        let page_bytes = self.geometry.page_size_bytes;
        Some(CompressedPolicies {
            pages,
            page_bytes,
            slots_per_page: page_bytes / compression.slot_size_bytes,
            deduplicates_zeros: compression.deduplicates_zeros,
        })
    }

    /// The content that fills a prepared drive.
    #[must_use]
    pub fn condition_content(&self) -> Content {
        let compression = self.compression.as_ref();
        compression.map_or(Content::Random, |c| c.condition_content)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use drivelab_request::Content;

    use crate::preset::{PresetError, SsdConfig};

    fn derived(lines: &str) -> Result<SsdConfig, PresetError> {
        SsdConfig::from_text(&format!(
            "base = \"x25m-yoo2014\"\nname = \"mine\"\n{lines}\n"
        ))
    }

    #[test]
    fn compression_is_part_of_the_drive_and_reads_back() {
        let drive = derived("compression.slot_size_bytes = 1024").unwrap();
        let policies = drive.compressed_policies().unwrap();
        assert_eq!((policies.slots_per_page, policies.page_bytes), (4, 4096));
        assert!(!policies.deduplicates_zeros);
        assert_eq!(drive.condition_content(), Content::Random);
        assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
        let filled = derived(
            "compression.slot_size_bytes = 4096\ncompression.deduplicates_zeros = true\n\
             compression.condition_content = \"database\"",
        );
        let filled = filled.unwrap();
        assert_eq!(filled.condition_content(), Content::Database);
        assert_eq!(
            SsdConfig::from_text(&filled.resolved_toml()).unwrap(),
            filled
        );
        assert_ne!(drive.hash(), filled.hash());
        assert_ne!(drive.hash(), derived("").unwrap().hash());
    }

    #[test]
    fn it_refuses_what_it_cannot_honour() {
        let slots = |lines: &str| {
            let lines = format!("compression.slot_size_bytes = 1024\n{lines}");
            derived(&lines).unwrap_err().to_string()
        };
        for (lines, expected) in [
            (
                "mapping.scheme = \"bast\"",
                "allowed: \"page\", as a drive with [compression]",
            ),
            (
                "mapping.allocation = \"round_robin\"",
                "allowed: \"static\", as a drive with",
            ),
            (
                "collection.temperature_classes = 4",
                "allowed: none, as a drive with [compression]",
            ),
            (
                "collection.background_blocks_per_plane = 9",
                "collects when space is needed",
            ),
            ("scheduling.copyback = true", "packs again what it moves"),
            (
                "compression.condition_content = \"text\"",
                "\"zero\" or \"database\" or \"random\"",
            ),
            (
                "geometry.pages_per_block = 16_384\ngeometry.blocks_per_plane = 64",
                "larger slots: pages per block is 65536: it must lie between 1 and 32767",
            ),
        ] {
            let message = slots(lines);
            assert!(message.contains(expected), "{message}");
            assert_eq!(message.lines().count(), 1);
        }
        let message = derived("compression.slot_size_bytes = 128").unwrap_err();
        assert!(message.to_string().contains("a power of two from 512"));
        let message = derived("compression.slot_size_bytes = 8192").unwrap_err();
        assert!(message.to_string().contains("256 to 4096, at most 16"));
        let message = derived("compression.deduplicates_zeros = true").unwrap_err();
        assert!(
            message
                .to_string()
                .contains("compression.slot_size_bytes is missing")
        );
    }
}
