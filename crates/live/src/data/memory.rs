//! Data in memory. Pages exist once something is written to them.
//!
//! ```text
//!   groups ── group (512 pages) ── page (4 KiB)
//! ```
//!
//! With two levels, nothing is ever copied to grow, so no write waits for that.

use super::StoreError;

const PAGE: usize = 4096;
const PAGES: usize = 512;
const GROUP: u64 = (PAGE * PAGES) as u64;

type Page = Box<[u8]>;

/// The size of a group without data.
const TABLE: u64 = (PAGES * size_of::<Option<Page>>()) as u64;

/// A table of pages. It exists as long as one of its pages does.
#[derive(Debug)]
struct Group {
    pages: Vec<Option<Page>>,
    held: usize,
}

impl Group {
    fn new() -> Self {
        Self {
            pages: (0..PAGES).map(|_| None).collect(),
            held: 0,
        }
    }
}

/// Sparse data in memory, with a bound.
#[derive(Debug)]
pub struct MemoryStore {
    groups: Vec<Option<Group>>,
    pages: u64,
    tables: u64,
    /// For pages and tables together.
    most_bytes: u64,
}

impl MemoryStore {
    /// Room for `size_bytes`, of which at most `most_bytes` may hold data at once. Tables count
    /// too, as far as they exceed the number that this much contiguous data needs.
    #[must_use]
    pub fn new(size_bytes: u64, most_bytes: u64) -> Self {
        let groups = size_bytes.div_ceil(GROUP) as usize;
        Self {
            groups: (0..groups).map(|_| None).collect(),
            pages: 0,
            tables: 0,
            most_bytes: most_bytes.saturating_add(most_bytes.div_ceil(GROUP) * TABLE),
        }
    }

    /// Bytes that hold data.
    #[must_use]
    pub const fn held_bytes(&self) -> u64 {
        self.pages * PAGE as u64
    }

    fn page(&self, number: u64) -> Option<&Page> {
        let group = self
            .groups
            .get((number / PAGES as u64) as usize)?
            .as_ref()?;
        group.pages.get((number % PAGES as u64) as usize)?.as_ref()
    }

    /// Appends `size` bytes from `offset` on to `out`.
    pub fn read(&self, offset: u64, size: usize, out: &mut Vec<u8>) {
        for (number, start, length) in pages(offset, size as u64) {
            match self.page(number) {
                Some(page) => out.extend(&page[start..start + length]),
                None => out.resize(out.len() + length, 0),
            }
        }
    }

    /// Stores `data` at `offset`.
    ///
    /// # Errors
    /// [`StoreError::NoSpace`] at the bound; a part may have been stored.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), StoreError> {
        let mut rest = data;
        for (number, start, length) in pages(offset, data.len() as u64) {
            let (part, others) = rest.split_at(length);
            rest = others;
            self.page_to_write(number)?[start..start + length].copy_from_slice(part);
        }
        Ok(())
    }

    /// Stores zeroes, which take as much room as other data.
    ///
    /// # Errors
    /// [`StoreError::NoSpace`] at the bound; a part may have been stored.
    pub fn write_zeroes(&mut self, offset: u64, size: u64) -> Result<(), StoreError> {
        for (number, start, length) in pages(offset, size) {
            self.page_to_write(number)?[start..start + length].fill(0);
        }
        Ok(())
    }

    fn page_to_write(&mut self, number: u64) -> Result<&mut Page, StoreError> {
        let place = (number / PAGES as u64) as usize;
        let slot = self.groups.get_mut(place).ok_or(StoreError::NoSpace)?;
        let within = (number % PAGES as u64) as usize;
        let is_new_page = slot
            .as_ref()
            .is_none_or(|group| group.pages[within].is_none());
        if is_new_page {
            let (pages, tables) = (self.pages + 1, self.tables + u64::from(slot.is_none()));
            if pages * PAGE as u64 + tables * TABLE > self.most_bytes {
                return Err(StoreError::NoSpace);
            }
            (self.pages, self.tables) = (pages, tables);
        }
        let group = slot.get_or_insert_with(Group::new);
        group.held += usize::from(is_new_page);
        Ok(group.pages[within].get_or_insert_with(|| vec![0; PAGE].into_boxed_slice()))
    }

    /// Makes the range read as zeroes. Whole pages of it are freed.
    pub fn forget(&mut self, offset: u64, size: u64) {
        let end = offset + size;
        let mut at = offset;
        while at < end {
            let place = (at / GROUP) as usize;
            let group_end = (at / GROUP + 1) * GROUP;
            let until = end.min(group_end);
            let Some(slot) = self.groups.get_mut(place) else {
                return;
            };
            if let Some(group) = slot {
                for (number, start, length) in pages(at, until - at) {
                    let page = &mut group.pages[(number % PAGES as u64) as usize];
                    if length == PAGE {
                        let given = page.take().map_or(0, |_| 1);
                        group.held -= given;
                        self.pages -= given as u64;
                    } else if let Some(page) = page {
                        page[start..start + length].fill(0);
                    }
                }
                if group.held == 0 {
                    *slot = None;
                    self.tables -= 1;
                }
            }
            at = until;
        }
    }
}

/// The pages that a range touches: number, offset in the page, and bytes in it.
fn pages(offset: u64, size: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + size;
    let mut at = offset;
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let (number, start) = (at / PAGE as u64, (at % PAGE as u64) as usize);
            let length = (PAGE - start).min((end - at).try_into().unwrap_or(PAGE));
            at += length as u64;
            (number, start, length)
        })
    })
}
