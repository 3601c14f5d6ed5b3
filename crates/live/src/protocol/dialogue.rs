//! The dialogue on one connection, from the greeting to its end.

use super::option::{self, Agreed, MOST_OPTION_BYTES, Outcome};
use super::reply::{ReplyForm, error_reply};
use super::request::{HEADER_BYTES, Header, Request, check};
use super::wire::{self, Fields};
use super::{ErrorNumber, Export, MOST_REQUEST_BYTES};

/// Bytes of an option before its data.
const OPTION_HEADER_BYTES: usize = 16;

/// The meaning of the next bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Incomplete: nothing can be done before this many bytes have arrived.
    Needs(usize),
    /// This many bytes were used; replies may have been appended.
    Used(usize),
    /// A request, and its data.
    Asked {
        /// The bytes it took.
        used: usize,
        /// The request.
        request: Request,
        /// Data of a write.
        data: &'a [u8],
    },
    /// The client has finished, or spoke another protocol. Appended replies may still be sent.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Flags,
    Options,
    Transmission,
    /// More data that nobody wants is coming.
    Skipping {
        left: u64,
        refused: u64,
    },
    Over,
}

/// A connection without its socket.
#[derive(Debug)]
pub struct Dialogue {
    export: Export,
    stage: Stage,
    agreed: Agreed,
}

impl Dialogue {
    /// Begins with a greeting, appended to `out`.
    #[must_use]
    pub fn new(export: Export, out: &mut Vec<u8>) -> Self {
        out.extend(wire::MAGIC.to_be_bytes());
        out.extend(wire::OPTION_MAGIC.to_be_bytes());
        out.extend((wire::FIXED_NEWSTYLE | wire::NO_ZEROES).to_be_bytes());
        Self {
            export,
            stage: Stage::Flags,
            agreed: Agreed::default(),
        }
    }

    /// Begins with the first request: the export was described in another way.
    #[must_use]
    pub fn of_kernel(export: Export) -> Self {
        Self {
            export,
            stage: Stage::Transmission,
            agreed: Agreed::default(),
        }
    }

    /// The form of replies to reads.
    #[must_use]
    pub const fn form(&self) -> ReplyForm {
        if self.agreed.is_structured {
            ReplyForm::Structured
        } else {
            ReplyForm::Simple
        }
    }

    /// Whether the client may read and write.
    #[must_use]
    pub const fn is_transmitting(&self) -> bool {
        matches!(self.stage, Stage::Transmission | Stage::Skipping { .. })
    }

    /// Handles the front of `input`. Immediate replies are appended to `out`.
    pub fn step<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Step<'a> {
        let step = match self.stage {
            Stage::Flags => self.flags(input),
            Stage::Options => self.option(input, out),
            Stage::Transmission => self.request(input, out),
            Stage::Skipping { left, refused } => self.skip(input, (left, refused), out),
            Stage::Over => Step::Over,
        };
        if step == Step::Over {
            self.stage = Stage::Over;
        }
        step
    }

    fn flags<'a>(&mut self, input: &[u8]) -> Step<'a> {
        let Some(flags) = Fields(input).u32() else {
            return Step::Needs(4);
        };
        let known = u32::from(wire::FIXED_NEWSTYLE | wire::NO_ZEROES);
        if flags & !known != 0 {
            return Step::Over;
        }
        self.agreed.no_zeroes = flags & u32::from(wire::NO_ZEROES) != 0;
        self.stage = Stage::Options;
        Step::Used(4)
    }

    fn option<'a>(&mut self, input: &[u8], out: &mut Vec<u8>) -> Step<'a> {
        let mut fields = Fields(input);
        let (Some(magic), Some(option), Some(length)) = (fields.u64(), fields.u32(), fields.u32())
        else {
            return Step::Needs(OPTION_HEADER_BYTES);
        };
        if magic != wire::OPTION_MAGIC {
            return Step::Over;
        }
        if length > MOST_OPTION_BYTES {
            option::refuse(out, option, wire::TOO_BIG, "the option has too much data");
            return Step::Over;
        }
        let used = OPTION_HEADER_BYTES + length as usize;
        let Some(data) = fields.bytes(length as usize) else {
            return Step::Needs(used);
        };
        match option::answer(&self.export, &mut self.agreed, (option, data), out) {
            Outcome::Goes => {}
            Outcome::Transmits => self.stage = Stage::Transmission,
            Outcome::Ends => return Step::Over,
        }
        Step::Used(used)
    }

    fn request<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> Step<'a> {
        if input.len() < HEADER_BYTES {
            return Step::Needs(HEADER_BYTES);
        }
        let Some(header) = Header::read(input) else {
            return Step::Over;
        };
        if header.kind == wire::DISCONNECT {
            return Step::Over;
        }
        let data_bytes = header.data_bytes();
        if data_bytes > MOST_REQUEST_BYTES {
            self.stage = Stage::Skipping {
                left: data_bytes.into(),
                refused: header.cookie,
            };
            return Step::Used(HEADER_BYTES);
        }
        let used = HEADER_BYTES + data_bytes as usize;
        let Some(data) = input.get(HEADER_BYTES..used) else {
            return Step::Needs(used);
        };
        match check(&header, &self.export) {
            Ok(request) => Step::Asked {
                used,
                request,
                data,
            },
            Err(refused) => {
                let of = (refused.cookie, refused.is_read);
                error_reply(out, self.form(), of, refused.error);
                Step::Used(used)
            }
        }
    }

    fn skip<'a>(
        &mut self,
        input: &[u8],
        (left, refused): (u64, u64),
        out: &mut Vec<u8>,
    ) -> Step<'a> {
        if input.is_empty() {
            return Step::Needs(1);
        }
        let used = left.min(input.len() as u64);
        self.stage = if used < left {
            Stage::Skipping {
                left: left - used,
                refused,
            }
        } else {
            error_reply(out, self.form(), (refused, false), ErrorNumber::Invalid);
            Stage::Transmission
        };
        Step::Used(used as usize)
    }
}
