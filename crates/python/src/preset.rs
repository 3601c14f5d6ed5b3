//! Presets: the package's own, and the checked description of a text.

use std::collections::BTreeMap;

use drivelab_sim::preset::{self, DriveConfig, DriveKind, SsdConfig};
use pyo3::prelude::*;

use crate::errors::{preset_error, usage_error};

/// Texts of presets in the user's folder, by name. They go before the package's.
pub type BaseTexts = BTreeMap<String, String>;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(preset_names, module)?)?;
    module.add_function(wrap_pyfunction!(preset_text, module)?)?;
    module.add_function(wrap_pyfunction!(preset_keys, module)?)?;
    module.add_function(wrap_pyfunction!(preset_exclusions, module)?)?;
    module.add_function(wrap_pyfunction!(resolve_preset, module)?)
}

/// The drive that a text and its bases describe.
pub fn configuration(toml_text: &str, base_texts: &BaseTexts) -> PyResult<DriveConfig> {
    DriveConfig::from_files(toml_text, base_texts).map_err(|error| preset_error(&error))
}

/// The description of an SSD, or why the drive has no `wanted`.
pub fn of_flash<'a>(config: &'a DriveConfig, wanted: &str) -> Result<&'a SsdConfig, String> {
    match config {
        DriveConfig::Ssd(config) => Ok(config),
        DriveConfig::Hdd(config) => Err(format!(
            "{}: {wanted} is for drives of flash, and this is a hard disk",
            config.name
        )),
        DriveConfig::Raid(config) => Err(format!(
            "{}: {wanted} is for single drives of flash, and this is an array; name its member, \
             sim:{}",
            config.name, config.member
        )),
    }
}

#[pyfunction]
fn preset_names() -> Vec<&'static str> {
    preset::names()
}

#[pyfunction]
fn preset_text(name: &str) -> PyResult<&'static str> {
    preset::text(name).ok_or_else(|| {
        let known = preset::names().join(", ");
        usage_error(format!(
            "no preset {name:?}; the presets are {known}, and your own is sim:FILE.toml"
        ))
    })
}

/// A key, its allowed values, its unit, its default, and its place, step and name in a fit.
type KeyTold = (
    &'static str,
    String,
    Option<&'static str>,
    Option<String>,
    Option<(u32, u32, Option<&'static str>)>,
);

/// Every key that a preset of a kind of drive may have.
#[pyfunction]
fn preset_keys(kind: &str) -> PyResult<Vec<KeyTold>> {
    let row_tuple = |row: preset::KeyRow| {
        let fit = row.fit.map(|fit| (fit.place, fit.step, fit.parameter));
        (row.name, row.allowed, row.unit, row.usual, fit)
    };
    let rows = preset::keys(kind_of_drive(kind)?);
    Ok(rows.into_iter().map(row_tuple).collect())
}

fn kind_of_drive(kind: &str) -> PyResult<DriveKind> {
    DriveKind::from_word(kind).ok_or_else(|| {
        usage_error(format!(
            "no kind of drive {kind:?}; there are {:?}",
            DriveKind::WORDS
        ))
    })
}

/// What settings exclude: the setting, the key, the values that remain, and the reason.
#[pyfunction]
fn preset_exclusions(kind: &str) -> PyResult<Vec<(String, &'static str, String, &'static str)>> {
    let row_tuple = |row: preset::ExclusionRow| (row.with, row.key, row.only, row.reason);
    let rows = preset::exclusions(kind_of_drive(kind)?);
    Ok(rows.into_iter().map(row_tuple).collect())
}

#[pyfunction]
fn resolve_preset(toml_text: &str, base_texts: BaseTexts) -> PyResult<(String, String)> {
    let config = configuration(toml_text, &base_texts)?;
    Ok((config.resolved_json(), config.hash()))
}
