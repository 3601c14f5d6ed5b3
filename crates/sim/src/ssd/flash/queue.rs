//! Operations in progress in the flash, and the queues in which they wait.
//!
//! ```text
//!   queue:  head chunk ─> chunk ─> tail chunk        pool: chunks, the last freed first
//!           |..ttttt|  -> |ttttttt| -> |ttt....|
//! ```
//!
//! Thousands of operations wait while a drive collects. Chunks that were just emptied are reused
//! first, because they are still in the CPU's cache, and a task fits into one cache line.

use std::hint::select_unpredictable;

use drivelab_ftl::{Cause, NOTHING, OperationKind, Ppn, prefetch};

/// Tasks in a chunk.
const CHUNK: usize = 16;

/// The account of an operation: who waits for it.
///
/// ```text
///   0 .. 2^30        the slot of the request that waits for it
///   2^30 .. 2^31     the same, of a write whose pages lie in the write buffer
///   2^31 ..          a page of the write buffer goes; the stretch between two flushes
///   2^31 + 2^30 ..   a page of the map is read, for which others wait
///   the largest six   the read cache; nobody waits: for copybacks, for half a one, for a move
///                     of the collection, for its program, for others
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account(u32);

/// An [`Account`] with its number resolved.
pub enum Beneficiary {
    /// The request in this slot.
    Request(u32),
    /// The write in this slot, and its page of the buffer.
    Forced(u32),
    /// A page of the buffer, in the stretch with this number modulo [`STRETCHES`].
    Buffer(u32),
    /// Operations that wait for what this one reads of the map, by their ticket.
    Lookup(u32),
    /// Whoever waits for a page that is fetched into the read cache.
    Cache,
    Nobody,
}

/// Stretch numbers are kept modulo this.
pub const STRETCHES: u32 = FORCED;

const FORCED: u32 = 1 << 30;
const BUFFER: u32 = 1 << 31;
const LOOKUP: u32 = BUFFER | FORCED;
const CACHE: u32 = u32::MAX - 5;
const COPYBACKS: u32 = u32::MAX - 4;
const COPYBACK: u32 = u32::MAX - 3;
const MOVE: u32 = u32::MAX - 2;
const MOVED: u32 = u32::MAX - 1;

impl Account {
    /// Nobody waits.
    pub const NOBODY: Self = Self(u32::MAX);
    /// Nobody waits for one half of a move within a plane.
    pub const COPYBACK: Self = Self(COPYBACK);
    /// Nobody waits for a run of such moves ([`super::registers`]).
    pub const COPYBACKS: Self = Self(COPYBACKS);
    /// Nobody waits for a move: a read and the program of the data it read ([`super::moves`]).
    pub const MOVE: Self = Self(MOVE);
    /// The same, after its read ended.
    pub const MOVED: Self = Self(MOVED);
    /// Fetches a page into the read cache.
    pub const CACHE: Self = Self(CACHE);

    /// A request waits. There are fewer than 2^30 slots.
    #[inline(always)]
    pub const fn request(slot: u32) -> Self {
        Self(slot)
    }

    /// A write whose page lies in the write buffer waits.
    pub const fn forced(slot: u32) -> Self {
        Self(slot | FORCED)
    }

    /// Empties a page of the write buffer, in the stretch with this number.
    pub const fn buffer(stretch: u32) -> Self {
        Self(BUFFER | (stretch % STRETCHES))
    }

    /// Operations wait for what it reads of the map.
    pub const fn awaited(ticket: u32) -> Self {
        Self(LOOKUP | ticket)
    }

    #[inline(always)]
    pub const fn beneficiary(self) -> Beneficiary {
        match self.0 {
            slot @ 0..FORCED => Beneficiary::Request(slot),
            COPYBACKS.. => Beneficiary::Nobody,
            CACHE => Beneficiary::Cache,
            ticket @ LOOKUP.. => Beneficiary::Lookup(ticket ^ LOOKUP),
            stretch @ BUFFER.. => Beneficiary::Buffer(stretch ^ BUFFER),
            slot => Beneficiary::Forced(slot ^ FORCED),
        }
    }
}

