//! The lock of one plane. It protects changes of the plane's map, blocks and queue.
//!
//! It is held for one look-up or a few moves, so waiters spin, like firmware on cores without an
//! operating system. On a host with fewer cores than workers, a waiter lets others run from time to
//! time.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::marks;
use crate::records::{Counter, Counters};

/// Rounds of waiting after which another thread may run.
const PATIENCE: u32 = 200;

/// A spin lock with a number, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct PlaneLock {
    is_taken: AtomicBool,
}

/// Holds the lock as long as it lives.
#[derive(Debug)]
pub struct Guard<'a> {
    lock: &'a PlaneLock,
    /// `None` if the host holds it.
    number: Option<usize>,
}

impl PlaneLock {
    /// Takes the lock, whose number is `number`.
    #[inline]
    pub fn take(&self, number: usize, counters: &Counters) -> Guard<'_> {
        counters.add(Counter::LockAcquisitions, 1);
        if !self.try_take() {
            counters.add(Counter::LockWaits, 1);
            self.wait();
        }
        marks::taken(number);
        Guard {
            lock: self,
            number: Some(number),
        }
    }

    /// Takes the lock for the host, without counting or marking.
    pub fn take_for_host(&self) -> Guard<'_> {
        if !self.try_take() {
            self.wait();
        }
        Guard {
            lock: self,
            number: None,
        }
    }

    #[inline]
    fn try_take(&self) -> bool {
        let taken =
            self.is_taken
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok()
    }

    #[cold]
    fn wait(&self) {
        let mut rounds = 0;
        while !self.try_take() {
            while self.is_taken.load(Ordering::Relaxed) {
                rounds += 1;
                if rounds % PATIENCE == 0 {
                    std::thread::yield_now();
                }
                std::hint::spin_loop();
            }
        }
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(number) = self.number {
            marks::released(number);
        }
        self.lock.is_taken.store(false, Ordering::Release);
    }
}
