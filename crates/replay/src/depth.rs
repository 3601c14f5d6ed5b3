//! How many requests were outstanding in the recording when each arrived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use drivelab_trace::{Record, UNKNOWN};

/// The most that are tracked. No host has more.
pub const MOST_DEPTH: usize = drivelab_workload::MAX_QUEUE_DEPTH as usize;

/// Completion times of the requests that have arrived but not completed.
#[derive(Clone, Debug, Default)]
pub struct RecordedDepth {
    outstanding: BinaryHeap<Reverse<u64>>,
}

impl RecordedDepth {
    /// A request arrives. Returns how many are outstanding, including it. A request without a
    /// response time completes at once. `None` if there are too many.
    #[inline]
    pub fn arrives(&mut self, record: &Record) -> Option<u32> {
        while let Some(&Reverse(at)) = self.outstanding.peek()
            && at <= record.arrival_ns
        {
            self.outstanding.pop();
        }
        let depth = self.outstanding.len() + 1;
        if depth > MOST_DEPTH {
            return None;
        }
        if record.response_ns != UNKNOWN {
            let completes = record.arrival_ns.saturating_add(record.response_ns);
            self.outstanding.push(Reverse(completes));
        }
        Some(depth as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_trace::Operation;

    fn record(arrival_ns: u64, response_ns: u64) -> Record {
        Record {
            response_ns,
            ..Record::new(arrival_ns, 0, Operation::Read, 0, 512)
        }
    }

    #[test]
    fn a_request_counts_itself_and_those_that_complete_later() {
        let mut depth = RecordedDepth::default();
        let arrivals = [
            (0, 100),
            (10, 10),
            (19, 5),
            (20, 1),
            (100, 1),
            (100, UNKNOWN),
        ];
        let depths: Vec<_> = arrivals
            .iter()
            .map(|&(at, response)| depth.arrives(&record(at, response)))
            .collect();
        assert_eq!(depths, [1, 2, 3, 3, 1, 2].map(Some));
    }

    #[test]
    fn more_than_any_host_has_is_no_depth() {
        let mut depth = RecordedDepth::default();
        for place in 0..MOST_DEPTH {
            assert_eq!(depth.arrives(&record(0, 9)), Some(place as u32 + 1));
        }
        assert_eq!(depth.arrives(&record(0, 9)), None);
        assert_eq!(depth.arrives(&record(9, 9)), Some(1));
    }
}
