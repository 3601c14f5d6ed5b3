//! Deallocation: gives up the pages of a run that belong to this server.

use super::Server;
use crate::buffer::WriteState;
use crate::error::RunError;
use crate::mapping::{Mapping, Step};
use crate::nvme::Status;
use crate::segment::Segment;

impl<M: Mapping> Server<'_, M> {
    pub(super) fn trim_segment(&mut self, segment: Segment) -> Result<Step, RunError> {
        for page in segment.logical..segment.logical + segment.pages {
            if self.shared.server_of(page) == self.index {
                self.trim_page(page)?;
            }
        }
        self.end_barriers();
        self.done(segment.context, Status::SUCCESS);
        Ok(Step::Taken)
    }

    fn trim_page(&mut self, page: u32) -> Result<(), RunError> {
        if let Some(slot) = self.write.slots.find(page) {
            match self.write.state(slot) {
                WriteState::Dirty | WriteState::Filling => self.write.release(slot),
                // The map already knows the page, and gives it up below.
                WriteState::Flushing => self.write.slots.hide(slot),
            }
        }
        self.read.invalidate(page);
        self.map.trim(self.desk(), page)
    }
}
