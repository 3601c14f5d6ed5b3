//! Messages of the kernel about the file behind a block device, and the answers.
#![allow(clippy::unwrap_used, clippy::panic)]

use drivelab_live::block::{
    Heard, MOST_MESSAGE_BYTES, done_answer, error_answer, hear, read_answer,
};
use drivelab_live::protocol::{Asked, ErrorNumber, Export, Request};
use proptest::prelude::*;

const SIZE: u64 = 1 << 30;
const FILE: u64 = 2;
const LOOKUP: u32 = 1;
const GETATTR: u32 = 3;
const READLINK: u32 = 5;
const OPEN: u32 = 14;
const READ: u32 = 15;
const WRITE: u32 = 16;
const FSYNC: u32 = 20;
const INIT: u32 = 26;
const DESTROY: u32 = 38;
const FALLOCATE: u32 = 43;
const PUNCH_HOLE: u32 = 3;
const ZERO_RANGE: u32 = 17;

fn export(takes_trims: bool) -> Export {
    Export {
        name: "small".to_owned(),
        description: String::new(),
        size_bytes: SIZE,
        takes_trims,
    }
}

fn message(kind: u32, node: u64, body: &[u8]) -> Vec<u8> {
    let length = 40 + body.len() as u32;
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(7_u64.to_ne_bytes());
    bytes.extend(node.to_ne_bytes());
    bytes.extend([0; 16]);
    bytes.extend(body);
    bytes
}

/// Handle, offset, size and the rest of the body of a read or write.
fn transfer(offset: u64, size: u32) -> Vec<u8> {
    let mut body = [0_u64.to_ne_bytes(), offset.to_ne_bytes()].concat();
    body.extend(size.to_ne_bytes());
    body.extend([0; 20]);
    body
}

fn emptying(offset: u64, size: u64, mode: u32) -> Vec<u8> {
    let numbers = [0, offset, size].map(u64::to_ne_bytes).concat();
    [numbers, mode.to_ne_bytes().to_vec(), vec![0; 4]].concat()
}

fn heard(message: &[u8]) -> (Heard<'_>, Vec<u8>) {
    let mut answer = Vec::new();
    let heard = hear(message, &export(true), "drive", &mut answer);
    (heard, answer)
}

fn number<const BYTES: usize>(bytes: &[u8], place: usize) -> [u8; BYTES] {
    bytes[place..place + BYTES].try_into().unwrap()
}

/// The error of an answer. Also checks its length and cookie.
fn error_of(answer: &[u8]) -> i32 {
    assert_eq!(u32::from_ne_bytes(number(answer, 0)) as usize, answer.len());
    assert_eq!(u64::from_ne_bytes(number(answer, 8)), 7);
    i32::from_ne_bytes(number(answer, 4))
}

fn asked(message: &[u8]) -> Request {
    match heard(message) {
        (Heard::Asked(request, _), answer) if answer.is_empty() => request,
        other => panic!("{other:?}"),
    }
}

fn refused(message: &[u8]) -> i32 {
    let (heard, answer) = heard(message);
    assert_eq!(heard, Heard::Answered);
    error_of(&answer)
}

#[test]
fn the_first_message_agrees_on_large_requests_at_the_same_time() {
    let numbers = [7_u32, 45, 131_072, u32::MAX, 0].map(u32::to_ne_bytes);
    let message = message(INIT, 0, &numbers.concat());
    let (heard, answer) = heard(&message);
    assert_eq!((heard, error_of(&answer)), (Heard::Answered, 0));
    assert_eq!(answer.len(), 16 + 64);
    assert_eq!(u32::from_ne_bytes(number(&answer, 16)), 7);
    let flags = u32::from_ne_bytes(number(&answer, 28));
    assert_eq!(flags, 1 | 1 << 5 | 1 << 15 | 1 << 22);
    assert_eq!(u32::from_ne_bytes(number(&answer, 36)), MOST_MESSAGE_BYTES);
    assert_eq!(u16::from_ne_bytes(number(&answer, 44)), 256);
}

#[test]
fn the_file_is_found_by_its_name_and_has_the_drives_size() {
    let (_, answer) = heard(&message(LOOKUP, 1, b"drive\0"));
    assert_eq!((error_of(&answer), answer.len()), (0, 16 + 128));
    assert_eq!(u64::from_ne_bytes(number(&answer, 16)), FILE);
    assert_eq!(u64::from_ne_bytes(number(&answer, 16 + 48)), SIZE);
    assert_eq!(refused(&message(LOOKUP, 1, b"other\0")), -2);
    let (_, answer) = heard(&message(GETATTR, FILE, &[0; 16]));
    assert_eq!((error_of(&answer), answer.len()), (0, 16 + 104));
    assert_eq!(u64::from_ne_bytes(number(&answer, 16 + 24)), SIZE);
    let (_, answer) = heard(&message(OPEN, FILE, &[0; 8]));
    assert_eq!((error_of(&answer), answer.len()), (0, 32));
    // Not needed by a folder with one file.
    assert_eq!(refused(&message(READLINK, 1, &[])), -38);
}

