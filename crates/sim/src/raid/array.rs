//! RAID-0 as a device. Commands are split at stripes and joined when the last piece completes.
//!
//! ```text
//!   command ─> pieces ─┬─> member 0 ─┐
//!                      └─> member 1 ─┴─> complete with the last, whose parts its latency has
//! ```
//!
//! The controller of the array takes no time. A piece is everything of a command that lies on one
//! member, even if it covers several stripes. A flush goes to every member.

use drivelab_request::{Command, CommandKind};

use super::state;
use super::stripes::{Piece, Stripes};
use crate::host::{
    Completion, Device, Energy, Fullness, HostTime, Media, Outcome, PartNames, SimError,
};
use crate::snapshot::SnapshotError;

const NEVER: u64 = u64::MAX;

/// Marks a piece that is a whole command.
const WHOLE: u32 = u32::MAX;

/// A drive of the array.
struct Member {
    device: Box<dyn Device + Send>,
    /// Time of its next event, or [`NEVER`].
    next: u64,
    /// For each tag of a piece: the split command that it belongs to, or [`WHOLE`].
    command_of: Vec<u32>,
}

impl Member {
    fn look_ahead(&mut self) {
        self.next = self.device.next_event().unwrap_or(NEVER);
    }

    /// Submits a piece and returns its tag.
    #[inline(always)]
    fn submit(&mut self, of: u32, piece: &Command, now: u64) -> Result<u32, SimError> {
        let tag = self.device.submit(piece, now)?;
        self.look_ahead();
        let place = tag as usize;
        if place >= self.command_of.len() {
            self.command_of.resize(place + 1, WHOLE);
        }
        self.command_of[place] = of;
        Ok(tag)
    }
}

/// Equal drives in parallel.
///
/// Tags are numbered round-robin. Each member has one turn for commands that lie on it alone,
/// numbered by its own tags. The last turn is for split commands.
pub struct Array {
    members: Vec<Member>,
    stripes: Stripes,
    capacity_bytes: u64,
    /// For each split command, the number of pieces not yet complete; 0 for an unused entry.
    pending: Vec<u32>,
    vacant: Vec<u32>,
}

impl Array {
    /// An array of `members`: at least one, all equal.
    #[must_use]
    pub fn new(members: Vec<Box<dyn Device + Send>>, stripe_bytes: u64) -> Self {
        let stripes = Stripes::new(members.len() as u32, stripe_bytes);
        let smallest = members.iter().map(|m| m.capacity_bytes()).min();
        let member = |device| Member {
            device,
            next: NEVER,
            command_of: Vec::new(),
        };
        Self {
            capacity_bytes: stripes.capacity_bytes(smallest.unwrap_or(0)),
            members: members.into_iter().map(member).collect(),
            stripes,
            pending: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// The tag of `number` in the turn of a member, or in the last turn.
    #[inline(always)]
    const fn tag(&self, number: u32, turn: usize) -> u32 {
        number * (self.members.len() as u32 + 1) + turn as u32
    }

    /// Submits a command to more than one member. A flush goes to all.
    fn submit_parted(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.pending.push(0);
            (self.pending.len() - 1) as u32
        });
        let mut submit = |piece: Piece| {
            let part = Command {
                offset_bytes: piece.offset,
                size_bytes: piece.size as u32,
                ..*command
            };
            self.pending[number as usize] += 1;
            self.members[piece.member as usize].submit(number, &part, now)
        };
        if command.kind == CommandKind::Flush {
            for member in 0..self.stripes.members() {
                submit(Piece {
                    member,
                    offset: 0,
                    size: 0,
                })?;
            }
        } else {
            let size = u64::from(command.size_bytes);
            for piece in self.stripes.pieces(command.offset_bytes, size) {
                submit(piece)?;
            }
        }
        Ok(self.tag(number, self.members.len()))
    }

    /// The member with the next event (the first of several), and the time before which it stays
    /// first. It must be at least one moment earlier than members before it.
    #[inline(always)]
    fn first(&self) -> (usize, u64) {
        let (mut first, mut until) = (0, NEVER);
        let mut earliest = self.members[0].next;
        for (place, member) in self.members.iter().enumerate().skip(1) {
            if member.next < earliest {
                // At the same moment, members before it are served first.
                until = until.min(earliest - 1);
                (first, earliest) = (place, member.next);
            } else {
                until = until.min(member.next);
            }
        }
        (first, until)
    }

