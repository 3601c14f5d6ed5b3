//! The next request of a closed loop that goes straight to the flash, what the firmware emits for
//! it, and who counts it.

use drivelab_ftl::{Action, Firmware, Operation, OperationBuffer, PageRun};
use drivelab_request::{PlacementId, Request};

use crate::host::counting::{Completed, Counting};
use crate::host::load::Running;
use crate::ssd::SimError;

/// Where requests and their operations come from. Call the methods in this order for each request.
pub(super) trait Supply {
    /// The next request of `running`, if it is only a request.
    fn request(&mut self, running: &mut Running) -> Option<Request>;

    /// The operation for the request, if it takes a single one.
    fn operation(&mut self, run: &PageRun) -> Option<Operation>;

    /// Otherwise all operations for it. `None` if the firmware was not asked.
    ///
    /// # Errors
    /// [`SimError`] if the firmware refuses it, or if it reads what was never written.
    fn operations(
        &mut self,
        asked: (&Request, &PageRun),
        placement: PlacementId,
    ) -> Result<Option<&[Operation]>, SimError>;

    /// Counts a completed request, at any time until the supply ends.
    #[inline(always)]
    fn record(&mut self, counting: &mut Counting, request: &Completed) {
        counting.record(request);
    }
}

/// A firmware, asked request by request.
pub(super) struct Asking<'a, F> {
    pub firmware: &'a mut F,
    pub out: &'a mut OperationBuffer,
    pub page_shift: u32,
    pub answers_unwritten: bool,
    /// Streams decide where their data goes.
    pub heeds_placements: bool,
}

impl<F: Firmware> Supply for Asking<'_, F> {
    #[inline(always)]
    fn request(&mut self, running: &mut Running) -> Option<Request> {
        running.take_request(self.firmware, self.page_shift)
    }

    #[inline(always)]
    fn operation(&mut self, run: &PageRun) -> Option<Operation> {
        let operation = match run.action {
            Action::Read if run.pages == 1 => self.firmware.read_one(run.first),
            Action::Write if run.is_one_whole_page() => self.firmware.write_one(run.first),
            _ => None,
        }?;
        self.out.counts.lookups += 1;
        Some(operation)
    }

    #[inline(never)]
    fn operations(
        &mut self,
        (request, run): (&Request, &PageRun),
        placement: PlacementId,
    ) -> Result<Option<&[Operation]>, SimError> {
        let is_read = run.action == Action::Read;
        if is_read && run.pages == 1 {
            // Its page was never written, or the map must be read first.
            return Ok(None);
        }
        self.out.clear();
        if !is_read && self.firmware.takes_placements() {
            self.firmware.place(match self.heeds_placements {
                true => placement,
                false => PlacementId::default(),
            });
        }
        self.firmware.submit(&[*run], self.out)?;
        if is_read && self.out.counts.unmapped_reads > 0 && !self.answers_unwritten {
            return Err(SimError::Unmapped {
                offset_bytes: request.offset_bytes,
            });
        }
        Ok(Some(self.out.operations()))
    }
}
