//! Reads: from the write buffer, from the read buffer, or from the flash.

use super::Server;
use crate::buffer::{ReadState, Waiter, WriteState, runs};
use crate::error::RunError;
use crate::geometry::{PAGE_BYTES, SECTOR_BYTES};
use crate::mapping::{Mapping, Step};
use crate::nvme::Status;
use crate::records::Counter;
use crate::segment::Segment;

/// The content of a page that was never written.
static ZEROES: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

/// Where a page comes from.
pub(super) enum Fetch {
    /// It is being read into this slot of the read buffer.
    Slot(u16),
    /// It was never written, or was given up.
    Nowhere,
    /// Nothing can be fetched now.
    Waits,
}

impl<M: Mapping> Server<'_, M> {
    pub(super) fn read_segment(&mut self, segment: Segment) -> Result<Step, RunError> {
        if let Some(slot) = self.write.slots.find(segment.logical)
            && self.write.mask(slot) & segment.mask() == segment.mask()
        {
            self.counters.add(Counter::ReadHits, 1);
            let copied = copy_out(self.shared, &segment, self.write.data(slot));
            self.finish_read(&segment, copied);
            return Ok(Step::Taken);
        }
        if let Some(slot) = self.read.slots.find(segment.logical) {
            self.counters.add(Counter::ReadHits, 1);
            self.read.slots.touch(slot);
            match self.read.state(slot) {
                ReadState::Filling => self.read.wait(slot, Waiter::Host(segment)),
                ReadState::Filled => self.answer(&segment, Some(slot)),
            }
            return Ok(Step::Taken);
        }
        match self.fetch(segment.logical)? {
            Fetch::Slot(slot) => self.read.wait(slot, Waiter::Host(segment)),
            Fetch::Nowhere => self.answer(&segment, None),
            Fetch::Waits => return Ok(Step::Waits),
        }
        Ok(Step::Taken)
    }

    /// Makes the flash read a page that is in no slot of the read buffer.
    pub(super) fn fetch(&mut self, logical: u32) -> Result<Fetch, RunError> {
        let desk = self.desk();
        if !self.map.is_ready(desk, logical) {
            return Ok(Fetch::Waits);
        }
        let Some(slot) = self.read.slot_for(logical) else {
            return Ok(Fetch::Waits);
        };
        if self.map.read(desk, logical, slot)? {
            return Ok(Fetch::Slot(slot));
        }
        self.read.slots.release(slot);
        Ok(Fetch::Nowhere)
    }

    /// Answers with the page in a slot of the read buffer, or with zeroes, overlaid with later host
    /// writes.
    fn answer(&mut self, segment: &Segment, slot: Option<u16>) {
        let page = slot.map_or(&ZEROES[..], |slot| self.read.data(slot));
        let mut copied = copy_out(self.shared, segment, page);
        if let Some(newer) = self.write.slots.find(segment.logical) {
            for run in runs(self.write.mask(newer) & segment.mask()) {
                let over = Segment {
                    first: (run.start / SECTOR_BYTES) as u8,
                    sectors: (run.len() / SECTOR_BYTES) as u8,
                    transfer: segment.transfer + (run.start / SECTOR_BYTES) as u16
                        - u16::from(segment.first),
                    ..*segment
                };
                let again = copy_out(self.shared, &over, self.write.data(newer));
                copied = copied.and_then(|bytes| Ok(bytes + again?));
            }
        }
        self.finish_read(segment, copied);
    }

    fn finish_read(&mut self, segment: &Segment, copied: Result<usize, Status>) {
        match copied {
            Ok(bytes) => {
                self.counters.add(Counter::CopiedBytes, bytes as u64);
                self.done(segment.context, Status::SUCCESS);
            }
            Err(status) => self.done(segment.context, status),
        }
    }

    /// The flash has filled a slot of the read buffer.
    pub(super) fn page_has_come(&mut self, slot: u16) {
        let waiters = self.read.filled(slot);
        for waiter in &waiters {
            match *waiter {
                Waiter::Host(segment) => self.answer(&segment, Some(slot)),
                Waiter::Write(write) => self.fill_from(write, slot),
            }
        }
        self.read.give_back(slot, waiters);
    }

    fn fill_from(&mut self, write: u16, read: u16) {
        // A trim may have taken the slot's page in the meantime.
        let waits = self.write.state(write) == WriteState::Filling
            && self.write.slots.page(write) == self.read.slots.page(read);
        if waits {
            let copied = self.write.fill(write, Some(self.read.data(read)));
            self.counters.add(Counter::CopiedBytes, copied as u64);
            self.write.set_state(write, WriteState::Dirty);
        }
    }
}

/// Copies the sectors of `segment` from `page` to the host. Returns the number of bytes.
fn copy_out(
    shared: &crate::controller::Controller,
    segment: &Segment,
    page: &[u8],
) -> Result<usize, Status> {
    let first = usize::from(segment.first) * SECTOR_BYTES;
    let bytes = usize::from(segment.sectors) * SECTOR_BYTES;
    let transfer = &shared.transfers[usize::from(segment.context)];
    transfer.copy_out(
        &shared.memory,
        usize::from(segment.transfer) * SECTOR_BYTES,
        &page[first..first + bytes],
    )?;
    Ok(bytes)
}
