//! What a client has not taken yet.
//!
//! ```text
//!   queue: [ buffer ][ buffer ] ... then tail
//!             ▲ sent up to here       ▲ small replies are gathered here
//! ```
//!
//! Large replies are queued as they are, so that however slowly a client takes them, nothing is
//! moved for it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};

/// Replies up to this are copied to the tail, to be sent together.
const SMALL_BYTES: usize = 64 << 10;

/// Above this the tail is queued, and another begun.
const TAIL_BYTES: usize = 256 << 10;

/// Bytes to be sent, in order.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: VecDeque<Vec<u8>>,
    queued_bytes: usize,
    /// Of the first buffer.
    sent: usize,
    tail: Vec<u8>,
}

impl Outbox {
    /// Bytes that are not sent.
    pub fn unsent(&self) -> usize {
        self.queued_bytes - self.sent + self.tail.len()
    }

    /// Where something short is appended.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        if self.tail.len() >= TAIL_BYTES {
            self.queue_tail();
        }
        &mut self.tail
    }

    /// Takes a reply. Gives back its buffer where that is not needed.
    pub fn push(&mut self, reply: Vec<u8>) -> Option<Vec<u8>> {
        if reply.len() <= SMALL_BYTES {
            self.tail().extend(&reply);
            return Some(reply);
        }
        self.queue_tail();
        self.queued_bytes += reply.len();
        self.queue.push_back(reply);
        None
    }

    fn queue_tail(&mut self) {
        if !self.tail.is_empty() {
            self.queued_bytes += self.tail.len();
            self.queue.push_back(std::mem::take(&mut self.tail));
        }
    }

    /// Sends as much as `send` takes.
    ///
    /// # Errors
    /// Whatever `send` says, but for what passes.
    pub fn send(&mut self, mut send: impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        loop {
            if self.queue.is_empty() {
                self.queue_tail();
            }
            let Some(first) = self.queue.front() else {
                return Ok(());
            };
            match send(&first[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            if self.sent == first.len() {
                self.drop_first();
            }
        }
    }

    fn drop_first(&mut self) {
        self.sent = 0;
        let Some(mut first) = self.queue.pop_front() else {
            return;
        };
        self.queued_bytes -= first.len();
        if self.tail.capacity() == 0 && first.capacity() <= 2 * TAIL_BYTES {
            first.clear();
            self.tail = first;
        }
    }
}
