//! What becomes of a trace on a drive that is known only as a queueing model, window by window.
//!
//! ```text
//!   PacedSource ─> commands ─> OpenLoop (costs of the window) ─> answered ─> rows
//! ```
//!
//! Windows count what completes in them, as the intervals of a simulation do, and how late what is due
//! in them is sent. Trims and flushes, which the model does not know, are left out.

use std::collections::BTreeMap;

use drivelab_queueing::{Answered, COSTS, Layout, OpenLoop, QueueingError, Request};
use drivelab_request::CommandKind;
use drivelab_workload::{Paced, PacedSource};
use thiserror::Error;

/// More windows in which requests complete are refused.
pub const MOST_FORECASTS: usize = 1 << 20;
/// A request sent later than this after its time was late.
pub const LATE_NS: f64 = 1e6;

/// Why there is no forecast.
#[derive(Debug, Error)]
pub enum ForecastError {
    /// The model is none.
    #[error(transparent)]
    Model(#[from] QueueingError),
    /// Windows that are none, or costs of none.
    #[error("{0}")]
    Windows(&'static str),
    /// More of them than are kept.
    #[error(
        "requests are outstanding in more than {MOST_FORECASTS} windows of {} s; use a longer \
         --window",
        window_ns / 1e9
    )]
    TooManyWindows {
        /// How long each is.
        window_ns: f64,
    },
    /// The trace cannot be read or does not fit.
    #[error("{0}")]
    Trace(String),
}

/// What became of a window. Arrays of two are of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// Which: the first one is 0.
    pub window: u64,
    /// Requests that completed in it.
    pub requests: [u64; 2],
    /// Their bytes.
    pub bytes: [u64; 2],
    /// The sum of the times from being sent to completion.
    pub latency_ns: [f64; 2],
    /// The longest.
    pub latency_ns_max: [f64; 2],
    /// Requests that were due in it.
    pub due: u64,
    /// Those of them that were sent more than [`LATE_NS`] after their times.
    pub late: u64,
    /// The sum of how late those that were due were sent.
    pub late_ns: f64,
    /// Over the requests, how long each was outstanding in it, summed.
    pub outstanding_ns: f64,
}

/// Serves a whole trace.
///
/// # Arguments
///
/// `range_bytes` is the drive's size. Windows are `window_ns` of the replay long. From each of the
/// windows `begin` on, which ascend, the drive has the next [`COSTS`] of `costs`.
///
/// # Returns
///
/// Windows in which a request was due, outstanding or completed, in their order.
///
/// # Errors
///
/// What is wrong about the model, the windows or the trace.
pub fn forecast(
    source: &dyn PacedSource,
    range_bytes: u64,
    layout: &Layout,
    begin: &[u64],
    costs: &[f64],
    window_ns: f64,
) -> Result<Vec<Forecast>, ForecastError> {
    if !(1.0..1e18).contains(&window_ns) {
        return Err(ForecastError::Windows(
            "a window lasts 1 ns to 30 years of the replay",
        ));
    }
    if !begin.is_sorted_by(|before, after| before < after) {
        return Err(ForecastError::Windows("windows are not in their order"));
    }
    if begin.is_empty() || costs.len() != begin.len() * COSTS {
        return Err(ForecastError::Windows("there are costs for each window"));
    }
    let mut next = begin[1..]
        .iter()
        .zip(costs[COSTS..].chunks_exact(COSTS))
        .peekable();
    let mut drive = OpenLoop::new(layout, &costs[..COSTS])?;
    let mut rows = Rows {
        window_ns,
        all: BTreeMap::new(),
        are_too_many: false,
    };
    let open = source.open((0, range_bytes));
    let mut reader = open.map_err(ForecastError::Trace)?;
    let mut batch = Vec::new();
    loop {
        let read = reader.next_batch(&mut batch);
        read.map_err(ForecastError::Trace)?;
        if batch.is_empty() {
            break;
        }
        for Paced { command, depth } in &batch {
            let is_write = match command.kind {
                CommandKind::Read => false,
                CommandKind::Write => true,
                CommandKind::Trim | CommandKind::Flush => continue,
            };
            let window = rows.window_of(command.arrival.0 as f64);
            while let Some((_, costs)) = next.next_if(|(begin, _)| **begin <= window) {
                drive.set_costs(costs)?;
            }
            let request = Request {
                due_ns: command.arrival.0,
                depth: *depth,
                is_write,
                offset_bytes: command.offset_bytes,
                size_bytes: command.size_bytes.into(),
            };
            drive.send(&request, &mut |answered| rows.count(&answered));
        }
        rows.refuse_too_many()?;
    }
    drive.finish(&mut |answered| rows.count(&answered));
    rows.refuse_too_many()?;
    Ok(rows.all.into_values().collect())
}

struct Rows {
    window_ns: f64,
    all: BTreeMap<u64, Forecast>,
    are_too_many: bool,
}

impl Rows {
    fn window_of(&self, at_ns: f64) -> u64 {
        (at_ns / self.window_ns) as u64
    }

    fn row(&mut self, window: u64) -> &mut Forecast {
        self.all.entry(window).or_insert_with(|| Forecast {
            window,
            ..Forecast::default()
        })
    }

    fn count(&mut self, answered: &Answered) {
        let &Answered {
            request,
            sent_ns,
            completed_ns,
        } = answered;
        let due_ns = request.due_ns as f64;
        let late_ns = sent_ns - due_ns;
        let row = self.row(self.window_of(due_ns));
        row.due += 1;
        row.late += u64::from(late_ns > LATE_NS);
        row.late_ns += late_ns;
        let (first, last) = (self.window_of(sent_ns), self.window_of(completed_ns));
        if last - first > MOST_FORECASTS as u64 || self.all.len() > MOST_FORECASTS {
            self.are_too_many = true;
            return;
        }
        let latency_ns = completed_ns - sent_ns;
        if first == last {
            self.row(last).outstanding_ns += latency_ns;
        } else {
            for window in first..=last {
                let begin_ns = (window as f64 * self.window_ns).max(sent_ns);
                let end_ns = ((window + 1) as f64 * self.window_ns).min(completed_ns);
                self.row(window).outstanding_ns += end_ns - begin_ns;
            }
        }
        let direction = usize::from(request.is_write);
        let row = self.row(last);
        row.requests[direction] += 1;
        row.bytes[direction] += request.size_bytes;
        row.latency_ns[direction] += latency_ns;
        row.latency_ns_max[direction] = row.latency_ns_max[direction].max(latency_ns);
    }

    const fn refuse_too_many(&self) -> Result<(), ForecastError> {
        if self.are_too_many {
            return Err(ForecastError::TooManyWindows {
                window_ns: self.window_ns,
            });
        }
        Ok(())
    }
}
