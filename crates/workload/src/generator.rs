//! An endless stream of requests: with given characteristics, or of whole passes over a file.
//!
//! ```text
//!        write_ratio            read_random / write_random
//! draw ──────────────► direction ──────────────► random:   an aligned offset, uniform
//!                          │                     otherwise: end of the previous access
//!                          └ one cursor each                of this direction + stride
//! ```
//!
//! The fraction of writes holds in every stretch of 64 requests ([`Share`]), that of random
//! accesses on average ([`Chance`]).
//!
//! A cursor that would pass the end of the range goes back to its start. The first access of each
//! direction is at a random aligned offset. Aligned means a multiple of the direction's request
//! size from the start of the range.
//!
//! A mixture of sizes and places ([`Stimulus`]) is a cursor that receives its place each time.
//!
//! A pass over a file ([`WholePass`]) is a cursor too. It begins at the start of the file. In a
//! random pass a [`Permutation`] gives each next place. When a pass is over, the next one begins in
//! the same order.

use drivelab_request::{Direction, Nanos, Request, SECTOR_BYTES};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::mixture::Mixture;
use crate::permutation::Permutation;
use crate::random::{Chance, Share, keyed_rng, uniform_below};
use crate::{Characteristics, CharacteristicsError, Stimulus, WholePass};

/// Separates the random numbers of request generation from others under a measurement's key.
const STREAM: u64 = 0;

/// The bit in which the key of the writes' order differs from that of the reads'.
const WRITES_APART: u32 = 63;

/// Makes requests endlessly, without allocating.
#[derive(Clone, Debug)]
pub struct Generator {
    rng: Xoshiro256PlusPlus,
    write: Share,
    range_start: u64,
    range_end: u64,
    /// By [`Direction::index`].
    cursors: [Cursor; 2],
}

/// Where the next access in one direction goes.
#[derive(Clone, Debug)]
struct Cursor {
    random: Chance,
    size: u32,
    /// Offset of the next non-random access from the start of the range.
    next: u64,
    /// Distance from the start of one non-random access to that of the next.
    step: u64,
    /// The last offset at which a request still fits.
    last: u64,
    /// Aligned offsets in the range.
    slots: u64,
    /// If set, decides each next place instead.
    elsewhere: Option<Box<Elsewhere>>,
}

/// What moves a cursor from one place to the next.
#[derive(Clone, Debug)]
enum Elsewhere {
    /// A random order that visits each place once.
    Order(Order),
    /// Sizes and places with given probabilities.
    Mixture(Mixture),
}

/// A permutation, and how far a pass has come in it.
#[derive(Clone, Debug)]
struct Order {
    permutation: Permutation,
    position: u64,
}

impl Cursor {
    fn new(
        characteristics: &Characteristics,
        direction: Direction,
        range_bytes: u64,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let size = characteristics.size(direction);
        let slots = range_bytes / u64::from(size);
        Self {
            random: Chance::new(characteristics.random(direction)),
            size,
            next: uniform_below(rng, slots) * u64::from(size),
            step: u64::from(size) + characteristics.stride(direction),
            last: range_bytes - u64::from(size),
            slots,
            elsewhere: None,
        }
    }

    /// The cursor of a validated pass.
    fn of_pass(pass: &WholePass, seed: u64, index: u64) -> Self {
        let (size, slots) = (u64::from(pass.request_bytes), pass.requests());
        let elsewhere = pass.is_random.then(|| {
            Box::new(Elsewhere::Order(Order {
                permutation: Permutation::new(slots, seed, index),
                position: 0,
            }))
        });
        let mut cursor = Self {
            random: Chance::new(0.0),
            size: pass.request_bytes,
            next: 0,
            step: size,
            // In a random order no place directly follows the one before.
            last: if pass.is_random {
                0
            } else {
                (slots - 1) * size
            },
            slots,
            elsewhere,
        };
        cursor.next = cursor.wrapped();
        cursor
    }

    /// From here on it visits each place once, in a random order. Reads and writes have separate
    /// orders.
    fn go_once_each(&mut self, seed: u64, index: u64, direction: Direction) {
        let apart = (direction.index() as u64) << WRITES_APART;
        self.random = Chance::new(0.0);
        self.last = 0;
        self.elsewhere = Some(Box::new(Elsewhere::Order(Order {
            permutation: Permutation::new(self.slots, seed, index ^ apart),
            position: 0,
        })));
        self.next = self.wrapped();
    }

