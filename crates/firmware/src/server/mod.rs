//! A server: the worker that looks up pages, keeps its share of the buffers, runs the dies it owns
//! and collects on them.
//!
//! A turn handles what the dies have done, then segments, then empties the write buffer as far as
//! necessary, then runs the dies, then collects. Nothing in a turn waits: what cannot continue now
//! is kept for the next turn.

mod dies;
mod flush;
mod read;
mod trim;
mod write;

use std::collections::VecDeque;

use crate::buffer::{ReadBuffer, WriteBuffer, share_of};
use crate::controller::Controller;
use crate::error::RunError;
use crate::flash::{Die, FlashDone, Purpose};
use crate::mapping::{Desk, Mapping, Step};
use crate::nvme::Status;
use crate::records::Counters;
use crate::segment::{Segment, SegmentDone, Work};

use flush::Barrier;

/// Segments taken in one turn.
const TURN_SEGMENTS: usize = 8;

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Work for the host.
    Served,
    /// Only collection.
    Collected,
    /// Nothing.
    Idle,
}

/// A worker that serves pages.
pub struct Server<'a, M> {
    index: usize,
    shared: &'a Controller,
    counters: &'a Counters,
    map: M,
    read: ReadBuffer,
    write: WriteBuffer,
    /// Flushes and forced writes that are not done.
    barriers: VecDeque<Barrier>,
    /// A segment that could not continue.
    kept: Option<Segment>,
    /// Results for which the front end had no room.
    outbox: VecDeque<SegmentDone>,
    /// The dies it owns, with the numbers of their planes.
    dies: Vec<(u32, Die)>,
}

impl<'a, M: Mapping> Server<'a, M> {
    /// Server `index` with its handle to the map and the dies it owns.
    #[must_use]
    pub fn new(index: usize, shared: &'a Controller, map: M, dies: Vec<(u32, Die)>) -> Self {
        let slots = share_of(index, shared.servers);
        Self {
            index,
            shared,
            counters: &shared.counters[shared.worker_of(index)],
            map,
            read: ReadBuffer::new(slots),
            write: WriteBuffer::new(slots),
            barriers: VecDeque::new(),
            kept: None,
            outbox: VecDeque::new(),
            dies,
        }
    }

    /// The server's view of the map.
    #[inline]
    fn desk(&self) -> Desk<'a> {
        Desk {
            shared: self.shared,
            counters: self.counters,
            server: self.index,
        }
    }

    /// The dies it owns.
    pub fn into_dies(self) -> Vec<(u32, Die)> {
        self.dies
    }

    /// One turn.
    ///
    /// # Errors
    /// [`RunError`] if the map or the flash refuses something: the firmware is then faulty.
    pub fn turn(&mut self) -> Result<Turn, RunError> {
        let has_served = self.serve_turn()?;
        let has_collected = self.map.collect(self.desk(), !has_served)?;
        Ok(match (has_served, has_collected) {
            (true, _) => Turn::Served,
            (false, true) => Turn::Collected,
            (false, false) => Turn::Idle,
        })
    }

    /// A turn without collection.
    fn serve_turn(&mut self) -> Result<bool, RunError> {
        let mut did = self.send_outbox();
        did |= self.take_flash_done()?;
        did |= self.take_segments()?;
        did |= self.flush()?;
        did |= self.run_dies()?;
        Ok(did)
    }

    /// Empties the write buffer, whatever its level, with no more collection than is owed. Returns
    /// whether it is empty.
    ///
    /// # Errors
    /// As [`Server::turn`].
    pub fn drain(&mut self) -> Result<bool, RunError> {
        self.serve_turn()?;
        self.map.collect(self.desk(), false)?;
        while let Some(slot) = self.write.next_dirty(None) {
            if self.flush_slot(slot)? == Step::Waits {
                break;
            }
        }
        let is_empty = self.write.slots.free() == self.write.slots.len();
        let are_idle = self
            .dies
            .iter()
            .all(|(plane, _)| self.shared.dies[*plane as usize].waiting() == 0)
            && self.map.is_at_rest();
        Ok(is_empty && are_idle && self.kept.is_none() && self.outbox.is_empty())
    }

    fn take_segments(&mut self) -> Result<bool, RunError> {
        let mut did = false;
        for _ in 0..TURN_SEGMENTS {
            let next = self.kept.take();
            let Some(segment) = next.or_else(|| self.shared.inboxes[self.index].take()) else {
                break;
            };
            if self.serve(segment)? == Step::Waits {
                self.kept = Some(segment);
                break;
            }
            did = true;
        }
        Ok(did)
    }

    fn serve(&mut self, segment: Segment) -> Result<Step, RunError> {
        match segment.work {
            Work::Read => self.read_segment(segment),
            Work::Write | Work::WriteForced => self.write_segment(segment),
            Work::Trim => self.trim_segment(segment),
            Work::Flush => {
                self.wait_for_flush(segment.context);
                Ok(Step::Taken)
            }
        }
    }

    /// Reports to the front end that a segment of `context` is done.
    fn done(&mut self, context: u16, status: Status) {
        let done = SegmentDone { context, status };
        let ring = &self.shared.done[self.index];
        if !self.outbox.is_empty() || !ring.put(done, self.counters) {
            self.outbox.push_back(done);
        }
    }

    fn send_outbox(&mut self) -> bool {
        let mut did = false;
        while let Some(&done) = self.outbox.front() {
            if !self.shared.done[self.index].put(done, self.counters) {
                break;
            }
            self.outbox.pop_front();
            did = true;
        }
        did
    }

    fn take_flash_done(&mut self) -> Result<bool, RunError> {
        let mut did = false;
        for owner in 0..self.shared.servers {
            while let Some(FlashDone { purpose, slot }) =
                self.shared.flash_done(owner, self.index).take()
            {
                did = true;
                match purpose {
                    Purpose::Fill => self.page_has_come(slot),
                    Purpose::Flush => self.slot_is_flushed(slot),
                    Purpose::Move => {}
                }
            }
        }
        Ok(did)
    }
}
