//! Firmware that maps whole blocks, as in drives whose controllers had no memory for a table of
//! pages.
//!
//! ```text
//!   logical page ─> plane (static striping), logical block, offset in it
//!   data[logical block] ─> physical block        its pages lie at their own offsets
//! ```
//!
//! A page goes to its place in the data block while nothing was programmed there or behind it.
//! Overwrites go elsewhere until a *merge* brings the block together again. The schemes differ in
//! the place of overwrites:
//!
//! | scheme | an overwrite goes to | merged when |
//! |---|---|---|
//! | `block` | its own offset in the one replacement block of its plane; the pages before it are copied first | another block of the plane is overwritten, or an offset that has passed |
//! | `bast` | the log block of its data block, in order of arrival | all log blocks are taken: the one written least recently; or its own is full |
//! | `fast` | the plane's sequential log block, if it begins a block or continues there; else the next page of the shared log blocks | all are full: every block with newest data in the one filled first |
//!
//! A merge is a *switch* if the log holds all pages at their own offsets and becomes the data
//! block. It is *partial* if the rest must be copied behind them, and *full* if pages are copied
//! together from several places (Kim et al. 2002; Lee et al. 2007).
//!
//! The tables of the real drives are small. Here an additional map of all pages says where the
//! newest data lies, but no decision uses more than those drives knew. Pages that were never
//! written, or were trimmed, are skipped: a block is programmed in order, but not every page of
//! it.

mod merge;
mod policies;
mod state;
mod write;

use crate::divisor::Divisor;
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind, TRIMMED};
use crate::placement::{Allocation, Placement};
use crate::{
    Action, Firmware, FirmwareError, FlashLayout, LayoutError, Lpn, NOTHING, PageRun, Ppn, Room,
};

pub use policies::{BlockPolicies, BlockScheme};

/// Words of a plane's record.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Field {
    FreeHead,
    FreeCount,
    /// Number of times that log blocks were taken or written, modulo 2^32.
    Clock,
    /// The shared log block that is being filled.
    Filling,
}

const PLANE_WORDS: usize = 4;

/// Words of the record of a log block.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Log {
    /// The physical block, or [`NOTHING`].
    Block,
    /// The logical block of its plane whose pages it takes; [`NOTHING`] if any.
    Owner,
    /// 1 once a page is not at its own offset, or was copied.
    Disordered,
    /// When it was last written, by the plane's clock.
    Written,
}

const LOG_WORDS: usize = 4;

/// Block mapping over the memory `M`.
pub struct BlockMap<M: Memory> {
    layout: FlashLayout,
    policies: BlockPolicies,
    placement: Placement,
    by_planes: Divisor,
    by_pages: Divisor,
    by_plane_pages: Divisor,
    /// Logical blocks of a plane.
    logical_blocks: u32,
    /// Log blocks of a plane.
    logs: u32,
    /// Where the newest data of a page lies; by plane, then by page of the plane.
    map: M::Wide,
    /// The data block of each logical block; likewise.
    data: M::Wide,
    /// One more than the number of the log block of each logical block, 0 for none.
    log_of: M::Wide,
    /// [`Log`] of every log block; likewise.
    log_words: M::Wide,
    /// For each page of a shared log block: the page it was written for, by its place in `map`.
    logged: M::Wide,
    /// For every physical block, its next page to program.
    next: M::Wide,
    erases: M::Wide,
    /// The free blocks of every plane, one ring each.
    free: M::Wide,
    /// [`Field`] of every plane.
    planes: M::Wide,
}

impl<M: Memory> Clone for BlockMap<M> {
    fn clone(&self) -> Self {
        Self {
            layout: self.layout,
            policies: self.policies,
            placement: self.placement.clone(),
            by_planes: self.by_planes,
            by_pages: self.by_pages,
            by_plane_pages: self.by_plane_pages,
            logical_blocks: self.logical_blocks,
            logs: self.logs,
            map: self.map.clone(),
            data: self.data.clone(),
            log_of: self.log_of.clone(),
            log_words: self.log_words.clone(),
            logged: self.logged.clone(),
            next: self.next.clone(),
            erases: self.erases.clone(),
            free: self.free.clone(),
            planes: self.planes.clone(),
        }
    }
}

/// A logical page, split into its parts.
#[derive(Clone, Copy)]
struct Page {
    plane: u32,
    /// Its remainder modulo the planes.
    turn: u32,
    /// Its logical block among those of all planes.
    block: u32,
    offset: u32,
}

