//! Rows of an array with parity: the stripe cache, and what waits for each row.
//!
//! - One job at a time works on a row. Commands that come meanwhile gather and form the next job.
//! - Commands that come at one moment also form one job (md plugs). A preset may extend this to a
//!   time after the first part of a row, unless the row is complete earlier.
//! - The cache is bounded. A write takes the columns of its row from the first to the last one
//!   written, in pages of 4 KiB (`stripe_cache_size` of md). What does not fit waits in order of
//!   arrival, and nothing gathers then.
//! - Reads bypass the cache unless a member is missing. In that case they are jobs of their row and
//!   alternate with writes.
//! - Trims go to the members for whole rows only. A trim of less would make the row's parity wrong.

use drivelab_request::{Command, CommandKind};

use super::Redundant;
use super::commands::Owner;
use super::job::{Job, JobKind};
use super::rebuild::plain;
use super::timers::Timer;
use crate::host::{Completion, SimError};
use crate::raid::rows::{Extent, Rows};
use crate::raid::update::{self, Present, Work};

/// A page of the cache.
const PAGE_BYTES: u64 = 4096;

/// The data that a command writes to one row.
pub struct Arriving {
    tag: u32,
    row: u64,
    extents: Vec<Extent>,
    command: Command,
}

/// The commands that wait for a row.
#[derive(Default)]
pub struct Row {
    is_busy: bool,
    writes: Vec<Arriving>,
    /// The columns that they take, and until when more commands may join.
    columns: Option<(u64, u64)>,
    gathers_until: u64,
    reads: Vec<(u32, Vec<Extent>)>,
    trims: Vec<u32>,
    is_to_rebuild: bool,
    /// Writes go next, because reads went last.
    prefers_writes: bool,
}

impl Row {
    /// Bytes of the cache that its waiting writes use.
    fn cached_bytes(&self) -> u64 {
        self.columns.map_or(0, bytes_of)
    }

    /// The columns, extended by those of more extents.
    fn columns_with(&self, extents: &[Extent]) -> (u64, u64) {
        let (from, to) = self.columns.unwrap_or((u64::MAX, 0));
        let first = extents.iter().map(|e| e.from).min().unwrap_or(0);
        let last = extents.iter().map(|e| e.to).max().unwrap_or(0);
        (from.min(first), to.max(last))
    }

    /// Whether all data of the row is written.
    fn is_whole(&self, rows: Rows) -> bool {
        let mut parts: Vec<_> = self.writes.iter().flat_map(|w| &w.extents).collect();
        parts.sort_unstable_by_key(|extent| (extent.chunk, extent.from));
        let mut whole = (0, 0);
        for part in parts {
            if (part.chunk, part.from) > whole {
                return false;
            }
            whole = whole.max((part.chunk, part.to));
            if whole.1 == rows.chunk_bytes() {
                whole = (whole.0 + 1, 0);
            }
        }
        whole == (rows.data_chunks(), 0)
    }

    fn is_idle(&self) -> bool {
        let waits = !self.writes.is_empty() || !self.reads.is_empty() || !self.trims.is_empty();
        !(self.is_busy || waits || self.is_to_rebuild)
    }
}

const fn bytes_of((from, to): (u64, u64)) -> u64 {
    to.next_multiple_of(PAGE_BYTES) - from / PAGE_BYTES * PAGE_BYTES
}

impl Redundant {
    fn present_in(&self, rows: Rows, row: u64) -> Present {
        let end = (row + 1) * rows.chunk_bytes();
        let rebuild = self.rebuild.as_ref();
        let missing = rebuild.filter(|rebuild| !rebuild.has(rebuild.member(), end));
        let missing = missing.map_or(0, |rebuild| 1 << rebuild.member());
        Present {
            readable: self.present & !missing,
            writable: self.present,
        }
    }

