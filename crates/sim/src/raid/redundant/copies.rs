//! Arrays with copies: which member serves a read, and what writes wait for.
//!
//! A read goes
//!
//! - to the member whose last read ended where this one begins, so sequential reads stay together;
//! - otherwise, if members are SSDs or one member is idle, to the member with the fewest commands
//!   in progress; on a tie, to the first;
//! - otherwise to the member whose last command ended nearest.
//!
//! This is `read_balance` of Linux's raid1.c. md's RAID-10 differs from it in small things; here it
//! follows the same rule. If the chunks of a range lie on several pairs, each pair serves its part.
//! Writes and trims go to all copies and complete with the last one.
//!
//! While a piece is being rebuilt, host writes to the same place wait with their part for the
//! rebuilt member. A piece in which the host is writing waits for that write.

use drivelab_request::{Command, CommandKind};

use super::commands::Owner;
use super::rebuild::{Turn, plain};
use super::timers::Timer;
use super::{Layout, Redundant};
use crate::host::{Completion, SimError};
use crate::raid::mirrors::Mirrors;

/// A waiting part of a command for the member that is being rebuilt.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    tag: u32,
    command: Command,
    member: u32,
    offset: u64,
    size: u64,
}

/// One member's part of a command: member, offset and size.
type Piece = (u32, u64, u64);

/// Adds a part to the pieces. If it follows the last piece of the same member, it extends that
/// piece.
fn add_piece(pieces: &mut Vec<Piece>, (member, offset, size): Piece) {
    let last = pieces.iter_mut().rev().find(|piece| piece.0 == member);
    match last {
        Some((_, start, length)) if *start + *length == offset => *length += size,
        _ => pieces.push((member, offset, size)),
    }
}

impl Redundant {
    /// Whether a member has valid data in a range.
    fn has(&self, member: u32, offset: u64, size: u64) -> bool {
        let rebuild = self.rebuild.as_ref();
        self.is_present(member) && rebuild.is_none_or(|rebuild| rebuild.has(member, offset + size))
    }

    /// Chooses the reader among the members with valid data, and the offset on it.
    fn reader(&self, copies: impl Iterator<Item = (u32, u64)>, size: u64) -> Option<(u32, u64)> {
        let readable = copies.filter(|&(member, offset)| self.has(member, offset, size));
        let mut fewest: Option<(u32, u32, u64)> = None;
        let mut nearest: Option<(u64, u32, u64)> = None;
        let mut is_any_fast = false;
        for (place, offset) in readable {
            let member = &self.members[place as usize];
            if member.read_end == offset {
                return Some((place, offset));
            }
            is_any_fast |= member.is_flash || member.pending == 0;
            let pending = (member.pending, place, offset);
            if fewest.is_none_or(|(least, ..)| member.pending < least) {
                fewest = Some(pending);
            }
            let distance = member.head.abs_diff(offset);
            if nearest.is_none_or(|(least, ..)| distance < least) {
                nearest = Some((distance, place, offset));
            }
        }
        if is_any_fast {
            fewest.map(|(_, place, offset)| (place, offset))
        } else {
            nearest.map(|(_, place, offset)| (place, offset))
        }
    }

    pub(super) fn read_copy(
        &mut self,
        mirrors: Mirrors,
        tag: u32,
        command: &Command,
        now: u64,
    ) -> Result<(), SimError> {
        let mut pieces = Vec::new();
        let mut is_degraded = false;
        for part in mirrors.split(command.offset_bytes, command.size_bytes.into()) {
            let lacks = |(member, offset)| !self.has(member, offset, part.size);
            is_degraded |= mirrors.copies(part).any(lacks);
            if let Some((member, offset)) = self.reader(mirrors.copies(part), part.size) {
                self.members[member as usize].read_end = offset + part.size;
                add_piece(&mut pieces, (member, offset, part.size));
            }
        }
        self.counters.degraded_reads += u64::from(is_degraded);
        for piece in pieces {
            self.hosts.add_part(tag);
            self.submit_to(Owner::Host(tag), piece, command, now)?;
        }
        Ok(())
    }