    fn of_mixture(mixture: Mixture) -> Self {
        let mut cursor = Self {
            random: Chance::new(0.0),
            size: 0,
            next: 0,
            step: 1,
            // No place directly follows the one before.
            last: 0,
            slots: 1,
            elsewhere: Some(Box::new(Elsewhere::Mixture(mixture))),
        };
        cursor.next = cursor.wrapped();
        cursor
    }

    /// Where it goes when it cannot go further.
    #[inline(never)]
    fn wrapped(&mut self) -> u64 {
        let order = match self.elsewhere.as_deref_mut() {
            None => return 0,
            Some(Elsewhere::Order(order)) => order,
            Some(Elsewhere::Mixture(mixture)) => {
                let (offset, size) = mixture.draw();
                self.size = size;
                return offset;
            }
        };
        let slot = order.permutation.at(order.position);
        order.position += 1;
        if order.position == self.slots {
            order.position = 0;
        }
        slot * u64::from(self.size)
    }

    #[inline(always)]
    fn advance(&mut self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let offset = if self.random.happens(rng) {
            uniform_below(rng, self.slots) * u64::from(self.size)
        } else {
            self.next
        };
        self.go_on_from(offset);
        offset
    }

    #[inline(always)]
    fn go_on_from(&mut self, offset: u64) {
        // No overflow: both terms are at most the length of the range. `Characteristics::validate`
        // limits the step to it.
        let next = offset + self.step;
        self.next = if next <= self.last {
            next
        } else {
            self.wrapped()
        };
    }
}

impl Generator {
    /// A stream over the `range_bytes` from `range_start_bytes` on. `seed` and the measurement's
    /// `index` are its key.
    ///
    /// # Errors
    ///
    /// [`CharacteristicsError`] if the range is not a whole number of sectors, or the
    /// characteristics are impossible in it.
    pub fn new(
        characteristics: &Characteristics,
        range_start_bytes: u64,
        range_bytes: u64,
        seed: u64,
        index: u64,
    ) -> Result<Self, CharacteristicsError> {
        let sector = u64::from(SECTOR_BYTES);
        let end = range_start_bytes.checked_add(range_bytes);
        if !range_start_bytes.is_multiple_of(sector)
            || !range_bytes.is_multiple_of(sector)
            // Below 2^63 the sum of two offsets within the range does not overflow.
            || end.is_none_or(|end| end > u64::MAX / 2)
        {
            return Err(CharacteristicsError::Range {
                start: range_start_bytes,
                bytes: range_bytes,
            });
        }
        characteristics.validate(range_bytes)?;
        let mut rng = keyed_rng(seed, index, STREAM);
        let cursors = Direction::ALL
            .map(|direction| Cursor::new(characteristics, direction, range_bytes, &mut rng));
        let write = Share::new(characteristics.write_ratio, &mut rng);
        Ok(Self {
            rng,
            write,
            range_start: range_start_bytes,
            range_end: range_start_bytes + range_bytes,
            cursors,
        })
    }

    /// The same, but random requests visit each place of the range once before any comes again.
    /// `seed` and `index` are the key of the order. After the last place the order repeats.
    ///
    /// # Errors
    ///
    /// As [`Generator::new`]. Also if a direction that has requests is only partly random.
    pub fn each_once(
        characteristics: &Characteristics,
        range_start_bytes: u64,
        range_bytes: u64,
        seed: u64,
        index: u64,
    ) -> Result<Self, CharacteristicsError> {
        let (start, bytes) = (range_start_bytes, range_bytes);
        let mut generator = Self::new(characteristics, start, bytes, seed, index)?;
        for direction in Direction::ALL {
            let random = characteristics.random(direction);
            let is_asked = match direction {
                Direction::Read => characteristics.write_ratio < 1.0,
                Direction::Write => characteristics.write_ratio > 0.0,
            };
            if random > 0.0 && random < 1.0 && is_asked {
                return Err(CharacteristicsError::RandomInPart { direction, random });
            }
            if random > 0.0 {
                generator.cursors[direction.index()].go_once_each(seed, index, direction);
            }
        }
        Ok(generator)
    }

    /// Passes over a file, one after another in the same order. The first [`WholePass::requests`]
    /// requests are one pass. `seed` and the measurement's `index` are the key of a random order.
    ///
    /// # Errors
    ///
    /// As [`WholePass::validate`].
    pub fn of_pass(pass: &WholePass, seed: u64, index: u64) -> Result<Self, CharacteristicsError> {
        pass.validate()?;
        let mut rng = keyed_rng(seed, index, STREAM);
        let cursor = Cursor::of_pass(pass, seed, index);
        let write = match pass.direction {
            Direction::Read => 0.0,
            Direction::Write => 1.0,
        };
        Ok(Self {
            write: Share::new(write, &mut rng),
            rng,
            range_start: pass.start_bytes,
            range_end: pass.start_bytes + cursor.slots * u64::from(cursor.size),
            cursors: [cursor.clone(), cursor],
        })
    }

