//! The dialogue, without a socket.
#![allow(clippy::unwrap_used, clippy::panic)]

use drivelab_live::protocol::{Asked, Dialogue, Export, MOST_REQUEST_BYTES, ReplyForm, Step};
use proptest::prelude::*;

use crate::spoken::{
    DISCONNECT, FLAGS, FLUSH, INVALID, NO_SPACE, READ, TRIM, WRITE, WRITE_ZEROES, option, request,
    simple, wanted,
};

const SIZE: u64 = 1 << 20;

fn export() -> Export {
    Export {
        name: "x25m".to_owned(),
        description: "a drive".to_owned(),
        size_bytes: SIZE,
        takes_trims: true,
    }
}

/// A dialogue's replies to some bytes, the requests in them, and whether it is over.
struct Heard {
    replies: Vec<u8>,
    asked: Vec<(Asked, u64, u32, bool, Vec<u8>)>,
    is_over: bool,
    form: ReplyForm,
}

fn say(export: Export, parts: &[Vec<u8>]) -> Heard {
    let mut replies = Vec::new();
    let mut dialogue = Dialogue::new(export, &mut replies);
    assert_eq!(replies, b"NBDMAGICIHAVEOPT\0\x03");
    replies.clear();
    let input = parts.concat();
    let (mut used, mut asked, mut is_over) = (0, Vec::new(), false);
    loop {
        match dialogue.step(&input[used..], &mut replies) {
            Step::Needs(bytes) => {
                assert!(bytes > input.len() - used, "it could go on");
                break;
            }
            Step::Used(bytes) => used += bytes,
            Step::Over => {
                is_over = true;
                break;
            }
            Step::Asked {
                used: bytes,
                request,
                data,
            } => {
                used += bytes;
                let (offset, size) = (request.offset_bytes, request.size_bytes);
                asked.push((
                    request.asked,
                    offset,
                    size,
                    request.is_forced,
                    data.to_vec(),
                ));
            }
        }
    }
    Heard {
        replies,
        asked,
        is_over,
        form: dialogue.form(),
    }
}

/// Replies to options: number and kind.
fn kinds(replies: &[u8]) -> Vec<(u32, u32)> {
    let (mut rest, mut found) = (replies, Vec::new());
    while rest.len() >= 20 {
        let number = |at: usize| u32::from_be_bytes(rest[at..at + 4].try_into().unwrap());
        assert_eq!(rest[..8], 0x0003_e889_0455_65a9_u64.to_be_bytes());
        found.push((number(8), number(12)));
        rest = &rest[20 + number(16) as usize..];
    }
    assert!(rest.is_empty());
    found
}

const ERROR: u32 = 1 << 31;

#[test]
fn options_are_answered_as_the_protocol_says() {
    let heard = say(
        export(),
        &[
            FLAGS.to_vec(),
            option(5, &[]),                   // STARTTLS
            option(99, b"what is this"),      // unknown
            option(8, b"no data here"),       // STRUCTURED_REPLY with data
            option(3, &[]),                   // LIST
            option(3, &[1]),                  // LIST with data
            option(6, &wanted("other", &[])), // INFO of another export
            option(6, &[0, 0, 0, 200, 1]),    // a name longer than the option
            option(6, &wanted("x25m", &[0, 1, 2, 3, 77])),
            option(8, &[]),
            option(2, &[]), // ABORT
        ],
    );
    let expected = [
        (5, ERROR | 1),
        (99, ERROR | 1),
        (8, ERROR | 3),
        (3, 2),
        (3, 1),
        (3, ERROR | 3),
        (6, ERROR | 6),
        (6, ERROR | 3),
        (6, 3),
        (6, 3),
        (6, 3),
        (6, 3),
        (6, 1),
        (8, 1),
        (2, 1),
    ];
    assert_eq!(kinds(&heard.replies), expected);
    assert!(heard.is_over);
    assert_eq!(heard.form, ReplyForm::Structured);
}

