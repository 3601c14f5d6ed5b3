//! What a sector held before its newest data, as long as that may come back.
//!
//! ```text
//!   before      write 1     write 2     write 3
//!   kept        kept        kept        in the store
//!     ^           ^
//!     │           └── ended before a flush began: once the flush is complete, nothing older returns
//!     └── returns when the power goes before anything is durable
//! ```
//!
//! A flush covers the writes that ended before it began. So the content after each write is kept
//! until a later one makes it superfluous.

use crate::protocol::SECTOR_BYTES;

/// The content of a sector.
pub(super) type Content = Box<[u8; SECTOR_BYTES as usize]>;

/// A write to a sector.
#[derive(Debug)]
struct Version {
    /// The number of the write.
    number: u64,
    /// How many writes had ended when it had.
    ended: Option<u64>,
    /// The sector's content after it; `None` for the last one, whose content is in the store.
    content: Option<Content>,
}

/// A sector that was written, and may not be durable.
#[derive(Debug)]
pub(super) struct Image {
    /// What it held before the first of these writes.
    pub before: Content,
    /// In the order in which they began. There is always one.
    versions: Vec<Version>,
}

/// Which write is durable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Durable {
    /// This one.
    Write(u64),
    /// The last of those among the first so many that ended.
    EndedBy(u64),
}

impl Image {
    /// A write to a sector with this content begins.
    pub fn begin(before: Content, number: u64) -> Self {
        Self {
            before,
            versions: vec![Version::of(number)],
        }
    }

    /// Another write to it begins; `here` is its content now. `flushes` says how many writes had
    /// ended when each flush in progress began.
    pub fn begin_another(&mut self, number: u64, here: Content, flushes: &[u64]) {
        if let Some(last) = self.versions.last_mut() {
            last.content = Some(here);
        }
        self.versions.push(Version::of(number));
        self.prune(flushes);
    }

    /// A write to it ended as the last of `ended`.
    pub fn end(&mut self, number: u64, ended: u64, flushes: &[u64]) {
        let found = self.versions.iter_mut().find(|each| each.number == number);
        if let Some(version) = found {
            version.ended = Some(ended);
            self.prune(flushes);
        }
    }

    /// Whether a write to it has not ended.
    pub fn is_under_way(&self) -> bool {
        self.versions.iter().any(|each| each.ended.is_none())
    }

    /// A write is durable: nothing older comes back. Returns whether that was the last write, so
    /// that nothing of it can be lost.
    pub fn keep(&mut self, durable: Durable) -> bool {
        let is_meant = |each: &Version| match durable {
            Durable::Write(number) => each.number == number,
            Durable::EndedBy(count) => each.ended.is_some_and(|ended| ended <= count),
        };
        let Some(place) = self.versions.iter().rposition(is_meant) else {
            return false;
        };
        let kept = self.versions.drain(..=place).next_back();
        match kept.and_then(|version| version.content) {
            Some(content) => self.before = content,
            None => return true,
        }
        false
    }

    /// Forgets writes that no flush in progress, and no later one, can make durable as the last.
    fn prune(&mut self, flushes: &[u64]) {
        if self.versions.len() < 2 {
            return;
        }
        let newest = |most: u64| {
            let is_covered = |each: &Version| each.ended.is_some_and(|ended| ended <= most);
            self.versions.iter().rposition(is_covered)
        };
        let mut needed: Vec<usize> = flushes.iter().copied().filter_map(newest).collect();
        needed.extend(newest(u64::MAX));
        let mut place = 0;
        self.versions.retain(|each| {
            place += 1;
            each.ended.is_none() || needed.contains(&(place - 1))
        });
    }
}

impl Version {
    const fn of(number: u64) -> Self {
        Self {
            number,
            ended: None,
            content: None,
        }
    }
}
