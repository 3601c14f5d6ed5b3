//! Drawing requests and counting latencies does not touch the heap.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use drivelab_request::Histogram;
use drivelab_workload::{Characteristics, Generator};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting the calls of each thread.
struct Counting;

// SAFETY: every call is passed on unchanged, and the counter needs no heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn requests_and_records_do_not_allocate() {
    let workload = Characteristics {
        write_ratio: 0.5,
        read_random: 0.5,
        write_random: 0.5,
        ..Characteristics::default()
    };
    let mut generator = Generator::new(&workload, 0, 1 << 30, 1, 1).unwrap();
    let mut histogram = Histogram::new();
    let before = ALLOCATIONS.get();
    assert!(before > 0, "the counter works");
    for _ in 0..10_000 {
        histogram.record(generator.next_request().offset_bytes);
    }
    assert_eq!(ALLOCATIONS.get(), before);
}
