//! Streams of scenarios with several sizes and a hot part of their range.
#![allow(clippy::unwrap_used, clippy::panic)]

use drivelab_workload::{Requests, Source, Stimulus};

use crate::scenario::{read, stream};

#[test]
fn streams_may_have_several_sizes_and_a_hot_part() {
    let requests = |lines: &str| {
        let scenario = read(&stream(lines));
        scenario.map(|mut scenario| scenario.streams.remove(0).source)
    };
    let range = "range_offset_bytes = 4_096\nrange_bytes = 1_048_576\n";
    let mixed = "write_ratio = 0.25\nsizes_bytes = [4096, 8192, 4096]\n\
                 hot_range_ratio = 0.25\nhot_access_ratio = 0.75\n";
    let expected = Stimulus {
        read_ratio: 0.75,
        is_random: true,
        sizes: vec![(4096, 2.0 / 3.0), (8192, 1.0 / 3.0)],
        zones: vec![(0.75, 0.25), (0.25, 0.75)],
        threads: 1,
        queue_depth: 4,
        range_start: 4096,
        range_bytes: 1 << 20,
        begin_bytes: 0,
    };
    let closed = requests(&format!("queue_depth = 4\n{range}{mixed}")).unwrap();
    assert_eq!(closed, Source::Closed(Requests::Stimulus(expected)));
    let open = requests(&format!("rate_iops = 100\n{range}sizes_bytes = [512]")).unwrap();
    assert!(matches!(
        open,
        Source::Open {
            requests: Requests::Stimulus(_),
            ..
        }
    ));
    // In order: where reads would go does not matter if none are sent.
    let order = "write_ratio = 1.0\nwrite_random = 0.0\nsizes_bytes = [512]";
    match requests(&format!("queue_depth = 4\n{range}{order}")).unwrap() {
        Source::Closed(Requests::Stimulus(in_order)) => assert!(!in_order.is_random),
        other => panic!("{other:?}"),
    }
    for (lines, said) in [
        (
            "sizes_bytes = []",
            "sizes_bytes is empty; allowed: 1 to 64 sizes",
        ),
        (
            "sizes_bytes = [700]",
            "sizes_bytes has 700; allowed: multiples of 512",
        ),
        (
            "sizes_bytes = [512]\nread_size_bytes = 512",
            "read_size_bytes has no effect beside",
        ),
        (
            "sizes_bytes = [512]\neach_place_once = true",
            "each_place_once has no effect beside",
        ),
        (
            "sizes_bytes = [512]\nread_random = 0.5",
            "read_random is 0.5; allowed beside",
        ),
        (
            "sizes_bytes = [512]\nwrite_ratio = 0.5\nread_random = 0.0",
            "read_random differs from write_random",
        ),
        ("hot_range_ratio = 0.2", "hot_access_ratio"),
        ("hot_access_ratio = 0.2", "hot_range_ratio"),
        (
            "hot_range_ratio = 0.2\nhot_access_ratio = 0.8\nread_random = 0.0",
            "hot_range_ratio is for requests at random",
        ),
        (
            "hot_range_ratio = 0.2\nhot_access_ratio = 0.8\nwrite_size_bytes = 8192",
            "allowed beside hot_range_ratio: the same",
        ),
        (
            "hot_range_ratio = 1.0\nhot_access_ratio = 0.8",
            "a number from 0.000001 to 0.999999",
        ),
    ] {
        let error = requests(&format!("queue_depth = 4\n{range}{lines}")).unwrap_err();
        assert!(
            error.contains(said) && !error.contains('\n'),
            "{lines}: {error}"
        );
    }
    let without_range = requests("queue_depth = 4\nsizes_bytes = [512]").unwrap_err();
    assert!(without_range.contains("range_bytes"), "{without_range}");
}
