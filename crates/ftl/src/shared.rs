//! Memory on which several threads work at the same time.
//!
//! ```text
//!   worker 0: PageMap<Shared> ──┐
//!   worker 1: PageMap<Shared> ──┼──> cells, each an atomic of its own
//!   worker 2: PageMap<Shared> ──┘
//! ```
//!
//! A cell is read and written relaxed: an access costs as much as plain memory, and no access
//! tears. The callers of the firmware order several cells with a lock. If pages are striped
//! statically, everything that serving a page changes belongs to the page's plane: its map entries,
//! its blocks, their bits and counts, its record. One lock for each plane is enough then, and calls
//! on different planes run in parallel.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::memory::{Cells, Memory};

/// Memory of atomics. A clone of a firmware in it is another handle to the same state.
#[derive(Clone, Copy, Debug)]
pub struct Shared;

impl Memory for Shared {
    type Narrow = SharedCells<u16>;
    type Wide = SharedCells<u32>;
    type Bits = SharedCells<u64>;
}

/// A number with an atomic form of the same size, alignment and bits.
pub trait Word: Copy + Ord + Default + Send + Sync + 'static {
    /// The atomic form.
    type Atomic: Send + Sync;
    /// The atomic form of `value`.
    fn atomic(value: Self) -> Self::Atomic;
    /// The value of `cell` now.
    fn load(cell: &Self::Atomic) -> Self;
    /// Replaces the value of `cell`.
    fn store(cell: &Self::Atomic, value: Self);
}

macro_rules! word {
    ($plain:ty, $atomic:ty) => {
        impl Word for $plain {
            type Atomic = $atomic;

            #[inline(always)]
            fn atomic(value: Self) -> $atomic {
                <$atomic>::new(value)
            }

            #[inline(always)]
            fn load(cell: &$atomic) -> Self {
                cell.load(Relaxed)
            }

            #[inline(always)]
            fn store(cell: &$atomic, value: Self) {
                cell.store(value, Relaxed);
            }
        }
    };
}

word!(u16, AtomicU16);
word!(u32, AtomicU32);
word!(u64, AtomicU64);

/// [`Cells`] of [`Shared`]: a handle to memory that lives as long as its last handle.
pub struct SharedCells<T: Word> {
    first: *const T::Atomic,
    len: usize,
    /// The owner of the memory.
    owner: Arc<dyn Send + Sync>,
}

// SAFETY: the memory consists of atomics, which any thread may access. `owner`, which can be sent
// and shared too, keeps it in place.
unsafe impl<T: Word> Send for SharedCells<T> {}
// SAFETY: as above.
unsafe impl<T: Word> Sync for SharedCells<T> {}

impl<T: Word> Clone for SharedCells<T> {
    fn clone(&self) -> Self {
        Self {
            first: self.first,
            len: self.len,
            owner: Arc::clone(&self.owner),
        }
    }
}

impl<T: Word> fmt::Debug for SharedCells<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedCells({} cells)", self.len)
    }
}

impl<T: Word> SharedCells<T> {
    /// The cells at `first`, in memory that `owner` keeps.
    ///
    /// # Safety
    /// `first` is aligned for `T`. As long as `owner` lives, `len` cells from there on can be read
    /// and written, and nobody accesses them except through atomics.
    #[must_use]
    pub unsafe fn over(first: *const T, len: usize, owner: Arc<dyn Send + Sync>) -> Self {
        Self {
            first: first.cast(),
            len,
            owner,
        }
    }

    #[inline(always)]
    fn all(&self) -> &[T::Atomic] {
        // SAFETY: `first` and `len` describe memory that `owner` keeps; see `over`.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }

    /// The bytes of the cells, in this machine's order. The caller ensures that no other thread
    /// writes them meanwhile.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let size = size_of::<T>();
        let mut bytes = vec![0; self.len * size];
        for (cell, bytes) in self.all().iter().zip(bytes.chunks_exact_mut(size)) {
            let value = T::load(cell);
            // SAFETY: both have `size` bytes, and a word has no padding.
            unsafe {
                std::ptr::copy_nonoverlapping((&raw const value).cast(), bytes.as_mut_ptr(), size);
            }
        }
        bytes
    }
}

impl<T: Word> Cells<T> for SharedCells<T> {
    fn filled(len: usize, value: T) -> Self {
        let cells: Vec<T::Atomic> = (0..len).map(|_| T::atomic(value)).collect();
        let first = cells.as_ptr();
        Self {
            first,
            len,
            owner: Arc::new(cells),
        }
    }

    fn computed(len: usize, compute: impl Fn(usize, &mut [T]) + Sync) -> Self {
        let values = crate::large_pages::computed(len, compute);
        let mut cells = Self::filled(len, T::default());
        for (index, value) in values.into_iter().enumerate() {
            cells.set(index, value);
        }
        cells
    }

    fn size(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn get(&self, index: usize) -> T {
        T::load(&self.all()[index])
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: T) {
        T::store(&self.all()[index], value);
    }

    #[inline(always)]
    fn update<const N: usize, R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut [T; N]) -> R,
    ) -> Option<R> {
        let cells: &[T::Atomic; N] = self.all().get(index..)?.first_chunk()?;
        let mut values = std::array::from_fn(|place| T::load(&cells[place]));
        let result = change(&mut values);
        for (cell, value) in cells.iter().zip(values) {
            T::store(cell, value);
        }
        Some(result)
    }

    #[inline(always)]
    fn rewrite(&mut self, range: Range<usize>, mut change: impl FnMut(&mut T)) {
        for cell in self.all().get(range).unwrap_or_default() {
            let mut value = T::load(cell);
            change(&mut value);
            T::store(cell, value);
        }
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        crate::memory::prefetch(self.all(), index);
    }

    fn smallest(&self, range: Range<usize>) -> Option<(usize, T)> {
        let start = range.start;
        let cells = self.all().get(range)?;
        let least = cells.iter().map(T::load).min()?;
        let offset = cells.iter().position(|cell| T::load(cell) == least)?;
        Some((start + offset, least))
    }

    /// Changes by several threads cannot be undone, so there is nothing to remember.
    fn checkpoint(&mut self) {}

    /// Takes the values of `then`. If that is a handle to the same cells, they stay.
    fn rollback(&mut self, then: &Self) {
        self.rollback_telling(then, |_, _| {});
    }

    fn rollback_telling(&mut self, then: &Self, mut changed: impl FnMut(usize, T)) {
        for (index, (cell, before)) in self.all().iter().zip(then.all()).enumerate() {
            let before = T::load(before);
            if T::load(cell) != before {
                T::store(cell, before);
                changed(index, before);
            }
        }
    }
}
