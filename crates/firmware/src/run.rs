//! A run: the workers' turns, the records, and the final state.
//!
//! Logical workers take turns in one thread, in rounds; a seed gives the order in each round. The
//! same seed and requests give the same counts and the same marks. With threads, each worker has
//! its own thread, and the result depends on how they are scheduled.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use crate::controller::{Controller, MOST_WORKERS};
use crate::crash::HandlerStack;
use crate::error::RunError;
use crate::flash::Die;
use crate::front_end::FrontEnd;
use crate::geometry::Geometry;
use crate::host::{Host, QUEUE_ENTRIES};
use crate::mapping::{Mapping, Paged};
use crate::marks;
use crate::progress::{Progress, Watch};
use crate::random::Random;
use crate::records::{Counters, RECORD_REQUESTS, Record, Totals};
use crate::requests::Requests;
use crate::server::{Server, Turn};
use crate::state::State;

/// Rounds without progress after which the firmware counts as stuck; with threads, turns of each
/// worker.
const PATIENCE: u32 = 1_000_000;

/// The settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Workers, from 1 to [`MOST_WORKERS`].
    pub workers: usize,
    /// Outstanding host commands, from 1 to [`Settings::MOST_DEPTH`].
    pub depth: u16,
    /// Seed of the order of turns.
    pub seed: u64,
    /// Whether each worker has a thread.
    pub has_threads: bool,
    /// Requests in a record, at least 1.
    pub record_requests: u64,
}

impl Settings {
    /// The most outstanding host commands.
    pub const MOST_DEPTH: u16 = QUEUE_ENTRIES - 1;
    /// The most workers.
    pub const MOST_WORKERS: usize = MOST_WORKERS;
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workers: 4,
            depth: 64,
            seed: 1,
            has_threads: false,
            record_requests: RECORD_REQUESTS,
        }
    }
}

/// The result of a run.
pub struct Outcome {
    /// Complete records.
    pub records: Vec<Record>,
    /// All counts, including those of the last requests.
    pub counts: Totals,
    /// Its duration on this machine.
    pub wall_ns: u64,
    /// The final drive, with an empty write buffer.
    pub state: State,
}

/// Receives each record when it ends, with its number from 0.
pub type Tell<'a> = dyn FnMut(usize, &Record) -> Result<(), RunError> + 'a;

/// Worker 0: the front end, and also the host.
struct Front<'a> {
    front: FrontEnd<'a>,
    host: Host,
    shared: &'a Controller,
    records: Vec<Record>,
    tell: &'a mut Tell<'a>,
    before: Totals,
    begun: Instant,
    /// Requests in a record.
    whole: u64,
    /// Requests that the record still needs.
    missing: u64,
}

impl<'a> Front<'a> {
    fn new(
        shared: &'a Controller,
        requests: Requests,
        settings: &Settings,
        tell: &'a mut Tell<'a>,
    ) -> Self {
        Self {
            front: FrontEnd::new(shared),
            host: Host::new(requests, settings.depth),
            shared,
            records: Vec::new(),
            tell,
            before: Totals::default(),
            begun: Instant::now(),
            whole: settings.record_requests,
            missing: settings.record_requests,
        }
    }

    fn turn(&mut self) -> Result<bool, RunError> {
        let did = self.front.turn(self.host.doorbell());
        marks::worker(marks::HOST);
        let counters: &Counters = &self.shared.counters[0];
        let complete = self
            .host
            .step(&self.shared.memory, counters, self.missing)?;
        self.missing -= complete;
        if self.missing == 0 {
            self.end_record()?;
        }
        Ok(did || complete > 0)
    }

    fn end_record(&mut self) -> Result<(), RunError> {
        marks::drivelab_mark(marks::RECORD);
        let counts = Totals::of(&self.shared.counters);
        let record = Record {
            counts: counts.since(&self.before),
            wall_ns: self.begun.elapsed().as_nanos() as u64,
        };
        (self.tell)(self.records.len(), &record)?;
        self.records.push(record);
        self.before = counts;
        // The time for reporting belongs to no record.
        self.begun = Instant::now();
        self.missing = self.whole;
        Ok(())
    }
}

/// Serves `requests` on the drive `state`.
///
/// # Errors
/// [`RunError`] if the list is invalid or the firmware fails.
pub fn run(state: State, requests: Requests, settings: &Settings) -> Result<Outcome, RunError> {
    run_and_tell(state, requests, settings, |_, _| Ok(()))
}

/// The same. `tell` receives each record when it ends, with its number from 0.
///
/// Requests before an invalid one in the list are served to the end.
///
/// # Errors
/// As [`run`], and errors of `tell`.
pub fn run_and_tell(
    state: State,
    requests: Requests,
    settings: &Settings,
    mut tell: impl FnMut(usize, &Record) -> Result<(), RunError>,
) -> Result<Outcome, RunError> {
    let map = state.map.clone();
    let served = serve(
        state.geometry,
        state.dies(),
        |planes| Paged::new(map.clone(), planes.iter().copied()),
        requests,
        settings,
        &mut tell,
    )?;
    let mut programmed = state.programmed;
    for (plane, die) in served.dies {
        programmed[plane as usize] = die.programmed().to_vec();
    }
    Ok(Outcome {
        records: served.records,
        counts: served.counts,
        wall_ns: served.wall_ns,
        state: State {
            geometry: state.geometry,
            map: state.map,
            programmed,
        },
    })
}