fn words<M: Memory>(count: u32, each: usize, value: u32) -> M::Wide {
    M::Wide::filled(count as usize * each, value)
}

impl<M: Memory> BlockMap<M> {
    /// A new drive: every block erased, no page mapped.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn erased(layout: FlashLayout, policies: BlockPolicies) -> Result<Self, LayoutError> {
        policies.validate(&layout)?;
        let logical_blocks = policies.logical_blocks(&layout);
        let logs = policies.logs();
        let all = layout.planes * logical_blocks;
        let pages = layout.pages_per_block as usize;
        let shared = match policies.scheme {
            BlockScheme::Fast => layout.planes * logs,
            BlockScheme::Block | BlockScheme::Bast => 0,
        };
        let mut drive = Self {
            layout,
            policies,
            placement: Placement::new(
                Allocation::Static,
                policies.order,
                policies.axes,
                layout.planes,
                0,
            ),
            by_planes: Divisor::new(layout.planes),
            by_pages: Divisor::new(layout.pages_per_block),
            by_plane_pages: Divisor::new(layout.blocks_per_plane * layout.pages_per_block),
            logical_blocks,
            logs,
            map: words::<M>(all, pages, NOTHING),
            data: words::<M>(all, 1, NOTHING),
            log_of: words::<M>(all, 1, 0),
            log_words: words::<M>(layout.planes * logs, LOG_WORDS, NOTHING),
            logged: words::<M>(shared, pages, NOTHING),
            next: words::<M>(layout.blocks(), 1, 0),
            erases: words::<M>(layout.blocks(), 1, 0),
            free: words::<M>(layout.blocks(), 1, 0),
            planes: words::<M>(layout.planes, PLANE_WORDS, 0),
        };
        for block in 0..layout.blocks() {
            drive.free.set(block as usize, block);
        }
        for plane in 0..layout.planes {
            drive.set_field(plane, Field::FreeCount, layout.blocks_per_plane);
            // Number 0 is the sequential log block.
            drive.set_field(plane, Field::Filling, 1);
        }
        Ok(drive)
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn table_bytes(layout: &FlashLayout, policies: &BlockPolicies) -> u64 {
        let blocks = u64::from(layout.planes) * u64::from(policies.logical_blocks(layout));
        let pages = u64::from(layout.pages_per_block);
        let logs = u64::from(layout.planes) * u64::from(policies.logs());
        4 * (blocks * (pages + 2) + logs * (pages + 4) + 3 * u64::from(layout.blocks()))
    }

    /// Where the newest data of `page` lies; `None` if it was never written or is trimmed.
    #[must_use]
    pub fn physical(&self, page: Lpn) -> Option<Ppn> {
        let ppn = self.map.get(self.place_of(self.page(page.0)));
        (ppn < TRIMMED).then_some(Ppn(ppn))
    }

    #[inline(always)]
    fn page(&self, logical: u32) -> Page {
        let index = self.by_planes.quotient(logical);
        let turn = logical - index * self.layout.planes;
        let plane = self.placement.striped(turn);
        let block = self.by_pages.quotient(index);
        Page {
            plane,
            turn,
            block: plane * self.logical_blocks + block,
            offset: index - block * self.layout.pages_per_block,
        }
    }

    /// The place of a page in the map.
    #[inline(always)]
    fn place_of(&self, page: Page) -> usize {
        (page.block * self.layout.pages_per_block + page.offset) as usize
    }

    #[inline(always)]
    fn field(&self, plane: u32, field: Field) -> u32 {
        self.planes
            .get(plane as usize * PLANE_WORDS + field as usize)
    }

    #[inline(always)]
    fn set_field(&mut self, plane: u32, field: Field, value: u32) {
        let place = plane as usize * PLANE_WORDS + field as usize;
        self.planes.set(place, value);
    }

    #[inline(always)]
    fn log(&self, plane: u32, log: u32, word: Log) -> u32 {
        let record = (plane * self.logs + log) as usize;
        self.log_words.get(record * LOG_WORDS + word as usize)
    }

    #[inline(always)]
    fn set_log(&mut self, plane: u32, log: u32, word: Log, value: u32) {
        let record = (plane * self.logs + log) as usize;
        self.log_words
            .set(record * LOG_WORDS + word as usize, value);
    }

