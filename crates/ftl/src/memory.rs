//! The memory a firmware keeps its tables in.
//!
//! One source of the firmware serves several owners: [`Exclusive`] is plain
//! memory, [`Undo`] remembers every overwritten value so that a worker returns
//! to the shared preconditioned state at the cost of what it wrote.

use std::ops::Range;

use crate::large_pages;

/// An array of `T` behind which a firmware keeps part of its state.
pub trait Cells<T: Copy + Ord>: Clone {
    /// `len` cells of `value`.
    fn filled(len: usize, value: T) -> Self;
    /// The value at `index`.
    fn get(&self, index: usize) -> T;
    /// Replaces the value at `index`.
    fn set(&mut self, index: usize, value: T);
    /// Hints that `index` is used soon.
    fn prefetch(&self, index: usize);
    /// Position and value of the smallest cell of `range`; the first of equals.
    fn smallest(&self, range: Range<usize>) -> Option<(usize, T)>;
    /// From now on remembers what [`Cells::rollback`] needs.
    fn checkpoint(&mut self);
    /// Returns to the last checkpoint. `then` is a copy made at that moment; it
    /// is read only when more was changed than is remembered.
    fn rollback(&mut self, then: &Self);
}

/// A kind of memory: the arrays a firmware is made of.
pub trait Memory {
    /// Counters of a block.
    type Narrow: Cells<u16>;
    /// Page numbers and block numbers.
    type Wide: Cells<u32>;
    /// Bitmaps.
    type Bits: Cells<u64>;
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

impl<T: Copy> Clone for ExclusiveCells<T> {
    fn clone(&self) -> Self {
        Self(large_pages::copied(&self.0))
    }
}

impl<T: Copy + Ord> Cells<T> for ExclusiveCells<T> {
    fn filled(len: usize, value: T) -> Self {
        Self(large_pages::filled(len, value))
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
}

/// [`Cells`] of [`Undo`]: values and, since the checkpoint, what they replaced.
///
/// The log holds an eighth as many changes as there are cells. When it is full
/// it is given up: copying the whole array back then costs no more than a small
/// multiple of what was written, and a long run needs no more memory for it.
#[derive(Debug)]
pub struct UndoCells<T> {
    values: Vec<T>,
    replaced: Vec<(u32, T)>,
    state: Log,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Log {
    /// There is no checkpoint.
    Off,
    /// Every change since the checkpoint is remembered.
    On,
    /// There were too many.
    Full,
}

impl<T: Copy> Clone for UndoCells<T> {
    fn clone(&self) -> Self {
        Self {
            values: large_pages::copied(&self.values),
            replaced: self.replaced.clone(),
            state: self.state,
        }
    }
}

impl<T: Copy + Ord> UndoCells<T> {
    #[cold]
    #[inline(never)]
    fn give_up(&mut self) {
        self.replaced.clear();
        self.state = Log::Full;
    }
}

impl<T: Copy + Ord> Cells<T> for UndoCells<T> {
    fn filled(len: usize, value: T) -> Self {
        Self {
            values: large_pages::filled(len, value),
            replaced: Vec::new(),
            state: Log::Off,
        }
    }

    #[inline(always)]
    fn get(&self, index: usize) -> T {
        self.values[index]
    }

    #[inline(always)]
    fn set(&mut self, index: usize, value: T) {
        if self.state == Log::On {
            if self.replaced.len() > self.values.len() / 8 {
                self.give_up();
            } else {
                self.replaced.push((index as u32, self.values[index]));
            }
        }
        self.values[index] = value;
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(&self.values, index);
    }

    fn smallest(&self, range: Range<usize>) -> Option<(usize, T)> {
        smallest(&self.values, range)
    }

    fn checkpoint(&mut self) {
        self.replaced.clear();
        self.state = Log::On;
    }

    fn rollback(&mut self, then: &Self) {
        if self.state == Log::On {
            for &(index, value) in self.replaced.iter().rev() {
                self.values[index as usize] = value;
            }
        } else {
            self.values.copy_from_slice(&then.values);
        }
        self.checkpoint();
    }
}

fn smallest<T: Copy + Ord>(values: &[T], range: Range<usize>) -> Option<(usize, T)> {
    let start = range.start;
    let window = &values[range];
    // Two passes, both vectorised, instead of one with a branch a cell.
    let least = window
        .iter()
        .copied()
        .reduce(|least, value| least.min(value))?;
    let offset = window.iter().position(|&value| value == least)?;
    Some((start + offset, least))
}

#[inline(always)]
fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if index < values.len() {
        // SAFETY: the address lies inside the slice, and a prefetch reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().add(index).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}
