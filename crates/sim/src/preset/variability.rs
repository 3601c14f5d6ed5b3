//! The `[variability]` table of a preset.

use serde::Serialize;

use super::assemble::Keys;
use super::error::PresetError;
use super::schema;

/// Differences between runs, and between moments of one run.
///
/// Every part has a mean of 1, so a drive with variability is as fast on average as one without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Variability {
    /// Standard deviation of the logarithm of a run's factor; 0 for none.
    pub sigma: f64,
    /// Fraction of runs that are outliers.
    #[serde(skip_serializing_if = "is_nothing")]
    pub outlier_probability: f64,
    /// How much longer an outlier takes than other runs; `None` without outliers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outlier_factor: Option<f64>,
    /// Standard deviation of the logarithm of the factor that changes during a run; 0 for none.
    #[serde(skip_serializing_if = "is_nothing")]
    pub correlated_sigma: f64,
    /// Time in which that factor's autocorrelation falls to 1/e; `None` without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_time_ns: Option<u64>,
}

fn is_nothing(value: &f64) -> bool {
    *value == 0.0
}

impl Variability {
    /// Whether every run takes the preset's own times.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.sigma == 0.0 && self.outlier_probability == 0.0 && self.correlated_sigma == 0.0
    }
}

/// Reads the table. Settings without effect are left out of the result.
pub(super) fn variability(keys: &Keys<'_>) -> Result<Variability, PresetError> {
    let outlier_probability = keys.ratio_or_usual("variability.outlier_probability")?;
    let correlated_sigma = keys.ratio_or_usual("variability.correlated_sigma")?;
    let has_outliers = outlier_probability > 0.0;
    let is_correlated = correlated_sigma > 0.0;
    needs(keys, "outlier_probability", has_outliers, "outlier_factor")?;
    needs(
        keys,
        "correlated_sigma",
        is_correlated,
        "correlation_time_ns",
    )?;
    Ok(Variability {
        sigma: keys.ratio("variability.sigma")?,
        outlier_probability,
        outlier_factor: has_outliers
            .then(|| keys.ratio("variability.outlier_factor"))
            .transpose()?,
        correlated_sigma,
        correlation_time_ns: is_correlated
            .then(|| keys.integer("variability.correlation_time_ns"))
            .transpose()?,
    })
}

/// If `key` has an effect, `other` is required.
fn needs(keys: &Keys<'_>, key: &str, says: bool, other: &str) -> Result<(), PresetError> {
    let (key, other) = (format!("variability.{key}"), format!("variability.{other}"));
    if !says || keys.entry(&other).is_some() {
        return Ok(());
    }
    let rule = keys
        .rule(&other)
        .map_or_else(String::new, schema::Rule::allowed);
    Err(keys.missing(&other, format!("{rule}, as {key} is not 0")))
}