    /// The requests of a validated stimulus, in the `range_bytes` from `range_start` on.
    pub(crate) fn of_mixture(
        stimulus: &Stimulus,
        range_start: u64,
        range_bytes: u64,
        key: (u64, u64),
    ) -> Self {
        let mut rng = keyed_rng(key.0, key.1, STREAM);
        let cursors = Direction::ALL.map(|direction| {
            let place = direction.index();
            Cursor::of_mixture(Mixture::new(stimulus, range_bytes, key, place))
        });
        Self {
            write: Share::new(1.0 - stimulus.read_ratio, &mut rng),
            rng,
            range_start,
            range_end: range_start + range_bytes,
            cursors,
        }
    }

    /// The byte range of its requests: the first byte and one past the last.
    #[must_use]
    pub const fn range(&self) -> (u64, u64) {
        (self.range_start, self.range_end)
    }

    /// Whether all requests are reads of `size_bytes`, at multiples of that.
    #[must_use]
    pub fn only_reads(&self, size_bytes: u32) -> bool {
        let cursor = &self.cursors[Direction::Read.index()];
        let is_mixture = matches!(cursor.elsewhere.as_deref(), Some(Elsewhere::Mixture(_)));
        let size = u64::from(size_bytes);
        self.write.never_happens()
            && !is_mixture
            && cursor.size == size_bytes
            && self.range_start.is_multiple_of(size)
            && cursor.step.is_multiple_of(size)
    }

    /// The next request; the stream never ends.
    #[inline(always)]
    pub fn next_request(&mut self) -> Request {
        let mut rng = self.rng.clone();
        let request = self.draw(&mut rng);
        self.rng = rng;
        request
    }

    /// Fills `places` with the next requests.
    #[inline(never)]
    pub fn fill(&mut self, places: &mut [Request]) {
        // Keeps the random numbers in registers.
        let mut rng = self.rng.clone();
        let mut rest = places;
        while !rest.is_empty() {
            let alike = self.alike(rest.len());
            let (next, later) = rest.split_at_mut(alike.map_or(1, |(_, count)| count));
            match alike {
                Some((direction, _)) => self.draw_alike(direction, next, &mut rng),
                None => next
                    .iter_mut()
                    .for_each(|place| *place = self.draw(&mut rng)),
            }
            rest = later;
        }
        self.rng = rng;
    }

    /// How many of the next requests, up to `most`, are known to have the same direction and a
    /// random place; `None` if that is not even known of the next one.
    #[inline(always)]
    fn alike(&mut self, most: usize) -> Option<(Direction, usize)> {
        let (is_write, count) = self.write.decided()?;
        let direction = match is_write {
            true => Direction::Write,
            false => Direction::Read,
        };
        let cursor = &self.cursors[direction.index()];
        let is_random = cursor.random.is_certain() && cursor.elsewhere.is_none();
        is_random.then_some((direction, most.min(count as usize)))
    }

    /// As [`Generator::draw`] for each of `places`, with requests of [`Generator::alike`]: the same
    /// random numbers are drawn, but those whose result is known are not looked at.
    #[inline(always)]
    fn draw_alike(
        &mut self,
        direction: Direction,
        places: &mut [Request],
        rng: &mut Xoshiro256PlusPlus,
    ) {
        let is_write = direction == Direction::Write;
        let cursor = &mut self.cursors[direction.index()];
        let (slots, size_bytes) = (cursor.slots, cursor.size);
        let mut write = self.write;
        let mut offset = 0;
        for place in places {
            write.pass(is_write, rng);
            cursor.random.happens(rng);
            offset = uniform_below(rng, slots) * u64::from(size_bytes);
            *place = Request {
                arrival: Nanos::ZERO,
                offset_bytes: self.range_start + offset,
                size_bytes,
                direction,
            };
        }
        self.write = write;
        cursor.go_on_from(offset);
    }

    #[inline(always)]
    fn draw(&mut self, rng: &mut Xoshiro256PlusPlus) -> Request {
        let direction = if self.write.happens(rng) {
            Direction::Write
        } else {
            Direction::Read
        };
        let cursor = &mut self.cursors[direction.index()];
        // `advance` may change the size for the request after this one.
        let size = cursor.size;
        let offset = cursor.advance(rng);
        Request {
            arrival: Nanos::ZERO,
            offset_bytes: self.range_start + offset,
            size_bytes: size,
            direction,
        }
    }
}

impl Iterator for Generator {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        Some(self.next_request())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
