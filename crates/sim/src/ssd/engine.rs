//! The event loop of a simulated SSD, and what it counts.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_ftl::{Firmware, OperationBuffer};
use drivelab_request::{Direction, Nanos, Request};

use super::buffer::WriteBuffer;
use super::flash::Flash;
use super::host::Host;
use super::load::{Load, Source};
use super::outcome::{Outcome, RecordedOperation};
use super::timing::Timing;
use super::{Plan, SimError};
use crate::event::{END_OF_TIME, EventTree, MAX_LEAVES};
use crate::preset::{Dispatch, HostInterface, SsdConfig};

/// Later than this a run is refused: queues may reach as far again.
const LAST_NOW: u64 = END_OF_TIME / 2;

/// Events beside those of units and channels: dispatch, link, acknowledge, arrival.
const HOST_LEAVES: usize = 4;

/// What the measurement window counts beside requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub page_reads: u64,
    pub host_programs: u64,
    pub collection_programs: u64,
    pub erases: u64,
    pub buffer_hits: u64,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    plan: Plan,
    pub submitted: u64,
    completed: u64,
    opened_at: u64,
    /// The measurement window is closed: nothing new is submitted.
    pub closed: bool,
}

/// A drive with its firmware: everything but the preset and its preparation.
pub(super) struct Engine<F> {
    pub firmware: F,
    pub timing: Timing,
    pub events: EventTree,
    pub flash: Flash,
    pub host: Host,
    pub buffer: WriteBuffer,
    pub out: OperationBuffer,
    pub tally: Tally,
    pub progress: Progress,
    pub source: Source,
    pub is_closed: bool,
    pub failure: Option<SimError>,
    /// Set from outside when nobody wants the result any more.
    pub stop: Arc<AtomicBool>,
    outcome: Outcome,
    buffer_pages: u32,
    pub capacity_bytes: u64,
    pub page_shift: u32,
    pub units: u32,
    pub ways: u32,
    pub dies_per_way: u32,
    pub dispatch_leaf: usize,
    pub link_leaf: usize,
    pub acknowledge_leaf: usize,
    pub arrival_leaf: usize,
}

impl<F: Firmware> Engine<F> {
    /// Whether the event queue has a leaf for every resource.
    ///
    /// # Errors
    /// [`SimError::TooManyUnits`].
    pub fn check(config: &SsdConfig) -> Result<(), SimError> {
        let (units, channels) = (config.units(), config.geometry.channels);
        let most = MAX_LEAVES - HOST_LEAVES;
        if u64::from(units) + u64::from(channels) <= most as u64 {
            return Ok(());
        }
        Err(SimError::TooManyUnits {
            units,
            channels,
            most,
        })
    }

    /// An idle drive that passed [`Engine::check`].
    pub fn new(config: &SsdConfig, firmware: F, stop: Arc<AtomicBool>) -> Self {
        let geometry = &config.geometry;
        let (units, channels) = (config.units(), geometry.channels);
        let first = (units + channels) as usize;
        let page_bytes = geometry.page_size_bytes;
        let commands = match config.host.interface {
            HostInterface::Free => u32::MAX,
            HostInterface::Sata => config.host.commands,
        };
        let buffer_pages = (config.buffer.write_buffer_bytes / u64::from(page_bytes)) as u32;
        let in_order = config.scheduling.dispatch == Dispatch::InOrder;
        Self {
            capacity_bytes: u64::from(firmware.layout().logical_pages) * u64::from(page_bytes),
            firmware,
            timing: Timing::new(config, 1.0),
            events: EventTree::new(first + HOST_LEAVES),
            flash: Flash::new(units, channels, in_order),
            host: Host::new(commands),
            buffer: WriteBuffer::new(buffer_pages),
            out: OperationBuffer::with_capacity(1024),
            tally: Tally::default(),
            progress: Progress::default(),
            source: Source::Open {
                requests: Vec::new().into_iter(),
            },
            is_closed: false,
            failure: None,
            stop,
            outcome: Outcome::default(),
            buffer_pages,
            page_shift: page_bytes.trailing_zeros(),
            units,
            ways: geometry.ways_per_channel,
            dies_per_way: geometry.dies_per_way,
            dispatch_leaf: first,
            link_leaf: first + 1,
            acknowledge_leaf: first + 2,
            arrival_leaf: first + 3,
        }
    }

