//! Workload characteristics, and requests as columns.

use drivelab_request::{Direction, SECTOR_BYTES};
use drivelab_workload::{Characteristics, MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::usage_error;

/// `Characteristics.as_tuple()` on the Python side: the fields in their order.
pub type CharacteristicsTuple = (f64, u32, u32, u32, f64, f64, u64, u64);

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("SECTOR_BYTES", SECTOR_BYTES)?;
    module.add("MAX_QUEUE_DEPTH", MAX_QUEUE_DEPTH)?;
    module.add("MAX_REQUEST_BYTES", MAX_REQUEST_BYTES)?;
    module.add_function(wrap_pyfunction!(validate_characteristics, module)?)
}

/// The characteristics of a tuple.
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

/// The tuple of characteristics.
pub const fn to_tuple(characteristics: &Characteristics) -> CharacteristicsTuple {
    (
        characteristics.write_ratio,
        characteristics.queue_depth,
        characteristics.read_size,
        characteristics.write_size,
        characteristics.read_random,
        characteristics.write_random,
        characteristics.read_stride,
        characteristics.write_stride,
    )
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

/// Directions (one byte for each request, 0 read and 1 write), offsets and sizes in bytes.
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
