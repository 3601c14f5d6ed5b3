//! The time of every step of a flash operation, resolved from the preset.

use drivelab_ftl::{OperationKind, Ppn};

use super::ageing::Ageing;
use crate::preset::{CellTimes, MOST_PAGE_TYPES, SsdConfig};
use crate::ssd::times::scaled;

/// One time for each type of page of a dense block, then the time of an SLC block.
type ByPageType = [u64; SLC + 1];

/// The type of the pages of SLC blocks.
const SLC: usize = MOST_PAGE_TYPES;

/// Nanoseconds of every stage, indexed by operation kind (0 read, 1 program, 2 erase) where kinds
/// differ.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The controller's dispatch stage.
    pub dispatch: [u64; 3],
    /// Register transfer over the channel; an erase transfers nothing.
    pub register: [u64; 3],
    /// Cell-array times of new flash, by type of page ([`Timing::page_type`]).
    cell: [ByPageType; 3],
    /// From the beginning until the channel is needed. For a read, the cell array.
    before_transfer: [ByPageType; 3],
    /// From the end of the transfer to the end. For a program, the cell array.
    after_transfer: [ByPageType; 3],
    /// The shortest time of a program on its unit, without waiting for the channel.
    pub shortest_program: u64,
    /// All pages always take the same time.
    is_uniform: bool,
    /// How wear changes these times, if it does.
    pub ageing: Option<Box<Ageing>>,
    page_types: u32,
    pages_per_block: u32,
    /// The number of SLC blocks at the start of each plane.
    slc_blocks: u32,
    blocks_per_plane: u32,
    /// From a pause to its first read; from its end to further progress; and the progress required
    /// before a pause.
    pub suspend: u64,
    pub resume: u64,
    pub suspend_progress: u64,
}

impl Timing {
    /// Resolves a configuration, with every time multiplied by `factor`.
    pub fn new(config: &SsdConfig, factor: f64) -> Self {
        let timing = &config.timing;
        let scale = |nanos| scaled(nanos, factor);
        let by_type = |times: &CellTimes, slc: Option<u64>| -> ByPageType {
            let dense = |page_type| times.of_page(page_type as u32);
            std::array::from_fn(|page_type| match slc {
                Some(slc) if page_type == SLC => scale(slc),
                _ => scale(dense(page_type)),
            })
        };
        let none = [0; SLC + 1];
        let types = timing
            .read_cell_ns
            .types()
            .max(timing.program_cell_ns.types()) as u32;
        let slc = config.slc.as_ref();
        let read = by_type(&timing.read_cell_ns, slc.map(|slc| slc.read_cell_ns));
        let program = by_type(&timing.program_cell_ns, slc.map(|slc| slc.program_cell_ns));
        let ageing = Ageing::new(config, scale);
        Self {
            dispatch: [
                scale(timing.read_dispatch_ns),
                scale(timing.write_dispatch_ns),
                scale(timing.erase_dispatch_ns),
            ],
            register: [
                scale(timing.read_register_ns),
                scale(timing.write_register_ns),
                0,
            ],
            cell: [read, program, [scale(timing.erase_cell_ns); SLC + 1]],
            before_transfer: [read, none, none],
            after_transfer: [none, program, none],
            shortest_program: scale(timing.write_register_ns)
                + program.into_iter().min().unwrap_or(0),
            is_uniform: types == 1 && slc.is_none() && ageing.is_none(),
            ageing,
            page_types: types,
            slc_blocks: slc.map_or(0, |slc| slc.blocks_per_plane),
            blocks_per_plane: config.geometry.blocks_per_plane,
            pages_per_block: config.geometry.pages_per_block,
            suspend: scale(timing.suspend_ns.unwrap_or(0)),
            resume: scale(timing.resume_ns.unwrap_or(0)),
            suspend_progress: scale(timing.suspend_progress_ns.unwrap_or(0)),
        }
    }

    /// Whether pages take different times.
    #[inline(always)]
    pub fn has_page_types(&self) -> bool {
        !self.is_uniform
    }

    /// The cell-array time of an operation on `page`.
    #[inline(always)]
    pub fn cell(&self, kind: OperationKind, page: Ppn) -> u64 {
        if self.is_uniform {
            return self.cell[kind as usize][0];
        }
        self.aged(kind, page, self.cell[kind as usize][self.page_type(page)])
    }

    /// The part of it before the transfer.
    #[inline(always)]
    pub fn before_transfer(&self, kind: OperationKind, page: Ppn) -> u64 {
        if self.is_uniform {
            return self.before_transfer[kind as usize][0];
        }
        let fresh = self.before_transfer[kind as usize][self.page_type(page)];
        match kind {
            OperationKind::Read => self.aged(kind, page, fresh),
            OperationKind::Program | OperationKind::Erase => fresh,
        }
    }

    /// The part of it after the transfer.
    #[inline(always)]
    pub fn after_transfer(&self, kind: OperationKind, page: Ppn) -> u64 {
        if self.is_uniform {
            return self.after_transfer[kind as usize][0];
        }
        let fresh = self.after_transfer[kind as usize][self.page_type(page)];
        match kind {
            OperationKind::Program => self.aged(kind, page, fresh),
            OperationKind::Read | OperationKind::Erase => fresh,
        }
    }

    #[inline(always)]
    fn aged(&self, kind: OperationKind, page: Ppn, fresh: u64) -> u64 {
        match &self.ageing {
            None => fresh,
            Some(ageing) => ageing.time(kind, page, fresh),
        }
    }

    /// Which cell-array times hold for a page: its index in the block modulo the number of types.
    #[inline(always)]
    fn page_type(&self, page: Ppn) -> usize {
        let block = page.0 / self.pages_per_block % self.blocks_per_plane;
        if block < self.slc_blocks {
            return SLC;
        }
        let page_type = page.0 % self.pages_per_block % self.page_types;
        page_type as usize % MOST_PAGE_TYPES
    }

    /// The shortest time of a read on its unit, without waiting for the channel.
    pub fn shortest_read(&self) -> u64 {
        let read = OperationKind::Read as usize;
        let cell = self.cell[read].iter().min().copied().unwrap_or(0);
        cell + self.register[read]
    }

    /// Whether all moves within a plane take the same time, and each half follows the one before at
    /// once because it has been dispatched by then.
    pub fn copybacks_follow(&self) -> bool {
        let [read, program, _] = self.dispatch;
        let sensing = self.cell[OperationKind::Read as usize][0];
        self.is_uniform && program <= sensing && read + program <= self.copyback()
    }

    /// The time of a move within a plane, if all pages take the same time.
    pub fn copyback(&self) -> u64 {
        self.cell[OperationKind::Read as usize][0] + self.cell[OperationKind::Program as usize][0]
    }

    /// Whether every step of an operation on its unit takes some time.
    pub fn every_step_takes_time(&self) -> bool {
        let times = self.register[..2].iter().chain(self.cell.iter().flatten());
        times.copied().min() > Some(0)
    }
}