    /// Runs a load on the idle drive until every request is complete and the
    /// write buffer is empty.
    ///
    /// # Errors
    /// [`SimError`] when a request cannot be served or simulated time ends; the
    /// drive's state is then unspecified until the firmware is rolled back.
    pub fn run(&mut self, load: Load, plan: Plan, timing: Timing) -> Result<Outcome, SimError> {
        self.reset(plan, timing);
        match load {
            Load::Closed {
                generator,
                queue_depth,
            } => {
                self.source = Source::closed(generator);
                self.is_closed = true;
                for _ in 0..queue_depth {
                    self.submit_next(0);
                    if self.failure.is_some() {
                        break;
                    }
                }
            }
            Load::Open { requests } => {
                self.source = Source::Open {
                    requests: requests.into_iter(),
                };
                self.is_closed = false;
                self.schedule_arrival();
            }
        }
        self.advance()?;
        if self.host.outstanding() > 0 || !self.progress.closed || !self.buffer.is_empty() {
            return Err(SimError::Stalled {
                submitted: self.progress.submitted,
                completed: self.progress.completed,
            });
        }
        self.outcome.drained_requests =
            self.progress.completed - plan.warmup_requests - plan.requests;
        Ok(std::mem::take(&mut self.outcome))
    }

    fn reset(&mut self, plan: Plan, timing: Timing) {
        self.timing = timing;
        self.events.clear();
        let (units, channels) = (self.units, self.flash.channels.len() as u32);
        let recording = self.flash.recording.take();
        self.flash = Flash::new(units, channels, self.flash.dispatch.in_order);
        self.flash.recording = recording;
        self.host.reset();
        self.buffer = WriteBuffer::new(self.buffer_pages);
        self.out = OperationBuffer::with_capacity(1024);
        self.tally = Tally::default();
        self.progress = Progress {
            plan,
            ..Progress::default()
        };
        self.outcome = Outcome {
            variability_factor: 1.0,
            ..Outcome::default()
        };
        self.failure = None;
        if plan.warmup_requests == 0 {
            self.open_window(0);
        }
    }

    fn advance(&mut self) -> Result<(), SimError> {
        let channels_end = self.dispatch_leaf;
        while let Some((now, leaf)) = self.events.first() {
            if now > LAST_NOW {
                return Err(SimError::EndOfTime { nanos: now });
            }
            if leaf < self.units as usize {
                self.unit_event(leaf as u32, now);
            } else if leaf < channels_end {
                self.channel_event(leaf as u32 - self.units, now);
            } else {
                self.host_event(leaf, now);
            }
            if self.failure.is_some() {
                break;
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    #[inline(never)]
    fn host_event(&mut self, leaf: usize, now: u64) {
        if leaf == self.link_leaf {
            self.link_event(now);
        } else if leaf == self.acknowledge_leaf {
            self.acknowledge_event(now);
        } else if leaf == self.dispatch_leaf {
            self.dispatch_in_order(now);
        } else {
            self.arrival_event(now);
        }
    }

    /// A request of the host is complete.
    #[inline]
    pub fn count_completion(&mut self, request: &Request, latency: u64, now: u64) {
        let progress = &mut self.progress;
        let before = progress.completed;
        progress.completed += 1;
        if before >= progress.plan.warmup_requests && !progress.closed {
            let outcome = match request.direction {
                Direction::Read => &mut self.outcome.read,
                Direction::Write => &mut self.outcome.write,
            };
            outcome.latency.record(latency);
            outcome.bytes += u64::from(request.size_bytes);
            if progress.completed == progress.plan.warmup_requests + progress.plan.requests {
                self.close_window(now);
            }
        } else if progress.completed == progress.plan.warmup_requests {
            self.open_window(now);
        }
    }

    #[cold]
    fn open_window(&mut self, now: u64) {
        self.progress.opened_at = now;
        self.tally = Tally::default();
        self.flash.open_window(now);
    }

    #[cold]
    fn close_window(&mut self, now: u64) {
        self.progress.closed = true;
        let window = now - self.progress.opened_at;
        let (units, channels) = self.flash.close_window(now);
        let share = |busy: u64| {
            if window == 0 {
                0.0
            } else {
                busy as f64 / window as f64
            }
        };
        let outcome = &mut self.outcome;
        outcome.window = Nanos(window);
        outcome.warmup_requests = self.progress.plan.warmup_requests;
        outcome.measured_requests = self.progress.plan.requests;
        outcome.page_reads = self.tally.page_reads;
        outcome.host_programs = self.tally.host_programs;
        outcome.collection_programs = self.tally.collection_programs;
        outcome.erases = self.tally.erases;
        outcome.buffer_hits = self.tally.buffer_hits;
        outcome.unit_utilisation = units.into_iter().map(share).collect();
        outcome.channel_utilisation = channels.into_iter().map(share).collect();
    }

    /// Records every operation of the next run.
    pub fn record(&mut self) {
        self.flash.recording = Some(Vec::new());
    }

    /// The operations recorded since [`Engine::record`], in order of emission.
    pub fn recorded(&mut self) -> Vec<RecordedOperation> {
        self.flash.recording.take().unwrap_or_default()
    }
}
