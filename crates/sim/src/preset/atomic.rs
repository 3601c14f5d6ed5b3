//! How large a write may be of which all is there or nothing.

use super::assemble::Keys;
use super::config::SsdConfig;
use super::error::PresetError;
use super::schema::{self, Rule};

pub(super) const WRITE: &str = "host.atomic_write_bytes";
pub(super) const POWER_LOSS: &str = "host.atomic_power_loss_bytes";

pub(super) const BYTES: Rule = Rule::Sectors {
    least: 0,
    most: 1 << 30,
};

/// Refuses writes that the buffer could never take whole, and more safety without power than with.
pub(super) fn check(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let host = &config.host;
    let buffer = config.buffer.write_buffer_bytes;
    let page = u64::from(config.geometry.page_size_bytes);
    // It may begin and end within a page.
    let touched = host.atomic_write_bytes.next_multiple_of(page) + page;
    if host.atomic_write_bytes > 0 && buffer > 0 && touched > buffer / page * page {
        let allowed = format!(
            "at most {} bytes, so that buffer.write_buffer_bytes, {buffer}, takes such a write \
             whole wherever it begins",
            (buffer / page * page).saturating_sub(page)
        );
        return Err(schema::wrong_value(WRITE, keys.need(WRITE)?, allowed));
    }
    if host.atomic_power_loss_bytes > host.atomic_write_bytes {
        let allowed = format!("at most {WRITE}, {}", host.atomic_write_bytes);
        return Err(schema::wrong_value(
            POWER_LOSS,
            keys.need(POWER_LOSS)?,
            allowed,
        ));
    }
    Ok(())
}
