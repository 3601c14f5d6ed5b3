//! Presets in a user's files: which preset a name means there.
//!
//! What a file starts from or consists of is a file beside it before it is a preset of the package.
//! What the package's presets name is the package's, whatever lies beside the user's file.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::document::{Value, read};
use super::drive::DriveConfig;
use super::error::PresetError;

impl DriveConfig {
    /// Reads a preset of a user; `beside` has the texts of those beside it by their names.
    ///
    /// # Errors
    ///
    /// As [`DriveConfig::from_toml`].
    pub fn from_files(text: &str, beside: &BTreeMap<String, String>) -> Result<Self, PresetError> {
        let members = members_of_files(text, beside);
        let in_package = Cell::new(false);
        Self::from_toml(text, |name| {
            // An array's member is read after its bases, which may have ended in the package.
            if members.iter().any(|member| member == name) {
                in_package.set(false);
            }
            if !in_package.get()
                && let Some(text) = beside.get(name)
            {
                return Some(text.clone());
            }
            in_package.set(true);
            super::text(name).map(str::to_owned)
        })
        .map_err(with_files)
    }
}

/// Names the files that form a circle: presets of the package form none.
fn with_files(error: PresetError) -> PresetError {
    match error {
        PresetError::BaseCycle { chain } => PresetError::BaseCycle {
            chain: chain.iter().map(|name| format!("{name}.toml")).collect(),
        },
        other => other,
    }
}

/// The members that the user's own files name, before their bases are the package's.
fn members_of_files(text: &str, beside: &BTreeMap<String, String>) -> Vec<String> {
    named_members(text, beside).unwrap_or_default()
}

fn named_members(text: &str, beside: &BTreeMap<String, String>) -> Option<Vec<String>> {
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
        text = beside.get(&base)?;
        if !met.insert(base) {
            return None;
        }
    }
}
