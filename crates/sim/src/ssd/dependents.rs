//! Operations that wait for others on other units: those of a drive whose map lies on the
//! flash, where the data's operation waits for the read of its map entry.
//!
//! ```text
//!   emitted ─ waits? ─ no ─────────────────────────────────────> dispatch
//!                └ yes ─> line of its unit ─ its read complete ──────^
//! ```
//!
//! A read that waits lets others by. Programs, erases and what collection reads keep their
//! order: behind one that waits they wait too; an erase also for every read before it, and
//! nothing passes an operation on the same page. Drives without such a map have no lines.

use drivelab_ftl::{Cause, Firmware, NOTHING, Operation, OperationKind};

use super::engine::Engine;
use super::host::Waits;
use super::queue::{Account, Beneficiary};
use super::registers::is_copied_back;

/// An operation that is not yet handed over.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// In the order of emission.
    place: u64,
    operation: Operation,
    account: Account,
    /// Of the operation it waits for; [`NOTHING`] if only for its turn.
    ticket: u32,
}

impl Held {
    /// May be passed by what comes later, and pass what came before.
    fn is_free(&self) -> bool {
        let Operation { kind, cause, .. } = self.operation;
        kind == OperationKind::Read && matches!(cause, Cause::Host | Cause::Map)
    }
}

/// The lines of all units.
#[derive(Clone, Debug)]
pub(super) struct Dependents {
    lines: Vec<Vec<Held>>,
    /// By ticket, the units on which somebody waits for it.
    tickets: Vec<Vec<u32>>,
    vacant: Vec<u32>,
    emitted: u64,
}

impl Dependents {
    pub fn new(units: u32) -> Box<Self> {
        Box::new(Self {
            lines: vec![Vec::new(); units as usize],
            tickets: Vec::new(),
            vacant: Vec::new(),
            emitted: 0,
        })
    }

    fn take_ticket(&mut self) -> u32 {
        self.vacant.pop().unwrap_or_else(|| {
            self.tickets.push(Vec::new());
            (self.tickets.len() - 1) as u32
        })
    }

    /// Puts an operation in the line of `unit`.
    fn hold(&mut self, unit: u32, operation: Operation, account: Account, ticket: u32) {
        if let Some(units) = self.tickets.get_mut(ticket as usize)
            && !units.contains(&unit)
        {
            units.push(unit);
        }
        self.lines[unit as usize].push(Held {
            place: self.emitted,
            operation,
            account,
            ticket,
        });
        self.emitted += 1;
    }

    /// Takes what may leave the line of `unit`.
    fn leave(&mut self, unit: u32, leaving: &mut Vec<Held>) {
        let mut staying: Vec<Held> = Vec::new();
        for held in &self.lines[unit as usize] {
            let Operation { kind, lpn, .. } = held.operation;
            let same = |before: &Held| before.operation.lpn == lpn;
            let is_kept = held.ticket != NOTHING
                || match kind {
                    _ if held.is_free() => staying
                        .iter()
                        .any(|before| !before.is_free() && same(before)),
                    OperationKind::Erase => !staying.is_empty(),
                    OperationKind::Read | OperationKind::Program => staying
                        .iter()
                        .any(|before| !before.is_free() || same(before)),
                };
            if is_kept {
                staying.push(*held);
            } else {
                leaving.push(*held);
            }
        }
        self.lines[unit as usize] = staying;
    }
}

