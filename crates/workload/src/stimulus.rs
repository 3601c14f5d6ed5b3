//! What a host keeps sending under the performance test specification: sizes and places with given
//! shares.
//!
//! ```text
//!   range   |  zone 0  |      zone 1      |            zone 2             |
//!             50 % of    30 %               20 % of the accesses
//!             accesses
//!   size    drawn by its share; offset a multiple of it, uniform in the zone drawn
//! ```
//!
//! If accesses are not random, those of a thread follow one another round its part of the range.
//! Reads and writes each have their own cursor.

use drivelab_request::SECTOR_BYTES;

use crate::generator::Generator;
use crate::{Characteristics, CharacteristicsError, MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES};

/// One access pattern of a closed loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Stimulus {
    /// Fraction of the requests that read, 0 to 1.
    pub read_ratio: f64,
    /// Whether offsets are random.
    pub is_random: bool,
    /// Request sizes in bytes, each with its share of the requests.
    pub sizes: Vec<(u32, f64)>,
    /// For random accesses: zones from the start of the range, each with its share of the accesses
    /// and its share of the range.
    pub zones: Vec<(f64, f64)>,
    /// Number of threads that send.
    pub threads: u32,
    /// Outstanding requests of each thread.
    pub queue_depth: u32,
    /// Where the range begins.
    pub range_start: u64,
    /// Bytes of it.
    pub range_bytes: u64,
    /// For accesses in order: where each thread begins in its part of the range. After the end of
    /// its part it starts over.
    pub begin_bytes: u64,
}

/// One closed loop of a stimulus.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its requests.
    pub generator: Generator,
    /// Its number of outstanding requests.
    pub queue_depth: u32,
}

/// The most threads. Each thread has its own key in every step.
pub const MAX_THREADS: u32 = 1024;

impl Stimulus {
    /// Its closed loops. Random accesses need one loop, because their threads do not differ.
    /// Otherwise each thread has a loop in its part of the range. The key is `seed`, `step` and the
    /// number of each thread, counted from `first_thread`, the number of threads that others use at
    /// the same time.
    ///
    /// # Errors
    ///
    /// [`CharacteristicsError`] if such a stimulus is impossible.
    pub fn loops(
        &self,
        seed: u64,
        step: u64,
        first_thread: u32,
    ) -> Result<Vec<Loop>, CharacteristicsError> {
        self.validate()?;
        let last = first_thread.saturating_add(self.threads);
        if last > MAX_THREADS {
            return Err(CharacteristicsError::QueueDepth { value: last });
        }
        let key = |thread: u32| step * u64::from(MAX_THREADS) + u64::from(first_thread + thread);
        if self.is_random {
            return Ok(vec![Loop {
                generator: self.random_generator(seed, key(0))?,
                queue_depth: self.threads * self.queue_depth,
            }]);
        }
        let part = self.part_bytes();
        let of_thread = |thread: u32| {
            let start = self.range_start + u64::from(thread) * part;
            Loop {
                generator: Generator::of_mixture(self, start, part, (seed, key(thread))),
                queue_depth: self.queue_depth,
            }
        };
        Ok((0..self.threads).map(of_thread).collect())
    }

