//! A run with the user's own firmware.
//!
//! Its state cannot be stored, so every run makes it first: the drive is filled in order, then
//! overwritten at random. The firmware should collect where the built-in one begins to, when less
//! than a tenth of a plane's blocks are free. No idle time is offered.

use drivelab_ftl::{Action, Firmware, FlashLayout, Lpn, OperationBuffer, OwnCounts, PageRun};

use crate::error::RunError;
use crate::flash::Die;
use crate::geometry::Geometry;
use crate::mapping::{Own, OwnShared, no_plane};
use crate::random::Random;
use crate::records::Record;
use crate::requests::Requests;
use crate::run::{Served, Settings, serve};

/// The layout that the user's own firmware manages.
#[must_use]
pub fn layout(geometry: &Geometry) -> FlashLayout {
    FlashLayout {
        reserve_blocks: geometry.begin_blocks() - 1,
        ..geometry.layout()
    }
}

/// How to make the drive with which the run begins.
#[derive(Clone, Copy, Debug)]
pub struct Making {
    /// Its shape.
    pub geometry: Geometry,
    /// How often it is overwritten at random, in units of its size.
    pub overwrites: f64,
    /// Seed of the overwritten pages.
    pub seed: u64,
}

impl Making {
    /// Fills the drive and overwrites it.
    fn make(&self, firmware: &mut impl Firmware) -> Result<Vec<(u32, Die)>, RunError> {
        let geometry = self.geometry;
        let pages = geometry.layout().logical_pages;
        let plane_pages = geometry.blocks * geometry.pages;
        let fresh = vec![0; geometry.blocks as usize];
        let mut dies: Vec<(u32, Die)> = (0..geometry.planes())
            .map(|plane| {
                let first = plane * plane_pages;
                (plane, Die::new(first, geometry.pages, fresh.clone()))
            })
            .collect();
        let mut operations = OperationBuffer::with_capacity(1024);
        let mut random = Random::new(self.seed);
        let again = (f64::from(pages) * self.overwrites) as u64;
        let drawn = (0..again).map(|_| random.below(pages));
        for page in (0..pages).chain(drawn) {
            operations.clear();
            let run = PageRun::whole(Action::Write, Lpn(page), 1);
            firmware.submit(&[run], &mut operations)?;
            for operation in operations.operations() {
                let Some((_, die)) = dies.get_mut(operation.plane as usize) else {
                    return Err(no_plane(operation.plane, geometry.planes()));
                };
                die.execute(operation.kind, operation.ppn.0)?;
                firmware.completed(operation);
            }
        }
        Ok(dies)
    }
}

/// Makes the drive and serves `requests`. `tell` receives each record with its number and the
/// firmware's own counts in it.
///
/// # Errors
/// [`RunError`] if the list is invalid or the firmware fails.
pub fn run_own<F: Firmware>(
    mut firmware: F,
    making: &Making,
    requests: Requests,
    settings: &Settings,
    mut tell: impl FnMut(usize, &Record, &OwnCounts) -> Result<(), RunError>,
) -> Result<Served, RunError> {
    let dies = making.make(&mut firmware)?;
    let heeds_completions = firmware.heeds_completions();
    let shared = OwnShared::new(firmware, heeds_completions);
    let mut before = shared.own_counts()?;
    let served = serve(
        making.geometry,
        dies,
        |_| Own(&shared),
        requests,
        settings,
        &mut |number, record| {
            let now = shared.own_counts()?;
            let counted = now.since(&before)?;
            before = now;
            tell(number, record, &counted)
        },
    )?;
    // Its erase counts are checked, if checking is on.
    shared.into_firmware().erase_counts()?;
    Ok(served)
}