#[test]
fn requests_reach_the_drive() {
    let request = |asked, offset_bytes, size_bytes| Request {
        asked,
        is_forced: false,
        cookie: 7,
        offset_bytes,
        size_bytes,
    };
    let read = message(READ, FILE, &transfer(4096, 8192));
    assert_eq!(asked(&read), request(Asked::Read, 4096, 8192));
    let write = message(WRITE, FILE, &[transfer(512, 512), vec![9; 512]].concat());
    assert_eq!(
        heard(&write).0,
        Heard::Asked(request(Asked::Write, 512, 512), &[9; 512])
    );
    let sync = message(FSYNC, FILE, &[0; 16]);
    assert_eq!(asked(&sync), request(Asked::Flush, 0, 0));
    let hole = message(FALLOCATE, FILE, &emptying(0, SIZE, PUNCH_HOLE));
    assert_eq!(asked(&hole), request(Asked::Trim, 0, SIZE as u32));
    let zeroes = Asked::WriteZeroes {
        may_trim: false,
        keeps_room: true,
    };
    let zeroed = message(FALLOCATE, FILE, &emptying(512, 1024, ZERO_RANGE));
    assert_eq!(asked(&zeroed), request(zeroes, 512, 1024));
    assert_eq!(heard(&message(DESTROY, 0, &[])).0, Heard::Over);
}

#[test]
fn what_cannot_be_is_refused() {
    for body in [
        transfer(SIZE, 512),
        transfer(u64::MAX - 511, 512),
        transfer(1, 512),
        transfer(0, 511),
        transfer(0, 0),
        transfer(0, MOST_MESSAGE_BYTES + 512),
        vec![0; 8],
    ] {
        assert_eq!(refused(&message(READ, FILE, &body)), -22);
    }
    assert_eq!(refused(&message(READ, 1, &transfer(0, 512))), -22);
    // Less data than announced.
    assert_eq!(refused(&message(WRITE, FILE, &transfer(0, 512))), -22);
    // Unsupported modes, and trims of a drive without TRIM.
    assert_eq!(
        refused(&message(FALLOCATE, FILE, &emptying(0, 512, 0))),
        -95
    );
    let hole = message(FALLOCATE, FILE, &emptying(0, 512, PUNCH_HOLE));
    let mut answer = Vec::new();
    hear(&hole, &export(false), "drive", &mut answer);
    assert_eq!(error_of(&answer), -95);
    // A message shorter than its stated length is not a message.
    assert_eq!(heard(&hole[..50]), (Heard::Nothing, Vec::new()));
}

#[test]
fn answers_say_what_was_done() {
    let write = asked(&message(
        WRITE,
        FILE,
        &[transfer(0, 512), vec![1; 512]].concat(),
    ));
    let mut answer = Vec::new();
    done_answer(&mut answer, &write);
    assert_eq!((error_of(&answer), answer.len()), (0, 24));
    assert_eq!(u32::from_ne_bytes(number(&answer, 16)), 512);
    let mut answer = Vec::new();
    read_answer(&mut answer, 7, 512);
    answer.extend([0; 512]);
    assert_eq!(error_of(&answer), 0);
    let mut answer = Vec::new();
    error_answer(&mut answer, 7, ErrorNumber::Io);
    assert_eq!((error_of(&answer), answer.len()), (-5, 16));
}

proptest! {
    #[test]
    fn whatever_comes_lies_on_the_drive(
        kind in 0_u32..60,
        node in 0_u64..4,
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let message = message(kind, node, &body);
        let (heard, answer) = heard(&message);
        match heard {
            Heard::Asked(request, data) => {
                prop_assert!(answer.is_empty());
                prop_assert!(request.offset_bytes + u64::from(request.size_bytes) <= SIZE);
                let wanted = if request.asked == Asked::Write { request.size_bytes } else { 0 };
                prop_assert_eq!(data.len(), wanted as usize);
            }
            Heard::Answered => { error_of(&answer); }
            Heard::Nothing | Heard::Over => prop_assert!(answer.is_empty()),
        }
    }
}