    /// Serves a member until some of its commands complete, no later than `limit`. A split command
    /// completes with its last piece.
    #[inline(always)]
    fn serve_member(
        &mut self,
        turn: usize,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        let served = completions.len();
        let member = &mut self.members[turn];
        member.next = member
            .device
            .serve_until(limit, completions)?
            .unwrap_or(NEVER);
        if completions.len() == served + 1
            && let Some(one) = completions.last_mut()
            && self.members[turn].command_of[one.tag as usize] == WHOLE
        {
            one.tag = self.tag(one.tag, turn);
            return Ok(());
        }
        let mut kept = served;
        for place in served..completions.len() {
            let piece = completions[place].tag;
            let command = self.members[turn].command_of[piece as usize];
            let tag = if command == WHOLE {
                self.tag(piece, turn)
            } else {
                let pending = &mut self.pending[command as usize];
                *pending -= 1;
                if *pending > 0 {
                    continue;
                }
                self.vacant.push(command);
                self.tag(command, self.members.len())
            };
            if kept < place {
                completions[kept] = completions[place];
            }
            completions[kept].tag = tag;
            kept += 1;
        }
        completions.truncate(kept);
        Ok(())
    }
}

impl Device for Array {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn part_names(&self) -> PartNames {
        self.members
            .first()
            .map_or(&[], |member| member.device.part_names())
    }

    fn takes_trims(&self) -> bool {
        self.members
            .iter()
            .all(|member| member.device.takes_trims())
    }

    fn takes_zeroes(&self) -> bool {
        self.members
            .iter()
            .all(|member| member.device.takes_zeroes())
    }

    fn begin(&mut self, seed: u64, index: u64) -> f64 {
        self.pending.clear();
        self.vacant.clear();
        // All members have the array's variability, and so the same factor.
        let mut factor = 1.0;
        for member in &mut self.members {
            factor = member.device.begin(seed, index);
            member.look_ahead();
        }
        factor
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        self.members.first()?.device.host_time(seed, index)
    }

    fn expect_programs(&mut self) {
        for member in &mut self.members {
            member.device.expect_programs();
        }
    }

    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let size = command.size_bytes.into();
        match self.stripes.only(command.offset_bytes, size) {
            Some(piece) if command.kind != CommandKind::Flush => {
                let turn = piece.member as usize;
                let part = Command {
                    offset_bytes: piece.offset,
                    ..*command
                };
                let tag = self.members[turn].submit(WHOLE, &part, now)?;
                Ok(self.tag(tag, turn))
            }
            _ => self.submit_parted(command, now),
        }
    }

    fn hint(&self, offset_bytes: u64) {
        let (member, offset) = self.stripes.place(offset_bytes);
        self.members[member as usize].device.hint(offset);
    }

    fn hint_overwrite(&self, offset_bytes: u64) {
        let (member, offset) = self.stripes.place(offset_bytes);
        self.members[member as usize].device.hint_overwrite(offset);
    }

    fn next_event(&self) -> Option<u64> {
        let mut at = NEVER;
        for member in &self.members {
            at = at.min(member.next);
        }
        (at != NEVER).then_some(at)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        let before = completions.len();
        loop {
            let (member, until) = self.first();
            let at = self.members[member].next;
            if at > limit || at == NEVER || completions.len() > before {
                return Ok((at != NEVER).then_some(at));
            }
            self.serve_member(member, until.min(limit), completions)?;
        }
    }

    fn would_lose(&self, offset_bytes: u64) -> bool {
        let (member, offset) = self.stripes.place(offset_bytes);
        self.members[member as usize].device.would_lose(offset)
    }

    fn drain(&mut self, now: u64) -> bool {
        let mut is_left = false;
        for member in &mut self.members {
            is_left |= member.device.drain(now);
            member.look_ahead();
        }
        is_left
    }

    fn fullness(&self) -> Fullness {
        let mut all = Fullness::default();
        for member in &self.members {
            all += member.device.fullness();
        }
        all
    }

    fn open_window(&mut self, at: u64) {
        for member in &mut self.members {
            member.device.open_window(at);
        }
    }

    fn close_window(&mut self, at: u64, outcome: &mut Outcome) {
        let window = outcome.window;
        let close = |member: &mut Member| {
            let mut own = Outcome {
                window,
                ..Outcome::default()
            };
            member.device.close_window(at, &mut own);
            own
        };
        outcome.media = Media::Members(self.members.iter_mut().map(close).collect());
    }

    fn end(&mut self, outcome: &mut Outcome) -> Result<(), SimError> {
        for (member, own) in self.members.iter_mut().zip(outcome.media.members_mut()) {
            member.device.end(own)?;
        }
        outcome.energy = Energy::of_members(&outcome.media, outcome.measured_requests);
        Ok(())
    }

    fn reset(&mut self) {
        for member in &mut self.members {
            member.device.reset();
        }
    }

    fn changes(&self) -> Vec<u8> {
        state::changes(self.members.iter().map(|member| &*member.device))
    }

    fn take_up(&mut self, changes: &[u8]) -> Result<(), SnapshotError> {
        let devices = self.members.iter_mut().map(|member| &mut *member.device);
        let taken = state::take_up(devices, changes);
        if taken.is_err() {
            self.reset();
        }
        taken
    }
}
