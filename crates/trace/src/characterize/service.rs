//! How long requests took, if the trace says: in all, in the queue, in the device.

use drivelab_request::Histogram;

use crate::record::{Record, UNKNOWN};

/// Times of reads or writes, in the layout used for all latencies.
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// From arrival to completion.
    pub response: Histogram,
    /// From arrival to dispatch (Q2D).
    pub queue: Histogram,
    /// From dispatch to completion (D2C).
    pub device: Histogram,
}

impl Service {
    #[inline]
    pub(crate) fn count(&mut self, record: &Record) {
        let parts = [
            (&mut self.response, record.response_ns),
            (&mut self.queue, record.queue_ns),
            (&mut self.device, record.device_ns),
        ];
        for (histogram, ns) in parts {
            if ns != UNKNOWN {
                histogram.record(ns);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        for histogram in [&mut self.response, &mut self.queue, &mut self.device] {
            if histogram.count() > 0 {
                histogram.clear();
            }
        }
    }
}
