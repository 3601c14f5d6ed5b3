//! A simulated drive served to programs.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use drivelab_live::block::Block;
use drivelab_live::clock::{Dilation, Formula, round_trip_ns};
use drivelab_live::data::{FileStore, Loss, MemoryStore, Store};
use drivelab_live::protocol::Export;
use drivelab_live::serve::{Door, PATIENCE_NS, Place, PowerCuts, Serving, Settings, Told};
use drivelab_request::CommandKind;
use drivelab_sim::drive::Prepared;
use drivelab_sim::host::Device;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::errors::usage_error;
use crate::histogram::operation_dict;
use crate::outcome::lateness_dict;
use crate::watched::watched_dict;

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(live_round_trip_ns, module)?)?;
    module.add_class::<LiveAsked>()?;
    module.add_class::<LiveServer>()
}

/// The shortest time for a message to another thread and back.
#[pyfunction]
fn live_round_trip_ns(py: Python<'_>) -> PyResult<u64> {
    Ok(py.detach(round_trip_ns)?)
}

/// How a drive should be served.
#[pyclass(frozen, module = "drivelab._core")]
pub struct LiveAsked {
    place: Place,
    /// The block size of a device in `/dev`, if one is wanted.
    block_bytes: Option<u32>,
    backing: Option<PathBuf>,
    memory_bytes: u64,
    settings: Settings,
    has_delay: bool,
    /// Equations answer in place of the simulator.
    by_equations: bool,
}

#[pymethods]
impl LiveAsked {
    #[new]
    #[pyo3(signature = (
        *, name, description, socket, port, block_bytes, backing, memory_bytes, seed, dilation, cpu,
        late_ns, has_delay, by_equations, power_cuts
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python class")]
    fn new(
        name: String,
        description: String,
        socket: Option<PathBuf>,
        port: Option<u16>,
        block_bytes: Option<u32>,
        backing: Option<PathBuf>,
        memory_bytes: u64,
        seed: u64,
        dilation: f64,
        cpu: Option<usize>,
        late_ns: u64,
        has_delay: bool,
        by_equations: bool,
        power_cuts: Option<(u64, u64, bool)>,
    ) -> PyResult<Self> {
        let place = match (socket, port) {
            (Some(path), None) => Place::Path(path),
            (None, Some(port)) => Place::Port(port),
            _ => return Err(usage_error("give either a socket's path or a port")),
        };
        let dilation = Dilation::new(dilation).ok_or_else(|| {
            usage_error(format!(
                "a dilation of {dilation} is not allowed; it takes a number from 1 to 100000"
            ))
        })?;
        Ok(Self {
            place,
            block_bytes,
            backing,
            memory_bytes,
            settings: Settings {
                export: Export {
                    name,
                    description,
                    size_bytes: 0,
                    takes_trims: true,
                },
                seed,
                dilation,
                cpu,
                late_ns,
                patience_ns: PATIENCE_NS,
                power_cuts: power_cuts.map(|(every_ns, off_ns, loses_all)| PowerCuts {
                    every_ns,
                    off_ns,
                    loss: if loses_all { Loss::All } else { Loss::Some },
                }),
            },
            has_delay,
            by_equations,
        })
    }
}

/// What was opened before the drive is prepared.
pub struct Opened {
    door: Door,
    block: Option<Block>,
    store: Store,
}

impl LiveAsked {
    /// Opens the entrances and the data store, so that errors appear before the drive is prepared.
    pub fn open(&self, size_bytes: u64) -> PyResult<Opened> {
        self.settings.check().map_err(usage_error)?;
        let door = Door::open(self.place.clone()).map_err(usage_error)?;
        let block = |bytes| Block::open(bytes, size_bytes, &self.settings.export.name);
        let block = self.block_bytes.map(block).transpose();
        let block = block.map_err(usage_error)?;
        let store = match &self.backing {
            Some(path) => Store::File(FileStore::open(path, size_bytes).map_err(usage_error)?),
            None => Store::Memory(MemoryStore::new(size_bytes, self.memory_bytes)),
        };
        Ok(Opened { door, block, store })
    }