#[test]
fn go_tells_size_flags_and_block_sizes() {
    let heard = say(export(), &[FLAGS.to_vec(), option(7, &wanted("", &[3]))]);
    // HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, MULTI_CONN.
    let flags = 1 | 4 | 8 | 32 | 64 | 256_u16;
    let mut expected = vec![0, 0];
    expected.extend(SIZE.to_be_bytes());
    expected.extend(flags.to_be_bytes());
    assert_eq!(heard.replies[20..32], expected);
    let mut sizes = vec![0, 3];
    sizes.extend(
        [512, 4096, MOST_REQUEST_BYTES]
            .map(u32::to_be_bytes)
            .concat(),
    );
    assert_eq!(heard.replies[52..66], sizes);
    assert!(!heard.is_over);
}

#[test]
fn export_name_needs_the_right_name_and_sends_zeroes_unless_told() {
    for (flags, length) in [(1_u8, 134), (3, 10)] {
        let heard = say(export(), &[vec![0, 0, 0, flags], option(1, b"x25m")]);
        assert_eq!(heard.replies.len(), length);
        assert!(!heard.is_over);
    }
    let heard = say(export(), &[FLAGS.to_vec(), option(1, b"other")]);
    assert!(heard.is_over && heard.replies.is_empty());
}

#[test]
fn what_is_no_client_is_left() {
    for bytes in [
        vec![0, 0, 0, 4], // unknown flags
        [FLAGS.to_vec(), b"GET / HTTP/1.1\r\n".to_vec()].concat(),
        [FLAGS.to_vec(), option(7, &[0; 20_000])].concat(), // too large an option
    ] {
        assert!(say(export(), &[bytes]).is_over);
    }
    let garbage = [b'x'; 28];
    let go = option(7, &wanted("", &[]));
    let heard = say(export(), &[FLAGS.to_vec(), go, garbage.to_vec()]);
    assert!(heard.is_over);
}

/// Requests after a GO, and the replies to them.
fn ask(export: Export, parts: &[Vec<u8>]) -> Heard {
    let begin = [FLAGS.to_vec(), option(1, b"")];
    let mut heard = say(export, &[&begin[..], parts].concat());
    heard.replies.drain(..10);
    heard
}

const fn zeroes(may_trim: bool, keeps_room: bool) -> Asked {
    Asked::WriteZeroes {
        may_trim,
        keeps_room,
    }
}

#[test]
fn requests_come_with_their_data() {
    let data = vec![7; 1024];
    let heard = ask(
        export(),
        &[
            request(0, READ, 1, (512, 4096)),
            request(1, WRITE, 2, (1024, 1024)),
            data.clone(),
            request(0, FLUSH, 3, (0, 0)),
            request(0, TRIM, 4, (0, SIZE as u32)),
            request(0, WRITE_ZEROES, 5, (0, 512)),
            request(2, WRITE_ZEROES, 6, (0, 512)),
            request(0, DISCONNECT, 7, (0, 0)),
            request(0, READ, 8, (0, 512)),
        ],
    );
    let expected = [
        (Asked::Read, 512, 4096, false, vec![]),
        (Asked::Write, 1024, 1024, true, data),
        (Asked::Flush, 0, 0, false, vec![]),
        (Asked::Trim, 0, SIZE as u32, false, vec![]),
        (zeroes(true, false), 0, 512, false, vec![]),
        (zeroes(false, true), 0, 512, false, vec![]),
    ];
    assert_eq!(heard.asked, expected);
    assert!(heard.is_over && heard.replies.is_empty());
}

