//! The drive's state between runs: the map, and how far each block is programmed; and a check that
//! they agree.

use drivelab_ftl::{Lpn, PageMap, Ppn, Shared};

use crate::error::RunError;
use crate::flash::Die;
use crate::geometry::Geometry;

/// A drive at rest.
pub struct State {
    /// Its shape.
    pub geometry: Geometry,
    /// A handle to its map.
    pub map: PageMap<Shared>,
    /// For every die, how far each block is programmed.
    pub programmed: Vec<Vec<u16>>,
}

impl State {
    /// A new drive.
    ///
    /// # Errors
    /// [`RunError::Geometry`] if the geometry does not work.
    pub fn erased(geometry: Geometry) -> Result<Self, RunError> {
        let map = PageMap::erased(geometry.layout(), geometry.policies());
        Ok(Self {
            map: map.map_err(|error| geometry.refused(&error))?,
            programmed: vec![vec![0; geometry.blocks as usize]; geometry.planes() as usize],
            geometry,
        })
    }

    /// The dies, with the numbers of their planes.
    #[must_use]
    pub fn dies(&self) -> Vec<(u32, Die)> {
        let plane_pages = self.geometry.blocks * self.geometry.pages;
        (0..)
            .zip(&self.programmed)
            .map(|(plane, next)| {
                let first_page = plane * plane_pages;
                let die = Die::new(first_page, self.geometry.pages, next.clone());
                (plane, die)
            })
            .collect()
    }

    /// Checks that every mapped page is valid exactly once, that its flash page is programmed, and
    /// that the counts of blocks agree. Returns the number of mapped pages.
    ///
    /// # Errors
    /// [`RunError::Inconsistent`] names the first contradiction.
    pub fn check(&self) -> Result<u32, RunError> {
        let layout = self.geometry.layout();
        let wrong = |what: String| Err(RunError::Inconsistent(what));
        let mut is_held = vec![0_u64; layout.physical_pages().div_ceil(64) as usize];
        let mut mapped = 0;
        for page in 0..layout.logical_pages {
            let Some(Ppn(place)) = self.map.physical(Lpn(page)) else {
                continue;
            };
            mapped += 1;
            let (word, bit) = (place as usize / 64, 1 << (place % 64));
            match is_held.get_mut(word) {
                Some(held) if *held & bit == 0 => *held |= bit,
                Some(_) => return wrong(format!("two pages lie in flash page {place}")),
                None => return wrong(format!("page {page} lies behind the end of the flash")),
            }
            if !self.map.is_valid(Ppn(place)) {
                return wrong(format!("page {page} lies in {place}, which is not valid"));
            }
            let block = place / layout.pages_per_block;
            let (plane, inside) = (
                block / layout.blocks_per_plane,
                block % layout.blocks_per_plane,
            );
            let programmed = self.programmed[plane as usize][inside as usize];
            if place % layout.pages_per_block >= programmed.into() {
                return wrong(format!(
                    "page {page} lies in {place}, which is not programmed"
                ));
            }
        }
        let valid: u64 = (0..layout.blocks())
            .map(|block| u64::from(self.map.valid_pages(block)))
            .sum();
        if valid == u64::from(mapped) {
            Ok(mapped)
        } else {
            wrong(format!(
                "{mapped} pages are mapped and {valid} count as valid"
            ))
        }
    }
}
