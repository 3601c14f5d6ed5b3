//! Operations that wait for others on other units: those of a drive whose map lies on the
//! flash, where the data's operation waits for the read of its map entry, and those of one that
//! moves pages to other planes, where the program waits for the read.
//!
//! ```text
//!   emitted ─ waits? ─ no ─────────────────────────────────────> dispatch
//!                └ yes ─> line of its unit ─ its read complete ──────^
//! ```
//!
//! A read of the map that a read of the host waits for is as urgent as that read: it may overtake
//! what that read may overtake ([`super::overtaking`]); with `scheduling.map_reads_first` it goes
//! before everything, even where a write waits for it. A page of the map that is read only to be
//! written anew is urgent to nobody, and keeps its place.
//!
//! Reads of the host and of the map pass what waits, and what comes later passes them. Programs,
//! erases and what collection reads keep their order: behind one of them that waits they wait too.
//! An erase waits for every read before it as well. Nothing passes an operation on the same page.
//! Other drives have no lines.

use drivelab_ftl::{Cause, NOTHING, Operation, OperationKind};

use super::queue::Account;
use super::registers::is_copied_back;
use super::{Flash, Waits, Whose};
use crate::ssd::timeline::Timeline;

/// An operation that is not yet handed over.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// In the order of emission.
    place: u64,
    operation: Operation,
    account: (Account, Whose),
    /// Of the operation it waits for; [`NOTHING`] if only for its turn.
    ticket: u32,
}

impl Held {
    /// May be passed by what comes later, and pass what came before.
    fn is_free(&self) -> bool {
        let Operation { kind, cause, .. } = self.operation;
        kind == OperationKind::Read && matches!(cause, Cause::Host | Cause::Map)
    }

    /// Whether it waits, with `before` in front of it, of which `ordered` are not free.
    fn waits_behind(&self, before: &[Self], ordered: u32) -> bool {
        let Operation { kind, lpn, .. } = self.operation;
        let same = |before: &Self| before.operation.lpn == lpn;
        self.ticket != NOTHING
            || match kind {
                _ if self.is_free() => {
                    ordered > 0
                        && before
                            .iter()
                            .any(|before| same(before) && !before.is_free())
                }
                OperationKind::Erase => !before.is_empty(),
                OperationKind::Read | OperationKind::Program => {
                    ordered > 0 || before.iter().any(same)
                }
            }
    }
}

/// What waits for a unit, in the order of emission. Whatever need not wait has left.
#[derive(Clone, Debug, Default)]
struct Line {
    held: Vec<Held>,
    /// How many of them are not free.
    ordered: u32,
}

impl Line {
    fn push(&mut self, held: Held) {
        self.ordered += u32::from(!held.is_free());
        self.held.push(held);
    }

    /// `ticket` is waited for no more: takes what may leave.
    fn release(&mut self, ticket: u32, leaving: &mut Vec<Held>) {
        let (mut staying, mut ordered) = (0, 0);
        for place in 0..self.held.len() {
            let mut held = self.held[place];
            if held.ticket == ticket {
                held.ticket = NOTHING;
            }
            if held.waits_behind(&self.held[..staying], ordered) {
                ordered += u32::from(!held.is_free());
                self.held[staying] = held;
                staying += 1;
            } else {
                leaving.push(held);
            }
        }
        self.held.truncate(staying);
        self.ordered = ordered;
    }
}

/// Who waits for an operation, among those emitted with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follower {
    Nobody,
    /// The firmware: it writes a page of the map anew.
    Firmware,
    /// The host's operations, or the program of a move on another plane, by this ticket;
    /// [`NOTHING`] until it is taken.
    Host(u32),
}

/// The lines of all units.
#[derive(Clone, Debug)]
pub(super) struct Dependents {
    lines: Vec<Line>,
    /// By ticket, the units on which somebody waits for it.
    tickets: Vec<Vec<u32>>,
    vacant: Vec<u32>,
    emitted: u64,
    /// Empty, for its memory.
    leaving: Vec<Held>,
    /// Likewise: of each operation that is emitted.
    followers: Vec<Follower>,
}

impl Dependents {
    pub fn new(units: u32) -> Box<Self> {
        Box::new(Self {
            lines: vec![Line::default(); units as usize],
            tickets: Vec::new(),
            vacant: Vec::new(),
            emitted: 0,
            leaving: Vec::new(),
            followers: Vec::new(),
        })
    }

    fn take_ticket(&mut self) -> u32 {
        self.vacant.pop().unwrap_or_else(|| {
            self.tickets.push(Vec::new());
            (self.tickets.len() - 1) as u32
        })
    }

    /// Puts an operation in the line of `unit`, if it has to wait; answers whether it has.
    fn holds(
        &mut self,
        unit: u32,
        operation: &Operation,
        account: (Account, Whose),
        ticket: u32,
    ) -> bool {
        let line = &mut self.lines[unit as usize];
        let held = Held {
            place: self.emitted,
            operation: *operation,
            account,
            ticket,
        };
        if !held.waits_behind(&line.held, line.ordered) {
            return false;
        }
        line.push(held);
        self.emitted += 1;
        if let Some(units) = self.tickets.get_mut(ticket as usize)
            && !units.contains(&unit)
        {
            units.push(unit);
        }
        true
    }

