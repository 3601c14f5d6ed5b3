//! A wrapper around any firmware that verifies the contract of
//! [`Firmware`](crate::Firmware) from the operations alone.

use std::collections::BTreeMap;

use drivelab_request::{PlacementId, ZoneAction};
use thiserror::Error;

use crate::operation::{Cause, Operation, OperationBuffer, OperationKind};
use crate::{
    Action, EraseCounts, Firmware, FirmwareError, FlashLayout, IdleTime, Judged, Lpn, NOTHING,
    OwnCounts, PageRun, PlacedCounts, Room, ZoneCounts, ZoneRefusal, ZoneShape,
};

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
        /// The violated clause.
        reason: &'static str,
    },
    /// A page of a request was not served as often as required.
    #[error(
        "logical page {page} of request {request} was served {times} times instead of {expected}"
    )]
    Served {
        /// Index in the batch.
        request: usize,
        /// The logical page.
        page: u32,
        /// The number of times.
        times: usize,
        /// The required number: once, or 0 if there is no data.
        expected: usize,
    },
    /// The firmware refused.
    #[error(transparent)]
    Refused(#[from] FirmwareError),
}

impl From<ContractError> for FirmwareError {
    fn from(error: ContractError) -> Self {
        match error {
            ContractError::Refused(error) => error,
            broken => Self::Contract {
                what: broken.to_string(),
            },
        }
    }
}

/// Wraps a firmware, and replays its operations on a model of the flash.
pub struct Checked<F> {
    firmware: F,
    /// For each physical page: the logical page last programmed, or nothing.
    content: Vec<u32>,
    /// For each block: the next page to program.
    next_page: Vec<u32>,
    /// For each block: how often it was erased.
    erases: Vec<u32>,
    /// For each logical page: where its newest data lies, or nothing.
    newest: Vec<u32>,
    /// For each logical page: whether it was given up since it was written.
    trimmed: Vec<bool>,
    /// Logical pages read in idle time, and where.
    held: BTreeMap<u32, u32>,
}

/// Used as the next page of a block in which a program has failed: it has none.
const FAILED: u32 = u32::MAX;

impl<F: Firmware> Checked<F> {
    /// Wraps a firmware whose flash is new.
    #[must_use]
    pub fn fresh(firmware: F) -> Self {
        let layout = *firmware.layout();
        let logical = (layout.logical_pages + firmware.map_pages()) as usize;
        Self {
            firmware,
            content: vec![NOTHING; layout.physical_pages() as usize],
            next_page: vec![0; layout.blocks() as usize],
            erases: vec![0; layout.blocks() as usize],
            newest: vec![NOTHING; logical],
            trimmed: vec![false; logical],
            held: BTreeMap::new(),
        }
    }

    /// The firmware inside.
    #[must_use]
    pub fn firmware(&self) -> &F {
        &self.firmware
    }

    /// Where the newest data of every logical page lies, according to the operations.
    #[must_use]
    pub fn newest(&self) -> &[u32] {
        &self.newest
    }

    /// The shape of the flash.
    #[must_use]
    pub fn layout(&self) -> &FlashLayout {
        self.firmware.layout()
    }

