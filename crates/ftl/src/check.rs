//! A wrapper around any firmware that verifies the contract of
//! [`Firmware`](crate::Firmware) from the operations alone.

use drivelab_request::{Direction, Nanos};
use thiserror::Error;

use crate::operation::{Cause, Operation, OperationBuffer, OperationKind};
use crate::{Firmware, FirmwareError, FlashLayout, Lpn, NOTHING, PageRun};

/// How a firmware broke its contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ContractError {
    /// An operation that the flash or the contract does not allow.
    #[error("operation {index} ({operation:?}) breaks the firmware contract: {reason}")]
    Operation {
        /// Index in the buffer.
        index: usize,
        /// The operation.
        operation: Operation,
        /// Which clause.
        reason: &'static str,
    },
    /// A page of a request was not served exactly once.
    #[error("logical page {page} of request {request} was served {times} times instead of once")]
    Served {
        /// Index in the batch.
        request: usize,
        /// The logical page.
        page: u32,
        /// How often.
        times: usize,
    },
    /// The firmware refused.
    #[error(transparent)]
    Refused(#[from] FirmwareError),
}

/// Wraps a firmware, and replays its operations on a model of the flash.
pub struct Checked<F> {
    firmware: F,
    /// Per physical page: the logical page last programmed, or nothing.
    content: Vec<u32>,
    /// Per block: the next page to program.
    next_page: Vec<u32>,
    /// Per logical page: where its newest data lies, or nothing.
    newest: Vec<u32>,
}

impl<F: Firmware> Checked<F> {
    /// Wraps a firmware whose flash is fresh.
    #[must_use]
    pub fn fresh(firmware: F) -> Self {
        let layout = *firmware.layout();
        Self {
            firmware,
            content: vec![NOTHING; layout.physical_pages() as usize],
            next_page: vec![0; layout.blocks() as usize],
            newest: vec![NOTHING; layout.logical_pages as usize],
        }
    }

    /// The firmware inside.
    #[must_use]
    pub fn firmware(&self) -> &F {
        &self.firmware
    }

    /// Where the newest data of every logical page lies, by the operations.
    #[must_use]
    pub fn newest(&self) -> &[u32] {
        &self.newest
    }

    /// The shape of the flash.
    #[must_use]
    pub fn layout(&self) -> &FlashLayout {
        self.firmware.layout()
    }