    /// Mean bytes of a request, weighted by the shares.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        let weighted = |&(size, share): &(u32, f64)| f64::from(size) * share;
        let total: f64 = self.sizes.iter().map(|(_, share)| share).sum();
        self.sizes.iter().map(weighted).sum::<f64>() / total
    }

    fn random_generator(&self, seed: u64, index: u64) -> Result<Generator, CharacteristicsError> {
        let (start, length) = (self.range_start, self.range_bytes);
        let ([(size, _)], [_]) = (self.sizes.as_slice(), self.zones.as_slice()) else {
            return Ok(Generator::of_mixture(self, start, length, (seed, index)));
        };
        let characteristics = Characteristics {
            write_ratio: 1.0 - self.read_ratio,
            read_size: *size,
            write_size: *size,
            ..Characteristics::default()
        };
        Generator::new(&characteristics, start, length, seed, index)
    }

    fn validate(&self) -> Result<(), CharacteristicsError> {
        if !(0.0..=1.0).contains(&self.read_ratio) {
            return Err(CharacteristicsError::Ratio {
                field: "read_ratio",
                value: self.read_ratio,
            });
        }
        for &(value, _) in &self.sizes {
            if !value.is_multiple_of(SECTOR_BYTES)
                || !(SECTOR_BYTES..=MAX_REQUEST_BYTES).contains(&value)
            {
                let field = "a request's size";
                return Err(CharacteristicsError::Size { field, value });
            }
        }
        let sizes = self.sizes.iter().map(|&(_, share)| share);
        shares("the share of a size", sizes)?;
        let accesses = self.zones.iter().map(|&(share, _)| share);
        shares("the share of a zone's accesses", accesses)?;
        shares(
            "the share of a zone",
            self.zones.iter().map(|&(_, part)| part),
        )?;
        for value in [self.threads, self.queue_depth, self.outstanding()] {
            if !(1..=MAX_QUEUE_DEPTH).contains(&value) || self.threads > MAX_THREADS {
                return Err(CharacteristicsError::QueueDepth { value });
            }
        }
        self.validate_range()
    }

    /// Checks that the largest request fits into every zone, or into every thread's part.
    fn validate_range(&self) -> Result<(), CharacteristicsError> {
        let (start, bytes) = (self.range_start, self.range_bytes);
        let sector = u64::from(SECTOR_BYTES);
        let end = start.checked_add(bytes);
        if !start.is_multiple_of(sector)
            || !bytes.is_multiple_of(sector)
            || end.is_none_or(|end| end > u64::MAX / 2)
        {
            return Err(CharacteristicsError::Range { start, bytes });
        }
        let value = self.largest();
        let smallest_part = if self.is_random {
            let lengths = self.zone_bounds(bytes);
            lengths.windows(2).map(|w| w[1] - w[0]).min().unwrap_or(0)
        } else {
            self.part_bytes()
        };
        if value > smallest_part {
            return Err(CharacteristicsError::DoesNotFit {
                field: "a request of the stimulus",
                value,
                limit: smallest_part,
                range_bytes: bytes,
            });
        }
        Ok(())
    }

    fn largest(&self) -> u64 {
        let largest = self.sizes.iter().map(|&(size, _)| size).max();
        largest.unwrap_or(SECTOR_BYTES).into()
    }

    /// Bytes of a thread's part of the range: a whole number of requests, so that each part begins
    /// at a page boundary if the range does.
    fn part_bytes(&self) -> u64 {
        let largest = self.largest();
        self.range_bytes / u64::from(self.threads) / largest * largest
    }

    fn outstanding(&self) -> u32 {
        self.threads.saturating_mul(self.queue_depth)
    }

    /// Where the zones of a range of `range_bytes` begin and end, in whole sectors.
    pub(crate) fn zone_bounds(&self, range_bytes: u64) -> Vec<u64> {
        let sector = u64::from(SECTOR_BYTES);
        let sectors = (range_bytes / sector) as f64;
        let total: f64 = self.zones.iter().map(|(_, part)| part).sum();
        let mut bounds = vec![0];
        let mut reached = 0.0;
        for (_, part) in &self.zones {
            reached += part;
            bounds.push((sectors * (reached / total)).round() as u64 * sector);
        }
        bounds
    }
}

fn shares(
    field: &'static str,
    mut shares: impl Iterator<Item = f64>,
) -> Result<(), CharacteristicsError> {
    match shares.find(|share| !(*share > 0.0 && *share <= 1.0)) {
        Some(value) => Err(CharacteristicsError::Ratio { field, value }),
        None => Ok(()),
    }
}