    /// Like [`Firmware::submit`], with every emitted operation verified.
    ///
    /// # Errors
    /// [`ContractError`] with the first operation that breaks the contract.
    pub fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), ContractError> {
        let before = operations.operations().len();
        let expected = self.expected(batch);
        self.firmware.submit(batch, operations)?;
        let mut begun = 0;
        for (index, operation) in operations.operations().iter().enumerate().skip(before) {
            // A request's trims take effect before its operations.
            let upto = batch
                .len()
                .min((operation.request as usize).saturating_add(1));
            self.trim(batch.get(begun..upto).unwrap_or_default());
            begun = begun.max(upto);
            self.replay(index, operation, operations.operations())
                .map_err(|reason| ContractError::Operation {
                    index,
                    operation: *operation,
                    reason,
                })?;
        }
        self.trim(&batch[begun..]);
        let emitted = &operations.operations()[before..];
        for (request, run) in batch.iter().enumerate() {
            check_served(request, run, &expected[request], emitted)?;
        }
        Ok(())
    }

    /// Like [`Firmware::background`], with every emitted operation verified.
    ///
    /// # Errors
    /// [`ContractError`] with the first operation that breaks the contract.
    pub fn background(
        &mut self,
        offer: &IdleTime<'_>,
        operations: &mut OperationBuffer,
    ) -> Result<(), ContractError> {
        let before = operations.operations().len();
        self.firmware.background(offer, operations)?;
        for (index, operation) in operations.operations().iter().enumerate().skip(before) {
            let fault = if index - before >= offer.budget as usize {
                Err("it is one more than may be emitted in this idle time")
            } else if operation.cause == Cause::Host {
                Err("in idle time nothing is done for the host")
            } else if !(offer.is_free)(operation.plane) {
                Err("in idle time it is emitted for a plane that is not free")
            } else {
                self.replay(index, operation, operations.operations())
            };
            fault.map_err(|reason| ContractError::Operation {
                index,
                operation: *operation,
                reason,
            })?;
            if operation.kind == OperationKind::Read {
                self.held.insert(operation.lpn, operation.ppn.0);
            }
        }
        Ok(())
    }

    /// Like [`Firmware::refresh`]. Every emitted operation is verified.
    ///
    /// # Errors
    /// [`ContractError`] with the first operation that breaks the contract.
    pub fn refresh(
        &mut self,
        block: u32,
        operations: &mut OperationBuffer,
    ) -> Result<bool, ContractError> {
        let before = operations.operations().len();
        let is_done = self.firmware.refresh(block, operations)?;
        for (index, operation) in operations.operations().iter().enumerate().skip(before) {
            let fault = match operation.cause {
                Cause::Host => Err("a refresh does nothing for the host"),
                _ => self.replay(index, operation, operations.operations()),
            };
            fault.map_err(|reason| ContractError::Operation {
                index,
                operation: *operation,
                reason,
            })?;
        }
        Ok(is_done)
    }

    /// Like [`Firmware::completed`].
    pub fn completed(&mut self, operation: &Operation) {
        self.firmware.completed(operation);
    }

    /// How often every page of every run must be served.
    fn expected(&self, batch: &[PageRun]) -> Vec<Vec<usize>> {
        let mut changed = BTreeMap::new();
        let mut of_run = |run: &PageRun| {
            let pages = run.first.0..run.first.0.saturating_add(run.pages);
            match run.action {
                Action::Write => changed.extend(pages.clone().map(|page| (page, true))),
                Action::Trim => changed.extend(run.whole_pages().map(|page| (page, false))),
                Action::Read => {}
            }
            let is_mapped = |page: u32| {
                let before = self.newest.get(page as usize);
                let before = before.is_some_and(|&place| place != NOTHING);
                changed.get(&page).copied().unwrap_or(before)
            };
            let of_page = |page| match run.action {
                Action::Trim => 0,
                Action::Read | Action::Write => usize::from(is_mapped(page)),
            };
            pages.map(of_page).collect()
        };
        batch.iter().map(&mut of_run).collect()
    }

    fn trim(&mut self, runs: &[PageRun]) {
        for run in runs.iter().filter(|run| run.action == Action::Trim) {
            for page in run.whole_pages() {
                self.newest[page as usize] = NOTHING;
                self.trimmed[page as usize] = true;
            }
        }
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
        if operation.lpn != NOTHING {
            let is_of_map = operation.lpn >= layout.logical_pages;
            match operation.cause {
                Cause::Host if is_of_map => return Err("the host has no page of the map"),
                Cause::Map if !is_of_map => return Err("that is no page of the map"),
                _ => {}
            }
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
        if operation.lpn == NOTHING && self.firmware.bad_blocks().is_some() {
            return self.replay_failed_program(operation);
        }
        let Lpn(lpn) = operation
            .logical()
            .ok_or("a program names no logical page")?;
        if lpn as usize >= self.newest.len() {
            return Err("the logical page does not exist");
        }
        let page = operation.ppn.0;
        let block = (page / layout.pages_per_block) as usize;
        let offset = page % layout.pages_per_block;
        let next = self.next_page[block];
        if next > offset || (next < offset && !self.firmware.skips_pages()) {
            return Err("the block's next page to program is another one");
        }
        let is_new_in_map = operation.cause == Cause::Map && self.newest[lpn as usize] == NOTHING;
        if operation.cause != Cause::Host && !is_new_in_map {
            let source = match all.get(operation.after as usize) {
                Some(source) if source.kind != OperationKind::Read || source.lpn != lpn => {
                    return Err("a move waits for something else than the read of its data");
                }
                Some(source) => source.ppn.0,
                None => self
                    .held
                    .remove(&lpn)
                    .ok_or("a move does not wait for the read of its data")?,
            };
            // On another plane, nothing else ensures that the read is over.
            let plane_pages = layout.blocks_per_plane * layout.pages_per_block;
            if operation.after == NOTHING && source / plane_pages != operation.plane {
                return Err("a move to another plane does not wait for the read of its data");
            }
            if self.newest[lpn as usize] != source {
                return Err("a move carries old data");
            }
        }
        self.next_page[block] = offset + 1;
        self.content[page as usize] = lpn;
        self.newest[lpn as usize] = page;
        self.trimmed[lpn as usize] = false;
        Ok(())
    }

    /// A program that fails: its block is not used any more.
    fn replay_failed_program(&mut self, operation: &Operation) -> Result<(), &'static str> {
        let pages = self.firmware.layout().pages_per_block;
        let (block, offset) = (operation.ppn.0 / pages, operation.ppn.0 % pages);
        if operation.cause == Cause::Host {
            return Err("a program for the host names no logical page");
        }
        if self.next_page[block as usize] != offset {
            return Err("the block's next page to program is another one");
        }
        self.check_empty(block)?;
        self.next_page[block as usize] = FAILED;
        Ok(())
    }

    /// Checks that `block` holds no newest data of any logical page.
    fn check_empty(&self, block: u32) -> Result<(), &'static str> {
        let pages = self.firmware.layout().pages_per_block;
        for page in block * pages..(block + 1) * pages {
            let lpn = self.content[page as usize];
            if lpn != NOTHING && self.newest[lpn as usize] == page {
                return Err("the block still holds the newest data of a logical page");
            }
        }
        Ok(())
    }

    fn replay_erase(&mut self, operation: &Operation) -> Result<(), &'static str> {
        let layout = *self.firmware.layout();
        let first = operation.ppn.0;
        if !first.is_multiple_of(layout.pages_per_block) {
            return Err("an erase names no block's first page");
        }
        let block = (first / layout.pages_per_block) as usize;
        if self.next_page[block] == FAILED {
            return Err("a program of the block has failed: it is used no more");
        }
        self.check_empty(block as u32)?;
        let pages = first as usize..(first + layout.pages_per_block) as usize;
        self.content[pages].fill(NOTHING);
        self.next_page[block] = 0;
        self.erases[block] = self.erases[block].saturating_add(1);
        Ok(())
    }
}