    pub(super) fn read_rows(
        &mut self,
        rows: Rows,
        tag: u32,
        command: &Command,
        now: u64,
    ) -> Result<(), SimError> {
        // For each member, the piece that can be extended.
        let mut pieces = vec![(0, 0); rows.members() as usize];
        let size = u64::from(command.size_bytes);
        for (row, from, to) in rows.split(command.offset_bytes, size) {
            let readable = self.present_in(rows, row).readable;
            let mut extents = rows.extents(from, to);
            let reads = |e: Extent| readable >> rows.data_member(row, e.chunk) & 1 == 1;
            if !extents.all(reads) {
                self.hosts.add_part(tag);
                self.counters.degraded_reads += 1;
                let waiting = self.rows.entry(row).or_default();
                waiting.reads.push((tag, rows.extents(from, to).collect()));
                self.timers.add(now, Timer::Row(row));
                continue;
            }
            for extent in rows.extents(from, to) {
                let member = rows.data_member(row, extent.chunk);
                let start = row * rows.chunk_bytes() + extent.from;
                let end = row * rows.chunk_bytes() + extent.to;
                let piece = &mut pieces[member as usize];
                if piece.1 == start {
                    piece.1 = end;
                    continue;
                }
                let whole = std::mem::replace(piece, (start, end));
                self.read_piece(tag, member, whole, command, now)?;
            }
        }
        for (member, piece) in (0..).zip(pieces) {
            self.read_piece(tag, member, piece, command, now)?;
        }
        Ok(())
    }

    fn read_piece(
        &mut self,
        tag: u32,
        member: u32,
        (from, to): (u64, u64),
        command: &Command,
        now: u64,
    ) -> Result<(), SimError> {
        if from == to {
            return Ok(());
        }
        self.hosts.add_part(tag);
        self.submit_to(Owner::Host(tag), (member, from, to - from), command, now)
    }

    pub(super) fn write_rows(&mut self, rows: Rows, tag: u32, command: &Command, now: u64) {
        let size = u64::from(command.size_bytes);
        for (row, from, to) in rows.split(command.offset_bytes, size) {
            self.hosts.add_part(tag);
            self.arriving.push_back(Arriving {
                tag,
                row,
                extents: rows.extents(from, to).collect(),
                command: *command,
            });
        }
        self.admit(rows, now);
    }

    pub(super) fn trim_rows(&mut self, rows: Rows, tag: u32, command: &Command, now: u64) {
        let size = u64::from(command.size_bytes);
        // So that a command completes even if nothing of it is trimmed.
        self.hosts.add_part(tag);
        self.timers.add(now, Timer::Finish(tag));
        for (row, from, to) in rows.split(command.offset_bytes, size) {
            if (from, to) == (0, rows.row_bytes()) {
                self.hosts.add_part(tag);
                self.rows.entry(row).or_default().trims.push(tag);
                self.timers.add(now, Timer::Row(row));
            }
        }
    }

    pub(super) fn rebuild_row(&mut self, row: u64, now: u64) {
        self.rows.entry(row).or_default().is_to_rebuild = true;
        self.timers.add(now, Timer::Row(row));
    }

    /// Moves waiting writes into the cache while there is room, in order.
    pub(super) fn admit(&mut self, rows: Rows, now: u64) {
        while let Some(first) = self.arriving.front() {
            let row = self.rows.entry(first.row).or_default();
            let columns = row.columns_with(&first.extents);
            let more = bytes_of(columns) - row.cached_bytes();
            if self.cached_bytes > 0 && self.cached_bytes + more > self.parity.cache_bytes {
                // Stop gathering, to make room.
                let waiting = self.rows.iter().filter(|(_, row)| !row.writes.is_empty());
                for (&row, _) in waiting {
                    self.timers.add(now, Timer::Row(row));
                }
                return;
            }
            self.cached_bytes += more;
            row.columns = Some(columns);
            if row.writes.is_empty() {
                row.gathers_until = now.saturating_add(self.parity.gather_ns);
            }
            let number = first.row;
            row.writes.extend(self.arriving.pop_front());
            if row.gathers_until > now && row.is_whole(rows) {
                row.gathers_until = now;
            }
            if !row.is_busy {
                self.timers
                    .add(row.gathers_until.max(now), Timer::Row(number));
            }
        }
    }

