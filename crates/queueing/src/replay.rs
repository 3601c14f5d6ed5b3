//! The loop itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZero;
use std::thread;

use crate::access::Accesses;
use crate::drive::{Drive, LINK_PAGE_BYTES};
use crate::moment::{Moment, checked_costs};
use crate::{COSTS, Layout, QueueingError};

/// Characteristics of a workload, in the order of equation 4 of Huang et al. 2011.
pub const CHARACTERISTICS: usize = 8;

/// More would not fit into memory.
const MOST_DOUBLINGS: u32 = 6;
/// The deepest simulated loop. Deeper ones wait at the same place.
const MOST_DEPTH: usize = 256;
/// Pages of a request for which this many requests are replayed. Larger requests need fewer.
const USUAL_PAGES: f64 = 10.0;
/// The parts of a replay whose times show how sure its mean is.
const BATCHES: usize = 8;
/// A mean is sure enough when its standard error is this share of it, as in a measurement of 1 %
/// half-width.
const SURE: f64 = 0.005;
/// Workloads for which another thread is worth its start.
const ROWS_PER_THREAD: usize = 32;

/// How many requests of a workload are replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// About how many are counted, after a third as many that are not.
    pub requests: usize,
    /// How often that number is doubled at most, as long as the mean is not sure.
    pub doublings: u32,
}

impl Length {
    /// The same number for every workload.
    pub const fn fixed(requests: usize) -> Self {
        Self {
            requests,
            doublings: 0,
        }
    }
}

/// The time of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replayed {
    /// Mean time from one completion to the next.
    pub ns: f64,
    /// How often each cost is on the critical path of a request.
    pub counts: [f64; COSTS],
}

impl Replayed {
    const NOTHING: Self = Self {
        ns: 0.0,
        counts: [0.0; COSTS],
    };
}

/// Replays each workload of a table, on all cores; the answers do not depend on their number.
///
/// # Arguments
///
/// `table` holds rows of [`CHARACTERISTICS`]: ratios from 0 to 1, sizes and strides in bytes; NaN
/// for values without effect.
///
/// # Errors
///
/// An invalid layout, cost or table.
pub fn replay(
    table: &[f64],
    layout: &Layout,
    costs: &[f64],
    length: Length,
) -> Result<Vec<Replayed>, QueueingError> {
    layout.validate()?;
    let costs = checked_costs(costs)?;
    if !table.len().is_multiple_of(CHARACTERISTICS) {
        return Err(QueueingError::Length {
            values: table.len(),
            expected: "eight for each workload",
        });
    }
    let rows = table.chunks_exact(CHARACTERISTICS).enumerate();
    let workloads = rows
        .map(|(row, values)| Workload::read(values).ok_or(QueueingError::Workload { row }))
        .collect::<Result<Vec<_>, _>>()?;
    let mut found = vec![Replayed::NOTHING; workloads.len()];
    let worth = workloads.len() / ROWS_PER_THREAD;
    // Asking for the number of cores takes as long as a workload.
    let threads = if worth < 2 {
        1
    } else {
        worth.min(thread::available_parallelism().map_or(1, NonZero::get))
    };
    let each = workloads.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        for (workloads, found) in workloads.chunks(each).zip(found.chunks_mut(each)) {
            let some = move || {
                let mut drive = Drive::new(layout, &costs);
                for (workload, found) in workloads.iter().zip(found) {
                    *found = drive.replay(workload, length);
                }
            };
            if threads == 1 {
                some();
            } else {
                scope.spawn(some);
            }
        }
    });
    Ok(found)
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

/// When each of a few equal parts of a replay ended.
struct Batches {
    size: usize,
    ends_ns: Vec<f64>,
}

impl Batches {
    fn new(size: usize) -> Self {
        Self {
            size,
            ends_ns: Vec::with_capacity(2 * BATCHES + 1),
        }
    }

    /// Tells whether a part ends before the request with this number, counted from 0, and when.
    #[inline(always)]
    fn end(&mut self, request: usize, ns: f64) -> bool {
        let ends = request.is_multiple_of(self.size);
        if ends {
            self.ends_ns.push(ns);
        }
        ends
    }

    /// Tells whether the mean of all parts is sure. Joins them in pairs where it is not, once there
    /// are twice as many: parts must be so long that they know nothing of each other.
    fn are_sure(&mut self) -> bool {
        if self.ends_ns.len() == 2 * BATCHES + 1 {
            self.size *= 2;
            let mut place = 0;
            self.ends_ns.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        } else if self.ends_ns.len() != BATCHES + 1 {
            return false;
        }
        let (Some(first), Some(last)) = (self.ends_ns.first(), self.ends_ns.last()) else {
            return false;
        };
        let mean = (last - first) / BATCHES as f64;
        let squares: f64 = self
            .ends_ns
            .windows(2)
            .map(|ends| (ends[1] - ends[0] - mean).powi(2))
            .sum();
        let error = (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt();
        error <= SURE * mean
    }
}

/// When the request at a place of the loop goes on: a number that has the order of the times, which
/// are never below zero, then of the places. Numbers are compared without branches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn(u128);

impl Turn {
    #[inline(always)]
    const fn new(ns: f64, place: usize) -> Self {
        Self((ns.to_bits() as u128) << 64 | place as u128)
    }

    #[inline(always)]
    const fn place(self) -> usize {
        self.0 as usize
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
    fn replay(&mut self, workload: &Workload, length: Length) -> Replayed {
        let requests = length.requests.max(1);
        let &Workload {
            write_ratio, depth, ..
        } = workload;
        let (mut reads, mut writes) = (workload.reads.clone(), workload.writes.clone());
        self.reset(write_ratio > 0.0);
        let pages =
            ((1.0 - write_ratio) * reads.size + write_ratio * writes.size) / LINK_PAGE_BYTES + 2.0;
        let least = ((requests as f64 * USUAL_PAGES / pages) as usize)
            .clamp(requests / 2, requests * 4)
            .max(depth)
            .next_multiple_of(BATCHES);
        let most = least << length.doublings.min(MOST_DOUBLINGS);
        let from = least / 3 + depth;
        let mut in_flight = vec![
            InFlight {
                at: Moment::ZERO,
                arrived: None,
            };
            depth
        ];
        let mut order: BinaryHeap<_> = (0..depth)
            .map(|place| Reverse(Turn::new(0.0, place)))
            .collect();
        let page = self.layout.page_bytes as f64;
        let mut begin = Moment::ZERO;
        let mut batches = Batches::new(least / BATCHES);
        let mut sent = 0;
        let mut share = 0.5;
        let end = loop {
            let Some(mut next_of_all) = order.peek_mut() else {
                break begin;
            };
            let Reverse(turn) = &mut *next_of_all;
            let place = turn.place();
            let next = in_flight[place];
            if let Some((first, last)) = next.arrived {
                let at = self.read_data(next.at, first, last, reads.size);
                in_flight[place] = InFlight { at, arrived: None };
                *turn = Turn::new(at.ns, place);
                continue;
            }
            if sent == from {
                begin = next.at;
            }
            if sent >= from && batches.end(sent - from, next.at.ns) {
                let counted = sent - from;
                if counted == most || counted >= least && batches.are_sure() {
                    break next.at;
                }
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
            *turn = Turn::new(went_on.at.ns, place);
            in_flight[place] = went_on;
        };
        let mut counts = [0.0; COSTS];
        let each = 1.0 / (sent - from) as f64;
        self.log.count(end, each, &mut counts);
        self.log.count(begin, -each, &mut counts);
        Replayed {
            ns: (end.ns - begin.ns) * each,
            counts,
        }
    }
}
