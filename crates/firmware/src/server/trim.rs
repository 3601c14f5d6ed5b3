//! Deallocation: pages of a run that are this server's are given up.

use drivelab_ftl::{Action, Firmware, Lpn, PageRun};

use super::{Server, Step};
use crate::buffer::WriteState;
use crate::error::RunError;
use crate::nvme::Status;
use crate::records::Counter;
use crate::segment::Segment;

impl Server<'_> {
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
                // The map knows it already, and gives it up below.
                WriteState::Flushing => self.write.slots.hide(slot),
            }
        }
        self.read.invalidate(page);
        self.counters.add(Counter::MapLookups, 1);
        let plane = self.shared.plane_of(page) as usize;
        let guard = self.shared.locks[plane].take(plane, self.counters);
        let run = PageRun::whole(Action::Trim, Lpn(page), 1);
        self.operations.clear();
        self.map.submit(&[run], &mut self.operations)?;
        drop(guard);
        Ok(())
    }
}
