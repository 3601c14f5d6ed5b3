//! Writes: into the write buffer, whose slots go to the flash later.

use super::Server;
use crate::error::RunError;
use crate::geometry::SECTOR_BYTES;
use crate::mapping::{Mapping, Step};
use crate::nvme::Status;
use crate::records::Counter;
use crate::segment::{Segment, Work};

impl<M: Mapping> Server<'_, M> {
    pub(super) fn write_segment(&mut self, segment: Segment) -> Result<Step, RunError> {
        let Some((slot, was_there)) = self.write.slot_for(segment.logical) else {
            return Ok(Step::Waits);
        };
        self.counters.add(Counter::WriteHits, was_there.into());
        self.read.invalidate(segment.logical);
        let first = usize::from(segment.first) * SECTOR_BYTES;
        let bytes = usize::from(segment.sectors) * SECTOR_BYTES;
        let transfer = &self.shared.transfers[usize::from(segment.context)];
        let copied = transfer.copy_in(
            &self.shared.memory,
            usize::from(segment.transfer) * SECTOR_BYTES,
            &mut self.write.data_mut(slot)[first..first + bytes],
        );
        if let Err(status) = copied {
            // Sectors that were not copied do not count as held.
            if !was_there {
                self.write.release(slot);
            }
            self.done(segment.context, status);
            return Ok(Step::Taken);
        }
        self.counters.add(Counter::CopiedBytes, bytes as u64);
        self.write.wrote(slot, segment.mask());
        if segment.work == Work::WriteForced {
            self.wait_for_flush(segment.context);
        } else {
            self.done(segment.context, Status::SUCCESS);
        }
        Ok(Step::Taken)
    }
}
