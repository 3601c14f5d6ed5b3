//! A run of a simulated drive, with what it cost.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use drivelab_request::{Direction, Nanos, WindowPlan};
use drivelab_sim::ssd::{LatencySplit, Load, Outcome, Part, Plan, Prepared, SimError};
use drivelab_workload::{Characteristics, Generator};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::batch_means::stopped_by;
use crate::histogram::operation_dict;

/// A run, and the wall time that its loop took.
pub struct Simulated {
    outcome: Outcome,
    loop_time: Duration,
}

/// A closed loop of `workload` over the whole drive.
///
/// # Errors
/// [`SimError`] when the workload cannot be served.
pub fn run(
    prepared: &Prepared,
    workload: &Characteristics,
    seed: u64,
    window: WindowPlan,
    stop: &Arc<AtomicBool>,
) -> Result<Simulated, SimError> {
    let mut drive = prepared.worker_stopped_by(stop);
    let generator = Generator::new(workload, 0, drive.capacity_bytes(), seed, 0)
        .map_err(|error| SimError::Workload(error.to_string()))?;
    let load = Load::closed(generator, workload.queue_depth);
    let plan = Plan {
        window,
        ..Plan::default()
    };
    let started = Instant::now();
    let outcome = drive.run(load, plan, seed, 0)?;
    let loop_time = started.elapsed();
    match outcome.window {
        window if outcome.measured_requests == 0 => Err(SimError::NoRequests { window }),
        Nanos::ZERO => Err(SimError::NoTime),
        _ => Ok(Simulated { outcome, loop_time }),
    }
}

/// What Python makes its answer of.
pub fn simulated_dict<'py>(
    py: Python<'py>,
    Simulated { outcome, loop_time }: &Simulated,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("loop_wall_seconds", loop_time.as_secs_f64())?;
    dict.set_item("duration_ns", outcome.window.0)?;
    dict.set_item("stopped_by", outcome.closed_by.map(stopped_by))?;
    dict.set_item("warmup_requests", outcome.warmup_requests)?;
    dict.set_item("counted_requests", outcome.measured_requests)?;
    dict.set_item("drained_requests", outcome.drained_requests)?;
    let operations = PyDict::new(py);
    for direction in Direction::ALL {
        let counted = outcome.of(direction);
        if let Some(operation) = operation_dict(py, counted.bytes, &counted.latency)? {
            let split = &outcome.split[direction.index()];
            operation.set_item("parts", parts_dict(py, split)?)?;
            operations.set_item(direction_name(direction), operation)?;
        }
    }
    dict.set_item("operations", operations)?;
    dict.set_item("page_reads", outcome.page_reads)?;
    dict.set_item("host_page_programs", outcome.host_programs)?;
    dict.set_item("collection_page_programs", outcome.collection_programs)?;
    dict.set_item("block_erases", outcome.erases)?;
    dict.set_item("buffer_hit_pages", outcome.buffer_hits)?;
    dict.set_item("write_amplification_ratio", outcome.write_amplification())?;
    dict.set_item("channel_utilisation_ratio", &outcome.channel_utilisation)?;
    dict.set_item("unit_utilisation_ratio", &outcome.unit_utilisation)?;
    dict.set_item("variability_factor", outcome.variability_factor)?;
    Ok(dict)
}

/// Sum and maximum of every part, by its name.
fn parts_dict<'py>(py: Python<'py>, split: &LatencySplit) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for part in Part::ALL {
        let both = (split.sum_ns[part as usize], split.max_ns[part as usize]);
        dict.set_item(part.name(), both)?;
    }
    Ok(dict)
}

const fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    }
}
