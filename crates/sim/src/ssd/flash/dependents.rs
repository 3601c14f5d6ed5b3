//! Operations that wait for operations on other units. There are two kinds of drives with such
//! operations. If the map lies on the flash, an operation on data waits for the read of its map
//! entry. If pages move to other planes, the program waits for the read.
//!
//! ```text
//!   emitted ─ waits? ─ no ─────────────────────────────────────> dispatch
//!                └ yes ─> line of its unit ─ its read complete ──────^
//! ```
//!
//! A map read that a host read waits for is as urgent as that read: it may overtake what that read
//! may overtake ([`super::overtaking`]). With `scheduling.map_reads_first` it goes before
//! everything, even if a write waits for it. If a map page is read only to be rewritten, the read
//! is not urgent and keeps its place.
//!
//! Reads of the host and of the map pass waiting operations, and later operations pass them.
//! Programs, erases and reads of collection keep their order: behind a waiting one they wait too.
//! An erase also waits for every read before it. Nothing passes an operation on the same page.
//! Other drives have no lines.

use drivelab_ftl::{Cause, NOTHING, Operation, OperationKind};

use super::queue::Account;
use super::registers::is_copied_back;
use super::{Flash, Waits, Whose};
use crate::ssd::timeline::Timeline;

/// An operation that has not been handed over yet.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Its place in the order of emission.
    place: u64,
    operation: Operation,
    account: (Account, Whose),
    /// The ticket of the operation it waits for; [`NOTHING`] if it only waits for its turn.
    ticket: u32,
}

impl Held {
    /// Whether later operations may pass it and it may pass earlier ones.
    fn is_free(&self) -> bool {
        let Operation { kind, cause, .. } = self.operation;
        kind == OperationKind::Read && matches!(cause, Cause::Host | Cause::Map)
    }

    /// Whether it must wait behind the operations `before`, of which `ordered` are not free.
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

/// The operations that wait for a unit, in order of emission. Those that need not wait have left.
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

    /// Nobody needs to wait for `ticket` any more: takes the operations that may leave.
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
    /// The firmware, which rewrites a page of the map.
    Firmware,
    /// Operations of the host, or the program of a move on another plane. They wait for this
    /// ticket; [`NOTHING`] until one is taken.
    Host(u32),
}

/// The lines of all units.
#[derive(Clone, Debug)]
pub(super) struct Dependents {
    lines: Vec<Line>,
    /// For each ticket, the units on which somebody waits for it.
    tickets: Vec<Vec<u32>>,
    vacant: Vec<u32>,
    emitted: u64,
    /// Empty; kept to reuse its memory.
    leaving: Vec<Held>,
    /// Likewise: for each emitted operation, who waits for it.
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

    /// Puts an operation in the line of `unit` if it has to wait. Returns whether it has.
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

    /// The operation of `ticket` completed: takes what waited for it, and what waited behind that,
    /// in order of emission.
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

    /// Who waits for each of `operations`. No tickets are taken yet.
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
    /// Whether operations may wait for operations on other units.
    pub(super) fn waits_in_turn(&self) -> bool {
        self.dependents.is_some()
    }

    /// Like [`Flash::enter_all`], for a firmware whose operations wait for others.
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
                // A map read may find that there is no data to read.
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
                // A host read may wait for it, and such a read goes no earlier than the map read.
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

    /// Whether the line of `unit` is empty.
    fn has_no_line(&self, unit: u32) -> bool {
        let dependents = self.dependents.as_ref();
        dependents.is_some_and(|dependents| dependents.lines[unit as usize].held.is_empty())
    }

    /// The operation of `ticket` completed: what need not wait any more continues.
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
