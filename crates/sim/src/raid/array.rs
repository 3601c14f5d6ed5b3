//! RAID-0 as a device: commands split at stripes, joined when the last piece is complete.
//!
//! ```text
//!   command ─> pieces ─┬─> member 0 ─┐
//!                      └─> member 1 ─┴─> complete with the last, whose parts its latency has
//! ```
//!
//! The controller of the array takes no time of its own. A piece holds what lies on one member,
//! however many stripes that is. A flush goes to every member.

use drivelab_request::{Command, CommandKind};

use super::joined::join;
use super::stripes::{Piece, Stripes};
use crate::host::{Completion, Device, HostTime, Outcome, PartNames, SimError};

const NEVER: u64 = u64::MAX;

/// A command on its way.
#[derive(Clone, Copy, Debug)]
struct Request {
    tag: u32,
    /// Pieces that are not complete.
    pending: u32,
}

/// Drives of one kind side by side.
pub struct Array {
    members: Vec<Box<dyn Device + Send>>,
    /// When something happens next in each, [`NEVER`] for nothing.
    next: Vec<u64>,
    stripes: Stripes,
    capacity_bytes: u64,
    requests: Vec<Request>,
    vacant_requests: Vec<u32>,
    /// By the tag of a piece its request.
    pieces: Vec<u32>,
    vacant_pieces: Vec<u32>,
    /// What a member was served last; kept for its memory.
    served: Vec<Completion>,
}

impl Array {
    /// An array of `members`, at least one, all alike.
    #[must_use]
    pub fn new(members: Vec<Box<dyn Device + Send>>, stripe_bytes: u64) -> Self {
        let stripes = Stripes {
            members: members.len() as u32,
            stripe_bytes,
        };
        let smallest = members.iter().map(|m| m.capacity_bytes()).min();
        Self {
            next: vec![NEVER; members.len()],
            capacity_bytes: stripes.capacity_bytes(smallest.unwrap_or(0)),
            members,
            stripes,
            requests: Vec::new(),
            vacant_requests: Vec::new(),
            pieces: Vec::new(),
            vacant_pieces: Vec::new(),
            served: Vec::new(),
        }
    }

    fn submit_piece(
        &mut self,
        request: u32,
        piece: Piece,
        command: &Command,
        now: u64,
    ) -> Result<(), SimError> {
        let tag = match self.vacant_pieces.pop() {
            Some(tag) => {
                self.pieces[tag as usize] = request;
                tag
            }
            None => {
                self.pieces.push(request);
                (self.pieces.len() - 1) as u32
            }
        };
        let command = Command {
            offset_bytes: piece.offset,
            size_bytes: piece.size as u32,
            ..*command
        };
        let place = piece.member as usize;
        self.members[place].submit(tag, &command, now)?;
        self.look_ahead(place);
        Ok(())
    }

    fn look_ahead(&mut self, member: usize) {
        self.next[member] = self.members[member].next_event().unwrap_or(NEVER);
    }

    /// The member in which something happens next, the first of several.
    fn first(&self) -> usize {
        let mut first = 0;
        for (member, at) in self.next.iter().enumerate() {
            if *at < self.next[first] {
                first = member;
            }
        }
        first
    }

    /// Until when nothing happens in members other than `member`, which is the first: of those
    /// before it at least a moment later.
    fn others_next(&self, member: usize) -> u64 {
        let mut until = NEVER;
        for (other, &at) in self.next.iter().enumerate() {
            if other != member {
                until = until.min(if other < member { at - 1 } else { at });
            }
        }
        until
    }

    /// Serves a member until commands of it are complete, no later than `limit`; those whose
    /// last piece that was are complete.
    fn serve_member(
        &mut self,
        member: usize,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        self.members[member].serve_until(limit, &mut self.served)?;
        self.look_ahead(member);
        for piece in self.served.drain(..) {
            let place = self.pieces[piece.tag as usize];
            self.vacant_pieces.push(piece.tag);
            let request = &mut self.requests[place as usize];
            request.pending -= 1;
            if request.pending == 0 {
                self.vacant_requests.push(place);
                completions.push(Completion {
                    tag: request.tag,
                    ..piece
                });
            }
        }
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
            .map_or(&[], |member| member.part_names())
    }