    /// The operation that `ticket` stands for is complete: takes what waited for it, and what
    /// waited behind that, in the order of emission.
    fn release(&mut self, ticket: u32) -> Vec<Held> {
        let mut leaving = std::mem::take(&mut self.leaving);
        for &unit in &self.tickets[ticket as usize] {
            self.lines[unit as usize].release(ticket, &mut leaving);
        }
        self.tickets[ticket as usize].clear();
        self.vacant.push(ticket);
        leaving.sort_unstable_by_key(|held| held.place);
        leaving
    }

    /// Who waits for each of `operations`; no tickets are taken yet.
    fn look_through(&mut self, operations: &[Operation]) -> Vec<Follower> {
        let mut followers = std::mem::take(&mut self.followers);
        followers.clear();
        followers.resize(operations.len(), Follower::Nobody);
        for operation in operations {
            let Some(follower) = followers.get_mut(operation.after as usize) else {
                continue;
            };
            let source = operations.get(operation.after as usize);
            if operation.cause == Cause::Host || source.is_some_and(|s| moves_on(s, operation)) {
                *follower = Follower::Host(NOTHING);
            } else if *follower == Follower::Nobody {
                *follower = Follower::Firmware;
            }
        }
        followers
    }
}

impl Flash {
    /// Whether operations may wait for others on other units.
    pub(super) fn waits_in_turn(&self) -> bool {
        self.dependents.is_some()
    }

    /// As [`Flash::enter_all`] of a firmware whose operations wait for others.
    #[inline(never)]
    pub(super) fn enter_in_turn(
        &mut self,
        operations: &[Operation],
        owner: (Account, Whose),
        waits: Waits,
        timeline: &mut Timeline,
        now: u64,
    ) -> u32 {
        let Some(dependents) = &mut self.dependents else {
            return 0;
        };
        let mut followers = dependents.look_through(operations);
        let whose_lookup = match waits {
            _ if self.map_reads_first => Whose {
                reader: Some(0),
                ..owner.1
            },
            Waits::All => owner.1,
            Waits::Host | Waits::Programs => Whose::NOBODYS,
        };
        let (mut pending, mut place) = (0, 0);
        while let Some(operation) = operations.get(place) {
            let index = place;
            place += 1;
            let unit = self.unit_of(operation.plane);
            if self.moves && operation.cause != Cause::Host && self.has_no_line(unit) {
                let moves = self.enter_moves(&operations[index..], timeline, now);
                if moves > 0 {
                    place = index + 2 * moves;
                    continue;
                }
            }
            let is_of_host = operation.cause == Cause::Host;
            let is_awaited = match waits {
                // What a read finds in the map may be that there is nothing to read.
                Waits::All => {
                    is_of_host || (reads_map(operation) && followers[index] == Follower::Nobody)
                }
                Waits::Host => is_of_host,
                Waits::Programs => is_of_host && operation.kind == OperationKind::Program,
            };
            pending += u32::from(is_awaited);
            let before = index.checked_sub(1).map(|before| &operations[before]);
            let mut account = if is_awaited {
                owner
            } else if self.has_copyback && is_copied_back(before, operation, &operations[place..]) {
                (Account::COPYBACK, Whose::NOBODYS)
            } else {
                (Account::NOBODY, Whose::NOBODYS)
            };
            let source = operation.after as usize;
            let ticket = match (operations.get(source), followers.get(source)) {
                (Some(read), Some(&Follower::Host(taken)))
                    if (is_of_host && reads_map(read)) || moves_on(read, operation) =>
                {
                    taken
                }
                _ => NOTHING,
            };
            if !is_of_host
                && operation.kind == OperationKind::Read
                && let Follower::Host(taken) = &mut followers[index]
                && let Some(dependents) = &mut self.dependents
            {
                *taken = dependents.take_ticket();
                // What waits for it may be a read of the host's, and goes no earlier than it.
                let whose = match reads_map(operation) {
                    true => whose_lookup,
                    false => Whose::NOBODYS,
                };
                account = (Account::awaited(*taken), whose);
            }
            let waits = (self.dependents.as_mut())
                .is_some_and(|dependents| dependents.holds(unit, operation, account, ticket));
            if !waits {
                self.enter_either(operation, account, timeline, now);
            }
        }
        if let Some(dependents) = &mut self.dependents {
            dependents.followers = followers;
        }
        pending
    }

    /// Whether nothing waits in the line of `unit`.
    fn has_no_line(&self, unit: u32) -> bool {
        let dependents = self.dependents.as_ref();
        dependents.is_some_and(|dependents| dependents.lines[unit as usize].held.is_empty())
    }

    /// The operation that `ticket` stands for is complete: what need not wait any more goes on.
    #[cold]
    #[inline(never)]
    pub fn looked_up(&mut self, ticket: u32, timeline: &mut Timeline, now: u64) {
        let Some(dependents) = &mut self.dependents else {
            return;
        };
        let mut leaving = dependents.release(ticket);
        for held in &leaving {
            self.enter_either(&held.operation, held.account, timeline, now);
        }
        leaving.clear();
        if let Some(dependents) = &mut self.dependents {
            dependents.leaving = leaving;
        }
    }
}

/// Whether `program` moves what `read` reads to another plane.
fn moves_on(read: &Operation, program: &Operation) -> bool {
    read.cause != Cause::Host
        && read.cause == program.cause
        && read.kind == OperationKind::Read
        && program.kind == OperationKind::Program
        && read.cause != Cause::Map
        && read.plane != program.plane
}

/// Whether an operation reads a page of the map.
fn reads_map(operation: &Operation) -> bool {
    operation.cause == Cause::Map && operation.kind == OperationKind::Read
}