/// An operation between emission and completion. Its page determines its plane.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Task {
    /// When dispatch hands it over.
    pub available: u64,
    /// How long its unit had collected when it was emitted. For a move: the page that is
    /// programmed. For several moves: the time between their dispatches. For copybacks: how many
    /// halves are counted.
    pub collected: u64,
    pub account: Account,
    pub ppn: Ppn,
    /// The logical page. For moves: how many are left, including the current one.
    pub lpn: u32,
    pub kind: OperationKind,
    pub cause: Cause,
    /// Identifies it among the tasks of its unit while operations are recorded.
    pub tag: u16,
}

impl Task {
    pub const NONE: Self = Self {
        available: 0,
        collected: 0,
        account: Account::NOBODY,
        ppn: Ppn(NOTHING),
        lpn: NOTHING,
        kind: OperationKind::Read,
        cause: Cause::Host,
        tag: 0,
    };

    /// Whether nothing of it crosses the channel.
    #[inline(always)]
    pub fn stays_in_place(&self) -> bool {
        self.kind == OperationKind::Erase
            || matches!(self.account, Account::COPYBACK | Account::COPYBACKS)
    }

    /// The read of a move ended.
    #[inline(always)]
    pub fn become_program(&mut self) {
        self.account = Account::MOVED;
        self.kind = OperationKind::Program;
        self.ppn = Ppn(self.collected as u32);
    }

    /// The current move ended. Continues with the next one, if it was not the last.
    #[inline(always)]
    pub fn next_move(&mut self) -> bool {
        if self.account != Account::MOVED || self.lpn == 1 {
            return false;
        }
        self.account = Account::MOVE;
        self.kind = OperationKind::Read;
        self.available += self.collected;
        self.lpn -= 1;
        true
    }

    /// Writes the fields one by one: a copy of the whole would wait until every field has reached
    /// the CPU's cache.
    #[inline(always)]
    pub fn put(self, place: &mut Self) {
        place.available = self.available;
        place.collected = self.collected;
        place.account = self.account;
        place.ppn = self.ppn;
        place.lpn = self.lpn;
        place.kind = self.kind;
        place.cause = self.cause;
        place.tag = self.tag;
    }
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Chunk([Task; CHUNK]);

/// The chunks of all queues.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    chunks: Vec<Chunk>,
    /// The next chunk of the same queue, or of the free list.
    next: Vec<u32>,
    free: Option<u32>,
    /// Tasks in all queues.
    pub waiting: u32,
}

impl Pool {
    #[inline(never)]
    fn take(&mut self) -> u32 {
        if let Some(chunk) = self.free {
            let next = self.next[chunk as usize];
            self.free = (next != NOTHING).then_some(next);
            return chunk;
        }
        self.chunks.push(Chunk([Task::NONE; CHUNK]));
        self.next.push(NOTHING);
        (self.chunks.len() - 1) as u32
    }

    fn give_back(&mut self, chunk: u32) {
        self.next[chunk as usize] = self.free.unwrap_or(NOTHING);
        self.free = Some(chunk);
    }
}

/// A queue of tasks, first in, first out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    head: u32,
    tail: u32,
    /// Index of the first task in the head chunk, and one past the last in the tail chunk.
    first: u16,
    end: u16,
    len: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            head: NOTHING,
            tail: NOTHING,
            first: 0,
            // Looks full, so the first task takes a chunk.
            end: CHUNK as u16,
            len: 0,
        }
    }
}

impl Queue {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts `task` at the end.
    #[inline(always)]
    pub fn push(&mut self, task: Task, pool: &mut Pool) {
        if self.end as usize == CHUNK {
            self.extend(pool);
        }
        let chunk = &mut pool.chunks[self.tail as usize].0;
        task.put(&mut chunk[self.end as usize % CHUNK]);
        self.end += 1;
        self.len += 1;
        pool.waiting += 1;
    }

    #[inline(never)]
    fn extend(&mut self, pool: &mut Pool) {
        let chunk = pool.take();
        pool.next[chunk as usize] = NOTHING;
        if self.head == NOTHING {
            self.head = chunk;
        } else {
            pool.next[self.tail as usize] = chunk;
        }
        self.tail = chunk;
        self.end = 0;
    }

