//! A pass over a file transfers each of its requests once.
#![allow(clippy::unwrap_used)]

use drivelab_request::{Direction, Request};
use drivelab_workload::{Generator, RequestStream, WholePass};
use proptest::prelude::*;

fn pass(is_random: bool, request_bytes: u32, file_bytes: u64) -> WholePass {
    WholePass {
        first_requests: None,
        direction: Direction::Write,
        is_random,
        request_bytes,
        start_bytes: 1 << 20,
        file_bytes,
    }
}

fn offsets(pass: &WholePass, key: (u64, u64), count: u64) -> Vec<u64> {
    let requests = Generator::of_pass(pass, key.0, key.1).unwrap();
    let offset = |request: Request| {
        assert_eq!(request.size_bytes, pass.request_bytes);
        assert_eq!(request.direction, pass.direction);
        request.offset_bytes
    };
    requests.take(count as usize).map(offset).collect()
}

proptest! {
    #[test]
    fn each_request_comes_once(
        is_random: bool,
        is_write: bool,
        sectors in 1_u32..64,
        file_sectors in 64_u64..20_000,
        start in 0_u64..1000,
        key: (u64, u64),
    ) {
        let pass = WholePass {
            direction: if is_write { Direction::Write } else { Direction::Read },
            start_bytes: start * 512,
            ..pass(is_random, sectors * 512, file_sectors * 512)
        };
        let count = file_sectors / u64::from(sectors);
        prop_assert_eq!(pass.requests(), count);
        prop_assert_eq!(pass.bytes(), count * u64::from(sectors) * 512);
        let size = u64::from(sectors) * 512;
        let in_order: Vec<u64> = (0..count).map(|place| start * 512 + place * size).collect();
        let mut order = offsets(&pass, key, 2 * count);
        // The next pass has the same order.
        let again = order.split_off(count as usize);
        prop_assert_eq!(&order, &again);
        if is_random {
            order.sort_unstable();
        }
        prop_assert_eq!(order, in_order);
    }
}

#[test]
fn a_random_order_is_one_and_keyed() {
    let pass = pass(true, 8192, 1200 << 20);
    let order = offsets(&pass, (1, 2), 153_600);
    assert!(!order.is_sorted());
    assert_eq!(order, offsets(&pass, (1, 2), 153_600));
    assert_ne!(order, offsets(&pass, (1, 3), 153_600));
}

/// 40 MiB in requests of 3 MiB: 13, and 1 MiB is left over.
#[test]
fn what_is_left_over_at_the_end_is_not_transferred() {
    let pass = pass(false, 3 << 20, 40 << 20);
    assert_eq!((pass.requests(), pass.bytes()), (13, 39 << 20));
    assert_eq!(offsets(&pass, (0, 0), 14)[12..], [37 << 20, 1 << 20]);
}

#[test]
fn impossible_passes_say_what_is_allowed() {
    let said = |pass: WholePass| Generator::of_pass(&pass, 0, 0).unwrap_err().to_string();
    assert_eq!(
        said(pass(false, 1000, 1 << 20)),
        "request_size is 1000 bytes; allowed: a multiple of 512 from 512 to 67108864"
    );
    assert_eq!(
        said(pass(true, 8192, 4096)),
        "request_size is 8192 bytes; allowed here: at most 4096, the range has 4096"
    );
    assert!(said(pass(true, 512, 1000)).contains("allowed: multiples of 512"));
    assert!(said(pass(true, 0, 1 << 20)).starts_with("request_size is 0 bytes;"));
}

#[test]
fn fio_takes_it_as_an_iolog() {
    let pass = pass(false, 512 << 10, 1 << 20);
    let stream = RequestStream::of_pass(&pass, 0, 0).unwrap();
    let text = String::from_utf8(stream.iolog("file", 2).unwrap()).unwrap();
    assert!(
        text.ends_with("file write 1048576 524288\nfile write 1572864 524288\n"),
        "{text}"
    );
}
