//! The memory in which a firmware keeps its tables.
//!
//! One source of the firmware serves several owners. [`Exclusive`] is plain memory. [`Undo`]
//! remembers where it was written, so a worker returns to the shared preconditioned state at
//! the cost of what it wrote. Several threads work on [`Shared`](crate::Shared)
//! (`shared.rs`).

use std::ops::Range;

use crate::large_pages;

/// An array of `T` that holds part of a firmware's state.
pub trait Cells<T: Copy + Ord>: Clone {
    /// `len` cells of `value`.
    fn filled(len: usize, value: T) -> Self;
    /// `len` cells that `compute` sets a piece at a time. It receives the index of the first cell of
    /// the piece, and its cells. Several threads may share a large array.
    fn computed(len: usize, compute: impl Fn(usize, &mut [T]) + Sync) -> Self;
    /// The number of cells.
    fn size(&self) -> usize;
    /// The value at `index`.
    fn get(&self, index: usize) -> T;
    /// Replaces the value at `index`.
    fn set(&mut self, index: usize, value: T);
    /// Lets `change` rewrite the `N` cells from `index` on; `None` if some do not exist.
    fn update<const N: usize, R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut [T; N]) -> R,
    ) -> Option<R>;
    /// Lets `change` rewrite each cell of `range` in order; none if some do not exist.
    fn rewrite(&mut self, range: Range<usize>, change: impl FnMut(&mut T));
    /// Prefetches `index`, which is needed soon.
    fn prefetch(&self, index: usize);
    /// Index and value of the smallest cell of `range`; on a tie the first.
    fn smallest(&self, range: Range<usize>) -> Option<(usize, T)>;
    /// From now on remembers what [`Cells::rollback`] needs.
    fn checkpoint(&mut self);
    /// Returns to the last checkpoint. `then` is a copy made at that moment. `changed` receives
    /// every cell that had another value, and its present value.
    fn rollback_telling(&mut self, then: &Self, changed: impl FnMut(usize, T));
    /// Returns to the last checkpoint. `then` is a copy made at that moment.
    fn rollback(&mut self, then: &Self);
}

/// A kind of memory: the arrays that a firmware consists of.
pub trait Memory {
    /// Counters of a block.
    type Narrow: Cells<u16> + Send;
    /// Page numbers and block numbers.
    type Wide: Cells<u32> + Send;
    /// Bitmaps.
    type Bits: Cells<u64> + Send;
}

/// Plain memory, one owner.
#[derive(Clone, Copy, Debug)]
pub struct Exclusive;

impl Memory for Exclusive {
    type Narrow = ExclusiveCells<u16>;
    type Wide = ExclusiveCells<u32>;
    type Bits = ExclusiveCells<u64>;
}

/// Plain memory with an undo log.
#[derive(Clone, Copy, Debug)]
pub struct Undo;

impl Memory for Undo {
    type Narrow = UndoCells<u16>;
    type Wide = UndoCells<u32>;
    type Bits = UndoCells<u64>;
}

/// [`Cells`] of [`Exclusive`].
#[derive(Debug, PartialEq, Eq)]
pub struct ExclusiveCells<T>(Vec<T>);

impl<T: Copy + Default + Send + Sync> Clone for ExclusiveCells<T> {
    fn clone(&self) -> Self {
        Self(large_pages::copied(&self.0))
    }
}

impl<T: Copy + Ord + Default + Send + Sync> Cells<T> for ExclusiveCells<T> {
    fn filled(len: usize, value: T) -> Self {
        Self(large_pages::filled(len, value))
    }

    fn computed(len: usize, compute: impl Fn(usize, &mut [T]) + Sync) -> Self {
        Self(large_pages::computed(len, compute))
    }

    fn size(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn get(&self, index: usize) -> T {
        self.0[index]
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: T) {
        self.0[index] = value;
    }

    #[inline(always)]
    fn update<const N: usize, R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut [T; N]) -> R,
    ) -> Option<R> {
        update(&mut self.0, index, change)
    }

    #[inline(always)]
    fn rewrite(&mut self, range: Range<usize>, change: impl FnMut(&mut T)) {
        rewrite(&mut self.0, range, change);
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(&self.0, index);
    }

    fn smallest(&self, range: Range<usize>) -> Option<(usize, T)> {
        smallest(&self.0, range)
    }

    fn checkpoint(&mut self) {}

    fn rollback(&mut self, then: &Self) {
        self.0.copy_from_slice(&then.0);
    }

    #[inline]
    fn rollback_telling(&mut self, then: &Self, changed: impl FnMut(usize, T)) {
        return_to(&mut self.0, &then.0, 0, changed);
    }
}

/// [`Cells`] of [`Undo`]: values, and which were replaced since the checkpoint.
///
/// ```text
///   values   [ chunk 0 | chunk 1 | chunk 2 | ... ]     128 bytes each
///   replaced [    1    |    0    |    1    | ... ]     1 bit each
/// ```
///
/// The values themselves come from the copy made at the checkpoint, which all workers share; a
/// worker keeps a thousandth of its state. When a quarter of the chunks is replaced, the marks
/// are given up: copying the whole array back then costs only a small multiple of what was
/// written.
#[derive(Debug)]
pub struct UndoCells<T> {
    values: Vec<T>,
    replaced: Vec<u64>,
    marks: usize,
    state: Marks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marks {
    /// There is no checkpoint.
    Off,
    /// Every chunk changed since the checkpoint is marked.
    On,
    /// Too many were changed.
    Full,
}

/// Bytes returned together: two cache lines, which are fetched together.
const CHUNK_BYTES: usize = 128;

impl<T: Copy + Default + Send + Sync> Clone for UndoCells<T> {
    fn clone(&self) -> Self {
        Self {
            values: large_pages::copied(&self.values),
            replaced: self.replaced.clone(),
            marks: self.marks,
            state: self.state,
        }
    }
}

impl<T: Copy> UndoCells<T> {
    const CELLS: usize = CHUNK_BYTES / size_of::<T>();

