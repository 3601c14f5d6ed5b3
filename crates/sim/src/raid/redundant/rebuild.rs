//! A member that is being rebuilt: which piece is next, and when.
//!
//! ```text
//!   0 ───────── position ──── next ────────────── end of the member
//!     rebuilt      in work, in any order   as it was
//! ```
//!
//! Pieces follow each other at a set speed. It is the maximum while the host leaves the array
//! alone. It is the minimum if a host command is in progress, or has come since the piece before.
//! These speeds are `sync_speed_max` and `sync_speed_min` of md(4). At most [`WINDOW_BYTES`] are in
//! progress. A rebuild continues from run to run. It pauses from the closing of one window to the
//! opening of the next.

use std::collections::BTreeSet;

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};

use crate::host::ArrayCounters;
use crate::snapshot::SnapshotError;

/// `RESYNC_WINDOW` of Linux's raid1-10.c: 32 blocks of 64 KiB.
const WINDOW_BYTES: u64 = 2 << 20;

/// `RESYNC_BLOCK_SIZE` of the same file, used if the array has no chunks.
const BLOCK_BYTES: u64 = 64 << 10;

/// What is being rebuilt, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rebuilding {
    /// Which member.
    pub member: u32,
    /// The fraction of it that is rebuilt when a run begins from the prepared state.
    pub done_ratio: f64,
    /// Speed while the host works.
    pub min_bytes_per_second: u64,
    /// Speed while it does not.
    pub max_bytes_per_second: u64,
}

/// What may be rebuilt next.
pub enum Turn {
    /// Nothing until another event.
    Nothing,
    /// Something, at this time.
    Later(u64),
    /// This piece now.
    Piece { start: u64, size: u64 },
}

/// The progress of a rebuild.
pub struct Rebuild {
    of: Rebuilding,
    piece_bytes: u64,
    /// Bytes of the member.
    end: u64,
    /// Everything before this byte is up to date.
    position: u64,
    /// The first byte that is not in progress.
    next: u64,
    /// Pieces from `position` on that are done, and pieces in progress.
    done: BTreeSet<u64>,
    busy: BTreeSet<u64>,
    /// The earliest time of the next piece.
    allowed_at: u64,
    /// A timer is set.
    is_awaited: bool,
    has_host_come: bool,
    rests: bool,
    ended_at: Option<u64>,
    /// Host writes to this member: tag, number of parts, beginning and end.
    writes: Vec<(u32, u32, u64, u64)>,
    /// A piece waits for one of these writes.
    is_blocked: bool,
}

impl Rebuild {
    /// The rebuild of a member of which the array uses `end` bytes. Pieces are its chunks, if it
    /// has any.
    pub fn new(of: &Rebuilding, chunk_bytes: Option<u64>, end: u64) -> Self {
        let piece_bytes = chunk_bytes.unwrap_or(BLOCK_BYTES);
        let mut rebuild = Self {
            of: *of,
            piece_bytes,
            end,
            position: 0,
            next: 0,
            done: BTreeSet::new(),
            busy: BTreeSet::new(),
            allowed_at: 0,
            is_awaited: false,
            has_host_come: false,
            rests: false,
            ended_at: None,
            writes: Vec::new(),
            is_blocked: false,
        };
        rebuild.reset();
        rebuild
    }

    /// Returns to the state that the preset gives.
    pub fn reset(&mut self) {
        let pieces = (self.end as f64 * self.of.done_ratio) as u64 / self.piece_bytes;
        self.position = (pieces * self.piece_bytes).min(self.end);
    }

    /// A run begins.
    pub fn begin(&mut self) {
        self.next = self.position;
        self.done.clear();
        self.busy.clear();
        self.writes.clear();
        (self.allowed_at, self.is_awaited) = (0, true);
        (self.has_host_come, self.rests, self.is_blocked) = (false, false, false);
        self.ended_at = None;
    }

    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Continues from where another rebuild was.
    pub fn take_up(&mut self, position: u64) -> Result<(), SnapshotError> {
        let is_whole = position.is_multiple_of(self.piece_bytes) || position == self.end;
        if position > self.end || !is_whole {
            return Err(SnapshotError::Checksum);
        }
        self.position = position;
        Ok(())
    }

    pub const fn member(&self) -> u32 {
        self.of.member
    }

    /// Bytes of the member that the array uses.
    pub const fn end(&self) -> u64 {
        self.end
    }

