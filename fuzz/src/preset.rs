//! Presets: an accepted one reads back as the same drive.

use drivelab_sim::preset::{self, DriveConfig};

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "preset",
    sources: &["crates/sim/src/preset/"],
    check,
    seeds,
};

/// A preset with this name starts from itself.
const ITSELF: &str = "itself";

fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let base = |name: &str| match name {
        ITSELF => Some(text.to_owned()),
        _ => preset::text(name).map(str::to_owned),
    };
    let config = match DriveConfig::from_toml(text, base) {
        Ok(config) => config,
        Err(error) => return check_message(&error),
    };
    assert!(config.capacity_bytes() > 0, "a drive without room");
    let written = config.resolved_toml();
    match DriveConfig::from_toml(&written, base) {
        Ok(again) => {
            assert_eq!(again.resolved_json(), config.resolved_json());
            assert_eq!(again.hash(), config.hash());
        }
        Err(error) => panic!("what was written is refused: {error}\n{written}"),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let texts = preset::names().into_iter().filter_map(preset::text);
    let made = [
        "base = \"x25m\"\nname = \"mine\"\ngeometry.blocks_per_plane = 4096\n",
        "base = \"itself\"\n",
    ];
    texts
        .chain(made)
        .map(|text| text.as_bytes().to_vec())
        .collect()
}
