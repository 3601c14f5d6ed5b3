//! What the measurement window counts of requests, for any kind of drive.

use drivelab_request::{CommandKind, CompletionWindow};

use super::load::Running;
use super::outcome::{CommandOutcome, Outcome, StreamOutcome};
use super::plan::Plan;
use super::request_log::{LoggedRequest, RequestLog};
use super::series::Series;
use super::split::PARTS;

/// The kinds of commands.
const KINDS: usize = CommandKind::ALL.len();

/// Records individual requests.
struct Observer {
    series: Option<Series>,
    log: Option<RequestLog>,
}

/// What is counted of a completed request.
#[derive(Clone, Copy)]
pub(crate) struct Completed {
    /// The index of its loop.
    pub stream: u16,
    pub kind: CommandKind,
    pub bytes: u32,
    pub latency: u64,
    pub parts: [u64; PARTS],
}

/// Counts while the window is open. Its owner asks the window.
#[derive(Default)]
pub(crate) struct Counting {
    /// For each loop, one entry for each kind of command.
    counted: Vec<CommandOutcome>,
    /// What is recorded of requests in addition to sums, if anything.
    observer: Option<Box<Observer>>,
}

impl Counting {
    pub fn new(loops: &[Running], plan: Plan) -> Self {
        let streams = loops.last().map_or(0, |last| usize::from(last.owner) + 1);
        let series = |interval| Series::new(interval, streams);
        let observer = Observer {
            series: plan.series_interval.map(series),
            log: plan.log_requests.map(RequestLog::of),
        };
        let is_asked_for = observer.series.is_some() || observer.log.is_some();
        Self {
            counted: vec![CommandOutcome::default(); loops.len() * KINDS],
            observer: is_asked_for.then(|| Box::new(observer)),
        }
    }

    /// Counts a completed request of the window.
    #[inline(always)]
    pub fn record(&mut self, request: &Completed) {
        let place = request.stream as usize * KINDS + request.kind.index();
        let counted = &mut self.counted[place];
        counted.split.record(&request.parts);
        counted.counted.record(request.latency, request.bytes);
    }

    /// Whether individual requests are recorded.
    #[inline(always)]
    pub const fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Records a request of the window, complete at `now`, in the time series and the log.
    #[inline(never)]
    pub fn observe(&mut self, request: LoggedRequest, now: u64) {
        let Some(observer) = &mut self.observer else {
            return;
        };
        if let Some(series) = &mut observer.series {
            let column = usize::from(request.stream) * KINDS + request.command.kind.index();
            let latency = now - request.submitted_ns;
            series.record(column, now, latency, request.command.size_bytes);
        }
        if let Some(log) = &mut observer.log {
            log.record(request);
        }
    }

    /// The window opens.
    pub fn open(&mut self, at: u64) {
        if let Some(series) = self.observer.as_mut().and_then(|o| o.series.as_mut()) {
            series.open(at);
        }
    }

    /// The window has closed: writes what it counted into `outcome`, adding up the loops of each
    /// stream.
    pub fn close(&mut self, window: &CompletionWindow, loops: &[Running], outcome: &mut Outcome) {
        let mut counted = std::mem::take(&mut self.counted).into_iter();
        let mut streams: Vec<StreamOutcome> = Vec::new();
        for running in loops {
            let commands = std::array::from_fn(|_| counted.next().unwrap_or_default());
            match streams.get_mut(usize::from(running.owner)) {
                Some(stream) => stream.add(&commands),
                None => streams.push(StreamOutcome {
                    name: running.stream.clone(),
                    commands,
                    submitted: 0,
                    lateness: None,
                }),
            }
        }
        outcome.set_streams(streams);
        let observer = self.observer.take();
        (outcome.series, outcome.log) = observer.map_or((None, None), |o| (o.series, o.log));
        outcome.batches = window.batches().clone();
        outcome.closed_by = window.closed_by();
        outcome.window = window.duration();
        outcome.warmup_requests = window.warmup_requests();
        outcome.measured_requests = window.requests();
    }
}
