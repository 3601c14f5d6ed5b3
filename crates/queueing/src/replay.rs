//! The loop itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::access::Accesses;
use crate::drive::{Drive, LINK_PAGE_BYTES};
use crate::moment::{Moment, checked_costs};
use crate::{COSTS, Layout, QueueingError};

/// Characteristics of a workload, in the order of equation 4 of Huang et al. 2011.
pub const CHARACTERISTICS: usize = 8;

/// The deepest simulated loop. Deeper ones wait at the same place.
const MOST_DEPTH: usize = 256;
/// Pages of a request for which this many requests are replayed. Larger requests need fewer.
const USUAL_PAGES: f64 = 10.0;

/// The time of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replayed {
    /// Mean time from one completion to the next.
    pub ns: f64,
    /// How often each cost is on the critical path of a request.
    pub counts: [f64; COSTS],
}

/// Replays each workload of a table.
///
/// # Arguments
///
/// `table` holds rows of [`CHARACTERISTICS`]: ratios from 0 to 1, sizes and strides in bytes; NaN
/// for values without effect. About `requests` requests are counted, after a third as many that are
/// not.
///
/// # Errors
///
/// An invalid layout, cost or table.
pub fn replay(
    table: &[f64],
    layout: &Layout,
    costs: &[f64],
    requests: usize,
) -> Result<Vec<Replayed>, QueueingError> {
    layout.validate()?;
    let costs = checked_costs(costs)?;
    if !table.len().is_multiple_of(CHARACTERISTICS) {
        return Err(QueueingError::Length {
            values: table.len(),
            expected: "eight for each workload",
        });
    }
    let mut drive = Drive::new(layout, &costs);
    let rows = table.chunks_exact(CHARACTERISTICS).enumerate();
    rows.map(|(row, values)| {
        let workload = Workload::read(values).ok_or(QueueingError::Workload { row })?;
        Ok(drive.replay(&workload, requests.max(1)))
    })
    .collect()
}

/// A row of the table.
struct Workload {
    write_ratio: f64,
    depth: usize,
    reads: Accesses,
    writes: Accesses,
}

impl Workload {
    fn read(values: &[f64]) -> Option<Self> {
        let &[
            write_ratio,
            depth,
            read_size,
            write_size,
            read_random,
            write_random,
            read_stride,
            write_stride,
        ] = values
        else {
            return None;
        };
        let of = |value: f64, without: f64| if value.is_nan() { without } else { value };
        let accesses = |key, size: f64, random: f64, stride: f64| {
            let (size, random, stride) = (of(size, 4096.0), of(random, 1.0), of(stride, 0.0));
            let is_sound = (512.0..=1e12).contains(&size)
                && (0.0..=1.0).contains(&random)
                && (0.0..=1e12).contains(&stride);
            is_sound.then(|| Accesses::new(key, size, random, stride))
        };
        let is_sound = (0.0..=1.0).contains(&write_ratio) && (1.0..=1e9).contains(&depth);
        is_sound.then_some(())?;
        Some(Self {
            write_ratio,
            depth: (depth.round() as usize).min(MOST_DEPTH),
            reads: accesses(1000, read_size, read_random, read_stride)?,
            writes: accesses(2000, write_size, write_random, write_stride)?,
        })
    }
}

/// The next step of a request in flight, and its time.
#[derive(Clone, Copy)]
struct InFlight {
    at: Moment,
    /// A read whose data has arrived but must still cross the link.
    arrived: Option<(u64, u64)>,
}

impl Drive {
    fn replay(&mut self, workload: &Workload, requests: usize) -> Replayed {
        let &Workload {
            write_ratio, depth, ..
        } = workload;
        let (mut reads, mut writes) = (workload.reads.clone(), workload.writes.clone());
        self.reset(write_ratio > 0.0);
        let pages =
            ((1.0 - write_ratio) * reads.size + write_ratio * writes.size) / LINK_PAGE_BYTES + 2.0;
        let counted = ((requests as f64 * USUAL_PAGES / pages) as usize)
            .clamp(requests / 2, requests * 4)
            .max(depth);
        let from = counted / 3 + depth;
        let mut in_flight = vec![
            InFlight {
                at: Moment::ZERO,
                arrived: None,
            };
            depth
        ];
        // The bits of times, which are never below zero, have the order of the times.
        let mut order: BinaryHeap<_> = (0..depth).map(|place| Reverse((0, place))).collect();
        let page = self.layout.page_bytes as f64;
        let mut begin = Moment::ZERO;
        let mut sent = 0;
        let mut share = 0.5;
        let end = loop {
            let Some(mut next_of_all) = order.peek_mut() else {
                break begin;
            };
            let Reverse((key, place)) = &mut *next_of_all;
            let next = in_flight[*place];
            if let Some((first, last)) = next.arrived {
                let at = self.read_data(next.at, first, last, reads.size);
                in_flight[*place] = InFlight { at, arrived: None };
                *key = at.ns.to_bits();
                continue;
            }
            if sent == from {
                begin = next.at;
            }
            if sent == from + counted {
                break next.at;
            }
            sent += 1;
            share += write_ratio;
            let went_on = if share >= 1.0 {
                share -= 1.0;
                let access = writes.next(page);
                InFlight {
                    at: self.write(next.at, &access, writes.size),
                    arrived: None,
                }
            } else {
                let access = reads.next(page);
                InFlight {
                    at: self.read(next.at, &access),
                    arrived: Some((access.first, access.last)),
                }
            };
            *key = went_on.at.ns.to_bits();
            in_flight[*place] = went_on;
        };
        let mut counts = [0.0; COSTS];
        let each = 1.0 / counted as f64;
        self.log.count(end, each, &mut counts);
        self.log.count(begin, -each, &mut counts);
        Replayed {
            ns: (end.ns - begin.ns) * each,
            counts,
        }
    }
}
