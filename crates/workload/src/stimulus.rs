//! What a host keeps sending under the performance test specification: sizes and places by
//! shares.
//!
//! ```text
//!   range   |  zone 0  |      zone 1      |            zone 2             |
//!             50 % of    30 %               20 % of the accesses
//!             accesses
//!   size    drawn by its share; offset a multiple of it, uniform in the zone drawn
//! ```
//!
//! Without randomness the accesses of a thread follow each other round its part of the range, reads and writes each with a cursor of their own.

use drivelab_request::SECTOR_BYTES;

use crate::generator::Generator;
use crate::{Characteristics, CharacteristicsError, MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES};

/// One access pattern of a closed loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Stimulus {
    /// Share of the requests that read, 0 to 1.
    pub read_ratio: f64,
    /// Whether offsets are random.
    pub is_random: bool,
    /// Bytes of a request and the share of requests of that size.
    pub sizes: Vec<(u32, f64)>,
    /// Share of the accesses and share of the range, from its beginning on; of random ones.
    pub zones: Vec<(f64, f64)>,
    /// Programs that send.
    pub threads: u32,
    /// Requests outstanding of each.
    pub queue_depth: u32,
    /// Where the range begins.
    pub range_start: u64,
    /// Bytes of it.
    pub range_bytes: u64,
    /// Where in its part of the range each thread begins, of accesses in order; behind its end
    /// it goes round.
    pub begin_bytes: u64,
}

/// One closed loop of a stimulus.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its requests.
    pub generator: Generator,
    /// Of them so many are outstanding.
    pub queue_depth: u32,
}

/// The most threads: each has a key of its own for every step.
pub const MAX_THREADS: u32 = 1024;

impl Stimulus {
    /// Its closed loops: one for random accesses, whose threads do not differ, otherwise one a
    /// thread, each in its part of the range. Keyed by `seed`, `step` and the number of each
    /// thread, counted from `first_thread`: how many others send at the same time.
    ///
    /// # Errors
    ///
    /// [`CharacteristicsError`] where there is no such stimulus.
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

    /// Bytes of a request, mean over the shares.
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

    /// Whether the largest request fits into every zone, or every thread's part.
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

    /// Bytes of a thread's part of the range: whole requests, so that each part begins where
    /// pages do if the range does.
    fn part_bytes(&self) -> u64 {
        let largest = self.largest();
        self.range_bytes / u64::from(self.threads) / largest * largest
    }

    fn outstanding(&self) -> u32 {
        self.threads.saturating_mul(self.queue_depth)
    }

    /// Where the zones of a range of so many bytes begin and end: whole sectors.
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
