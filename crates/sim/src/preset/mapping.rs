//! The keys of `[mapping]`, and which others a scheme excludes.

use super::assemble::Keys;
use super::choices::{Allocation, MappingScheme, StripingOrder};
use super::config::{Mapping, SsdConfig};
use super::error::PresetError;
use super::schema;

/// Log blocks of each plane where the preset does not say it.
const DEFAULT_LOG_BLOCKS_PER_PLANE: u32 = 8;

const LOG_BLOCKS: &str = "mapping.log_blocks_per_plane";

pub(super) fn mapping(keys: &Keys<'_>) -> Result<Mapping, PresetError> {
    let usual = Mapping::default();
    let scheme = keys.optional_word("mapping.scheme", MappingScheme::from_word)?;
    let scheme = scheme.unwrap_or(usual.scheme);
    let log_blocks = keys.optional_integer(LOG_BLOCKS)?;
    let has_logs = matches!(scheme, MappingScheme::Bast | MappingScheme::Fast);
    if log_blocks.is_some() && !has_logs {
        let allowed = format!(
            "none, as mapping.scheme = {:?} has no log blocks; or \"bast\" or \"fast\" there",
            scheme.word()
        );
        return Err(schema::wrong_value(
            LOG_BLOCKS,
            keys.need(LOG_BLOCKS)?,
            allowed,
        ));
    }
    let order = keys.optional_word("mapping.order", StripingOrder::from_word)?;
    let allocation = keys.optional_word("mapping.allocation", Allocation::from_word)?;
    Ok(Mapping {
        scheme,
        log_blocks_per_plane: has_logs.then(|| log_blocks.unwrap_or(DEFAULT_LOG_BLOCKS_PER_PLANE)),
        order: order.unwrap_or(usual.order),
        allocation: allocation.unwrap_or(usual.allocation),
    })
}

/// Refuses what the scheme cannot honour.
pub(super) fn check(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let scheme = config.mapping.scheme;
    let refuse = |key: &str, allowed: &str, reason: &str| {
        let allowed = format!(
            "{allowed}, as mapping.scheme = {:?} {reason}",
            scheme.word()
        );
        Err(schema::wrong_value(key, keys.need(key)?, allowed))
    };
    if scheme == MappingScheme::Page {
        return Ok(());
    }
    if config.mapping.allocation != Allocation::Static {
        let reason = "ties pages to their block";
        return refuse("mapping.allocation", "\"static\"", reason);
    }
    if scheme == MappingScheme::Fast && config.mapping.log_blocks_per_plane == Some(1) {
        let reason = "needs one for what is written in order and one for the rest";
        return refuse(LOG_BLOCKS, "at least 2", reason);
    }
    let of_pages = [
        "collection.stop_blocks_per_plane",
        "collection.hot_blocks_per_plane",
        "collection.background_blocks_per_plane",
        "wear.static_spread",
    ];
    for key in of_pages {
        if keys.entry(key).is_some() {
            return refuse(key, "none", "merges blocks and collects no pages");
        }
    }
    if config.wear.least_worn_first {
        let reason = "takes free blocks in turn";
        return refuse("wear.least_worn_first", "false", reason);
    }
    Ok(())
}
