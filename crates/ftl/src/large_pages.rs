//! Tables in large pages, if the system offers them.
//!
//! A table of tens of megabytes with random look-ups misses the translation cache of 4 KiB
//! pages on nearly every access. Even a prefetch then waits for a walk through the page
//! tables.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Bytes that one thread computes at a time.
const PIECE_BYTES: usize = 4 << 20;
/// Tables from this size on are computed by several threads.
const LARGE_TABLE_BYTES: usize = 64 << 20;
/// More threads than this do not write faster.
const MOST_THREADS: usize = 4;

/// `len` cells of `value`.
pub(crate) fn filled<T: Copy + Default + Send + Sync>(len: usize, value: T) -> Vec<T> {
    computed(len, |_, piece| piece.fill(value))
}

/// A copy of `cells`.
pub(crate) fn copied<T: Copy + Default + Send + Sync>(cells: &[T]) -> Vec<T> {
    computed(cells.len(), |first, piece| {
        piece.copy_from_slice(&cells[first..first + piece.len()]);
    })
}

/// `len` cells that `compute` sets a piece at a time. It receives the index of the first cell of the
/// piece, and its cells. Several threads compute a large table if the machine has more than one core.
pub(crate) fn computed<T: Copy + Default + Send>(
    len: usize,
    compute: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    // Memory of zeroes comes from the system untouched.
    let mut cells = vec![T::default(); len];
    advise(&mut cells);
    if len * size_of::<T>() < LARGE_TABLE_BYTES {
        compute(0, &mut cells);
        return cells;
    }
    let cells_each = PIECE_BYTES / size_of::<T>();
    let pieces = Mutex::new(cells.chunks_mut(cells_each).enumerate());
    let work = || {
        loop {
            let next = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, piece)) = next else { break };
            compute(number * cells_each, piece);
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..cores.min(MOST_THREADS) {
            // Without another thread, this one does all of it.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    cells
}

/// Asks for large pages before the memory is touched. Only the speed depends on whether they
/// come.
#[cfg(target_os = "linux")]
fn advise<T>(memory: &mut [T]) {
    const PAGE: usize = 4096;
    const LARGE_PAGE: usize = 2 << 20;
    let bytes = size_of_val(memory);
    let start = memory.as_mut_ptr() as usize;
    let first = start.next_multiple_of(PAGE);
    let last = (start + bytes) / PAGE * PAGE;
    if bytes >= LARGE_PAGE && last > first {
        // SAFETY: the range lies inside memory that this slice owns, and the advice changes neither
        // its content nor its access.
        unsafe {
            libc::madvise(
                first as *mut libc::c_void,
                last - first,
                libc::MADV_HUGEPAGE,
            );
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_memory: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::{computed, copied, filled};

    #[test]
    fn cells_hold_what_they_should_at_every_size() {
        for len in [
            0,
            1,
            1000,
            (2 << 20) / 4,
            (5 << 20) / 4 + 3,
            (65 << 20) / 4 + 3,
        ] {
            let cells = filled(len, 7_u32);
            assert_eq!(cells.len(), len);
            assert!(cells.iter().all(|&cell| cell == 7));
            assert_eq!(copied(&cells), cells);
            let numbered = computed(len, |first, piece: &mut [u32]| {
                for (offset, cell) in piece.iter_mut().enumerate() {
                    *cell = (first + offset) as u32;
                }
            });
            assert!(numbered.into_iter().eq(0..len as u32));
        }
    }
}
