//! Tables in large pages, if the system offers them.
//!
//! A table of tens of megabytes with random look-ups misses the translation cache of 4 KiB
//! pages on nearly every access. Even a prefetch then waits for a walk through the page
//! tables.

/// `len` cells of `value`.
pub(crate) fn filled<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut cells = with_capacity(len);
    cells.resize(len, value);
    cells
}

/// A copy of `cells`.
pub(crate) fn copied<T: Copy>(cells: &[T]) -> Vec<T> {
    let mut copy = with_capacity(cells.len());
    copy.extend_from_slice(cells);
    copy
}

fn with_capacity<T>(len: usize) -> Vec<T> {
    let mut cells = Vec::with_capacity(len);
    advise(cells.spare_capacity_mut());
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
    use super::{copied, filled};

    #[test]
    fn cells_hold_what_they_should_at_every_size() {
        for len in [0, 1, 1000, (2 << 20) / 4, (5 << 20) / 4 + 3] {
            let cells = filled(len, 7_u32);
            assert_eq!(cells.len(), len);
            assert!(cells.iter().all(|&cell| cell == 7));
            assert_eq!(copied(&cells), cells);
        }
    }
}
