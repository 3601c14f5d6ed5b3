//! Demand-cached page mapping (DFTL, Gupta et al. 2009): the map lies on the flash, and the
//! controller's memory holds recently used entries.
//!
//! ```text
//!   entry ─ cached? ── yes ──────────────────────────> page operation
//!              └─ no: make room ─> read the translation page ─> page operation
//!                        └─ dirty: read its translation page, program it anew
//! ```
//!
//! The page map places and collects pages. Translation page t is logical page `logical pages + t`
//! there. It lies on its own plane, in blocks that only the map's own writes fill, and is
//! collected like any page. Its place is in the global translation directory, which is always in
//! memory.
//!
//! An entry is *dirty* if its translation page gives another place. When a translation page is
//! written, it takes up all its dirty entries, cached or not. Entries of pages that collection
//! moves become dirty. If such entries are not cached, their translation pages are written when a
//! block of the plane is erased. One request reads a translation page once, however many of its
//! entries it needs.
//!
//! A cache as large as the map never reads or writes a translation page.

mod cache;
mod policies;
mod state;

use crate::divisor::Divisor;
use crate::memory::{Cells, Memory};
use crate::operation::{Cause, Operation, OperationBuffer, OperationKind, TRIMMED};
use crate::page_map::PageMap;
use crate::space::Frontier;
use crate::{
    Action, Firmware, FirmwareError, FlashLayout, LayoutError, Lpn, NOTHING, PageRun, Ppn, Room,
};

use cache::Cache;
pub use policies::{CachedPolicies, Replacement};

/// Demand-cached page mapping over the memory `M`.
pub struct CachedMap<M: Memory> {
    /// The layout that the host sees, without the translation pages.
    layout: FlashLayout,
    pages: PageMap<M>,
    /// Everything is cached.
    is_whole: bool,
    cache: Cache<M>,
    /// Entries of a translation page.
    by_entries: Divisor,
    entries: u32,
    /// One bit for every entry whose translation page gives another place; whole words for every
    /// translation page.
    dirty: M::Wide,
    dirty_words: u32,
    /// By plane, one bit for every translation page of which collection has moved a page there
    /// since the last erase.
    moved: M::Wide,
    moved_words: u32,
}

impl<M: Memory> Clone for CachedMap<M> {
    fn clone(&self) -> Self {
        self.clone_with(self.pages.clone())
    }
}

impl<M: Memory> CachedMap<M> {
    fn clone_with(&self, pages: PageMap<M>) -> Self {
        Self {
            layout: self.layout,
            pages,
            is_whole: self.is_whole,
            cache: self.cache.clone(),
            by_entries: self.by_entries,
            entries: self.entries,
            dirty: self.dirty.clone(),
            dirty_words: self.dirty_words,
            moved: self.moved.clone(),
            moved_words: self.moved_words,
        }
    }