    pub const fn is_of(&self, member: u32) -> bool {
        self.of.member == member
    }

    /// Whether a member is up to date up to `end`.
    pub const fn has(&self, member: u32, end: u64) -> bool {
        !self.is_of(member) || end <= self.position || self.position == self.end
    }

    /// Bytes of the piece that begins at `start`.
    pub fn size_of(&self, start: u64) -> u64 {
        self.piece_bytes.min(self.end - start)
    }

    pub fn host_came(&mut self) {
        self.has_host_come = true;
    }

    /// The next piece, if it may begin; it is in progress from then on.
    pub fn turn(&mut self, now: u64, is_disturbed: bool) -> Turn {
        if self.is_awaited && now >= self.allowed_at {
            self.is_awaited = false;
        }
        let in_work = self.busy.len() as u64 * self.piece_bytes;
        let is_full = self.busy.len() > 1 && in_work + self.piece_bytes > WINDOW_BYTES;
        if self.rests || self.next == self.end || is_full {
            return Turn::Nothing;
        }
        if now < self.allowed_at {
            if self.is_awaited {
                return Turn::Nothing;
            }
            self.is_awaited = true;
            return Turn::Later(self.allowed_at);
        }
        let (start, size) = (self.next, self.size_of(self.next));
        let meets = |&(_, _, from, to): &(u32, u32, u64, u64)| from < start + size && start < to;
        if self.writes.iter().any(meets) {
            self.is_blocked = true;
            return Turn::Nothing;
        }
        let speed = if is_disturbed || self.has_host_come {
            self.of.min_bytes_per_second
        } else {
            self.of.max_bytes_per_second
        };
        let takes = u128::from(size) * 1_000_000_000 / u128::from(speed);
        self.allowed_at = now + takes as u64;
        self.has_host_come = false;
        self.next = start + size;
        self.busy.insert(start);
        Turn::Piece { start, size }
    }

    /// A piece is done. Returns its bytes.
    pub fn done(&mut self, start: u64, now: u64) -> u64 {
        self.busy.remove(&start);
        self.done.insert(start);
        while self.done.remove(&self.position) {
            self.position += self.size_of(self.position);
        }
        if self.position == self.end {
            self.ended_at = Some(now);
        }
        self.size_of(start)
    }

    /// Whether a piece in progress overlaps a range of the member.
    pub fn is_busy(&self, offset: u64, size: u64) -> bool {
        let first = offset / self.piece_bytes * self.piece_bytes;
        self.busy.range(first..offset + size).next().is_some()
    }

    /// The host writes to the member.
    pub fn host_writes(&mut self, tag: u32, offset: u64, size: u64) {
        match self.writes.iter_mut().find(|write| write.0 == tag) {
            Some((_, parts, from, to)) => {
                *parts += 1;
                *from = offset.min(*from);
                *to = (offset + size).max(*to);
            }
            None => self.writes.push((tag, 1, offset, offset + size)),
        }
    }

    /// A host command completed on the member. Returns whether a piece waited for one.
    pub fn host_wrote(&mut self, tag: u32) -> bool {
        let Some(place) = self.writes.iter().position(|write| write.0 == tag) else {
            return false;
        };
        self.writes[place].1 -= 1;
        if self.writes[place].1 == 0 {
            self.writes.swap_remove(place);
        }
        std::mem::take(&mut self.is_blocked)
    }

    pub fn open_window(&mut self) {
        self.rests = false;
    }

    /// Whether a timer should be set; marks it as set.
    pub fn goes_on(&mut self) -> bool {
        let goes_on = !self.is_awaited && self.next < self.end;
        self.is_awaited |= goes_on;
        goes_on
    }

    /// The window that opened at `opened_at` closes: writes its results into `counters`.
    pub fn close_window(&mut self, opened_at: u64, counters: &mut ArrayCounters) {
        self.rests = true;
        counters.rebuild_left_bytes = Some(self.end - self.position);
        let ended = self.ended_at.filter(|&at| at >= opened_at);
        counters.rebuild_ended_ns = ended.map(|at| at - opened_at);
    }
}

/// A command of the array itself.
pub const fn plain(kind: CommandKind) -> Command {
    Command {
        arrival: Nanos::ZERO,
        offset_bytes: 0,
        size_bytes: 0,
        kind,
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    }
}
