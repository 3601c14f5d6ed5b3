//! Converts typed errors of the core to the exceptions of `drivelab.errors`.
//!
//! Every module of this crate converts its errors here, so Python sees one hierarchy and the texts
//! of the core.

use std::fmt::Display;

use drivelab_ftl::FirmwareError;
use drivelab_sim::preset::PresetError;
use drivelab_sim::ssd::SimError;
use pyo3::PyErr;

mod exceptions {
    #![allow(missing_docs)]
    pyo3::import_exception!(drivelab.errors, CannotAnswerError);
    pyo3::import_exception!(drivelab.errors, ImpossibleValueError);
    pyo3::import_exception!(drivelab.errors, RunError);
    pyo3::import_exception!(drivelab.errors, UsageError);
}

/// An error that the caller can fix, as `drivelab.errors.UsageError`.
pub fn usage_error(error: impl Display) -> PyErr {
    exceptions::UsageError::new_err(error.to_string())
}

/// An error in a preset. If it concerns the value of a key, a
/// `drivelab.errors.ImpossibleValueError`.
pub fn preset_error(error: &PresetError) -> PyErr {
    error.wrong_key().map_or_else(
        || usage_error(error),
        |key| {
            let arguments = (error.to_string(), key.to_owned(), error.without_place());
            exceptions::ImpossibleValueError::new_err(arguments)
        },
    )
}

/// An impossible answer of a tool or drive, as `drivelab.errors.RunError`.
pub fn run_error(error: impl Display) -> PyErr {
    exceptions::RunError::new_err(error.to_string())
}

/// A failure of a run, as `drivelab.errors.RunError`, or an error that the caller can fix.
pub fn simulation_error(error: SimError) -> PyErr {
    match error {
        SimError::Firmware(FirmwareError::Contract { .. } | FirmwareError::External { .. })
        | SimError::Stalled { .. }
        | SimError::NoMemory { .. }
        | SimError::NoThread { .. }
        | SimError::EndOfTime { .. }
        | SimError::Overloaded { .. }
        | SimError::NoRequests { .. }
        | SimError::StateLost
        | SimError::Stopped => run_error(error),
        _ => usage_error(error),
    }
}

/// A valid question that this drive cannot answer, as `drivelab.errors.CannotAnswerError`.
pub fn cannot_answer_error(error: impl Display) -> PyErr {
    exceptions::CannotAnswerError::new_err(error.to_string())
}
