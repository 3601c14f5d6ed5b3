//! The state with which every run begins: a drive that was filled and overwritten at random, with
//! just enough free blocks that a few more writes start collection on every plane.
//!
//! The same firmware makes it, without the host's interface. It fills the drive in order,
//! overwrites random pages and collects between the same bounds, but each time in one piece when a
//! block is needed, which is faster. At the end each plane is written or collected until a tenth of
//! its blocks is free. Planes are independent, so threads share the work, and their number changes
//! nothing.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use drivelab_ftl::{Action, Firmware, Lpn, OperationBuffer, PageMap, PageRun, Policies, Shared};

use crate::error::RunError;
use crate::flash::Die;
use crate::geometry::Geometry;
use crate::random::Random;
use crate::state::State;

/// A plane being made.
struct Making {
    geometry: Geometry,
    plane: u32,
    map: PageMap<Shared>,
    die: Die,
    operations: OperationBuffer,
}

/// Makes the state. `overwrites` is how often, in units of the drive's size, pages are overwritten
/// at random. `tell` receives the finished planes, from several threads.
///
/// # Errors
/// [`RunError`] if the geometry does not work.
pub fn prepare(
    geometry: Geometry,
    seed: u64,
    overwrites: f64,
    tell: impl Fn(u32) + Sync,
) -> Result<State, RunError> {
    let mut state = State::erased(geometry)?;
    let in_one_piece = Policies {
        stop_blocks: Some(geometry.end_blocks()),
        ..geometry.policies()
    };
    let map = state.map.clone();
    let map = map
        .managed(geometry.begin_blocks() - 1, in_one_piece)
        .map_err(|error| geometry.refused(&error))?;
    let mut makings: Vec<Making> = state
        .dies()
        .into_iter()
        .map(|(plane, die)| Making {
            geometry,
            plane,
            map: map.clone(),
            die,
            operations: OperationBuffer::with_capacity(64),
        })
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = makings.len().div_ceil(threads);
    let ready = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = makings
            .chunks_mut(share)
            .map(|makings| {
                let (ready, tell) = (&ready, &tell);
                scope.spawn(move || {
                    for making in makings {
                        // A separate seed for each plane.
                        let mut seeds = Random::new(seed ^ u64::from(making.plane) << 32);
                        making.make(Random::new(seeds.draw()), overwrites)?;
                        tell(ready.fetch_add(1, Relaxed) + 1);
                    }
                    Ok::<(), RunError>(())
                })
            })
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(made) => made?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<(), RunError>(())
    })?;
    state.programmed = makings
        .into_iter()
        .map(|making| making.die.programmed().to_vec())
        .collect();
    Ok(state)
}

impl Making {
    fn make(&mut self, mut random: Random, overwrites: f64) -> Result<(), RunError> {
        let layout = self.geometry.layout();
        let pages = layout.logical_pages / layout.planes;
        for page in 0..pages {
            self.program(page)?;
        }
        for _ in 0..(f64::from(pages) * overwrites) as u64 {
            self.program(random.below(pages))?;
        }
        // From here on collection happens only on purpose.
        let layout = self.geometry.layout();
        self.map = self
            .map
            .clone()
            .managed(layout.reserve_blocks, self.geometry.policies())
            .map_err(|error| self.geometry.refused(&error))?;
        let begin = self.geometry.begin_blocks();
        while self.map.free_blocks(self.plane) > begin {
            self.program(random.below(pages))?;
        }
        while self.map.free_blocks(self.plane) < begin && self.collect(1)? > 0 {}
        Ok(())
    }

    /// Programs a page of the plane, whose number there is `page`.
    fn program(&mut self, page: u32) -> Result<(), RunError> {
        self.operations.clear();
        let page = Lpn(page * self.geometry.planes() + self.plane);
        match self.map.write_one(page) {
            Some(operation) => {
                self.operations.push(operation);
            }
            None => {
                let run = PageRun::whole(Action::Write, page, 1);
                self.map.submit(&[run], &mut self.operations)?;
            }
        }
        self.execute()
    }

    fn execute(&mut self) -> Result<(), RunError> {
        for operation in self.operations.operations() {
            self.die.execute(operation.kind, operation.ppn.0)?;
        }
        Ok(())
    }

    fn collect(&mut self, steps: u32) -> Result<u32, RunError> {
        self.operations.clear();
        let taken = self
            .map
            .collect_in_background(self.plane, steps, &mut self.operations);
        self.execute()?;
        Ok(taken)
    }
}
