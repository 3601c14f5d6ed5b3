//! Workload characteristics and the request generator.

use drivelab_request::{Direction, SECTOR_BYTES};
use drivelab_workload::{Characteristics, Generator, MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage_error;

/// `Characteristics.as_tuple()` of the Python side: the fields in their order.
pub type CharacteristicsTuple = (f64, u32, u32, u32, f64, f64, u64, u64);

/// Adds the topic to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SECTOR_BYTES", SECTOR_BYTES)?;
    module.add("MAX_QUEUE_DEPTH", MAX_QUEUE_DEPTH)?;
    module.add("MAX_REQUEST_BYTES", MAX_REQUEST_BYTES)?;
    module.add_function(wrap_pyfunction!(validate_characteristics, module)?)?;
    module.add_function(wrap_pyfunction!(generate, module)?)
}

/// The characteristics that a tuple stands for.
pub const fn from_tuple(tuple: CharacteristicsTuple) -> Characteristics {
    Characteristics {
        write_ratio: tuple.0,
        queue_depth: tuple.1,
        read_size: tuple.2,
        write_size: tuple.3,
        read_random: tuple.4,
        write_random: tuple.5,
        read_stride: tuple.6,
        write_stride: tuple.7,
    }
}

#[pyfunction]
fn validate_characteristics(
    characteristics: CharacteristicsTuple,
    capacity_bytes: u64,
) -> PyResult<()> {
    from_tuple(characteristics)
        .validate(capacity_bytes)
        .map_err(usage_error)
}

/// Directions (one byte a request, 0 read and 1 write), offsets and sizes in bytes.
pub type Columns<'py> = (Bound<'py, PyBytes>, Vec<u64>, Vec<u32>);

/// Requests as columns.
pub fn columns(
    py: Python<'_>,
    requests: impl Iterator<Item = (Direction, u64, u32)> + Send,
) -> Columns<'_> {
    let (directions, offsets, sizes) = py.detach(|| {
        let mut directions = Vec::new();
        let mut offsets = Vec::new();
        let mut sizes = Vec::new();
        for (direction, offset, size) in requests {
            directions.push(direction as u8);
            offsets.push(offset);
            sizes.push(size);
        }
        (directions, offsets, sizes)
    });
    (PyBytes::new(py, &directions), offsets, sizes)
}

#[pyfunction]
fn generate(
    py: Python<'_>,
    characteristics: CharacteristicsTuple,
    range_start: u64,
    range_bytes: u64,
    seed: u64,
    index: u64,
    count: usize,
) -> PyResult<Columns<'_>> {
    let generator = Generator::new(
        &from_tuple(characteristics),
        range_start,
        range_bytes,
        seed,
        index,
    )
    .map_err(usage_error)?;
    let requests = generator.take(count);
    Ok(columns(
        py,
        requests.map(|request| (request.direction, request.offset_bytes, request.size_bytes)),
    ))
}
