//! Replies of the transmission phase.

use super::ErrorNumber;
use super::wire;

/// The form of replies to a connection's reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyForm {
    /// A header, then the data.
    #[default]
    Simple,
    /// Chunks; one is enough.
    Structured,
}

/// Appends the reply to a request without data, or to a failed one. For a failed read in chunks use
/// [`error_reply`].
pub fn simple_reply(out: &mut Vec<u8>, cookie: u64, error: Option<ErrorNumber>) {
    out.extend(wire::SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(error.map_or(0, |error| error as u32).to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Appends the header of a read's reply. `size` bytes of data must follow.
pub fn read_reply(out: &mut Vec<u8>, form: ReplyForm, cookie: u64, (offset, size): (u64, u32)) {
    match form {
        ReplyForm::Simple => simple_reply(out, cookie, None),
        ReplyForm::Structured => {
            chunk(out, wire::OFFSET_DATA, cookie, size + 8);
            out.extend(offset.to_be_bytes());
        }
    }
}

/// Appends the reply to a failed request.
pub fn error_reply(
    out: &mut Vec<u8>,
    form: ReplyForm,
    (cookie, is_read): (u64, bool),
    error: ErrorNumber,
) {
    if form == ReplyForm::Simple || !is_read {
        simple_reply(out, cookie, Some(error));
        return;
    }
    // The error number, and an empty message.
    chunk(out, wire::CHUNK_ERROR, cookie, 6);
    out.extend((error as u32).to_be_bytes());
    out.extend([0; 2]);
}

/// The header of the only chunk of a reply.
fn chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, length: u32) {
    out.extend(wire::STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend(wire::DONE.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(length.to_be_bytes());
}