impl<F: Firmware> Engine<F> {
    /// As [`Engine::emit`] of a firmware whose operations wait for others.
    #[inline(never)]
    pub(super) fn emit_in_turn(&mut self, account: Account, waits: Waits, now: u64) -> u32 {
        let emitted = self.out.take();
        let operations = emitted.as_slice();
        let mut has_dependents = vec![false; operations.len()];
        for operation in operations {
            if let Some(has) = has_dependents.get_mut(operation.after as usize) {
                *has = true;
            }
        }
        let mut tickets = vec![NOTHING; operations.len()];
        let (mut pending, mut place) = (0, 0);
        while let Some(operation) = operations.get(place) {
            let index = place;
            place += 1;
            let unit = self.unit_of(operation.plane);
            if self.flash.moves && operation.cause != Cause::Host && self.has_no_line(unit) {
                let moves = self.enter_moves(&operations[index..], now);
                if moves > 0 {
                    place = index + 2 * moves;
                    continue;
                }
            }
            let is_of_host = operation.cause == Cause::Host;
            let is_awaited = match waits {
                // What a read finds in the map may be that there is nothing to read.
                Waits::All => is_of_host || (is_lookup(operation) && !has_dependents[index]),
                Waits::Host => is_of_host,
                Waits::Programs => is_of_host && operation.kind == OperationKind::Program,
            };
            pending += u32::from(is_awaited);
            let before = index.checked_sub(1).map(|before| &operations[before]);
            let mut account = if is_awaited {
                account
            } else if self.flash.has_copyback
                && is_copied_back(before, operation, &operations[place..])
            {
                Account::COPYBACK
            } else {
                Account::NOBODY
            };
            let ticket = match operations.get(operation.after as usize) {
                Some(source) if is_of_host && is_lookup(source) => {
                    tickets[operation.after as usize]
                }
                _ => NOTHING,
            };
            if has_dependents[index] && is_lookup(operation) {
                if let Some(dependents) = &mut self.flash.dependents {
                    tickets[index] = dependents.take_ticket();
                }
                account = Account::awaited(tickets[index]);
            }
            self.enter_in_turn(unit, operation, account, ticket, now);
        }
        self.out.put_back(emitted);
        if let Beneficiary::Request(slot) = account.beneficiary() {
            let entry = &mut self.host.slots[slot as usize];
            entry.pending = pending;
            entry.since = now;
        }
        pending
    }

    /// Whether nothing waits in the line of `unit`.
    fn has_no_line(&self, unit: u32) -> bool {
        let dependents = self.flash.dependents.as_ref();
        dependents.is_some_and(|dependents| dependents.lines[unit as usize].is_empty())
    }

    /// An operation goes on, or joins its unit's line.
    fn enter_in_turn(
        &mut self,
        unit: u32,
        operation: &Operation,
        account: Account,
        ticket: u32,
        now: u64,
    ) {
        let Some(dependents) = &mut self.flash.dependents else {
            return;
        };
        if ticket == NOTHING && dependents.lines[unit as usize].is_empty() {
            return self.enter_flash(operation, account, now);
        }
        dependents.hold(unit, *operation, account, ticket);
        if ticket == NOTHING {
            self.let_go(&[unit], now);
        }
    }

    /// The operation that `ticket` stands for is complete.
    #[cold]
    #[inline(never)]
    pub(super) fn looked_up(&mut self, ticket: u32, now: u64) {
        let Some(dependents) = &mut self.flash.dependents else {
            return;
        };
        let units = std::mem::take(&mut dependents.tickets[ticket as usize]);
        dependents.vacant.push(ticket);
        for &unit in &units {
            for held in &mut dependents.lines[unit as usize] {
                if held.ticket == ticket {
                    held.ticket = NOTHING;
                }
            }
        }
        self.let_go(&units, now);
    }

    /// What need not wait any more on `units` goes on, in the order of emission.
    fn let_go(&mut self, units: &[u32], now: u64) {
        let Some(dependents) = &mut self.flash.dependents else {
            return;
        };
        let mut leaving = Vec::new();
        for &unit in units {
            dependents.leave(unit, &mut leaving);
        }
        leaving.sort_unstable_by_key(|held| held.place);
        for held in leaving {
            self.enter_flash(&held.operation, held.account, now);
        }
    }
}

/// Whether an operation reads a page of the map for its entries, and not to write it anew.
fn is_lookup(operation: &Operation) -> bool {
    operation.cause == Cause::Map && operation.kind == OperationKind::Read
}