    fn chunks(&self) -> usize {
        self.values.len().div_ceil(Self::CELLS)
    }

    /// Calls `back` for every chunk changed since the checkpoint, with its cells, those of `then`,
    /// and the index of the first cell.
    #[inline(always)]
    fn return_chunks(&mut self, then: &Self, mut back: impl FnMut(&mut [T], &[T], usize)) {
        if self.state != Marks::On {
            back(&mut self.values, &then.values, 0);
            self.start_marks();
            return;
        }
        for (word, marks) in self.replaced.iter_mut().enumerate() {
            while *marks != 0 {
                let chunk = word * 64 + marks.trailing_zeros() as usize;
                *marks &= *marks - 1;
                let start = chunk * Self::CELLS;
                if start + Self::CELLS <= self.values.len() {
                    // A constant length is copied without a call.
                    let cells = start..start + Self::CELLS;
                    back(&mut self.values[cells.clone()], &then.values[cells], start);
                } else {
                    back(&mut self.values[start..], &then.values[start..], start);
                }
            }
        }
        self.marks = 0;
    }

    fn start_marks(&mut self) {
        self.replaced.clear();
        self.replaced.resize(self.chunks().div_ceil(64), 0);
        self.marks = 0;
        self.state = Marks::On;
    }

    #[inline(always)]
    fn mark_range(&mut self, range: Range<usize>) {
        if self.state == Marks::On {
            for chunk in range.start / Self::CELLS..range.end.div_ceil(Self::CELLS) {
                self.mark(chunk * Self::CELLS);
            }
        }
    }

    #[inline(always)]
    fn mark(&mut self, index: usize) {
        let chunk = index / Self::CELLS;
        let bit = 1 << (chunk % 64);
        let word = &mut self.replaced[chunk / 64];
        if *word & bit == 0 {
            *word |= bit;
            self.marks += 1;
            if self.marks > self.values.len() / Self::CELLS / 4 {
                self.state = Marks::Full;
            }
        }
    }
}

impl<T: Copy> UndoCells<T> {
    /// Without a checkpoint.
    fn of(values: Vec<T>) -> Self {
        Self {
            values,
            replaced: Vec::new(),
            marks: 0,
            state: Marks::Off,
        }
    }
}

impl<T: Copy + Ord + Default + Send + Sync> Cells<T> for UndoCells<T> {
    fn filled(len: usize, value: T) -> Self {
        Self::of(large_pages::filled(len, value))
    }

    fn computed(len: usize, compute: impl Fn(usize, &mut [T]) + Sync) -> Self {
        Self::of(large_pages::computed(len, compute))
    }

    fn size(&self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    fn get(&self, index: usize) -> T {
        self.values[index]
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: T) {
        if self.state == Marks::On {
            self.mark(index);
        }
        self.values[index] = value;
    }

    #[inline(always)]
    fn update<const N: usize, R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut [T; N]) -> R,
    ) -> Option<R> {
        self.mark_range(index..index + N);
        update(&mut self.values, index, change)
    }

    #[inline(always)]
    fn rewrite(&mut self, range: Range<usize>, change: impl FnMut(&mut T)) {
        self.mark_range(range.clone());
        rewrite(&mut self.values, range, change);
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(&self.values, index);
    }

    fn smallest(&self, range: Range<usize>) -> Option<(usize, T)> {
        smallest(&self.values, range)
    }

    fn checkpoint(&mut self) {
        self.start_marks();
    }

    fn rollback(&mut self, then: &Self) {
        self.return_chunks(then, |values, before, _| values.copy_from_slice(before));
    }

    #[inline]
    fn rollback_telling(&mut self, then: &Self, mut changed: impl FnMut(usize, T)) {
        self.return_chunks(then, |values, before, start| {
            return_to(values, before, start, &mut changed);
        });
    }
}

/// Sets `values`, whose first cell has the index `start`, to `before`.
#[inline(always)]
fn return_to<T: Copy + Ord>(
    values: &mut [T],
    before: &[T],
    start: usize,
    mut changed: impl FnMut(usize, T),
) {
    for (offset, (value, &before)) in values.iter_mut().zip(before).enumerate() {
        if *value != before {
            *value = before;
            changed(start + offset, before);
        }
    }
}

#[inline(always)]
fn update<T, const N: usize, R>(
    values: &mut [T],
    index: usize,
    change: impl FnOnce(&mut [T; N]) -> R,
) -> Option<R> {
    let cells = values.get_mut(index..)?.first_chunk_mut()?;
    Some(change(cells))
}

#[inline(always)]
fn rewrite<T>(values: &mut [T], range: Range<usize>, change: impl FnMut(&mut T)) {
    values
        .get_mut(range)
        .unwrap_or_default()
        .iter_mut()
        .for_each(change);
}

fn smallest<T: Copy + Ord>(values: &[T], range: Range<usize>) -> Option<(usize, T)> {
    let start = range.start;
    let window = &values[range];
    // Two passes, both vectorised, in place of one with a branch for each cell.
    let least = window
        .iter()
        .copied()
        .reduce(|least, value| least.min(value))?;
    let offset = window.iter().position(|&value| value == least)?;
    Some((start + offset, least))
}

/// Prefetches `values[index]`, if it exists.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let place = values.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch reads nothing and never fails, for any address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}
