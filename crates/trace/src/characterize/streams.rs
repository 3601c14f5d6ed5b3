//! Sequential and strided requests, where several streams of them are interleaved.
//!
//! A program that copies a file reads in order and writes in order. Ten programs at once look
//! random if each request is compared only with the one before it. So each device and direction has
//! a table of the [`MOST_STREAMS`] most recently used streams:
//!
//! ```text
//!   request at offset o, size s                       streams, the one used last in front
//!       begins where a stream ended       sequential  ─> that stream ends at o + s, goes in front
//!       as far from a stream's end as
//!       that stream's last two requests,
//!       or as one of the distances that
//!       were seen twice                   strided     ─> the same
//!       none of these                     random      ─> a new stream; the one used longest ago
//!                                                        is forgotten
//! ```
//!
//! The distance of a new stream is that to the nearest end in the table, at most
//! [`MOST_STRIDE_BYTES`]. So a strided stream is recognised at its third request. The [`DISTANCES`]
//! most recent forward distances that were seen twice are remembered. Then the next such stream is
//! recognised at its second request, for example if a program continues at a distance from each
//! random place. Tables are kept for [`TABLES`] devices at a time.

use crate::record::Record;

/// Number of interleaved streams tracked for each device and direction.
pub const MOST_STREAMS: usize = 32;
/// Requests further apart than this do not form a strided stream.
pub const MOST_STRIDE_BYTES: u64 = 4 << 20;
/// Number of forward distances remembered for each device and direction.
pub const DISTANCES: usize = 4;
/// Number of devices with tables at a time.
pub const TABLES: usize = 1024;
/// Run lengths are counted by powers of two of their bytes.
pub const RUN_BINS: usize = 64;

/// How a read or write follows earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It begins where a recent stream ended.
    Sequential,
    /// It continues a recent stream at that stream's distance.
    Strided {
        /// From the end of the previous request.
        gap_bytes: u64,
    },
    /// The same backward, or at the same place again.
    Backward,
    /// Neither.
    Random,
}

/// The place of a read or write among the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// How it follows.
    pub order: Order,
    /// The number of other streams used since its own; 0 for a random request.
    pub rank: usize,
    /// Whether it begins where the previous request of its device and direction ended.
    pub is_adjacent: bool,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    end: u64,
    /// The distance at which the next request is expected.
    gap: Option<i64>,
    bytes: u64,
    requests: u64,
}

#[derive(Clone, Debug, Default)]
struct Table {
    /// Streams, the most recently used first.
    streams: Vec<Stream>,
    /// Distances seen twice, the most recently used first; none is 0.
    distances: [i64; DISTANCES],
}

#[derive(Debug)]
struct Owned {
    device: u32,
    /// For reads and for writes.
    tables: [Table; 2],
}

/// How long streams were, and how many were interleaved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Ended streams, by the power of two of their bytes.
    pub streams: [u64; RUN_BINS],
    /// Their requests.
    pub requests: [u64; RUN_BINS],
    /// Non-random requests, by how many other streams were used in between.
    pub ranks: [u64; MOST_STREAMS],
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            streams: [0; RUN_BINS],
            requests: [0; RUN_BINS],
            ranks: [0; MOST_STREAMS],
        }
    }
}

impl Runs {
    fn end(&mut self, stream: &Stream) {
        let bin = stream.bytes.max(1).ilog2() as usize;
        self.streams[bin] += 1;
        self.requests[bin] += stream.requests;
    }
}

/// The streams of every device.
#[derive(Debug)]
pub(crate) struct Streams {
    owned: Vec<Option<Box<Owned>>>,
    /// For reads and for writes.
    runs: [Runs; 2],
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            owned: (0..TABLES).map(|_| None).collect(),
            runs: Default::default(),
        }
    }
}

impl Streams {
    /// Assigns a read (`direction` 0) or a write (1) to the streams of its device.
    #[inline]
    pub fn place(&mut self, record: &Record, direction: usize) -> Place {
        let slot = &mut self.owned[record.device as usize % TABLES];
        if let Some(owned) = slot
            && owned.device != record.device
        {
            end_all(owned, &mut self.runs);
            *slot = None;
        }
        let owned = slot.get_or_insert_with(|| {
            Box::new(Owned {
                device: record.device,
                tables: Default::default(),
            })
        });
        owned.tables[direction].place(
            record.offset_bytes,
            record.size_bytes,
            &mut self.runs[direction],
        )
    }

    /// Ends all streams. Returns the run lengths of reads and of writes.
    pub fn finish(mut self) -> [Runs; 2] {
        for owned in self.owned.iter().flatten() {
            end_all(owned, &mut self.runs);
        }
        self.runs
    }
}

fn end_all(owned: &Owned, runs: &mut [Runs; 2]) {
    for (table, runs) in owned.tables.iter().zip(runs) {
        for stream in &table.streams {
            runs.end(stream);
        }
    }
}

impl Table {
    fn place(&mut self, offset: u64, size: u64, runs: &mut Runs) -> Place {
        let is_adjacent = self
            .streams
            .first()
            .is_some_and(|stream| stream.end == offset);
        let (mut strided, mut as_others, mut nearest) = (None, None, None::<i64>);
        for (rank, stream) in self.streams.iter().enumerate() {
            // Both lie below 2^64. If they are more than 2^63 apart, the difference is not a stride
            // in either direction.
            let gap = offset.wrapping_sub(stream.end).cast_signed();
            if gap == 0 {
                return self.go_on(rank, gap, (offset, size), is_adjacent, runs);
            }
            if strided.is_none() && stream.gap == Some(gap) {
                strided = Some((rank, gap));
            } else if as_others.is_none() && self.distances.contains(&gap) {
                as_others = Some((rank, gap));
            }
            if nearest.is_none_or(|near| gap.unsigned_abs() < near.unsigned_abs()) {
                nearest = Some(gap);
            }
        }
        if let Some((rank, gap)) = strided.or(as_others) {
            self.remember(gap);
            return self.go_on(rank, gap, (offset, size), is_adjacent, runs);
        }
        if self.streams.len() == MOST_STREAMS
            && let Some(oldest) = self.streams.pop()
        {
            runs.end(&oldest);
        }
        let begun = Stream {
            end: offset + size,
            gap: nearest.filter(|gap| gap.unsigned_abs() <= MOST_STRIDE_BYTES),
            bytes: size,
            requests: 1,
        };
        self.streams.insert(0, begun);
        Place {
            order: Order::Random,
            rank: 0,
            is_adjacent,
        }
    }

    /// Puts a forward distance first.
    fn remember(&mut self, gap: i64) {
        if gap > 0 {
            let found = self.distances.iter().position(|&each| each == gap);
            let place = found.unwrap_or(DISTANCES - 1);
            self.distances[..=place].rotate_right(1);
            self.distances[0] = gap;
        }
    }

    fn go_on(
        &mut self,
        rank: usize,
        gap: i64,
        (offset, size): (u64, u64),
        is_adjacent: bool,
        runs: &mut Runs,
    ) -> Place {
        runs.ranks[rank] += 1;
        // All streams that were in front of it move back by one.
        self.streams[..=rank].rotate_right(1);
        let stream = &mut self.streams[0];
        stream.end = offset + size;
        stream.gap = Some(gap);
        stream.bytes = stream.bytes.saturating_add(size);
        stream.requests += 1;
        let order = match gap {
            0 => Order::Sequential,
            1.. => Order::Strided {
                gap_bytes: gap.unsigned_abs(),
            },
            _ => Order::Backward,
        };
        Place {
            order,
            rank,
            is_adjacent,
        }
    }
}