/// Takes the place of the wrapped firmware. A breach of the contract is an error at the moment of
/// emission.
impl<F: Firmware> Firmware for Checked<F> {
    fn layout(&self) -> &FlashLayout {
        self.firmware.layout()
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        // Reads without data are counted here, whatever the firmware reports.
        let mut counts = operations.counts;
        for run in batch.iter().filter(|run| run.action == Action::Read) {
            for page in run.first.0..run.first.0.saturating_add(run.pages) {
                let page = page as usize;
                if self.newest.get(page) == Some(&NOTHING) {
                    let was_trimmed = self.trimmed[page];
                    counts.trimmed_reads += u64::from(was_trimmed);
                    counts.unmapped_reads += u64::from(!was_trimmed);
                }
            }
        }
        let result = Checked::submit(self, batch, operations);
        operations.counts.trimmed_reads = counts.trimmed_reads;
        operations.counts.unmapped_reads = counts.unmapped_reads;
        result.map_err(FirmwareError::from)
    }

    fn skips_pages(&self) -> bool {
        self.firmware.skips_pages()
    }

    fn uses_after(&self) -> bool {
        self.firmware.uses_after()
    }

    fn takes_placements(&self) -> bool {
        self.firmware.takes_placements()
    }

    fn place(&mut self, placement: PlacementId) {
        self.firmware.place(placement);
    }