    pub(super) fn write_copies(
        &mut self,
        mirrors: Mirrors,
        tag: u32,
        command: &Command,
        now: u64,
    ) -> Result<(), SimError> {
        let mut pieces = Vec::new();
        for part in mirrors.split(command.offset_bytes, command.size_bytes.into()) {
            for (member, offset) in mirrors.copies(part) {
                if self.is_present(member) {
                    add_piece(&mut pieces, (member, offset, part.size));
                }
            }
        }
        for (member, offset, size) in pieces {
            self.hosts.add_part(tag);
            if let Some(rebuild) = &mut self.rebuild
                && rebuild.is_of(member)
            {
                if rebuild.is_busy(offset, size) {
                    self.held.push_back(Held {
                        tag,
                        command: *command,
                        member,
                        offset,
                        size,
                    });
                    continue;
                }
                rebuild.host_writes(tag, offset, size);
            }
            self.submit_to(Owner::Host(tag), (member, offset, size), command, now)?;
        }
        Ok(())
    }

    /// Part of a host command completed in a member.
    pub(super) fn host_part_complete(
        &mut self,
        member: u32,
        tag: u32,
        one: &Completion,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        self.part_complete(tag, one.at, &one.parts, completions);
        if let Some(rebuild) = &mut self.rebuild
            && rebuild.is_of(member)
            && rebuild.host_wrote(tag)
        {
            self.rebuild_on(one.at)?;
        }
        Ok(())
    }

    /// Starts whatever may be rebuilt now.
    pub(super) fn rebuild_on(&mut self, now: u64) -> Result<(), SimError> {
        loop {
            let is_disturbed = self.hosts.are_active();
            let Some(rebuild) = &mut self.rebuild else {
                return Ok(());
            };
            match rebuild.turn(now, is_disturbed) {
                Turn::Nothing => return Ok(()),
                Turn::Later(at) => {
                    self.timers.add(at, Timer::Rebuild);
                    return Ok(());
                }
                Turn::Piece { start, size } => match self.layout {
                    Layout::Copies(mirrors) => self.rebuild_copy(mirrors, start, size, now)?,
                    Layout::Parity(rows) => self.rebuild_row(start / rows.chunk_bytes(), now),
                },
            }
        }
    }

    fn rebuild_copy(
        &mut self,
        mirrors: Mirrors,
        start: u64,
        size: u64,
        now: u64,
    ) -> Result<(), SimError> {
        let Some(rebuild) = &self.rebuild else {
            return Ok(());
        };
        let (size, others) = mirrors.others(rebuild.member(), start, size);
        // With an odd number of members the last chunk may have no second copy; it then holds no
        // data.
        let end = rebuild.end();
        let others = others.filter(|&(_, offset)| offset + size <= end);
        let Some((member, offset)) = self.reader(others, size) else {
            self.piece_rebuilt(start, now);
            return Ok(());
        };
        self.members[member as usize].read_end = offset + size;
        let read = plain(CommandKind::Read);
        self.submit_to(Owner::Source(start), (member, offset, size), &read, now)
    }

    /// A piece was read.
    pub(super) fn copy_read(&mut self, start: u64, now: u64) -> Result<(), SimError> {
        let Some(rebuild) = &self.rebuild else {
            return Ok(());
        };
        let piece = (rebuild.member(), start, rebuild.size_of(start));
        let write = plain(CommandKind::Write);
        self.submit_to(Owner::Target(start), piece, &write, now)
    }

    /// A piece was written, so what waited for it continues.
    pub(super) fn copy_written(&mut self, start: u64, now: u64) -> Result<(), SimError> {
        self.piece_rebuilt(start, now);
        for _ in 0..self.held.len() {
            let Some(held) = self.held.pop_front() else {
                break;
            };
            let Some(rebuild) = &mut self.rebuild else {
                break;
            };
            if rebuild.is_busy(held.offset, held.size) {
                self.held.push_back(held);
                continue;
            }
            rebuild.host_writes(held.tag, held.offset, held.size);
            let piece = (held.member, held.offset, held.size);
            self.submit_to(Owner::Host(held.tag), piece, &held.command, now)?;
        }
        self.rebuild_on(now)
    }

    /// A piece is up to date.
    pub(super) fn piece_rebuilt(&mut self, start: u64, now: u64) {
        if let Some(rebuild) = &mut self.rebuild {
            self.counters.rebuilt_bytes += rebuild.done(start, now);
        }
    }
}
