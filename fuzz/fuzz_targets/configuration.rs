//! Any text is a configuration that can be told, or one line about what is wrong.
#![no_main]

use drivelab_sim::preset::{self, DriveConfig};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match DriveConfig::from_toml(text, |name| preset::text(name).map(str::to_owned)) {
        Ok(config) => assert!(!config.resolved_json().is_empty() && config.capacity_bytes() > 0),
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
});
