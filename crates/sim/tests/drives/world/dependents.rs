//! The oracle's operations that wait for reads of a map on the flash.

use drivelab_ftl::{Cause, Operation, OperationKind};

use super::{Beneficiary, World};

/// An operation that has not been handed over yet.
#[derive(Clone, Copy)]
pub(super) struct Held {
    operation: Operation,
    beneficiary: Beneficiary,
    number: usize,
    /// The number of the operation that must complete first.
    waits_for: Option<usize>,
}

impl Held {
    fn reads_for_host_or_map(&self) -> bool {
        self.operation.kind == OperationKind::Read
            && [Cause::Host, Cause::Map].contains(&self.operation.cause)
    }
}

/// Whether an operation reads a page of the map.
fn is_lookup(operation: &Operation) -> bool {
    operation.kind == OperationKind::Read && operation.cause == Cause::Map
}

/// Whether a host operation in `all` waits for the map read at `index`.
pub(super) fn is_looked_up(all: &[Operation], index: usize) -> bool {
    let waits = |other: &Operation| other.cause == Cause::Host && other.after as usize == index;
    is_lookup(&all[index]) && all.iter().any(waits)
}

/// Whether nothing in `all` waits for the map read at `index`.
pub(super) fn is_lone_lookup(all: &[Operation], index: usize) -> bool {
    is_lookup(&all[index]) && all.iter().all(|other| other.after as usize != index)
}

impl World {
    /// The operations emitted for one command, each with whoever waits for it.
    pub(super) fn emit_all(&mut self, operations: &[Operation], of: &[Beneficiary]) {
        let first = self.numbered;
        for (index, (operation, &beneficiary)) in operations.iter().zip(of).enumerate() {
            if self.config.scheduling.map_reads_first && is_looked_up(operations, index) {
                self.urgent.push(self.numbered);
            }
            let source = operations.get(operation.after as usize);
            let waits = operation.cause == Cause::Host && source.is_some_and(is_lookup);
            self.held.push(Held {
                operation: *operation,
                beneficiary,
                number: self.numbered,
                waits_for: waits.then(|| first + operation.after as usize),
            });
            self.numbered += 1;
            self.hand_over();
        }
    }

    /// The operation with this number completed.
    pub(super) fn was_read(&mut self, number: usize) {
        for held in &mut self.held {
            if held.waits_for == Some(number) {
                held.waits_for = None;
            }
        }
        self.hand_over();
    }

    /// Hands over, in order, the operations that need not wait.
    fn hand_over(&mut self) {
        let mut staying: Vec<Held> = Vec::new();
        for held in std::mem::take(&mut self.held) {
            let units = self.units.len() as u32;
            let unit = held.operation.plane % units;
            let before = staying.iter().filter(|b| b.operation.plane % units == unit);
            let mut hindered = before.map(|before| {
                let in_order = !before.reads_for_host_or_map();
                let same_page = before.operation.lpn == held.operation.lpn;
                match held.operation.kind {
                    _ if held.reads_for_host_or_map() => in_order && same_page,
                    OperationKind::Erase => true,
                    _ => in_order || same_page,
                }
            });
            if held.waits_for.is_some() || hindered.any(|is| is) {
                staying.push(held);
            } else {
                self.emit(held.operation, held.beneficiary, held.number);
            }
        }
        self.held = staying;
    }
}
