//! Replies that a client has not taken yet.
//!
//! ```text
//!   queue: [ buffer ][ buffer ] ... then tail
//!             ▲ sent up to here       ▲ small replies are gathered here
//! ```
//!
//! Large replies are queued without copying, so a slow client causes no copies.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};

/// Replies up to this size are copied to the tail, to be sent together.
const SMALL_BYTES: usize = 64 << 10;

/// When the tail exceeds this size, it is queued and a new one begins.
const TAIL_BYTES: usize = 256 << 10;

/// Bytes to be sent, in order.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: VecDeque<Vec<u8>>,
    queued_bytes: usize,
    /// Bytes of the first buffer that were sent.
    sent: usize,
    tail: Vec<u8>,
}

impl Outbox {
    /// Bytes not sent yet.
    pub fn unsent(&self) -> usize {
        self.queued_bytes - self.sent + self.tail.len()
    }

    /// The buffer to which short replies are appended.
    pub fn tail(&mut self) -> &mut Vec<u8> {
        if self.tail.len() >= TAIL_BYTES {
            self.queue_tail();
        }
        &mut self.tail
    }

    /// Takes a reply. Returns its buffer if it was copied.
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

    /// Sends as much as `send` accepts.
    ///
    /// # Errors
    /// Errors of `send`, except temporary ones.
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
