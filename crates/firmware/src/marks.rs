//! What an observer of the program sees: one function, which stores one byte a call.
//!
//! An observer that runs the program under an emulator finds [`drivelab_mark`] by its symbol, and
//! the index of a mark in the address of its store (`address & 4095`). Without an observer a mark
//! costs a call and a store.
//!
//! ```text
//!      0            begin: set-up is over, measuring starts
//!      1            end
//!      2            a record, 1000 requests of the host, is over
//!     16 + w        from here on logical worker w runs; w = 239 is the host, and no worker
//!   1024 + l        lock l is taken          2048 + l   lock l is released
//!   3072 + q        an item is put in queue q
//!   3584 + q        an item is taken out of queue q, first in, first out
//! ```

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// The number of different marks.
pub const MARKS: usize = 4096;
/// Set-up is over.
pub const BEGIN: usize = 0;
/// Measuring ends.
pub const END: usize = 1;
/// A record is over.
pub const RECORD: usize = 2;
/// The worker that is none: the host runs, or the next turn is being chosen.
pub const HOST: usize = 239;

/// Where marks are stored: a page of its own, so that an address gives the index.
#[repr(C, align(4096))]
pub struct Marks([AtomicU8; MARKS]);

/// The page of the marks.
#[unsafe(no_mangle)]
pub static DRIVELAB_MARKS: Marks = Marks([const { AtomicU8::new(0) }; MARKS]);

/// Stores one byte at `index` of the page of marks, and does nothing else.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn drivelab_mark(index: usize) {
    DRIVELAB_MARKS.0[index % MARKS].store(1, Relaxed);
}

/// From here on `worker` runs.
#[inline]
pub fn worker(worker: usize) {
    drivelab_mark(16 + worker % 240);
}

/// `lock` is taken.
#[inline]
pub fn taken(lock: usize) {
    drivelab_mark(1024 + lock % 1024);
}

/// `lock` is released.
#[inline]
pub fn released(lock: usize) {
    drivelab_mark(2048 + lock % 1024);
}

/// An item is put in `queue`.
#[inline]
pub fn put(queue: usize) {
    drivelab_mark(3072 + queue % 512);
}

/// An item is taken out of `queue`.
#[inline]
pub fn out(queue: usize) {
    drivelab_mark(3584 + queue % 512);
}
