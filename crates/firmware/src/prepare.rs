//! The state that every run begins with: a drive that was filled and overwritten at random,
//! with just so many free blocks that a few more writes start collection on every plane.
//!
//! The same firmware makes it, without the host's interface: it fills the drive in order,
//! overwrites pages drawn at random and collects as the program does. In the end each plane
//! is written or collected until a tenth of its blocks is free.

use drivelab_ftl::{Action, Firmware, Lpn, OperationBuffer, PageMap, PageRun, Shared};

use crate::collection_steps::PER_WRITE;
use crate::error::RunError;
use crate::flash::Die;
use crate::geometry::Geometry;
use crate::random::Random;
use crate::state::State;

/// A drive in the making.
struct Making {
    geometry: Geometry,
    map: PageMap<Shared>,
    dies: Vec<(u32, Die)>,
    is_collecting: Vec<bool>,
    operations: OperationBuffer,
}

/// Makes the state: `overwrites` is how often, in units of the drive's size, pages are
/// overwritten at random. `tell` hears of the progress, from 0 to 1.
///
/// # Errors
/// [`RunError`] where the geometry does not work.
pub fn prepare(
    geometry: Geometry,
    seed: u64,
    overwrites: f64,
    mut tell: impl FnMut(f64),
) -> Result<State, RunError> {
    let state = State::erased(geometry)?;
    let mut making = Making {
        geometry,
        dies: state.dies(),
        map: state.map,
        is_collecting: vec![false; geometry.planes() as usize],
        operations: OperationBuffer::with_capacity(64),
    };
    let mut random = Random::new(seed);
    let pages = geometry.layout().logical_pages;
    let drawn = (f64::from(pages) * overwrites) as u64;
    let all = u64::from(pages) + drawn;
    for done in 0..all {
        let page = match u32::try_from(done) {
            Ok(page) if page < pages => page,
            _ => random.below(pages),
        };
        making.write(page)?;
        if done % (1 << 22) == 0 {
            tell(done as f64 / all as f64);
        }
    }
    for plane in 0..geometry.planes() {
        making.settle(plane, &mut random)?;
    }
    tell(1.0);
    Ok(State {
        geometry,
        map: making.map,
        programmed: making
            .dies
            .into_iter()
            .map(|(_, die)| die.programmed().to_vec())
            .collect(),
    })
}

impl Making {
    fn program(&mut self, page: u32) -> Result<(), RunError> {
        self.operations.clear();
        match self.map.write_one(Lpn(page)) {
            Some(operation) => {
                self.operations.push(operation);
            }
            None => {
                let run = PageRun::whole(Action::Write, Lpn(page), 1);
                self.map.submit(&[run], &mut self.operations)?;
            }
        }
        self.execute()
    }

    fn execute(&mut self) -> Result<(), RunError> {
        for operation in self.operations.operations() {
            let die = &mut self.dies[operation.plane as usize].1;
            die.execute(operation.kind, operation.ppn.0)?;
        }
        Ok(())
    }

    fn collect(&mut self, plane: u32, steps: u32) -> Result<u32, RunError> {
        self.operations.clear();
        let taken = self
            .map
            .collect_in_background(plane, steps, &mut self.operations);
        self.execute()?;
        Ok(taken)
    }

    fn write(&mut self, page: u32) -> Result<(), RunError> {
        self.program(page)?;
        let plane = page % self.geometry.planes();
        let most = if self.is_collecting[plane as usize] {
            self.geometry.end_blocks()
        } else {
            self.geometry.begin_blocks()
        };
        let collects = self.map.free_blocks(plane) < most;
        self.is_collecting[plane as usize] = collects;
        if collects {
            self.collect(plane, PER_WRITE)?;
        }
        Ok(())
    }

    /// Writes or collects until a tenth of the plane's blocks is free.
    fn settle(&mut self, plane: u32, random: &mut Random) -> Result<(), RunError> {
        let layout = self.geometry.layout();
        let begin = self.geometry.begin_blocks();
        let of_plane = layout.logical_pages / layout.planes;
        while self.map.free_blocks(plane) > begin {
            let page = random.below(of_plane) * layout.planes + plane;
            self.program(page)?;
        }
        while self.map.free_blocks(plane) < begin && self.collect(plane, 1)? > 0 {}
        Ok(())
    }
}