#[test]
fn impossible_requests_are_refused_and_the_next_is_heard() {
    let last = (SIZE - 512, 1024);
    let cases = [
        (request(0, READ, 1, last), 0, INVALID),
        (request(0, WRITE, 2, last), 1024, NO_SPACE),
        (request(0, WRITE_ZEROES, 3, last), 0, NO_SPACE),
        (request(0, TRIM, 4, last), 0, INVALID),
        (request(0, READ, 5, (u64::MAX - 511, 512)), 0, INVALID),
        (request(0, READ, 6, (0, 0)), 0, INVALID),
        (request(0, READ, 7, (1, 512)), 0, INVALID),
        (request(0, WRITE, 8, (0, 513)), 513, INVALID),
        (
            request(0, READ, 9, (0, MOST_REQUEST_BYTES + 512)),
            0,
            INVALID,
        ),
        (request(0, 5, 10, (0, 512)), 0, INVALID), // CACHE was not offered
        (request(0, 7, 11, (0, 512)), 0, INVALID), // nor BLOCK_STATUS
        (request(0, 999, 12, (0, 512)), 0, INVALID),
        (request(8, READ, 13, (0, 512)), 0, INVALID), // REQ_ONE of another request
        (request(2, WRITE, 14, (0, 512)), 512, INVALID),
        (request(16, WRITE_ZEROES, 15, (0, 512)), 0, INVALID), // FAST_ZERO was not offered
        (request(0, FLUSH, 16, (0, 512)), 0, INVALID),
    ];
    let (mut said, mut expected) = (Vec::new(), Vec::new());
    for (cookie, (bytes, data, error)) in (1..).zip(cases) {
        said.extend([bytes, vec![1; data]]);
        expected.extend(simple(cookie, error));
    }
    // More data than any request may have; none of it is kept.
    let huge = MOST_REQUEST_BYTES + 512;
    said.extend([request(0, WRITE, 17, (0, huge)), vec![0; huge as usize]]);
    expected.extend(simple(17, INVALID));
    said.push(request(0, READ, 18, (0, 512)));
    let heard = ask(export(), &said);
    assert_eq!(heard.replies, expected);
    assert_eq!(heard.asked.len(), 1);

    let disk = Export {
        takes_trims: false,
        ..export()
    };
    let heard = ask(
        disk,
        &[
            request(0, TRIM, 1, (0, 512)),
            request(0, WRITE_ZEROES, 2, (0, 512)),
        ],
    );
    assert_eq!(heard.replies, simple(1, INVALID));
    assert_eq!(heard.asked[0].0, zeroes(false, false));
}

#[test]
fn a_read_that_fails_is_answered_in_a_chunk_where_that_was_agreed() {
    let said = [
        FLAGS.to_vec(),
        option(8, &[]),
        option(1, b""),
        request(0, READ, 5, (SIZE, 512)),
    ];
    let heard = say(export(), &said);
    let mut chunk = 0x668e_33ef_u32.to_be_bytes().to_vec();
    chunk.extend([0, 1, 0x80, 1]);
    chunk.extend(5_u64.to_be_bytes());
    chunk.extend(6_u32.to_be_bytes());
    chunk.extend(INVALID.to_be_bytes());
    chunk.extend([0, 0]);
    assert_eq!(heard.replies[30..], chunk);
}

proptest! {
    /// Requests and replies are the same, however the bytes arrive.
    #[test]
    fn cuts_change_nothing(cuts in prop::collection::vec(1_usize..60, 1..200)) {
        let parts = [
            FLAGS.to_vec(), option(3, &[]), option(8, &[]), option(7, &wanted("x25m", &[3])),
            request(0, WRITE, 1, (0, 1024)), vec![9; 1024], request(0, READ, 2, (0, 512)),
            request(0, READ, 3, (7, 512)),
        ];
        let whole = say(export(), &parts);
        let input = parts.concat();
        let mut replies = Vec::new();
        let mut dialogue = Dialogue::new(export(), &mut replies);
        replies.clear();
        let (mut here, mut used, mut asked) = (0, 0, 0);
        let mut cuts = cuts.into_iter().cycle();
        while here < input.len() {
            here = input.len().min(here + cuts.next().unwrap());
            loop {
                match dialogue.step(&input[used..here], &mut replies) {
                    Step::Needs(_) => break,
                    Step::Used(bytes) => used += bytes,
                    Step::Asked { used: bytes, .. } => (used, asked) = (used + bytes, asked + 1),
                    Step::Over => panic!("it is not over"),
                }
            }
        }
        prop_assert_eq!(replies, whole.replies);
        prop_assert_eq!(asked, whole.asked.len());
    }
}
