//! The kernel's messages about the one file that represents the drive, and the answers to them.
//!
//! ```text
//!   INIT ─> LOOKUP ─> OPEN ─> READ, WRITE, FSYNC, FALLOCATE ... ─> RELEASE ─> DESTROY
//! ```
//!
//! Every message arrives complete, and every answer is sent complete. Nothing here reads or writes
//! a descriptor, so tests can try any bytes. Written from the kernel's public description of its
//! interface. Left out: everything that a folder with one unchanging file does not need.

use super::wire::{self, Fields, Put};
use crate::protocol::{Asked, ErrorNumber, Export, Request, SECTOR_BYTES};

/// The most bytes of one read or write: the kernel's own usual limit.
pub const MOST_MESSAGE_BYTES: u32 = 1 << 20;

/// The size of the largest message: its data and its header.
pub const MESSAGE_ROOM: usize = MOST_MESSAGE_BYTES as usize + 4096;

/// The most requests in progress. This is more than the kernel's loop device ever sends at once,
/// even in pieces.
const MOST_BACKGROUND: u16 = 1024;

/// The block size of the file system around the file: the granularity of discards.
const BLOCK_BYTES: u32 = 4096;

const HEADER_BYTES: usize = 40;
const ANSWER_BYTES: u32 = 16;
const ROOT: u64 = 1;
const FILE: u64 = 2;
const FOLDER_MODE: u32 = 0o040_500;
const FILE_MODE: u32 = 0o100_600;
/// Nothing changes, so the kernel need not ask again.
const VALID_SECONDS: u64 = 1 << 30;

/// The effect of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    /// Nothing to do and nothing to answer.
    Nothing,
    /// The answer has been appended.
    Answered,
    /// A request to the drive, with its data.
    Asked(Request, &'a [u8]),
    /// The file is gone, and no more messages come.
    Over,
}

/// The header of a message.
struct Header {
    kind: u32,
    cookie: u64,
    node: u64,
}

/// Handles a message. An answer that does not need the drive is appended to `answer`.
///
/// `name` is the name of the file.
pub fn hear<'a>(message: &'a [u8], export: &Export, name: &str, answer: &mut Vec<u8>) -> Heard<'a> {
    let mut fields = Fields(message);
    let Some(header) = header(&mut fields, message.len()) else {
        // The kernel never sends this.
        return Heard::Nothing;
    };
    match header.kind {
        wire::FORGET | wire::BATCH_FORGET | wire::INTERRUPT => return Heard::Nothing,
        wire::DESTROY => return Heard::Over,
        wire::READ | wire::WRITE | wire::FSYNC | wire::FALLOCATE => {
            return match request(&header, &mut fields, export) {
                Ok((request, data)) => Heard::Asked(request, data),
                Err(error) => {
                    failed(answer, header.cookie, error);
                    Heard::Answered
                }
            };
        }
        _ => {}
    }
    let start = answer.len();
    begin(answer, header.cookie);
    let is_known = match header.kind {
        wire::INIT => welcome(&mut fields, answer),
        wire::LOOKUP => found(&header, fields.0, export, name, answer),
        wire::GETATTR => attributes(&header, export, answer),
        wire::OPEN if header.node == FILE => {
            answer.put_u64(0);
            answer.put_u32(wire::OPEN_DIRECT | wire::OPEN_PARALLEL_WRITES);
            answer.put_u32(0);
            Ok(())
        }
        wire::STATFS => {
            space(export, answer);
            Ok(())
        }
        // The kernel's own caches hold nothing of the file.
        wire::FLUSH | wire::RELEASE => Ok(()),
        _ => Err(wire::NO_SYSTEM_CALL),
    };
    match is_known {
        Ok(()) => end(answer, start),
        Err(error) => {
            answer.truncate(start);
            failed(answer, header.cookie, error);
        }
    }
    Heard::Answered
}

fn header(fields: &mut Fields<'_>, length: usize) -> Option<Header> {
    if fields.u32()? as usize != length || length < HEADER_BYTES {
        return None;
    }
    let header = Header {
        kind: fields.u32()?,
        cookie: fields.u64()?,
        node: fields.u64()?,
    };
    // The sender, and extensions.
    fields.bytes(16)?;
    Some(header)
}

fn request<'a>(
    header: &Header,
    fields: &mut Fields<'a>,
    export: &Export,
) -> Result<(Request, &'a [u8]), i32> {
    let invalid = ErrorNumber::Invalid as i32;
    let read = |fields: &mut Fields<'a>| -> Option<(Asked, u64, u64, &'a [u8])> {
        fields.u64()?;
        Some(match header.kind {
            wire::FSYNC => (Asked::Flush, 0, 0, &[]),
            wire::READ => (Asked::Read, fields.u64()?, fields.u32()?.into(), &[]),
            wire::WRITE => {
                let (offset, size) = (fields.u64()?, fields.u32()?);
                fields.bytes(20)?;
                (
                    Asked::Write,
                    offset,
                    size.into(),
                    fields.bytes(size as usize)?,
                )
            }
            _ => {
                let (offset, size) = (fields.u64()?, fields.u64()?);
                (emptied(fields.u32()?, export)?, offset, size, &[])
            }
        })
    };
    let is_emptying = header.kind == wire::FALLOCATE;
    let otherwise = if is_emptying {
        wire::NOT_SUPPORTED
    } else {
        invalid
    };
    let (asked, offset_bytes, size, data) = read(fields).ok_or(otherwise)?;
    let sector = u64::from(SECTOR_BYTES);
    let is_whole = offset_bytes.is_multiple_of(sector) && size.is_multiple_of(sector);
    let lies_there = offset_bytes
        .checked_add(size)
        .is_some_and(|end| end <= export.size_bytes);
    let is_named = (size == 0) == (asked == Asked::Flush);
    let is_short = is_emptying || size <= MOST_MESSAGE_BYTES.into();
    let size_bytes = u32::try_from(size).map_err(|_| invalid)?;
    if header.node != FILE || !(is_whole && lies_there && is_named && is_short) {
        return Err(invalid);
    }
    let request = Request {
        asked,
        is_forced: false,
        cookie: header.cookie,
        offset_bytes,
        size_bytes,
    };
    Ok((request, data))
}

