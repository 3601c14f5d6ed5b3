//! Messages of clients to a served drive: every request lies on the drive, and it does not matter
//! how the bytes are split.

use drivelab_live::protocol::{
    Asked, Dialogue, Export, MOST_OPTION_BYTES, MOST_REQUEST_BYTES, Request, SECTOR_BYTES, Step,
};

use crate::Reader;

pub(crate) const READER: Reader = Reader {
    name: "live_protocol",
    sources: &[
        "crates/live/src/protocol/dialogue.rs",
        "crates/live/src/protocol/option.rs",
        "crates/live/src/protocol/request.rs",
    ],
    check,
    seeds,
};

const SIZE_BYTES: u64 = 1 << 20;

fn check(data: &[u8]) {
    let (&first, speech) = data.split_first().unwrap_or((&0, &[]));
    let takes_trims = first & 1 == 0;
    let whole = heard(speech, takes_trims, usize::MAX);
    let cut = heard(speech, takes_trims, 1 + usize::from(first >> 1));
    assert_eq!(whole, cut, "a cut changed what was heard");
}

/// The requests with their data, the replies, and whether the dialogue is over, when bytes come in
/// pieces of a given size.
type Heard = (Vec<(Request, Vec<u8>)>, Vec<u8>, bool);

fn heard(speech: &[u8], takes_trims: bool, at_a_time: usize) -> Heard {
    let export = Export {
        name: "drive".to_owned(),
        description: "of nobody".to_owned(),
        size_bytes: SIZE_BYTES,
        takes_trims,
    };
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    let mut dialogue = Dialogue::new(export, &mut replies);
    let (mut here, mut used) = (0, 0);
    while here < speech.len() {
        here = speech.len().min(here.saturating_add(at_a_time));
        loop {
            let input = &speech[used..here];
            match dialogue.step(input, &mut replies) {
                Step::Needs(bytes) => {
                    assert!(bytes > input.len(), "it could go on");
                    let most = MOST_REQUEST_BYTES.max(MOST_OPTION_BYTES) as usize + 28;
                    assert!(bytes <= most, "it waits for {bytes} bytes");
                    break;
                }
                Step::Used(0) | Step::Asked { used: 0, .. } => panic!("it stands still"),
                Step::Used(bytes) => used += bytes,
                Step::Asked {
                    used: bytes,
                    request,
                    data,
                } => {
                    used += bytes;
                    check_request(&request, data, takes_trims);
                    requests.push((request, data.to_vec()));
                }
                Step::Over => return (requests, replies, true),
            }
            assert!(used <= here, "it took more than there was");
        }
    }
    (requests, replies, false)
}

fn check_request(request: &Request, data: &[u8], takes_trims: bool) {
    let end = request.offset_bytes + u64::from(request.size_bytes);
    assert!(end <= SIZE_BYTES, "{request:?} ends behind the drive");
    let sector = u64::from(SECTOR_BYTES);
    assert!(request.offset_bytes.is_multiple_of(sector) && end.is_multiple_of(sector));
    let with_data = if request.asked == Asked::Write {
        request.size_bytes as usize
    } else {
        0
    };
    assert_eq!(data.len(), with_data);
    assert_eq!(request.size_bytes == 0, request.asked == Asked::Flush);
    assert!(takes_trims || request.asked != Asked::Trim);
}

fn seeds() -> Vec<Vec<u8>> {
    let option = |number: u32, data: &[u8]| {
        let length = (data.len() as u32).to_be_bytes();
        [&b"IHAVEOPT"[..], &number.to_be_bytes(), &length, data].concat()
    };
    let request = |flags: u16, kind: u16, offset: u64, length: u32, data: &[u8]| {
        let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
        bytes.extend(flags.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend(7_u64.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(data);
        bytes
    };
    let go = b"\0\0\0\x05drive\0\x04\0\0\0\x01\0\x02\0\x03";
    let begin = [vec![8, 0, 0, 0, 3], option(3, b""), option(8, b"")].concat();
    let requests = [
        request(0, 0, 4096, 8192, b""),
        request(1, 1, 512, 512, &[5; 512]),
        request(0, 3, 0, 0, b""),
        request(0, 4, 0, 4096, b""),
        request(2, 6, 0, 4096, b""),
        request(0, 0, SIZE_BYTES, 512, b""),
        request(0, 1, 0, MOST_REQUEST_BYTES + 1, &[0; 40]),
        request(0, 2, 0, 0, b""),
    ];
    let talked = |last: Vec<u8>| [begin.clone(), last, requests.concat()].concat();
    vec![
        talked(option(7, go)),
        talked(option(1, b"drive")),
        [begin.clone(), option(6, go), option(5, b""), option(2, b"")].concat(),
        vec![1, 0, 0, 0, 1],
    ]
}
