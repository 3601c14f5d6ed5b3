//! A set-associative cache of lines of 64 bytes that replaces the least recently used line.

/// Bytes of a line, in every cache of both processors.
pub const LINE_BYTES: u64 = 64;

/// No line has this number: addresses are below 2^58 lines.
const NONE: u64 = u64::MAX;
const EXCLUSIVE: u64 = 1 << 63;

/// A cache: each set holds line numbers, the most recently used first. The top bit of a number says
/// that no other cache may hold the line.
#[derive(Clone, Debug)]
pub struct Cache {
    lines: Vec<u64>,
    ways: usize,
    set_mask: u64,
}

/// What a cache knows of a line that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// No other cache holds it: it may be written without asking.
    pub exclusive: bool,
}

impl Cache {
    /// An empty cache of `sets` (a power of two) sets of `ways` lines.
    ///
    /// # Panics
    ///
    /// Panics if `sets` is no power of two or `ways` is zero, which parameters exclude.
    #[must_use]
    pub fn new(sets: usize, ways: usize) -> Self {
        assert!(
            sets.is_power_of_two() && ways > 0,
            "{sets} sets, {ways} ways"
        );
        Self {
            lines: vec![NONE; sets * ways],
            ways,
            set_mask: sets as u64 - 1,
        }
    }

    /// The line's state, if the cache holds it; the line becomes the most recently used.
    #[inline]
    pub fn use_line(&mut self, line: u64) -> Option<Held> {
        let set = self.set(line);
        let found = set.iter().position(|held| held & !EXCLUSIVE == line)?;
        let held = set[found];
        // Nearly always the first: nothing moves then.
        for place in (0..found).rev() {
            set[place + 1] = set[place];
        }
        set[0] = held;
        Some(Held {
            exclusive: held & EXCLUSIVE != 0,
        })
    }

    /// Inserts a line that the cache does not hold, in place of the least recently used.
    #[inline]
    pub fn insert(&mut self, line: u64, exclusive: bool) {
        let set = self.set(line);
        let mut moves = if exclusive { line | EXCLUSIVE } else { line };
        for place in set {
            moves = std::mem::replace(place, moves);
        }
    }

    /// Sets whether others may also hold the line used last.
    pub fn set_exclusive(&mut self, line: u64, exclusive: bool) {
        let entry = if exclusive { line | EXCLUSIVE } else { line };
        for held in self.set(line) {
            if *held & !EXCLUSIVE == line {
                *held = entry;
            }
        }
    }

    /// True of two lines of one set.
    #[inline]
    #[must_use]
    pub fn same_set(&self, one: u64, other: u64) -> bool {
        (one ^ other) & self.set_mask == 0
    }

    /// What is known of a line, without using it.
    #[must_use]
    pub fn look(&self, line: u64) -> Option<Held> {
        let start = (line & self.set_mask) as usize * self.ways;
        let set = &self.lines[start..start + self.ways];
        let held = set.iter().find(|held| **held & !EXCLUSIVE == line)?;
        Some(Held {
            exclusive: held & EXCLUSIVE != 0,
        })
    }

    /// Removes a line, because another cache writes to it.
    pub fn remove(&mut self, line: u64) {
        let set = self.set(line);
        if let Some(found) = set.iter().position(|held| held & !EXCLUSIVE == line) {
            set[found] = NONE;
            // Empty places are filled first.
            set[found..].rotate_left(1);
        }
    }

    #[inline]
    fn set(&mut self, line: u64) -> &mut [u64] {
        let start = (line & self.set_mask) as usize * self.ways;
        &mut self.lines[start..start + self.ways]
    }
}

/// The lines that loads and stores touched last. Each is the most recently used of its set, so an
/// access to it changes nothing in the cache.
#[derive(Clone, Copy, Debug)]
pub struct AtHand([u64; 2]);

impl Default for AtHand {
    fn default() -> Self {
        Self([NONE; 2])
    }
}

impl AtHand {
    /// True if the last load, or the last store, touched this line.
    #[inline]
    #[must_use]
    pub fn is(&self, line: u64, store: bool) -> bool {
        self.0[usize::from(store)] == line
    }

    /// An access touches this line, and `cache` has it.
    #[inline]
    pub fn take(&mut self, line: u64, store: bool, cache: &Cache) {
        self.0[usize::from(store)] = line;
        let other = &mut self.0[usize::from(!store)];
        if *other != line && cache.same_set(*other, line) {
            *other = NONE;
        }
    }

    /// Another core loaded or stored a line.
    pub fn forget(&mut self, line: u64) {
        for held in &mut self.0 {
            if *held == line {
                *held = NONE;
            }
        }
    }
}

/// The first and the last line that an access touches.
#[inline]
#[must_use]
pub fn lines_of(address: u64, bytes: u64) -> (u64, u64) {
    // The top byte may be a tag.
    let address = address & 0x00ff_ffff_ffff_ffff;
    (address / LINE_BYTES, (address + bytes - 1) / LINE_BYTES)
}
