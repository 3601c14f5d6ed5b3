//! The oracle's cores: a decision of the firmware takes effect when a core has finished it.

use std::collections::BTreeMap;

use drivelab_ftl::{Cause, Operation, OperationKind};
use drivelab_request::{Command, CommandKind};
use drivelab_sim::preset::Work;

use super::World;

/// How often the firmware did each kind of work for one request. Copied bytes are separate.
#[derive(Clone, Default)]
pub(super) struct Done {
    counts: Vec<(Work, u64)>,
    copied_bytes: u64,
    /// Pages that leave the buffer later; they cost nothing themselves.
    pub other_pages: u64,
}

pub(super) type Then = Box<dyn FnOnce(&mut World)>;

#[derive(Default)]
pub(super) struct Cores {
    free_at: Vec<u64>,
    /// For each unit, when the last operation emitted for it is due.
    lanes: BTreeMap<usize, u64>,
    /// By due time and order of asking.
    due: BTreeMap<(u64, usize), Then>,
    asked: usize,
    pub busy: Vec<(u64, u64)>,
}

impl Cores {
    pub fn new(cores: usize) -> Self {
        Self {
            free_at: vec![0; cores],
            ..Self::default()
        }
    }

    pub fn next(&self) -> Option<u64> {
        self.due.keys().next().map(|&(at, _)| at)
    }

    /// The core that is free first works for `nanos`. Returns when it has finished.
    fn work(&mut self, nanos: u64, now: u64) -> u64 {
        if nanos == 0 {
            return now;
        }
        let core = self.free_at.iter_mut().min().unwrap();
        let start = now.max(*core);
        *core = start + nanos;
        self.busy.push((start, start + nanos));
        start + nanos
    }
}

impl World {
    /// Picoseconds of the command itself and of its pages.
    fn picos(&self, done: &Done) -> (u64, u64) {
        let time = self.config.firmware.unwrap().time;
        let picos = |work| (time.nanos(work) * 1_000.0 * self.factor).round() as u64;
        let sum = |of_command: bool| -> u64 {
            let counts = done.counts.iter();
            let asked = counts.filter(|(work, _)| (*work == Work::Command) == of_command);
            asked.map(|&(work, n)| picos(work) * n).sum()
        };
        let copied = picos(Work::CopiedKib) * done.copied_bytes / 1024;
        (sum(true), sum(false) + copied)
    }

    /// A core works on each page, the first core also on the command. Returns when all have
    /// finished.
    fn work(&mut self, done: &Done) -> u64 {
        let (command, of_pages) = self.picos(done);
        let of_pages_alone = |work| matches!(work, Work::ReadPage | Work::WrittenPage);
        let counts = done.counts.iter().filter(|(work, _)| of_pages_alone(*work));
        let pages = counts.map(|(_, n)| n).sum::<u64>() + done.other_pages;
        let pages = pages.max(1);
        // Picoseconds that cannot be divided evenly go to the first pages.
        let until = |page: u64| {
            let shared = of_pages / pages * page + page.min(of_pages % pages);
            match page {
                0 => 0,
                _ => (command + shared + 500) / 1_000,
            }
        };
        let ends = (0..pages).map(|page| self.cores.work(until(page + 1) - until(page), self.now));
        ends.max().unwrap()
    }

    /// The work on `pages` pages of a request with `bytes` bytes; `first` says whether they are its
    /// first pages.
    pub(super) fn for_pages(&self, request: &Command, pages: u64, bytes: u64, first: bool) -> Done {
        let work = match self.carried_out_as(request) {
            CommandKind::Read => Work::ReadPage,
            CommandKind::Write => Work::WrittenPage,
            _ => {
                return Done {
                    counts: vec![(Work::Command, 1)],
                    ..Done::default()
                };
            }
        };
        Done {
            counts: vec![(Work::Command, u64::from(first)), (work, pages)],
            copied_bytes: bytes,
            ..Done::default()
        }
    }

    /// The firmware has done this work and emitted these operations. The consequences follow when a
    /// core has finished, but no earlier than earlier operations for the same units.
    pub(super) fn firmware_works(&mut self, done: Done, operations: &[Operation], then: Then) {
        self.works_on_part(None, done, operations, Some(then));
    }

    /// The same for a part of a write. Its parts are due in order.
    pub(super) fn works_on_part(
        &mut self,
        of: Option<usize>,
        mut done: Done,
        operations: &[Operation],
        then: Option<Then>,
    ) {
        if self.config.firmware.is_none() {
            return then.into_iter().for_each(|then| then(self));
        }
        for operation in operations.iter().filter(|o| o.cause == Cause::Host) {
            match operation.kind {
                OperationKind::Read => done.counts.push((Work::FlashRead, 1)),
                OperationKind::Program => done.counts.push((Work::FlashProgram, 1)),
                OperationKind::Erase => {}
            }
        }
        let mut at = self.work(&done);
        let units = operations
            .iter()
            .map(|o| o.plane as usize % self.units.len());
        let units: Vec<usize> = units.collect();
        for unit in &units {
            at = at.max(self.cores.lanes.get(unit).copied().unwrap_or(0));
        }
        if let Some(index) = of {
            at = at.max(self.requests[index].worked);
            self.requests[index].worked = at;
        }
        for unit in units {
            self.cores.lanes.insert(unit, at);
        }
        if at == self.now && self.cores.next().is_none_or(|first| first > self.now) {
            return then.into_iter().for_each(|then| then(self));
        }
        if let Some(then) = then {
            self.cores.due.insert((at, self.cores.asked), then);
            self.cores.asked += 1;
        }
    }

    pub(super) fn core_is_done(&mut self) {
        let (_, then) = self.cores.due.pop_first().unwrap();
        then(self);
    }

    /// The flash has done an operation. If it was for the drive itself, it is work for a core.
    pub(super) fn own_work(&mut self, operation: &Operation) {
        if self.config.firmware.is_none() || operation.cause == Cause::Host {
            return;
        }
        let work = match (operation.kind, operation.cause) {
            (OperationKind::Erase, _) => Work::FlashErase,
            (OperationKind::Read, Cause::Map) => Work::FlashRead,
            (OperationKind::Program, Cause::Map) => Work::FlashProgram,
            (OperationKind::Program, _) => Work::PageMoved,
            (OperationKind::Read, _) => return,
        };
        let done = Done {
            counts: vec![(work, 1)],
            ..Done::default()
        };
        self.work(&done);
    }
}
