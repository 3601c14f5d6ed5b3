//! Forecasts a trace, window by window, on a drive known only as a queueing model.
//!
//! ```text
//!   PacedSource ─> commands ─> OpenLoop (costs of the window) ─> answered ─> rows
//! ```
//!
//! Windows count what completes in them, like the intervals of a simulation, and how late requests
//! due in them are sent. Trims and flushes are left out, because the model does not know them.

use std::collections::BTreeMap;

use drivelab_queueing::{Answered, COSTS, Layout, OpenLoop, QueueingError, Request};
use drivelab_request::CommandKind;
use drivelab_workload::{Paced, PacedSource};
use thiserror::Error;

/// The most windows in which requests may complete.
pub const MOST_FORECASTS: usize = 1 << 20;
/// A request counts as late if it is sent more than this after its time.
pub const LATE_NS: f64 = 1e6;

/// The reason why there is no forecast.
#[derive(Debug, Error)]
pub enum ForecastError {
    /// An invalid model.
    #[error(transparent)]
    Model(#[from] QueueingError),
    /// Invalid windows, or costs for none.
    #[error("{0}")]
    Windows(&'static str),
    /// More windows than are kept.
    #[error(
        "requests are outstanding in more than {MOST_FORECASTS} windows of {} s; use a longer \
         --window",
        window_ns / 1e9
    )]
    TooManyWindows {
        /// Their length.
        window_ns: f64,
    },
    /// The trace cannot be read or does not fit.
    #[error("{0}")]
    Trace(String),
}

/// The results of a window. Arrays of two entries are for reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// Its number, from 0.
    pub window: u64,
    /// Requests that completed in it.
    pub requests: [u64; 2],
    /// Their bytes.
    pub bytes: [u64; 2],
    /// The sum of the times from sending to completion.
    pub latency_ns: [f64; 2],
    /// The longest such time.
    pub latency_ns_max: [f64; 2],
    /// Requests that were due in it.
    pub due: u64,
    /// Those of them sent more than [`LATE_NS`] after their times.
    pub late: u64,
    /// The total lateness of the requests due in it.
    pub late_ns: f64,
    /// The sum, over all requests, of the time each was outstanding in it.
    pub outstanding_ns: f64,
}

/// Serves a whole trace.
///
/// # Arguments
///
/// `range_bytes` is the size of the drive. Windows are `window_ns` of the replay long. From each of
/// the ascending windows in `begin` on, the drive has the next [`COSTS`] of `costs`.
///
/// # Returns
///
/// Windows in which a request was due, outstanding or completed, in order.
///
/// # Errors
///
/// An invalid model, window or trace.
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
                CommandKind::Trim | CommandKind::Flush | CommandKind::WriteZeroes => continue,
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