    fn placed_counts(&self) -> Option<&PlacedCounts> {
        self.firmware.placed_counts()
    }

    fn zones(&self) -> Option<ZoneShape> {
        self.firmware.zones()
    }

    fn judge(&mut self, run: &PageRun, asked: ZoneAction) -> Result<Judged, ZoneRefusal> {
        self.firmware.judge(run, asked)
    }

    fn zone_pointer(&self, zone: u32) -> u32 {
        self.firmware.zone_pointer(zone)
    }

    fn zone_counts(&self) -> Option<&ZoneCounts> {
        self.firmware.zone_counts()
    }

    fn watch_zones(&mut self) {
        self.firmware.watch_zones();
    }

    fn map_pages(&self) -> u32 {
        self.firmware.map_pages()
    }

    fn heeds_completions(&self) -> bool {
        self.firmware.heeds_completions()
    }

    fn completed(&mut self, operation: &Operation) {
        self.firmware.completed(operation);
    }

    fn bad_blocks(&self) -> Option<u32> {
        self.firmware.bad_blocks()
    }

    fn room(&self) -> Option<Room> {
        self.firmware.room()
    }

    fn background(
        &mut self,
        offer: &IdleTime<'_>,
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        Checked::background(self, offer, operations).map_err(FirmwareError::from)
    }

    fn refresh(
        &mut self,
        block: u32,
        operations: &mut OperationBuffer,
    ) -> Result<bool, FirmwareError> {
        Checked::refresh(self, block, operations).map_err(FirmwareError::from)
    }

    fn own_counts(&self) -> Result<OwnCounts, FirmwareError> {
        self.firmware.own_counts()
    }

    fn erase_counts(&self) -> Result<Option<EraseCounts>, FirmwareError> {
        for (block, &erases) in (0..).zip(&self.erases) {
            match self.firmware.erase_count(block) {
                None if block == 0 => return Ok(None),
                Some(told) if told == erases => {}
                told => {
                    let told = told.map_or("nothing".to_owned(), |told| told.to_string());
                    return Err(FirmwareError::Contract {
                        what: format!(
                            "the firmware tells {told} as erases of block {block}, which were \
                             {erases}"
                        ),
                    });
                }
            }
        }
        Ok(Some(EraseCounts::of(self.erases.iter().copied())))
    }
}

fn check_served(
    request: usize,
    run: &PageRun,
    expected: &[usize],
    emitted: &[Operation],
) -> Result<(), ContractError> {
    let kind = match run.action {
        Action::Read => OperationKind::Read,
        Action::Write | Action::Trim => OperationKind::Program,
    };
    for (offset, &expected) in expected.iter().enumerate() {
        let page = run.first.0 + offset as u32;
        let serves = |operation: &&Operation| {
            operation.request as usize == request
                && operation.lpn == page
                && operation.kind == kind
                && operation.cause == Cause::Host
        };
        let times = emitted.iter().filter(serves).count();
        if times != expected {
            return Err(ContractError::Served {
                request,
                page,
                times,
                expected,
            });
        }
    }
    Ok(())
}
