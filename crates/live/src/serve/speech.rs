//! The protocol in which a request is answered.

use crate::block::{done_answer, error_answer, read_answer};
use crate::protocol::{ErrorNumber, ReplyForm, Request, error_reply, read_reply, simple_reply};

/// That of an NBD client, or the kernel's.
#[derive(Clone, Copy, Debug)]
pub(super) enum Speech {
    Nbd(ReplyForm),
    Kernel,
}

impl Speech {
    /// Appends what comes before the data of a read.
    pub fn read(self, reply: &mut Vec<u8>, request: &Request) {
        let (cookie, size) = (request.cookie, request.size_bytes);
        match self {
            Self::Nbd(form) => read_reply(reply, form, cookie, (request.offset_bytes, size)),
            Self::Kernel => read_answer(reply, cookie, size),
        }
    }

    /// Appends the reply to a finished request without data.
    pub fn done(self, reply: &mut Vec<u8>, request: &Request) {
        match self {
            Self::Nbd(_) => simple_reply(reply, request.cookie, None),
            Self::Kernel => done_answer(reply, request),
        }
    }

    /// Appends the reply to a failed request.
    pub fn failed(self, reply: &mut Vec<u8>, (cookie, is_read): (u64, bool), error: ErrorNumber) {
        match self {
            Self::Nbd(form) => error_reply(reply, form, (cookie, is_read), error),
            Self::Kernel => error_answer(reply, cookie, error),
        }
    }
}