/// The result of serving, with any mapping.
pub struct Served {
    /// Complete records.
    pub records: Vec<Record>,
    /// All counts, including those of the last requests.
    pub counts: Totals,
    /// Its duration on this machine.
    pub wall_ns: u64,
    /// The final dies, with the numbers of their planes.
    pub dies: Vec<(u32, Die)>,
}

/// Serves `requests` with a mapping. `mapping` gives each server its handle, for the planes whose
/// dies the server owns.
///
/// # Errors
/// As [`run`], and errors of `tell`.
pub fn serve<M: Mapping>(
    geometry: Geometry,
    dies: Vec<(u32, Die)>,
    mut mapping: impl FnMut(&[u32]) -> M,
    requests: Requests,
    settings: &Settings,
    tell: &mut Tell<'_>,
) -> Result<Served, RunError> {
    let shared = Controller::new(geometry, settings.workers, settings.depth);
    let mut owned: Vec<Vec<_>> = (0..shared.servers).map(|_| Vec::new()).collect();
    for (plane, die) in dies {
        owned[shared.owner_of(plane)].push((plane, die));
    }
    let mut servers: Vec<Server<'_, M>> = owned
        .into_iter()
        .enumerate()
        .map(|(index, dies)| {
            let planes: Vec<u32> = dies.iter().map(|(plane, _)| *plane).collect();
            Server::new(index, &shared, mapping(&planes), dies)
        })
        .collect();
    let mut front = Front::new(&shared, requests, settings, tell);
    let begun = Instant::now();
    crate::events::begin();
    marks::worker(marks::HOST);
    marks::drivelab_mark(marks::BEGIN);
    if settings.has_threads && shared.workers() > 1 {
        in_threads(&mut front, &mut servers)?;
    } else {
        in_turns(&mut front, &mut servers, settings.seed)?;
    }
    if let Some(refusal) = front.host.take_refusal() {
        return Err(refusal);
    }
    marks::worker(marks::HOST);
    marks::drivelab_mark(marks::END);
    let wall_ns = begun.elapsed().as_nanos() as u64;
    let counts = Totals::of(&shared.counters);
    drain(&mut servers)?;
    Ok(Served {
        records: front.records,
        counts,
        wall_ns,
        dies: servers.into_iter().flat_map(Server::into_dies).collect(),
    })
}

fn in_turns<M: Mapping>(
    front: &mut Front<'_>,
    servers: &mut [Server<'_, M>],
    seed: u64,
) -> Result<(), RunError> {
    let workers = front.shared.workers();
    let mut order: Vec<usize> = (0..workers).collect();
    let mut random = Random::new(seed);
    let mut idle = 0;
    while !front.host.is_done() {
        let mut did = false;
        random.shuffle(&mut order);
        for &worker in &order {
            marks::worker(worker);
            // A single worker is front end and server.
            if let Some(server) = worker.checked_sub(1).or((workers == 1).then_some(0)) {
                did |= servers[server].turn()? != Turn::Idle;
            }
            if worker == 0 {
                did |= front.turn()?;
            }
            marks::worker(marks::HOST);
        }
        idle = if did { 0 } else { idle + 1 };
        if idle > PATIENCE {
            return Err(RunError::Stuck {
                outstanding: front.host.outstanding(),
            });
        }
    }
    Ok(())
}

/// Stops all workers when it is dropped, for any reason.
struct StopAll<'a>(&'a Controller);

impl Drop for StopAll<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Relaxed);
    }
}

fn in_threads<M: Mapping>(
    front: &mut Front<'_>,
    servers: &mut [Server<'_, M>],
) -> Result<(), RunError> {
    let shared = front.shared;
    let progress: Vec<Progress> = servers.iter().map(|_| Progress::default()).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = servers
            .iter_mut()
            .zip(&progress)
            .map(|(server, progress)| {
                scope.spawn(move || {
                    let stop = StopAll(shared);
                    let _stack = HandlerStack::new();
                    while !shared.stop.load(Relaxed) {
                        let turn = server.turn()?;
                        progress.count(turn != Turn::Idle);
                        // A worker that only collects lets others run, in case cores are few.
                        if turn != Turn::Served {
                            std::thread::yield_now();
                        }
                    }
                    drop(stop);
                    Ok::<(), RunError>(())
                })
            })
            .collect();
        let served = serve_front(front, &progress);
        shared.stop.store(true, Relaxed);
        for thread in threads {
            match thread.join() {
                Ok(ended) => ended?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        served
    })
}

fn serve_front(front: &mut Front<'_>, servers: &[Progress]) -> Result<(), RunError> {
    let _stop = StopAll(front.shared);
    let mut watch = Watch::new(servers, PATIENCE.into());
    while !front.host.is_done() && !front.shared.stop.load(Relaxed) {
        marks::worker(0);
        let did = front.turn()?;
        if !did {
            std::thread::yield_now();
        }
        if watch.is_stuck(did) {
            return Err(RunError::Stuck {
                outstanding: front.host.outstanding(),
            });
        }
    }
    Ok(())
}

/// Writes the content of the write buffers to the flash.
fn drain<M: Mapping>(servers: &mut [Server<'_, M>]) -> Result<(), RunError> {
    for _ in 0..PATIENCE {
        let mut are_empty = true;
        for server in &mut *servers {
            are_empty &= server.drain()?;
        }
        if are_empty {
            return Ok(());
        }
    }
    Err(RunError::Stuck { outstanding: 0 })
}
