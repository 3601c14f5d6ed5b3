//! The user's own firmware, which one worker at a time may use: a single lock, number 0, protects
//! all of it.
//!
//! The lock is held from the call until its operations are in the queues of the dies, so every die
//! gets them in the order of emission. If a queue is full, the rest waits, and the host's requests
//! wait for that.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use drivelab_ftl::{
    Action, Cause, Firmware, FirmwareError, Lpn, NOTHING, Operation, OperationBuffer,
    OperationKind, OwnCounts, PageRun, Ppn,
};

use super::{Desk, Mapping, Step};
use crate::error::RunError;
use crate::flash::{FlashCommand, Purpose};
use crate::handoff::PlaneLock;
use crate::records::Counter;

/// The number of the single lock.
const LOCK: usize = 0;

/// The firmware, and operations that wait for a queue, under their lock.
pub struct OwnShared<F> {
    lock: PlaneLock,
    inside: UnsafeCell<Inside<F>>,
    /// Operations that wait for room in a queue.
    waiting: AtomicUsize,
    heeds_completions: bool,
}

struct Inside<F> {
    firmware: F,
    operations: OperationBuffer,
    waiting: VecDeque<(u32, FlashCommand)>,
}

// SAFETY: only the holder of the lock accesses the inside, one at a time.
unsafe impl<F: Send> Sync for OwnShared<F> {}

impl<F: Firmware> OwnShared<F> {
    /// Wraps a firmware.
    pub fn new(firmware: F, heeds_completions: bool) -> Self {
        Self {
            lock: PlaneLock::default(),
            inside: UnsafeCell::new(Inside {
                firmware,
                operations: OperationBuffer::with_capacity(1024),
                waiting: VecDeque::new(),
            }),
            waiting: AtomicUsize::new(0),
            heeds_completions,
        }
    }

    /// Calls the firmware as a worker.
    #[inline]
    fn with<T>(&self, desk: Desk<'_>, what: impl FnOnce(&mut Inside<F>) -> T) -> T {
        let _guard = self.lock.take(LOCK, desk.counters);
        // SAFETY: the holder of the lock is alone.
        what(unsafe { &mut *self.inside.get() })
    }

    /// The firmware's own counts by name, for the host.
    ///
    /// # Errors
    /// [`RunError`] if its report is impossible.
    pub fn own_counts(&self) -> Result<OwnCounts, RunError> {
        let _guard = self.lock.take_for_host();
        // SAFETY: the holder of the lock is alone.
        let inside = unsafe { &*self.inside.get() };
        Ok(inside.firmware.own_counts()?)
    }

    /// Returns the firmware when no worker is left.
    pub fn into_firmware(self) -> F {
        self.inside.into_inner().firmware
    }
}

impl<F: Firmware> Inside<F> {
    /// Submits a run of one page, and queues the emitted operations. `serves` finds the one that
    /// serves the host; there may be one. Returns whether there is.
    fn submit(
        &mut self,
        desk: Desk<'_>,
        (action, logical): (Action, u32),
        serves: Option<(OperationKind, Purpose, u16)>,
    ) -> Result<bool, RunError> {
        desk.counters.add(Counter::MapLookups, 1);
        self.operations.clear();
        let run = PageRun::whole(action, Lpn(logical), 1);
        self.firmware.submit(&[run], &mut self.operations)?;
        let mut served = 0;
        for operation in self.operations.operations() {
            let moves = operation.kind == OperationKind::Program && operation.cause != Cause::Host;
            desk.counters.add(Counter::PagesMoved, moves.into());
            let command = match serves {
                Some((kind, purpose, slot))
                    if operation.cause == Cause::Host && operation.kind == kind =>
                {
                    served += 1;
                    FlashCommand::of(operation, purpose, desk.server, slot)
                }
                // There is no slot, so the cause takes its place.
                _ => {
                    let cause = operation.cause as u16;
                    FlashCommand::of(operation, Purpose::Move, desk.server, cause)
                }
            };
            self.waiting.push_back((operation.plane, command));
        }
        let expected = match action {
            Action::Read => 0..=1,
            Action::Write => 1..=1,
            Action::Trim => 0..=0,
        };
        if !expected.contains(&served) {
            return Err(broken(format!(
                "logical page {logical} was served {served} times instead of {}",
                expected.end()
            )));
        }
        self.queue(desk)?;
        Ok(served > 0)
    }

    /// Queues waiting operations, in order, as far as there is room. Returns whether any was queued.
    fn queue(&mut self, desk: Desk<'_>) -> Result<bool, RunError> {
        let mut did = false;
        while let Some(&(plane, command)) = self.waiting.front() {
            let Some(die) = desk.shared.dies.get(plane as usize) else {
                return Err(no_plane(plane, desk.shared.dies.len() as u32));
            };
            if !die.put(command, desk.counters) {
                break;
            }
            did = true;
            self.waiting.pop_front();
        }
        Ok(did)
    }
}

/// An operation for a plane that does not exist.
pub(crate) fn no_plane(plane: u32, planes: u32) -> RunError {
    broken(format!(
        "an operation is for plane {plane}, and there are {planes}"
    ))
}

fn broken(what: String) -> RunError {
    FirmwareError::Contract { what }.into()
}

/// A server's handle to the firmware.
pub struct Own<'a, F>(pub &'a OwnShared<F>);

impl<F: Firmware> Own<'_, F> {
    fn submit(
        &self,
        desk: Desk<'_>,
        asked: (Action, u32),
        serves: Option<(OperationKind, Purpose, u16)>,
    ) -> Result<bool, RunError> {
        self.0.with(desk, |inside| {
            let served = inside.submit(desk, asked, serves);
            self.0.waiting.store(inside.waiting.len(), Relaxed);
            served
        })
    }
}

impl<F: Firmware> Mapping for Own<'_, F> {
    fn is_ready(&self, _desk: Desk<'_>, _logical: u32) -> bool {
        self.is_at_rest()
    }

    fn read(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<bool, RunError> {
        let serves = (OperationKind::Read, Purpose::Fill, slot);
        self.submit(desk, (Action::Read, logical), Some(serves))
    }

    fn write(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<Step, RunError> {
        let serves = (OperationKind::Program, Purpose::Flush, slot);
        self.submit(desk, (Action::Write, logical), Some(serves))?;
        Ok(Step::Taken)
    }

    fn trim(&mut self, desk: Desk<'_>, logical: u32) -> Result<(), RunError> {
        self.submit(desk, (Action::Trim, logical), None)?;
        Ok(())
    }

    fn collect(&mut self, desk: Desk<'_>, _is_idle: bool) -> Result<bool, RunError> {
        if self.is_at_rest() {
            return Ok(false);
        }
        self.0.with(desk, |inside| {
            let did = inside.queue(desk);
            self.0.waiting.store(inside.waiting.len(), Relaxed);
            did
        })
    }

    fn completed(&mut self, desk: Desk<'_>, plane: u32, command: &FlashCommand) {
        if !self.0.heeds_completions {
            return;
        }
        let cause = match command.purpose {
            Purpose::Move => Cause::ALL.get(usize::from(command.slot)),
            Purpose::Fill | Purpose::Flush => None,
        };
        let operation = Operation {
            kind: command.kind,
            cause: *cause.unwrap_or(&Cause::Host),
            plane,
            ppn: Ppn(command.page),
            lpn: command.logical,
            after: NOTHING,
            request: 0,
        };
        self.0
            .with(desk, |inside| inside.firmware.completed(&operation));
    }

    fn is_at_rest(&self) -> bool {
        self.0.waiting.load(Relaxed) == 0
    }
}
