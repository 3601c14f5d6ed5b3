//! The kernel as a client that asks by messages about a file, for the drive's block device.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use drivelab_request::CommandKind;
use rustix::io::Errno;

use super::connection::{MOST_IN_FLIGHT_BYTES, MOST_REQUESTS};
use super::speech::Speech;
use super::waiting::{Owner, Waiting};
use super::work::Work;
use crate::block::{Heard, MESSAGE_ROOM, hear};
use crate::protocol::{Asked, ErrorNumber, Export};

/// The owner of the kernel's requests.
pub(super) const KERNEL: Owner = Owner {
    place: usize::MAX,
    number: 0,
};

/// The most messages handled before others get a turn.
const TURN: usize = 64;

/// The kernel's messages, one at a time.
#[derive(Debug)]
pub(super) struct Kernel {
    channel: OwnedFd,
    /// The file's name.
    name: String,
    /// A buffer for one message, and for an answer that does not need the drive.
    room: Vec<u8>,
    answer: Vec<u8>,
    /// Requests whose reply is not due yet, and the bytes of their replies.
    requests: usize,
    reply_bytes: usize,
    /// The file is gone.
    pub is_over: bool,
}

impl Kernel {
    pub fn new(channel: OwnedFd, name: String) -> Self {
        Self {
            channel,
            name,
            room: vec![0; MESSAGE_ROOM],
            answer: Vec::new(),
            requests: 0,
            reply_bytes: 0,
            is_over: false,
        }
    }

    /// Whether it may send more requests.
    pub const fn is_heard(&self) -> bool {
        !self.is_over && self.requests < MOST_REQUESTS && self.reply_bytes < MOST_IN_FLIGHT_BYTES
    }

    /// Handles its messages. Returns whether the drive received a request.
    pub fn hear(&mut self, work: &mut Work, export: &Export) -> bool {
        let mut was_asked = false;
        for _ in 0..TURN {
            // A drive that has just failed gets no more requests.
            if !self.is_heard() || work.is_failing() {
                break;
            }
            let Some(length) = self.take() else {
                break;
            };
            self.answer.clear();
            match hear(&self.room[..length], export, &self.name, &mut self.answer) {
                Heard::Nothing => {}
                Heard::Over => self.is_over = true,
                Heard::Answered => give(&self.channel, &self.answer),
                Heard::Asked(request, data) => {
                    was_asked = true;
                    let now = work.now();
                    match work.ask(now, KERNEL, (&request, data), Speech::Kernel) {
                        Ok(reply_bytes) => {
                            self.requests += 1;
                            self.reply_bytes += reply_bytes;
                        }
                        Err(error) => {
                            let of = (request.cookie, request.asked == Asked::Read);
                            Speech::Kernel.failed(&mut self.answer, of, error);
                            give(&self.channel, &self.answer);
                        }
                    }
                }
            }
        }
        was_asked
    }

    /// Reads the next message into the buffer and returns its length; `None` if none waits.
    fn take(&mut self) -> Option<usize> {
        loop {
            match rustix::io::read(&self.channel, &mut self.room[..]) {
                Ok(length) => return Some(length),
                // Interrupted, or the sender is gone.
                Err(Errno::INTR | Errno::NOENT) => {}
                Err(Errno::AGAIN) => return None,
                Err(_) => {
                    self.is_over = true;
                    return None;
                }
            }
        }
    }

    /// Delivers a reply. Returns whether it is one that may be late, and its buffer for reuse.
    pub fn deliver(&mut self, waiting: Waiting) -> (bool, Vec<u8>) {
        let mut reply = waiting.reply;
        self.requests -= 1;
        self.reply_bytes -= reply.len();
        if waiting.is_failed {
            reply.clear();
            let of = (waiting.cookie, waiting.kind == CommandKind::Read);
            Speech::Kernel.failed(&mut reply, of, ErrorNumber::Io);
        }
        give(&self.channel, &reply);
        (!waiting.is_failed, reply)
    }
}

/// Delivers an answer: completely, or not at all if nobody wants it any more.
fn give(channel: &OwnedFd, answer: &[u8]) {
    while rustix::io::write(channel, answer) == Err(Errno::INTR) {}
}

impl AsFd for Kernel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}