    fn takes_trims(&self) -> bool {
        self.members.iter().all(|member| member.takes_trims())
    }

    fn begin(&mut self, seed: u64, index: u64) -> f64 {
        self.requests.clear();
        self.vacant_requests.clear();
        self.pieces.clear();
        self.vacant_pieces.clear();
        // All have the array's variability, and so the same factor.
        let mut factor = 1.0;
        for member in 0..self.members.len() {
            factor = self.members[member].begin(seed, index);
            self.look_ahead(member);
        }
        factor
    }

    fn host_time(&self, seed: u64, index: u64) -> Option<HostTime> {
        self.members.first()?.host_time(seed, index)
    }

    fn submit(&mut self, tag: u32, command: &Command, now: u64) -> Result<(), SimError> {
        let request = Request { tag, pending: 0 };
        let place = match self.vacant_requests.pop() {
            Some(place) => {
                self.requests[place as usize] = request;
                place
            }
            None => {
                self.requests.push(request);
                (self.requests.len() - 1) as u32
            }
        };
        if command.kind == CommandKind::Flush {
            let members = self.stripes.members;
            self.requests[place as usize].pending = members;
            for member in 0..members {
                let piece = Piece {
                    member,
                    offset: 0,
                    size: 0,
                };
                self.submit_piece(place, piece, command, now)?;
            }
            return Ok(());
        }
        let size = u64::from(command.size_bytes);
        let pieces = self.stripes.pieces(command.offset_bytes, size);
        self.requests[place as usize].pending = pieces.size_hint().0 as u32;
        for piece in pieces {
            self.submit_piece(place, piece, command, now)?;
        }
        Ok(())
    }

    fn hint(&self, offset_bytes: u64) {
        if let Some(piece) = self.stripes.pieces(offset_bytes, 1).next() {
            self.members[piece.member as usize].hint(piece.offset);
        }
    }

    fn hint_overwrite(&self, offset_bytes: u64) {
        if let Some(piece) = self.stripes.pieces(offset_bytes, 1).next() {
            self.members[piece.member as usize].hint_overwrite(piece.offset);
        }
    }

    fn next_event(&self) -> Option<u64> {
        let at = self.next[self.first()];
        (at != NEVER).then_some(at)
    }

    fn serve(&mut self, completions: &mut Vec<Completion>) -> Result<(), SimError> {
        let now = self.next[self.first()];
        self.serve_member(self.first(), now, completions)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<(), SimError> {
        while completions.is_empty() {
            let member = self.first();
            if self.next[member] > limit {
                break;
            }
            // Alone until something happens in another.
            let others = self.others_next(member);
            self.serve_member(member, others.min(limit), completions)?;
        }
        Ok(())
    }

    fn drain(&mut self, now: u64) -> bool {
        let mut is_left = false;
        for member in 0..self.members.len() {
            is_left |= self.members[member].drain(now);
            self.look_ahead(member);
        }
        is_left
    }

    fn open_window(&mut self, at: u64) {
        for member in &mut self.members {
            member.open_window(at);
        }
    }

    fn close_window(&mut self, at: u64, outcome: &mut Outcome) {
        for member in &mut self.members {
            let mut told = Outcome {
                window: outcome.window,
                ..Outcome::default()
            };
            member.close_window(at, &mut told);
            outcome.members.push(told);
        }
    }

    fn end(&mut self, outcome: &mut Outcome) -> Result<(), SimError> {
        for (member, told) in self.members.iter_mut().zip(&mut outcome.members) {
            member.end(told)?;
        }
        join(outcome);
        Ok(())
    }

    fn reset(&mut self) {
        for member in &mut self.members {
            member.reset();
        }
    }
}
