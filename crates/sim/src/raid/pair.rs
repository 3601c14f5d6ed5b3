//! Two members, and the short path that most of their commands take.
//!
//! ```text
//!   member ── one command is complete ──> counted ──> next of its stream ──> on one member
//!     ^                                                                           │
//!     └───────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Everything else is left to the loop for any number of members: split commands, several
//! completions at once, edges of the window, arrivals and errors. Both serve the same events in the
//! same order. On the short path a command costs little more than on a single drive. Without it,
//! reads of 4 KiB from an array of two take a fifth longer, and half writes a tenth
//! (benches/README.md).

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

/// Why a command or an event cannot take the short path.
enum Unlike {
    /// Something other than an event of a member is due first.
    Due,
    /// In the current member, several commands completed, or a part of one, or something failed.
    Told,
    /// A command was counted, and either the window has an edge or the stream sends nothing after
    /// it.
    Counted(Option<Edge>, u16),
    /// The next command of a stream is not a request of a plain closed loop.
    Other(u16),
    /// The next command of a stream must be split.
    Parted(u16, Command),
    /// A member that has just taken a command has something to report.
    AtOnce(usize),
}

/// The current member and the other one.
struct Pair<'a, F> {
    mine: &'a mut Worker<F>,
    other: &'a mut Worker<F>,
    /// The index of the current member, 0 or 1.
    turn: usize,
}

/// The tables of a pair, for prefetching.
struct TablesOf<'a, F> {
    pair: &'a Pair<'a, F>,
    stripes: &'a Stripes,
}

impl<F: Restorable> TablesOf<'_, F> {
    /// The member on which a sector lies, and its byte offset there.
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
    /// Serves events in order of time until one cannot take the short path. At the same moment the
    /// first member goes first.
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
                // A real branch, not a branchless choice. The next event of a member is known late;
                // the processor predicts which member is next and works ahead.
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
                    // The command that it made room for completed or failed at once, after it.
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

    /// Counts the completed command of the current member and submits the next of its stream.
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
    /// Serves two members while everything takes the short path, beginning with the current member,
    /// and then handles the first exception. Anything due besides events is left to the caller.
    ///
    /// # Errors
    /// [`SimError`] if a command cannot be served.
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