    /// The first task.
    pub fn front<'a>(&self, pool: &'a Pool) -> Option<&'a Task> {
        let chunk = pool.chunks.get(self.head as usize)?;
        (self.len > 0).then(|| &chunk.0[self.first as usize % CHUNK])
    }

    /// Every task, beginning with the first.
    pub fn tasks<'a>(&self, pool: &'a Pool) -> impl Iterator<Item = &'a Task> + use<'a> {
        let (mut chunk, mut place, mut left) = (self.head, self.first as usize, self.len);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            if place == CHUNK {
                chunk = pool.next[chunk as usize];
                place = 0;
            }
            place += 1;
            Some(&pool.chunks[chunk as usize].0[place - 1])
        })
    }

    /// Takes the task at `place` (the first is 0), if there is one. The tasks before it move up.
    pub fn take_at(&mut self, place: u32, pool: &mut Pool) -> Option<Task> {
        if place >= self.len {
            return None;
        }
        let mut at = (self.head as usize, self.first as usize % CHUNK);
        let mut carried = pool.chunks[at.0].0[at.1];
        for _ in 0..place {
            at = match at {
                (chunk, slot) if slot + 1 == CHUNK => (pool.next[chunk] as usize, 0),
                (chunk, slot) => (chunk, slot + 1),
            };
            std::mem::swap(&mut carried, &mut pool.chunks[at.0].0[at.1]);
        }
        self.pop(pool);
        Some(carried)
    }

    /// Takes the first task, if there is one.
    pub fn pop(&mut self, pool: &mut Pool) -> Option<Task> {
        let mut task = Task::NONE;
        self.pop_to(&mut task, pool).then_some(task)
    }

    /// Takes the first task to `place`, if there is one, and prefetches the task behind it.
    #[inline(always)]
    pub fn pop_to(&mut self, place: &mut Task, pool: &mut Pool) -> bool {
        if self.len == 0 {
            return false;
        }
        *place = pool.chunks[self.head as usize].0[self.first as usize % CHUNK];
        self.len -= 1;
        self.first += 1;
        pool.waiting -= 1;
        // In an empty queue the current chunk is the last one and is filled from its start.
        // Branchless, because a branch would be mispredicted half the time.
        let (goes_on, first, end) = (self.len > 0, self.first, self.end);
        self.first = select_unpredictable(goes_on, first, 0);
        self.end = select_unpredictable(goes_on, end, 0);
        if self.first as usize == CHUNK {
            self.shrink(pool);
        }
        let chunk = &pool.chunks[self.head as usize].0;
        prefetch(chunk, self.first as usize % CHUNK);
        true
    }

    #[inline(never)]
    fn shrink(&mut self, pool: &mut Pool) {
        let empty = self.head;
        self.head = pool.next[empty as usize];
        self.first = 0;
        pool.give_back(empty);
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Pool, Queue, Task};
    use drivelab_ftl::Ppn;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn queues_of_one_pool_keep_their_order(
            steps in prop::collection::vec((0..3_usize, 0..40_u32, 0..40_u32), 1..60),
        ) {
            let mut pool = Pool::default();
            let mut queues = [Queue::default(); 3];
            let mut oracle: [VecDeque<u32>; 3] = Default::default();
            let mut number = 0;
            for (place, pushed, popped) in steps {
                for _ in 0..pushed {
                    number += 1;
                    let task = Task { ppn: Ppn(number), ..Task::NONE };
                    queues[place].push(task, &mut pool);
                    oracle[place].push_back(number);
                }
                let tasks = queues[place].tasks(&pool).map(|task| task.ppn.0);
                prop_assert!(tasks.eq(oracle[place].iter().copied()));
                for _ in 0..popped {
                    let front = queues[place].front(&pool).map(|task| task.ppn.0);
                    let task = queues[place].pop(&mut pool).map(|task| task.ppn.0);
                    let expected = oracle[place].pop_front();
                    prop_assert_eq!((front, task), (expected, expected));
                }
                let waiting: usize = oracle.iter().map(VecDeque::len).sum();
                prop_assert_eq!(pool.waiting as usize, waiting);
            }
            for (queue, expected) in queues.iter_mut().zip(&mut oracle) {
                while let Some(task) = queue.take_at(expected.len() as u32 / 2, &mut pool) {
                    let place = expected.len() / 2;
                    prop_assert_eq!(Some(task.ppn.0), expected.remove(place));
                    let tasks = queue.tasks(&pool).map(|task| task.ppn.0);
                    prop_assert!(tasks.eq(expected.iter().copied()));
                }
                prop_assert!(expected.is_empty());
            }
            // Empty chunks were reused: there are no more than all tasks need, plus a partly filled
            // one at both ends of each queue.
            prop_assert!(pool.chunks.len() <= number as usize / CHUNK + 2 * queues.len());
        }
    }
}
