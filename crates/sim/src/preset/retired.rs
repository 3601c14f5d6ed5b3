//! Keys that presets once had. Who still has one learns from the error what to write instead.

/// The old keys, and what takes their place.
const RETIRED: &[(&str, &str)] = &[(
    "collection.hot_blocks_per_plane",
    "temperature_classes = 4, which keeps hot data apart (best with policy = \"cost_benefit\")",
)];

/// What takes the place of `key`, if presets once had it.
pub(super) fn instead_of(key: &str) -> Option<&'static str> {
    let retired = RETIRED.iter().find(|(old, _)| *old == key);
    retired.map(|&(_, instead)| instead)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use crate::preset::DriveConfig;

    #[test]
    fn an_old_key_is_refused_with_the_name_of_the_new_one() {
        let text = "base = \"x25m\"\nname = \"-\"\ncollection.hot_blocks_per_plane = 3\n";
        let error = DriveConfig::from_text(text).unwrap_err().to_string();
        assert!(
            error.contains(
                "unknown key collection.hot_blocks_per_plane; valid here: temperature_classes = 4"
            ),
            "{error}"
        );
    }
}
