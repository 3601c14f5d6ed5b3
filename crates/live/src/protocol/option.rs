//! The options that a client negotiates before it reads and writes.

use super::wire::{self, Fields};
use super::{Export, MOST_REQUEST_BYTES, PREFERRED_BYTES, SECTOR_BYTES};

/// The most bytes of one option. A name has at most 4096.
pub const MOST_OPTION_BYTES: u32 = 16 << 10;

/// The result of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The negotiation continues.
    Goes,
    /// Reading and writing begins.
    Transmits,
    /// The connection ends.
    Ends,
}

/// The result of the negotiation so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Agreed {
    /// The client does not want the zeroes after an export's description.
    pub no_zeroes: bool,
    /// Replies to reads come in chunks.
    pub is_structured: bool,
}

/// Answers one option.
pub(super) fn answer(
    export: &Export,
    agreed: &mut Agreed,
    (option, data): (u32, &[u8]),
    out: &mut Vec<u8>,
) -> Outcome {
    match option {
        wire::EXPORT_NAME => {
            // This option has no error reply.
            if !export.is_named(data) {
                return Outcome::Ends;
            }
            out.extend(export.size_bytes.to_be_bytes());
            out.extend(flags(export, *agreed).to_be_bytes());
            if !agreed.no_zeroes {
                out.extend([0; 124]);
            }
            return Outcome::Transmits;
        }
        wire::ABORT => {
            reply(out, option, wire::ACKNOWLEDGED, &[]);
            return Outcome::Ends;
        }
        wire::LIST if data.is_empty() => {
            let mut named = (export.name.len() as u32).to_be_bytes().to_vec();
            named.extend(export.name.as_bytes());
            reply(out, option, wire::SERVER, &named);
            reply(out, option, wire::ACKNOWLEDGED, &[]);
        }
        wire::STRUCTURED_REPLY if data.is_empty() => {
            agreed.is_structured = true;
            reply(out, option, wire::ACKNOWLEDGED, &[]);
        }
        wire::LIST | wire::STRUCTURED_REPLY => {
            refuse(out, option, wire::INVALID, "this option has no data");
        }
        wire::INFO | wire::GO => match wanted(data) {
            None => refuse(
                out,
                option,
                wire::INVALID,
                "the option's lengths do not fit",
            ),
            Some((name, _)) if !export.is_named(name) => {
                let known = format!("the only export is {:?}", export.name);
                refuse(out, option, wire::UNKNOWN, &known);
            }
            Some((_, kinds)) => {
                inform(export, *agreed, (option, kinds), out);
                if option == wire::GO {
                    return Outcome::Transmits;
                }
            }
        },
        _ => refuse(
            out,
            option,
            wire::UNSUPPORTED,
            "this option is not known here",
        ),
    }
    Outcome::Goes
}

/// The transmission flags that follow from the negotiation.
const fn flags(export: &Export, agreed: Agreed) -> u16 {
    if agreed.is_structured {
        export.flags() | wire::SEND_DF
    } else {
        export.flags()
    }
}

/// The export's name, and the requested kinds of information as bytes.
fn wanted(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut fields = Fields(data);
    let length = fields.u32()?;
    let name = fields.bytes(length as usize)?;
    let count = fields.u16()?;
    let kinds = fields.bytes(2 * usize::from(count))?;
    fields.0.is_empty().then_some((name, kinds))
}

fn inform(export: &Export, agreed: Agreed, (option, kinds): (u32, &[u8]), out: &mut Vec<u8>) {
    let mut tell = |kind: u16, parts: &[&[u8]]| {
        let mut information = kind.to_be_bytes().to_vec();
        information.extend(parts.iter().copied().flatten());
        reply(out, option, wire::INFORMATION, &information);
    };
    let size = export.size_bytes.to_be_bytes();
    tell(
        wire::INFO_EXPORT,
        &[&size, &flags(export, agreed).to_be_bytes()],
    );
    let is_wanted = |kind: u16| kinds.chunks_exact(2).any(|pair| pair == kind.to_be_bytes());
    if is_wanted(wire::INFO_NAME) {
        tell(wire::INFO_NAME, &[export.name.as_bytes()]);
    }
    if is_wanted(wire::INFO_DESCRIPTION) {
        tell(wire::INFO_DESCRIPTION, &[export.description.as_bytes()]);
    }
    if is_wanted(wire::INFO_BLOCK_SIZE) {
        let sizes = [SECTOR_BYTES, PREFERRED_BYTES, MOST_REQUEST_BYTES].map(u32::to_be_bytes);
        tell(wire::INFO_BLOCK_SIZE, &[&sizes[0], &sizes[1], &sizes[2]]);
    }
    reply(out, option, wire::ACKNOWLEDGED, &[]);
}

/// One reply to an option.
fn reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(wire::OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

/// A refusal with an explanation.
pub(super) fn refuse(out: &mut Vec<u8>, option: u32, kind: u32, why: &str) {
    reply(out, option, kind, why.as_bytes());
}
