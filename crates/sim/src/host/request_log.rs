//! Individual requests of a run, up to a given number.

use drivelab_request::Command;

use super::split::PARTS;

/// One request that completed inside the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The command.
    pub command: Command,
    /// The index of its stream in the run.
    pub stream: u16,
    /// When the host submitted it, ns from the beginning of the run.
    pub submitted_ns: u64,
    /// The parts of its latency, by [`Part`](super::Part). They add up to the latency.
    pub parts: [u64; PARTS],
}

impl LoggedRequest {
    /// From submission to completion, ns.
    #[must_use]
    pub fn latency_ns(&self) -> u64 {
        self.parts.iter().sum()
    }
}

/// The first requests that completed inside the window, in that order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestLog {
    /// At most as many as the plan asked for.
    pub requests: Vec<LoggedRequest>,
    /// How many completed after them.
    pub dropped: u64,
    most: usize,
}

impl RequestLog {
    pub(crate) fn of(most: u64) -> Self {
        Self {
            most: usize::try_from(most).unwrap_or(usize::MAX),
            ..Self::default()
        }
    }

    pub(crate) fn record(&mut self, request: LoggedRequest) {
        if self.requests.len() < self.most {
            self.requests.push(request);
        } else {
            self.dropped += 1;
        }
    }
}
