//! The built-in page map: memory shared by all servers, and a lock for each plane.

use drivelab_ftl::{Action, Firmware, Lpn, OperationBuffer, PageMap, PageRun, Shared};

use super::collection::Collecting;
use super::{DIE_DEPTH, Desk, Mapping, Step, overflowed};
use crate::collection_steps;
use crate::error::RunError;
use crate::flash::{FlashCommand, Purpose};
use crate::records::Counter;

/// A server's handle to the map, and the planes on which it collects.
pub struct Paged {
    pub(super) map: PageMap<Shared>,
    pub(super) operations: OperationBuffer,
    pub(super) collecting: Vec<Collecting>,
}

impl Paged {
    /// A handle for a server that owns the dies of `planes`.
    pub fn new(map: PageMap<Shared>, planes: impl Iterator<Item = u32>) -> Self {
        let idle = |plane| Collecting {
            plane,
            is_on: false,
        };
        Self {
            map,
            operations: OperationBuffer::with_capacity(256),
            collecting: planes.map(idle).collect(),
        }
    }
}

impl Mapping for Paged {
    #[inline]
    fn is_ready(&self, desk: Desk<'_>, logical: u32) -> bool {
        let plane = desk.shared.plane_of(logical);
        desk.shared.dies[plane as usize].waiting() < DIE_DEPTH
    }

    #[inline]
    fn read(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<bool, RunError> {
        desk.counters.add(Counter::MapLookups, 1);
        let plane = desk.shared.plane_of(logical);
        let die = &desk.shared.dies[plane as usize];
        let lock = &desk.shared.locks[plane as usize];
        let guard = lock.take(plane as usize, desk.counters);
        // The lock is held from the look-up to the queue. Otherwise collection might erase the page
        // before it is read.
        let is_queued = self.map.read_one(Lpn(logical)).map(|operation| {
            let command = FlashCommand::of(&operation, Purpose::Fill, desk.server, slot);
            die.put(command, desk.counters)
        });
        drop(guard);
        match is_queued {
            Some(true) => Ok(true),
            Some(false) => Err(overflowed(plane)),
            None => Ok(false),
        }
    }

    #[inline]
    fn write(&mut self, desk: Desk<'_>, logical: u32, slot: u16) -> Result<Step, RunError> {
        let plane = desk.shared.plane_of(logical);
        let lock = &desk.shared.locks[plane as usize];
        let guard = lock.take(plane as usize, desk.counters);
        if !self.map.has_room_for_host(plane) {
            drop(guard);
            // The host waits for collection, which must hurry.
            collection_steps::owe(desk.shared, plane, collection_steps::URGENT);
            return Ok(Step::Waits);
        }
        desk.counters.add(Counter::MapLookups, 1);
        self.operations.clear();
        let page = Lpn(logical);
        match self.map.write_one(page) {
            Some(operation) => {
                self.operations.push(operation);
            }
            None => {
                let run = PageRun::whole(Action::Write, page, 1);
                self.map.submit(&[run], &mut self.operations)?;
            }
        }
        let mut is_queued = true;
        for operation in self.operations.operations() {
            let command = FlashCommand::of(operation, Purpose::Flush, desk.server, slot);
            is_queued &= desk.shared.dies[plane as usize].put(command, desk.counters);
        }
        drop(guard);
        if !is_queued {
            return Err(overflowed(plane));
        }
        collection_steps::owe(desk.shared, plane, collection_steps::PER_WRITE);
        Ok(Step::Taken)
    }

    fn trim(&mut self, desk: Desk<'_>, logical: u32) -> Result<(), RunError> {
        desk.counters.add(Counter::MapLookups, 1);
        let plane = desk.shared.plane_of(logical) as usize;
        let guard = desk.shared.locks[plane].take(plane, desk.counters);
        let run = PageRun::whole(Action::Trim, Lpn(logical), 1);
        self.operations.clear();
        self.map.submit(&[run], &mut self.operations)?;
        drop(guard);
        Ok(())
    }

    fn collect(&mut self, desk: Desk<'_>, is_idle: bool) -> Result<bool, RunError> {
        self.collect_owned(desk, is_idle)
    }
}
