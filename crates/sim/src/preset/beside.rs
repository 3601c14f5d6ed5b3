//! Presets in a user's files: how names in them are resolved.
//!
//! A name in a user's file means a file in the same folder if there is one, and otherwise a preset
//! of the package. A name in one of the package's presets always means the package's preset.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::document::{Value, read};
use super::drive::DriveConfig;
use super::error::PresetError;

impl DriveConfig {
    /// Reads a user's preset. `files` holds the texts of the files in the same folder, by name.
    pub fn from_files(text: &str, files: &BTreeMap<String, String>) -> Result<Self, PresetError> {
        let members = members_of_files(text, files);
        let in_package = Cell::new(false);
        Self::from_toml(text, |name| {
            // The member of an array is read after its bases, and those may have ended in the
            // package.
            if members.iter().any(|member| member == name) {
                in_package.set(false);
            }
            if !in_package.get()
                && let Some(text) = files.get(name)
            {
                return Some(text.clone());
            }
            in_package.set(true);
            super::text(name).map(str::to_owned)
        })
        .map_err(with_files)
    }
}

/// Names the files that form a circle. Presets of the package never form one.
fn with_files(error: PresetError) -> PresetError {
    match error {
        PresetError::BaseCycle { chain } => PresetError::BaseCycle {
            chain: chain.iter().map(|name| format!("{name}.toml")).collect(),
        },
        other => other,
    }
}

/// The members that the user's own files name, up to the first base from the package.
fn members_of_files(text: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    named_members(text, files).unwrap_or_default()
}

fn named_members(text: &str, files: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let mut text = text;
    let mut met = BTreeSet::new();
    loop {
        let entries = read("", text).ok()?;
        let named = |key| match entries.get(key).map(|entry| &entry.value) {
            Some(Value::Text(name)) => Some(vec![name.clone()]),
            Some(Value::Texts(names)) => Some(names.clone()),
            _ => None,
        };
        if let Some(members) = named("member") {
            return Some(members);
        }
        let base = named("base")?.pop()?;
        text = files.get(&base)?;
        if !met.insert(base) {
            return None;
        }
    }
}