    /// As [`Firmware::submit`], every emitted operation verified.
    ///
    /// # Errors
    /// [`ContractError`] with the first operation that breaks the contract.
    pub fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), ContractError> {
        let before = operations.operations().len();
        let mapped: Vec<Vec<bool>> = batch.iter().map(|run| self.mapped(run)).collect();
        self.firmware.submit(batch, operations)?;
        for (index, operation) in operations.operations().iter().enumerate().skip(before) {
            self.replay(index, operation, operations.operations())
                .map_err(|reason| ContractError::Operation {
                    index,
                    operation: *operation,
                    reason,
                })?;
        }
        let emitted = &operations.operations()[before..];
        for (request, run) in batch.iter().enumerate() {
            self.check_served(request, run, &mapped[request], emitted)?;
        }
        Ok(())
    }

    /// As [`Firmware::background`], every emitted operation verified.
    ///
    /// # Errors
    /// [`ContractError`] with the first operation that breaks the contract.
    pub fn background(
        &mut self,
        idle: Nanos,
        budget: u32,
        operations: &mut OperationBuffer,
    ) -> Result<(), ContractError> {
        let before = operations.operations().len();
        self.firmware.background(idle, budget, operations);
        for (index, operation) in operations.operations().iter().enumerate().skip(before) {
            let fault = if index - before >= budget as usize {
                Err("more operations than the budget")
            } else {
                self.replay(index, operation, operations.operations())
            };
            fault.map_err(|reason| ContractError::Operation {
                index,
                operation: *operation,
                reason,
            })?;
        }
        Ok(())
    }

    fn mapped(&self, run: &PageRun) -> Vec<bool> {
        let pages = run.first.0..run.first.0.saturating_add(run.pages);
        pages
            .map(|page| {
                self.newest
                    .get(page as usize)
                    .is_some_and(|&p| p != NOTHING)
            })
            .collect()
    }

    fn check_served(
        &self,
        request: usize,
        run: &PageRun,
        mapped: &[bool],
        emitted: &[Operation],
    ) -> Result<(), ContractError> {
        let kind = match run.direction {
            Direction::Read => OperationKind::Read,
            Direction::Write => OperationKind::Program,
        };
        for (offset, &was_mapped) in mapped.iter().enumerate() {
            let page = run.first.0 + offset as u32;
            let times = emitted
                .iter()
                .filter(|o| {
                    o.request as usize == request
                        && o.lpn == page
                        && o.kind == kind
                        && o.cause == Cause::Host
                })
                .count();
            // A page written earlier in the same batch may be read without
            // having been mapped before it.
            let expected = match run.direction {
                Direction::Write => times == 1,
                Direction::Read => times == 1 || (times == 0 && !was_mapped),
            };
            if !expected {
                return Err(ContractError::Served {
                    request,
                    page,
                    times,
                });
            }
        }
        Ok(())
    }

    fn replay(
        &mut self,
        index: usize,
        operation: &Operation,
        all: &[Operation],
    ) -> Result<(), &'static str> {
        let layout = *self.firmware.layout();
        let page = operation.ppn.0;
        if u64::from(page) >= layout.physical_pages() {
            return Err("the page does not exist");
        }
        if page / (layout.blocks_per_plane * layout.pages_per_block) != operation.plane {
            return Err("the page is not on the plane named");
        }
        if operation.after != NOTHING && operation.after as usize >= index {
            return Err("it waits for an operation that is not earlier in the buffer");
        }
        match operation.kind {
            OperationKind::Read => self.replay_read(operation),
            OperationKind::Program => self.replay_program(operation, all),
            OperationKind::Erase => self.replay_erase(operation),
        }
    }

    fn replay_read(&self, operation: &Operation) -> Result<(), &'static str> {
        let lpn = operation.logical().ok_or("a read names no logical page")?;
        if self.content[operation.ppn.0 as usize] != lpn.0 {
            return Err("the page does not hold that logical page");
        }
        if self.newest[lpn.0 as usize] != operation.ppn.0 {
            return Err("the page holds old data");
        }
        Ok(())
    }

    fn replay_program(
        &mut self,
        operation: &Operation,
        all: &[Operation],
    ) -> Result<(), &'static str> {
        let layout = *self.firmware.layout();
        let Lpn(lpn) = operation
            .logical()
            .ok_or("a program names no logical page")?;
        if lpn >= layout.logical_pages {
            return Err("the logical page does not exist");
        }
        let page = operation.ppn.0;
        let block = (page / layout.pages_per_block) as usize;
        if self.next_page[block] != page % layout.pages_per_block {
            return Err("the block's next page to program is another one");
        }
        if operation.cause == Cause::Collection {
            let source = all
                .get(operation.after as usize)
                .ok_or("a move does not wait for the read of its data")?;
            if source.kind != OperationKind::Read || source.lpn != lpn {
                return Err("a move waits for something else than the read of its data");
            }
            if self.newest[lpn as usize] != source.ppn.0 {
                return Err("a move carries old data");
            }
        }
        self.next_page[block] += 1;
        self.content[page as usize] = lpn;
        self.newest[lpn as usize] = page;
        Ok(())
    }

    fn replay_erase(&mut self, operation: &Operation) -> Result<(), &'static str> {
        let layout = *self.firmware.layout();
        let first = operation.ppn.0;
        if !first.is_multiple_of(layout.pages_per_block) {
            return Err("an erase names no block's first page");
        }
        let pages = first as usize..(first + layout.pages_per_block) as usize;
        for page in pages.clone() {
            let lpn = self.content[page];
            if lpn != NOTHING && self.newest[lpn as usize] as usize == page {
                return Err("the block still holds the newest data of a logical page");
            }
        }
        self.content[pages].fill(NOTHING);
        self.next_page[(first / layout.pages_per_block) as usize] = 0;
        Ok(())
    }
}
