//! A queue from one worker to another: a ring of 16-byte descriptors.
//!
//! ```text
//!        head (who takes out)        tail (who puts in)
//!          v                           v
//!   . . . [ ][ ][ ][ ][ ][ ][ ][ ][ ][ ] . . .
//! ```
//!
//! One worker at a time puts in and one takes out. If several put in, as into the queue of a die,
//! they hold the plane's lock. A full ring refuses; nobody waits inside.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::marks;
use crate::records::{Counter, Counters};

/// An item of a ring.
pub trait Descriptor: Copy {
    /// As two words.
    fn pack(self) -> [u64; 2];
    /// Restores what [`Descriptor::pack`] gave.
    fn unpack(words: [u64; 2]) -> Self;
}

/// A position that one side writes and the other reads, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Position(AtomicU32);

/// The queue.
#[derive(Debug)]
pub struct Ring<T> {
    head: Position,
    tail: Position,
    cells: Box<[[AtomicU64; 2]]>,
    number: usize,
    items: PhantomData<fn(T) -> T>,
}

impl<T: Descriptor> Ring<T> {
    /// An empty ring for `capacity` items (a power of two), with the number `number`.
    #[must_use]
    pub fn new(capacity: usize, number: usize) -> Self {
        let capacity = capacity.next_power_of_two();
        Self {
            head: Position::default(),
            tail: Position::default(),
            cells: (0..capacity).map(|_| Default::default()).collect(),
            number,
            items: PhantomData,
        }
    }

    /// Items in the ring, as far as this side knows. A third party may see too many, even more than
    /// fit, but never a negative number.
    #[inline]
    pub fn waiting(&self) -> usize {
        // The head is loaded first: it never overtakes a tail loaded later.
        let head = self.head.0.load(Ordering::Acquire);
        self.tail.0.load(Ordering::Acquire).wrapping_sub(head) as usize
    }

    /// Items that can be put in now, for the worker that puts in.
    #[inline]
    pub fn room(&self) -> usize {
        self.cells.len() - self.waiting()
    }

    /// Puts an item in. Returns `false` if the ring is full.
    #[inline]
    #[must_use]
    pub fn put(&self, item: T, counters: &Counters) -> bool {
        let tail = self.tail.0.load(Ordering::Relaxed);
        if tail.wrapping_sub(self.head.0.load(Ordering::Acquire)) as usize == self.cells.len() {
            return false;
        }
        let place = tail as usize & (self.cells.len() - 1);
        let words = item.pack();
        self.cells[place][0].store(words[0], Ordering::Relaxed);
        self.cells[place][1].store(words[1], Ordering::Relaxed);
        counters.add(Counter::HandOffs, 1);
        marks::put(self.number);
        self.tail.0.store(tail.wrapping_add(1), Ordering::Release);
        true
    }

    /// Takes the oldest item out.
    #[inline]
    pub fn take(&self) -> Option<T> {
        let head = self.head.0.load(Ordering::Relaxed);
        if head == self.tail.0.load(Ordering::Acquire) {
            return None;
        }
        marks::out(self.number);
        let place = head as usize & (self.cells.len() - 1);
        let words = [
            self.cells[place][0].load(Ordering::Relaxed),
            self.cells[place][1].load(Ordering::Relaxed),
        ];
        self.head.0.store(head.wrapping_add(1), Ordering::Release);
        Some(T::unpack(words))
    }
}