    /// A new drive: every block erased, no page mapped, nothing cached.
    ///
    /// # Errors
    /// [`LayoutError`] if the policies cannot work on the layout.
    pub fn erased(layout: FlashLayout, policies: CachedPolicies) -> Result<Self, LayoutError> {
        policies.validate(&layout)?;
        let is_whole = policies.cached_entries >= layout.logical_pages;
        let (logical, cached) = match is_whole {
            true => (0, 0),
            false => (layout.logical_pages, policies.cached_entries),
        };
        let map_pages = policies.map_pages(layout.logical_pages);
        let dirty_words = policies.entries_per_page.div_ceil(32);
        let moved_words = map_pages.div_ceil(32);
        let words = |rows: u32, words: u32| {
            let rows = if is_whole { 0 } else { rows };
            M::Wide::filled(rows as usize * words as usize, 0)
        };
        Ok(Self {
            layout,
            pages: PageMap::erased(policies.with_map(&layout), policies.pages)?,
            is_whole,
            cache: Cache::empty(logical, cached, policies.replacement),
            by_entries: Divisor::new(policies.entries_per_page),
            entries: policies.entries_per_page,
            dirty: words(map_pages, dirty_words),
            dirty_words,
            moved: words(layout.planes, moved_words),
            moved_words,
        })
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn table_bytes(layout: &FlashLayout, policies: &CachedPolicies) -> u64 {
        let pages = u64::from(layout.logical_pages);
        let map_pages = u64::from(policies.map_pages(layout.logical_pages));
        let cache = 4 * pages + 16 * u64::from(policies.cached_entries).min(pages);
        let bits = pages / 8 + u64::from(layout.planes) * (map_pages / 8 + 4);
        PageMap::<M>::table_bytes(&policies.with_map(layout)) + cache + bits
    }

    /// Where the newest data of `page` lies; `None` if it was never written or is trimmed.
    #[must_use]
    pub fn physical(&self, page: Lpn) -> Option<Ppn> {
        self.pages.physical(page)
    }

    fn map_pages(&self) -> u32 {
        self.pages.layout.logical_pages - self.layout.logical_pages
    }

    fn is_dirty(&self, logical: u32) -> bool {
        let (word, bit) = self.dirty_place(logical);
        self.dirty.get(word) & bit != 0
    }

    fn dirty_place(&self, logical: u32) -> (usize, u32) {
        let map_page = self.by_entries.quotient(logical);
        let entry = logical - map_page * self.entries;
        let word = map_page * self.dirty_words + entry / 32;
        (word as usize, 1 << (entry % 32))
    }

    fn set_dirty(&mut self, logical: u32) {
        let (word, bit) = self.dirty_place(logical);
        let bits = self.dirty.get(word);
        if bits & bit == 0 {
            self.dirty.set(word, bits | bit);
        }
    }

    /// Brings the entry of a page into the cache. Returns the operation of the buffer that reads
    /// it, if one does.
    fn load(
        &mut self,
        logical: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<u32, FirmwareError> {
        if self.cache.touch(logical) {
            out.counts.map_hits += 1;
            return Ok(NOTHING);
        }
        out.counts.map_misses += 1;
        if let Some(victim) = self.cache.victim() {
            if let Some(later) = self.cache.later_victim(victim) {
                self.dirty.prefetch(self.dirty_place(later).0);
            }
            if self.is_dirty(victim) {
                self.write_back(self.by_entries.quotient(victim), request, out)?;
            }
            self.cache.replace(victim, logical);
        } else {
            self.cache.insert(logical);
        }
        let map_page = self.layout.logical_pages + self.by_entries.quotient(logical);
        if let Some(index) = out.map_read(map_page) {
            return Ok(index);
        }
        let ppn = self.pages.map.get(map_page as usize);
        if ppn >= TRIMMED {
            // It was never written, so it contains nothing yet.
            return Ok(NOTHING);
        }
        Ok(out.push_map_read(self.map_operation(OperationKind::Read, map_page, ppn, request)))
    }

    fn map_operation(
        &self,
        kind: OperationKind,
        map_page: u32,
        ppn: u32,
        request: u32,
    ) -> Operation {
        let turn = self.pages.by_planes.remainder(map_page);
        Operation {
            kind,
            cause: Cause::Map,
            plane: self.pages.placement.striped(turn),
            ppn: Ppn(ppn),
            lpn: map_page,
            after: NOTHING,
            request,
        }
    }

    /// Writes a translation page with all its new entries.
    fn write_back(
        &mut self,
        index: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for word in index * self.dirty_words..(index + 1) * self.dirty_words {
            if self.dirty.get(word as usize) != 0 {
                self.dirty.set(word as usize, 0);
            }
        }
        let map_page = self.layout.logical_pages + index;
        let mut program = self.map_operation(OperationKind::Program, map_page, NOTHING, request);
        let plane = program.plane;
        let pages = &mut self.pages;
        if pages.space.pages_left(plane, Frontier::Hot) == 0 {
            pages.make_room(plane, request, out)?;
        }
        let old = pages.map.get(map_page as usize);
        let new = pages
            .space
            .next_page(plane, Frontier::Hot)
            .ok_or(FirmwareError::NoSpace { plane })?;
        if old < TRIMMED {
            pages.space.valid.invalidate(old);
            program.after = out.push(Operation {
                kind: OperationKind::Read,
                ppn: Ppn(old),
                ..program
            });
        }
        pages.occupy(new.0, map_page);
        program.ppn = new;
        out.push(program);
        if pages.policies.pace.is_spread() {
            pages.collect_a_little(plane, request, out)?;
        }
        Ok(())
    }

    /// Updates the map for what collection has done in the operations from `from` on.
    fn follow_collection(
        &mut self,
        from: usize,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let mut place = from;
        while let Some(&operation) = out.operations().get(place) {
            place += 1;
            let is_moved = operation.cause != Cause::Host && operation.cause != Cause::Map;
            match operation.kind {
                OperationKind::Program if is_moved && operation.lpn < self.layout.logical_pages => {
                    self.set_dirty(operation.lpn);
                    let map_page = self.by_entries.quotient(operation.lpn);
                    let word = operation.plane * self.moved_words + map_page / 32;
                    let bits = self.moved.get(word as usize) | 1 << (map_page % 32);
                    self.moved.set(word as usize, bits);
                }
                OperationKind::Erase => self.write_moved(operation.plane, request, out)?,
                OperationKind::Program | OperationKind::Read => {}
            }
        }
        Ok(())
    }

    /// A block of `plane` is erased: writes entries of moved pages that are not cached.
    fn write_moved(
        &mut self,
        plane: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for word in 0..self.moved_words {
            let place = (plane * self.moved_words + word) as usize;
            let mut bits = self.moved.get(place);
            if bits == 0 {
                continue;
            }
            self.moved.set(place, 0);
            while bits != 0 {
                let index = word * 32 + bits.trailing_zeros();
                bits &= bits - 1;
                if self.holds_uncached_news(index) {
                    self.write_back(index, request, out)?;
                }
            }
        }
        Ok(())
    }

    /// Whether an entry of a translation page is dirty and not cached.
    fn holds_uncached_news(&self, index: u32) -> bool {
        let first = index * self.entries;
        (0..self.dirty_words).any(|word| {
            let mut bits = self.dirty.get((index * self.dirty_words + word) as usize);
            while bits != 0 {
                let logical = first + word * 32 + bits.trailing_zeros();
                bits &= bits - 1;
                if !self.cache.holds(logical) {
                    return true;
                }
            }
            false
        })
    }

    /// Serves one page.
    fn serve_page(
        &mut self,
        run: &PageRun,
        logical: u32,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let before = out.operations().len();
        let brought_by = self.load(logical, request, out)?;
        let loaded = out.operations().len();
        let is_partial = run.is_partial(logical);
        let page = PageRun {
            first_partial: is_partial,
            last_partial: is_partial,
            ..PageRun::whole(run.action, Lpn(logical), 1)
        };
        self.pages.submit(&[page], out)?;
        let mut waits = brought_by;
        for operation in out.operations_mut(loaded) {
            operation.request = request;
            if operation.cause == Cause::Host && waits != NOTHING {
                // Other operations for this page wait for this one.
                operation.after = waits;
                waits = NOTHING;
            }
        }
        if run.action == Action::Write {
            self.set_dirty(logical);
        }
        self.follow_collection(before, request, out)
    }

    /// Gives up pages, and then changes their entries.
    fn trim(
        &mut self,
        run: &PageRun,
        request: u32,
        out: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        self.pages.submit(&[*run], out)?;
        for logical in run.whole_pages() {
            let before = out.operations().len();
            self.load(logical, request, out)?;
            self.set_dirty(logical);
            self.follow_collection(before, request, out)?;
        }
        Ok(())
    }
}

impl<M: Memory> Firmware for CachedMap<M> {
    fn layout(&self) -> &FlashLayout {
        &self.layout
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        for (index, run) in batch.iter().enumerate() {
            run.check_end(self.layout.logical_pages)?;
            if self.is_whole {
                continue;
            }
            let request = index as u32;
            if run.action == Action::Trim {
                self.trim(run, request, operations)?;
                continue;
            }
            for page in run.first.0..run.first.0 + run.pages {
                self.serve_page(run, page, request, operations)?;
            }
        }
        if self.is_whole {
            let pages = |run: &PageRun| u64::from(run.pages);
            operations.counts.map_hits += batch.iter().map(pages).sum::<u64>();
            self.pages.submit(batch, operations)?;
        }
        Ok(())
    }

    #[inline]
    fn heeds_completions(&self) -> bool {
        false
    }

    #[inline]
    fn uses_after(&self) -> bool {
        !self.is_whole
    }

    fn map_pages(&self) -> u32 {
        self.map_pages()
    }

    fn room(&self) -> Option<Room> {
        Some(self.pages.space.room())
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        Firmware::erase_count(&self.pages, block)
    }

    #[inline]
    fn prefetch_map(&self, page: Lpn) {
        self.pages.prefetch_map(page);
        self.cache.prefetch(page.0);
    }

    #[inline]
    fn prefetch_overwrite(&self, page: Lpn) {
        self.pages.prefetch_overwrite(page);
        self.cache.prefetch_use(page.0);
        if !self.is_whole {
            self.dirty.prefetch(self.dirty_place(page.0).0);
        }
    }
}
