//! The state of a served drive, for watchers.

use drivelab_live::clock::Stretch;
use drivelab_live::serve::{MediaTotal, Watched};
use drivelab_sim::host::Room;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::live::told_dict;
use crate::outcome::{add_media, add_objects};

/// The last second, and the whole time.
pub fn watched_dict<'py>(py: Python<'py>, watched: &Watched) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("number", watched.number)?;
    dict.set_item("length_ns", watched.length_ns)?;
    dict.set_item("second", told_dict(py, &watched.second)?)?;
    dict.set_item("total", told_dict(py, &watched.total)?)?;
    let stretch = watched.stretch.as_ref();
    let stretch = stretch
        .map(|stretch| stretch_dict(py, stretch))
        .transpose()?;
    dict.set_item("stretch", stretch)?;
    dict.set_item("media", media_dict(py, &watched.media)?)?;
    Ok(dict)
}

fn stretch_dict<'py>(py: Python<'py>, stretch: &Stretch) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("length_ns", stretch.length_ns)?;
    dict.set_item("outstanding", stretch.outstanding)?;
    let fullness = &stretch.fullness;
    dict.set_item("buffer_bytes", fullness.buffer_bytes)?;
    dict.set_item("buffered_bytes", fullness.buffered_bytes)?;
    let room = fullness.room.map(|room| room_dict(py, room)).transpose()?;
    dict.set_item("room", room)?;
    add_media(&dict, &stretch.media)?;
    Ok(dict)
}

fn room_dict(py: Python<'_>, room: Room) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("blocks", room.blocks)?;
    dict.set_item("free_blocks", room.free_blocks)?;
    dict.set_item("reserve_blocks", room.reserve_blocks)?;
    dict.set_item("planes", room.planes)?;
    dict.set_item("collecting_planes", room.collecting_planes)?;
    Ok(dict)
}

fn media_dict<'py>(py: Python<'py>, media: &MediaTotal) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seconds", media.seconds)?;
    dict.set_item("channel_busy_seconds", &media.channel_busy_seconds)?;
    dict.set_item("unit_busy_seconds", &media.unit_busy_seconds)?;
    dict.set_item("disk_busy_seconds", &media.disk_busy_seconds)?;
    add_objects(&dict, media.flash.as_ref(), media.disk.as_ref())?;
    Ok(dict)
}