    /// How much room there is. Whether it merges is not included: a merge ends as it begins.
    fn free_room(&self) -> Room {
        let layout = &self.layout;
        let free = (0..layout.planes).map(|plane| u64::from(self.field(plane, Field::FreeCount)));
        Room {
            blocks: layout.blocks().into(),
            free_blocks: free.sum(),
            planes: layout.planes.into(),
            ..Room::default()
        }
    }

    /// The next free block of `plane`, first in, first out.
    fn take_free(&mut self, plane: u32) -> Result<u32, FirmwareError> {
        let count = self.field(plane, Field::FreeCount);
        if count == 0 {
            return Err(FirmwareError::NoSpace { plane });
        }
        let blocks = self.layout.blocks_per_plane;
        let head = self.field(plane, Field::FreeHead);
        let block = self.free.get((plane * blocks + head) as usize);
        self.set_field(plane, Field::FreeHead, (head + 1) % blocks);
        self.set_field(plane, Field::FreeCount, count - 1);
        Ok(block)
    }

    /// Erases `block`, which holds no data any more.
    fn erase(&mut self, plane: u32, block: u32, request: u32, out: &mut OperationBuffer) {
        out.push(Operation {
            kind: OperationKind::Erase,
            cause: Cause::Collection,
            plane,
            ppn: Ppn(block * self.layout.pages_per_block),
            lpn: NOTHING,
            after: NOTHING,
            request,
        });
        self.next.set(block as usize, 0);
        let erases = self.erases.get(block as usize);
        self.erases.set(block as usize, erases.saturating_add(1));
        let blocks = self.layout.blocks_per_plane;
        let (head, count) = (
            self.field(plane, Field::FreeHead),
            self.field(plane, Field::FreeCount),
        );
        let place = plane * blocks + (head + count) % blocks;
        self.free.set(place as usize, block);
        self.set_field(plane, Field::FreeCount, count + 1);
    }

    fn trim(&mut self, run: &PageRun, out: &mut OperationBuffer) {
        for logical in run.whole_pages() {
            let place = self.place_of(self.page(logical));
            out.counts.lookups += 1;
            out.counts.trims += u64::from(self.map.get(place) < TRIMMED);
            self.map.set(place, TRIMMED);
        }
    }

    fn read(&self, logical: u32, request: u32, out: &mut OperationBuffer) {
        let page = self.page(logical);
        let ppn = self.map.get(self.place_of(page));
        out.counts.lookups += 1;
        if ppn >= TRIMMED {
            out.counts.unmapped_reads += u64::from(ppn == NOTHING);
            out.counts.trimmed_reads += u64::from(ppn == TRIMMED);
            return;
        }
        out.push(host_operation(
            OperationKind::Read,
            page.plane,
            ppn,
            logical,
            request,
        ));
    }
}

/// A host operation that waits for no other.
fn host_operation(
    kind: OperationKind,
    plane: u32,
    ppn: u32,
    logical: u32,
    request: u32,
) -> Operation {
    Operation {
        kind,
        cause: Cause::Host,
        plane,
        ppn: Ppn(ppn),
        lpn: logical,
        after: NOTHING,
        request,
    }
}

impl<M: Memory> Firmware for BlockMap<M> {
    fn layout(&self) -> &FlashLayout {
        &self.layout
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for (index, run) in batch.iter().enumerate() {
            let request = index as u32;
            run.check_end(self.layout.logical_pages)?;
            let pages = run.first.0..run.first.0 + run.pages;
            match run.action {
                Action::Read => pages.for_each(|page| self.read(page, request, operations)),
                Action::Write => {
                    for page in pages {
                        self.write(page, run.is_partial(page), request, operations)?;
                    }
                }
                Action::Trim => self.trim(run, operations),
            }
        }
        Ok(())
    }

    #[inline]
    fn heeds_completions(&self) -> bool {
        false
    }

    fn skips_pages(&self) -> bool {
        true
    }

    #[inline]
    fn read_one(&mut self, page: Lpn) -> Option<Operation> {
        if page.0 >= self.layout.logical_pages {
            return None;
        }
        let ppn = self.physical(page)?.0;
        let plane = self.by_plane_pages.quotient(ppn);
        Some(host_operation(OperationKind::Read, plane, ppn, page.0, 0))
    }

    fn room(&self) -> Option<Room> {
        Some(self.free_room())
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        Some(self.erases.get(block as usize))
    }

    #[inline]
    fn prefetch_map(&self, page: Lpn) {
        self.map.prefetch(self.place_of(self.page(page.0)));
    }
}