    /// Serves a drive in its condition, or in a state saved to the file with this name.
    pub fn start(
        &self,
        Opened { door, block, store }: Opened,
        prepared: &Prepared,
        from_state: Option<(PathBuf, PyBackedBytes)>,
    ) -> PyResult<LiveServer> {
        let device = self.device(prepared, from_state)?;
        let export = Export {
            size_bytes: device.capacity_bytes(),
            takes_trims: device.takes_trims(),
            ..self.settings.export.clone()
        };
        let made_backing = store.unkept().is_some();
        let settings = Settings {
            export,
            ..self.settings
        };
        let (uri, port) = (door.uri(), door.place().port());
        let device = self.has_delay.then_some(device);
        let serving = Serving::start_with_block(door, block, device, store, settings);
        let serving = serving.map_err(usage_error)?;
        Ok(LiveServer {
            uri,
            port,
            block_path: serving.block_path(),
            made_backing,
            serving: Mutex::new(serving),
        })
    }
}

impl LiveAsked {
    fn device(
        &self,
        prepared: &Prepared,
        from_state: Option<(PathBuf, PyBackedBytes)>,
    ) -> PyResult<Box<dyn Device + Send>> {
        if self.by_equations {
            let Prepared::Ssd(prepared) = prepared else {
                return Err(usage_error(
                    "the equations are of an SSD: name one, or sim:PRESET",
                ));
            };
            return Ok(Box::new(
                Formula::new(prepared.config()).map_err(usage_error)?,
            ));
        }
        let (name, saved) = from_state.unzip();
        prepared.device(saved.as_deref()).map_err(|refused| {
            let name = name.unwrap_or_default();
            usage_error(format!("{}: {refused}", name.display()))
        })
    }
}

/// A running server. It ends when it is stopped, or when nobody holds it any more.
#[pyclass(frozen, module = "drivelab._core")]
pub struct LiveServer {
    /// Its address for clients.
    #[pyo3(get)]
    uri: String,
    #[pyo3(get)]
    port: Option<u16>,
    /// The device in `/dev`, as `/dev/loop3`.
    #[pyo3(get)]
    block_path: Option<String>,
    /// Whether the backing file did not exist before.
    #[pyo3(get)]
    made_backing: bool,
    serving: Mutex<Serving>,
}

#[pymethods]
impl LiveServer {
    /// What was served, up to a moment ago.
    fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        told_dict(py, &self.with(|serving| serving.told()))
    }

    /// The state at the end of the last second; `None` until a second later than `after` has ended.
    fn watched<'py>(&self, py: Python<'py>, after: u64) -> PyResult<Option<Bound<'py, PyDict>>> {
        let watched = py.detach(|| self.with(|serving| serving.watched()));
        let is_news = watched.number > after;
        is_news.then(|| watched_dict(py, &watched)).transpose()
    }

    /// Ends it. Returns what was served.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let served = py.detach(|| self.with(Serving::stop));
        told_dict(py, &served)
    }

    /// Whether it ended by itself, or its drive failed.
    fn is_over(&self) -> bool {
        self.with(|serving| serving.is_over())
    }
}

impl LiveServer {
    fn with<T>(&self, work: impl FnOnce(&mut Serving) -> T) -> T {
        work(&mut self.serving.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What was served.
pub fn told_dict<'py>(py: Python<'py>, served: &Told) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for kind in CommandKind::ALL {
        let of = &served.kinds[kind.index()];
        dict.set_item(kind.name(), operation_dict(py, of.bytes, &of.latency)?)?;
    }
    let lateness = (served.lateness.count() > 0).then(|| lateness_dict(py, &served.lateness));
    dict.set_item("lateness", lateness.transpose()?)?;
    dict.set_item("late_replies", served.late)?;
    dict.set_item("clients", served.clients)?;
    dict.set_item("connected", served.connected)?;
    dict.set_item("no_space", served.no_space)?;
    dict.set_item("power_cuts", served.power_cuts)?;
    dict.set_item("lost_bytes", served.lost_bytes)?;
    dict.set_item("failed", served.failed)?;
    let failure = served.failure.as_ref().map(ToString::to_string);
    dict.set_item("failure", failure)?;
    dict.set_item("wall_ns", served.wall_ns)?;
    Ok(dict)
}
