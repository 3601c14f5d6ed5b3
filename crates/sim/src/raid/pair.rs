//! Two members, and the way that most of their commands go.
//!
//! ```text
//!   member ── one command is complete ──> counted ──> next of its stream ──> on one member
//!     ^                                                                           │
//!     └───────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! All else is left to the loop of any number of members: commands in parts, several complete
//! at once, edges of the window, arrivals, what goes wrong. Both serve the same events in the
//! same order; here a command costs little more than on a drive alone. Without this way reads of
//! 4 KiB from an array of two take a fifth longer, half writes a tenth (benches/README.md).

use std::hint::{black_box, select_unpredictable};
use std::mem::swap;

use drivelab_ftl::Restorable;
use drivelab_request::Command;

use super::striped::{Striped, WHOLE};
use super::stripes::Stripes;
use crate::event::EventKey;
use crate::host::load::{SECTOR_SHIFT, Tables};
use crate::host::users::{Edge, Users};
use crate::host::{Device, SimError};
use crate::ssd::Worker;

/// Why a command, or an event, does not go the way of most.
enum Unlike {
    /// Something other than an event of a member is due first.
    Due,
    /// Of the member whose turn it is several are complete, or a part of one, or something went
    /// wrong.
    Told,
    /// One was counted: with an edge of the window, or nothing of its stream follows.
    Counted(Option<Edge>, u16),
    /// The next of a stream is no request of a plain closed loop.
    Other(u16),
    /// The next of a stream is in parts.
    Parted(u16, Command),
    /// Something is to be told of a member that has just taken a command.
    AtOnce(usize),
}

/// The member whose turn it is, and the other.
struct Pair<'a, F> {
    mine: &'a mut Worker<F>,
    other: &'a mut Worker<F>,
    /// Which is whose turn it is: 0 or 1.
    turn: usize,
}

/// What a pair will look up.
struct TablesOf<'a, F> {
    pair: &'a Pair<'a, F>,
    stripes: &'a Stripes,
}

impl<F: Restorable> TablesOf<'_, F> {
    /// The member on which a sector lies, and where on it in bytes.
    #[inline(always)]
    fn place(&self, sector: u32) -> (&Worker<F>, u64) {
        let (member, offset) = self.stripes.place(u64::from(sector) << SECTOR_SHIFT);
        let pair = self.pair;
        let is_mine = member as usize == pair.turn;
        let worker = select_unpredictable(is_mine, &*pair.mine, &*pair.other);
        (worker, offset)
    }
}

impl<F: Restorable> Tables for TablesOf<'_, F> {
    #[inline(always)]
    fn hint(&self, sector: u32) {
        let (worker, offset) = self.place(sector);
        worker.hint(offset);
    }

    #[inline(always)]
    fn hint_overwrite(&self, sector: u32) {
        let (worker, offset) = self.place(sector);
        worker.hint_overwrite(offset);
    }
}

impl<F: Restorable> Pair<'_, F> {
    /// Serves events in turn of time, of one moment the first member's first, until something
    /// is unlike most.
    #[inline(always)]
    fn serve(
        &mut self,
        users: &mut Users,
        stripes: &Stripes,
        due: EventKey,
        now: &mut u64,
    ) -> Result<Unlike, SimError> {
        let mut others = self.other.next_key().with_leaf(self.turn ^ 1);
        loop {
            let mut next = self.mine.next_key().with_leaf(self.turn);
            if others < next {
                // A branch, not a choice without one: what happens next in a member is known late,
                // and the processor guesses which member it is and goes on meanwhile.
                black_box(());
                swap(&mut self.mine, &mut self.other);
                swap(&mut next, &mut others);
                self.turn ^= 1;
            }
            if next >= due {
                return Ok(Unlike::Due);
            }
            let slot = match self.mine.step() {
                Some(slot) if self.mine.goes_on() => slot,
                Some(slot) => {
                    // What it made way for was complete or failed at once, after it.
                    self.mine.completed().insert(0, slot);
                    return Ok(Unlike::Told);
                }
                None if self.mine.goes_on() => continue,
                None => match self.mine.completed().pop() {
                    Some(slot) => slot,
                    None => return Ok(Unlike::Told),
                },
            };
            *now = self.mine.now();
            if let Some(unlike) = self.settle(slot, users, stripes, *now)? {
                return Ok(unlike);
            }
            others = self.other.next_key().with_leaf(self.turn ^ 1);
        }
    }

    /// Counts the command that is complete in the member whose turn it is, and submits the next
    /// of its stream.
    #[inline(always)]
    fn settle(
        &mut self,
        slot: u32,
        users: &mut Users,
        stripes: &Stripes,
        now: u64,
    ) -> Result<Option<Unlike>, SimError> {
        let entry = self.mine.slot(slot);
        if entry.number() != WHOLE || !self.mine.goes_on() {
            self.mine.completed().push(slot);
            return Ok(Some(Unlike::Told));
        }
        let stream = entry.stream();
        let of = (stream, entry.command());
        let edge = users.count(of, now - entry.submitted(), entry.parts(), now);
        self.mine.vacate(slot);
        if edge.is_some() || !users.goes_on(stream) {
            return Ok(Some(Unlike::Counted(edge, stream)));
        }
        let tables = TablesOf {
            pair: self,
            stripes,
        };
        let running = &mut users.streams[stream as usize];
        let Some(request) = running.take_request(&tables, SECTOR_SHIFT) else {
            return Ok(Some(Unlike::Other(stream)));
        };
        users.submit_inside(stream, now)?;
        let Some(piece) = stripes.only(request.offset_bytes, request.size_bytes.into()) else {
            return Ok(Some(Unlike::Parted(stream, request.into())));
        };
        let part = Command {
            offset_bytes: piece.offset,
            ..request.into()
        };
        let member = piece.member as usize;
        let worker = select_unpredictable(member == self.turn, &mut *self.mine, &mut *self.other);
        worker.submit_of(stream, part, WHOLE, now);
        Ok((!worker.goes_on()).then_some(Unlike::AtOnce(member)))
    }
}

impl<F: Restorable> Striped<F> {
    /// Serves two members as long as all goes the way of most, beginning with the one whose turn
    /// it is, and then what is unlike; what is due besides events is left.
    ///
    /// # Errors
    /// [`SimError`] when a command cannot be served.
    #[inline(never)]
    pub(super) fn advance_pair(&mut self, turn: &mut usize) -> Result<(), SimError> {
        loop {
            let [first, second] = &mut self.members[..] else {
                return Ok(());
            };
            if !(first.goes_on() && second.goes_on()) {
                return Ok(());
            }
            let mut pair = Pair {
                mine: first,
                other: second,
                turn: *turn,
            };
            if *turn == 1 {
                swap(&mut pair.mine, &mut pair.other);
            }
            let due = EventKey::new(self.due, 0);
            let unlike = pair.serve(&mut self.users, &self.stripes, due, &mut self.now);
            *turn = pair.turn;
            for (next, worker) in self.next.iter_mut().zip(&self.members) {
                *next = worker.next();
            }
            match unlike? {
                Unlike::Due => return Ok(()),
                Unlike::Told => self.told(*turn)?,
                Unlike::Counted(edge, stream) => {
                    let stream = self.counted(edge, stream);
                    self.follow(stream)?;
                }
                Unlike::Other(stream) => self.submit_other(stream)?,
                Unlike::Parted(stream, command) => self.submit_parted(stream, &command),
                Unlike::AtOnce(member) => {
                    self.next[member] = self.now;
                    return Ok(());
                }
            }
        }
    }
}