    /// Starts the next job of a row, if there is one and none is running.
    pub(super) fn start_row(
        &mut self,
        number: u64,
        now: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let super::Layout::Parity(rows) = self.layout else {
            return Ok(());
        };
        let present = self.present_in(rows, number);
        let makes_way = !self.arriving.is_empty();
        let Some(row) = self.rows.get_mut(&number) else {
            return Ok(());
        };
        if row.is_busy {
            return Ok(());
        }
        let may_write = !row.writes.is_empty() && (makes_way || row.gathers_until <= now);
        let are_writes_next = row.prefers_writes && may_write;
        let job = if !row.reads.is_empty() && !are_writes_next {
            row.prefers_writes = true;
            Self::read_job(rows, number, std::mem::take(&mut row.reads), present)
        } else if !row.trims.is_empty() {
            Self::trim_job(rows, number, std::mem::take(&mut row.trims), present)
        } else if row.is_to_rebuild {
            row.is_to_rebuild = false;
            let member = self.rebuild.as_ref().map_or(0, |rebuild| rebuild.member());
            let work = update::rebuild(rows, number, member, present);
            Job::new(number, JobKind::Rebuild, work)
        } else if may_write {
            row.prefers_writes = false;
            let cached = row.cached_bytes();
            row.columns = None;
            let writes = std::mem::take(&mut row.writes);
            Job {
                cached_bytes: cached,
                ..Self::write_job(rows, number, writes, present)
            }
        } else {
            return Ok(());
        };
        row.is_busy = true;
        self.count(&job);
        self.begin_job(job, now, completions)
    }

    fn read_job(rows: Rows, number: u64, reads: Vec<(u32, Vec<Extent>)>, present: Present) -> Job {
        let extents: Vec<_> = reads.iter().flat_map(|(_, e)| e).copied().collect();
        let work = update::degraded_read(rows, number, &extents, present);
        Job {
            hosts: reads.into_iter().map(|(tag, _)| tag).collect(),
            ..Job::new(number, JobKind::Read, work)
        }
    }

    fn trim_job(rows: Rows, number: u64, hosts: Vec<u32>, present: Present) -> Job {
        let whole: Vec<_> = rows.extents(0, rows.row_bytes()).collect();
        let work = Work {
            writes: update::write(rows, number, &whole, present).writes,
            ..Work::default()
        };
        Job {
            hosts,
            command: plain(CommandKind::Trim),
            ..Job::new(number, JobKind::Trim, work)
        }
    }

    fn write_job(rows: Rows, number: u64, writes: Vec<Arriving>, present: Present) -> Job {
        let extents: Vec<_> = writes.iter().flat_map(|w| &w.extents).copied().collect();
        let first = writes.first().map(|write| write.command);
        let command = first.unwrap_or(plain(CommandKind::Write));
        Job {
            command: Command {
                is_forced: writes.iter().any(|write| write.command.is_forced),
                ..command
            },
            hosts: writes.iter().map(|write| write.tag).collect(),
            ..Job::new(
                number,
                JobKind::Write,
                update::write(rows, number, &extents, present),
            )
        }
    }

    /// A job of a row is done: whatever waits for the row or for cache room continues.
    pub(super) fn row_free(&mut self, number: u64, cached_bytes: u64, now: u64) {
        let super::Layout::Parity(rows) = self.layout else {
            return;
        };
        self.cached_bytes -= cached_bytes;
        if let Some(row) = self.rows.get_mut(&number) {
            row.is_busy = false;
            if row.is_idle() {
                self.rows.remove(&number);
            } else {
                let waits_alone = row.reads.is_empty() && row.trims.is_empty();
                let at = if waits_alone && !row.is_to_rebuild {
                    row.gathers_until.max(now)
                } else {
                    now
                };
                self.timers.add(at, Timer::Row(number));
            }
        }
        self.admit(rows, now);
    }
}