/// The operation for a mode of `fallocate`; `None` if the drive cannot do it.
fn emptied(mode: u32, export: &Export) -> Option<Asked> {
    match mode & !wire::KEEP_SIZE {
        wire::PUNCH_HOLE if export.takes_trims => Some(Asked::Trim),
        wire::PUNCH_HOLE => None,
        wire::ZERO_RANGE => Some(Asked::WriteZeroes {
            may_trim: false,
            keeps_room: true,
        }),
        _ => None,
    }
}

/// Appends the header of an answer. [`end`] fills in its length.
fn begin(answer: &mut Vec<u8>, cookie: u64) {
    answer.put_u32(0);
    answer.put_u32(0);
    answer.put_u64(cookie);
}

fn end(answer: &mut [u8], start: usize) {
    let length = (answer.len() - start) as u32;
    answer[start..start + 4].copy_from_slice(&length.to_ne_bytes());
}

/// Appends the header of a read's answer. `size` bytes of data must follow.
pub fn read_answer(answer: &mut Vec<u8>, cookie: u64, size: u32) {
    answer.put_u32(ANSWER_BYTES + size);
    answer.put_u32(0);
    answer.put_u64(cookie);
}

/// Appends the answer to a finished request without data.
pub fn done_answer(answer: &mut Vec<u8>, request: &Request) {
    let start = answer.len();
    begin(answer, request.cookie);
    if request.asked == Asked::Write {
        answer.put_u32(request.size_bytes);
        answer.put_u32(0);
    }
    end(answer, start);
}

/// Appends the answer to a failed request.
pub fn error_answer(answer: &mut Vec<u8>, cookie: u64, error: ErrorNumber) {
    failed(answer, cookie, error as i32);
}

fn failed(answer: &mut Vec<u8>, cookie: u64, error: i32) {
    answer.put_u32(ANSWER_BYTES);
    answer.extend((-error).to_ne_bytes());
    answer.put_u64(cookie);
}

fn welcome(fields: &mut Fields<'_>, answer: &mut Vec<u8>) -> Result<(), i32> {
    let mut header = || Some((fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?));
    let (major, _, read_ahead, offered) = header().ok_or(ErrorNumber::Invalid as i32)?;
    answer.put_u32(wire::MAJOR);
    answer.put_u32(wire::MINOR);
    if major > wire::MAJOR {
        // The kernel starts over with this version.
        return Ok(());
    }
    let wanted = wire::ASYNC_READ | wire::BIG_WRITES | wire::ASYNC_DIRECT | wire::MAX_PAGES;
    answer.put_u32(read_ahead);
    answer.put_u32(wanted & offered);
    answer.put_u16(MOST_BACKGROUND);
    answer.put_u16(MOST_BACKGROUND);
    answer.put_u32(MOST_MESSAGE_BYTES);
    // Times are whole nanoseconds.
    answer.put_u32(1);
    answer.put_u16((MOST_MESSAGE_BYTES / 4096) as u16);
    answer.put_u16(0);
    answer.extend([0; 32]);
    Ok(())
}

fn found(
    header: &Header,
    wanted: &[u8],
    export: &Export,
    name: &str,
    answer: &mut Vec<u8>,
) -> Result<(), i32> {
    let is_it = header.node == ROOT && wanted.strip_suffix(&[0]) == Some(name.as_bytes());
    if !is_it {
        return Err(wire::NO_ENTRY);
    }
    answer.put_u64(FILE);
    answer.put_u64(0);
    answer.put_u64(VALID_SECONDS);
    answer.put_u64(VALID_SECONDS);
    answer.put_u64(0);
    put_attributes(answer, FILE, export.size_bytes);
    Ok(())
}

fn attributes(header: &Header, export: &Export, answer: &mut Vec<u8>) -> Result<(), i32> {
    if header.node != ROOT && header.node != FILE {
        return Err(wire::NO_ENTRY);
    }
    answer.put_u64(VALID_SECONDS);
    answer.put_u64(0);
    put_attributes(answer, header.node, export.size_bytes);
    Ok(())
}

fn put_attributes(answer: &mut Vec<u8>, node: u64, size: u64) {
    let (mode, size) = match node {
        ROOT => (FOLDER_MODE, 0),
        _ => (FILE_MODE, size),
    };
    answer.put_u64(node);
    answer.put_u64(size);
    answer.put_u64(size / 512);
    // Three times, and their fractions.
    answer.extend([0; 36]);
    answer.put_u32(mode);
    answer.put_u32(1);
    // Owner root, and not a device.
    answer.extend([0; 12]);
    answer.put_u32(BLOCK_BYTES);
    answer.put_u32(0);
}

fn space(export: &Export, answer: &mut Vec<u8>) {
    answer.put_u64(export.size_bytes / u64::from(BLOCK_BYTES));
    answer.put_u64(0);
    answer.put_u64(0);
    answer.put_u64(1);
    answer.put_u64(0);
    answer.put_u32(BLOCK_BYTES);
    answer.put_u32(255);
    answer.put_u32(BLOCK_BYTES);
    answer.extend([0; 28]);
}
