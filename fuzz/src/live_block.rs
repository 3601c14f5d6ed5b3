//! The kernel's messages to a served block device: every request lies on the drive, and every
//! answer is complete.

use drivelab_live::block::{Heard, MOST_MESSAGE_BYTES, hear};
use drivelab_live::protocol::{Asked, Export, SECTOR_BYTES};

use crate::Reader;

pub(crate) const READER: Reader = Reader {
    name: "live_block",
    sources: &[
        "crates/live/src/block/message.rs",
        "crates/live/src/block/wire.rs",
    ],
    check,
    seeds,
};

const SIZE_BYTES: u64 = 1 << 20;

fn check(data: &[u8]) {
    let (&first, message) = data.split_first().unwrap_or((&0, &[]));
    let export = Export {
        name: "drive".to_owned(),
        description: String::new(),
        size_bytes: SIZE_BYTES,
        takes_trims: first & 1 == 0,
    };
    let mut answer = Vec::new();
    match hear(message, &export, "drive", &mut answer) {
        Heard::Asked(request, data) => {
            assert!(answer.is_empty(), "it is answered before it is done");
            let end = request.offset_bytes + u64::from(request.size_bytes);
            assert!(end <= SIZE_BYTES, "{request:?} ends behind the drive");
            let sector = u64::from(SECTOR_BYTES);
            assert!(request.offset_bytes.is_multiple_of(sector) && end.is_multiple_of(sector));
            assert!(export.takes_trims || request.asked != Asked::Trim);
            let moves_data = matches!(request.asked, Asked::Read | Asked::Write);
            assert!(!moves_data || request.size_bytes <= MOST_MESSAGE_BYTES);
            let writes = request.asked == Asked::Write;
            assert_eq!(
                data.len(),
                if writes {
                    request.size_bytes as usize
                } else {
                    0
                }
            );
        }
        Heard::Answered => {
            let length = answer.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
            assert_eq!(length, Some(answer.len() as u32));
        }
        Heard::Nothing | Heard::Over => assert!(answer.is_empty()),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let message = |kind: u32, node: u64, body: &[u8]| {
        let length = (40 + body.len() as u32).to_ne_bytes();
        let mut bytes = [&[0][..], &length, &kind.to_ne_bytes(), &[7; 8]].concat();
        bytes.extend(node.to_ne_bytes());
        bytes.extend([0; 16]);
        bytes.extend(body);
        bytes
    };
    let with = |numbers: &[u64], data: &[u8]| {
        let numbers = numbers.iter().copied();
        let mut bytes: Vec<u8> = numbers.flat_map(u64::to_ne_bytes).collect();
        bytes.extend(data);
        bytes
    };
    vec![
        message(
            26,
            0,
            &[7, 0, 0, 0, 31, 0, 0, 0, 0, 0, 2, 0, 255, 255, 255, 255],
        ),
        message(1, 1, b"drive\0"),
        message(3, 2, &[0; 16]),
        message(14, 2, &[0; 8]),
        message(15, 2, &with(&[0, 4096, 8192, 0, 0], &[])),
        message(16, 2, &with(&[0, 512, 512, 0, 0], &[5; 512])),
        message(20, 2, &[0; 16]),
        message(43, 2, &with(&[0, 0, 4096, 3], &[])),
        message(43, 2, &with(&[0, 0, 4096, 17], &[])),
    ]
}
