//! Loops whose time is computed by hand, and a check that a time is the sum of its parts.

#![allow(clippy::unwrap_used)]

use drivelab_queueing::{COSTS, Cost, Layout, Length, QueueingError, replay};

pub fn costs(given: &[(Cost, f64)]) -> [f64; COSTS] {
    let mut costs = [0.0; COSTS];
    for &(cost, ns) in given {
        costs[cost as usize] = ns;
    }
    costs
}

/// Write ratio, depth, sizes, randomness and strides; the same for reads and writes.
fn workload(write_ratio: f64, depth: f64, size: f64, random: f64, stride: f64) -> [f64; 8] {
    [
        write_ratio,
        depth,
        size,
        size,
        random,
        random,
        stride,
        stride,
    ]
}

fn time(workload: &[f64; 8], layout: &Layout, costs: &[f64; COSTS]) -> f64 {
    replay(workload, layout, costs, Length::fixed(256)).unwrap()[0].ns
}

#[test]
fn a_request_by_itself_takes_every_cost_in_turn() {
    let costs = costs(&[
        (Cost::LinkRead, 7.0),
        (Cost::Read, 50.0),
        (Cost::LinkReadPage, 11.0),
        (Cost::PathRead, 3.0),
        (Cost::LinkWrite, 5.0),
        (Cost::LinkWritePage, 13.0),
        (Cost::Program, 900.0),
        (Cost::Partial, 40.0),
        (Cost::ProgramRandom, 20.0),
        (Cost::PathWrite, 2.0),
    ]);
    let reads = workload(0.0, 1.0, 4096.0, 1.0, 0.0);
    assert_eq!(
        time(&reads, &Layout::PLAIN, &costs),
        7.0 + 50.0 + 11.0 + 3.0
    );
    let writes = workload(1.0, 1.0, 2048.0, 1.0, 0.0);
    let expected = 5.0 + 13.0 / 2.0 + 900.0 + 40.0 + 20.0 + 2.0;
    assert!((time(&writes, &Layout::PLAIN, &costs) - expected).abs() < 1e-6);
    // Two pages of one unit, one after another; of two units, at once.
    let larger = workload(0.0, 1.0, 8192.0, 1.0, 0.0);
    assert_eq!(
        time(&larger, &Layout::PLAIN, &costs),
        7.0 + 100.0 + 22.0 + 3.0
    );
    let two = Layout {
        units: 2,
        ..Layout::PLAIN
    };
    assert_eq!(time(&larger, &two, &costs), 7.0 + 50.0 + 22.0 + 3.0);
}

#[test]
fn units_share_what_comes_in_order_unless_strides_miss_them() {
    let costs = costs(&[(Cost::Read, 100.0)]);
    let four = Layout {
        units: 4,
        ..Layout::PLAIN
    };
    let in_order = workload(0.0, 32.0, 4096.0, 0.0, 0.0);
    assert!((time(&in_order, &four, &costs) - 25.0).abs() < 0.5);
    let on_one = workload(0.0, 32.0, 4096.0, 0.0, 3.0 * 4096.0);
    assert!((time(&on_one, &four, &costs) - 100.0).abs() < 0.5);
    // In an array, 64 KiB lie on one member.
    let members = Layout { members: 2, ..four };
    let of_one_member = workload(0.0, 32.0, 4096.0, 0.0, 31.0 * 4096.0);
    assert!((time(&of_one_member, &members, &costs) - 100.0).abs() < 0.5);
}

#[test]
fn a_buffer_hides_programs_until_it_is_full() {
    let costs = costs(&[(Cost::LinkWrite, 30.0), (Cost::Program, 100.0)]);
    let buffered = Layout {
        units: 8,
        buffer_pages: 16,
        ..Layout::PLAIN
    };
    let writes = workload(1.0, 1.0, 4096.0, 0.0, 0.0);
    assert!((time(&writes, &buffered, &costs) - 30.0).abs() < 0.5);
    let slow = Layout {
        units: 2,
        ..buffered
    };
    assert!((time(&writes, &slow, &costs) - 50.0).abs() < 0.5);
    let through = Layout {
        buffer_pages: 0,
        ..slow
    };
    assert!((time(&writes, &through, &costs) - 130.0).abs() < 0.5);
}

#[test]
fn a_block_is_merged_when_its_log_is_needed_unless_it_was_written_in_order() {
    let costs = costs(&[(Cost::Program, 10.0), (Cost::Merge, 1000.0)]);
    let logged = Layout {
        log_blocks: 1,
        block_pages: 4,
        ..Layout::PLAIN
    };
    let in_order = workload(1.0, 1.0, 4096.0, 0.0, 0.0);
    assert_eq!(time(&in_order, &logged, &costs), 10.0);
    // Two of the four pages of a block, then the next block.
    let with_gaps = workload(1.0, 1.0, 4096.0, 0.0, 4096.0);
    assert!((time(&with_gaps, &logged, &costs) - 510.0).abs() < 5.0);
    assert_eq!(time(&with_gaps, &Layout::PLAIN, &costs), 10.0);
    // Every page needs the log. A first page of a block lies in order: only the rest is copied.
    let anywhere = workload(1.0, 1.0, 4096.0, 1.0, 0.0);
    let expected = 10.0 + 1000.0 * (0.75 + 0.25 * 0.75);
    assert!((time(&anywhere, &logged, &costs) / expected - 1.0).abs() < 0.02);
    // Of two units, the first has every page that is written, all in order.
    let two = Layout {
        units: 2,
        block_pages: 2,
        ..logged
    };
    assert!((time(&with_gaps, &two, &costs) - 10.0).abs() < 0.5);
}

#[test]
fn switches_do_what_they_say() {
    let costs = costs(&[
        (Cost::LinkReadPage, 10.0),
        (Cost::LinkWritePage, 10.0),
        (Cost::Read, 100.0),
        (Cost::ReadAgain, 1.0),
        (Cost::Program, 400.0),
        (Cost::ProgramAgain, 400.0),
        (Cost::ReadWaits, 7.0),
    ]);
    // A read alone takes 110 ns, and 7 more if a program is in progress that it passes.
    let mixed = workload(0.05, 1.0, 4096.0, 1.0, 0.0);
    let buffered = Layout {
        buffer_pages: 4,
        ..Layout::PLAIN
    };
    let first = Layout {
        reads_first: true,
        ..buffered
    };
    let (passing, waiting) = (
        time(&mixed, &first, &costs),
        time(&mixed, &buffered, &costs),
    );
    assert!(
        (waiting - 0.95 * 110.0 - 0.05 * 410.0).abs() < 1.0,
        "{waiting}"
    );
    assert!((104.5..115.0).contains(&passing), "{passing}");
    let halves = workload(0.0, 1.0, 2048.0, 0.0, 0.0);
    let caching = Layout {
        caches_reads: true,
        ..Layout::PLAIN
    };
    assert!((time(&halves, &caching, &costs) - (100.0 + 1.0) / 2.0 - 5.0).abs() < 0.5);
    let reads = workload(0.0, 1.0, 4096.0, 0.0, 0.0);
    let ahead = Layout {
        units: 4,
        reads_ahead: true,
        ..Layout::PLAIN
    };
    let without = Layout {
        reads_ahead: false,
        ..ahead
    };
    assert!(time(&reads, &ahead, &costs) < time(&reads, &without, &costs));
    let both_ways = workload(0.5, 32.0, 65_536.0, 1.0, 0.0);
    let wide = Layout {
        units: 4096,
        buffer_pages: 1 << 16,
        ..Layout::PLAIN
    };
    let duplex = Layout {
        duplex: true,
        ..wide
    };
    let ratio = time(&both_ways, &duplex, &costs) / time(&both_ways, &wide, &costs);
    assert!((0.45..0.8).contains(&ratio), "{ratio}");
    let channels = Layout {
        units: 4,
        channels: 1,
        ..Layout::PLAIN
    };
    let mut slow = costs;
    slow[Cost::Channel as usize] = 60.0;
    let deep = workload(0.0, 32.0, 4096.0, 1.0, 0.0);
    assert!((time(&deep, &channels, &slow) - 60.0).abs() < 1.0);
    let turns = Layout {
        units: 4,
        writes_in_turn: true,
        ..buffered
    };
    let strided = workload(1.0, 8.0, 4096.0, 0.0, 3.0 * 4096.0);
    assert!((time(&strided, &turns, &costs) - 100.0).abs() < 1.0);
    let merging = Layout {
        merges: true,
        buffer_pages: 4,
        ..Layout::PLAIN
    };
    let mut free = costs;
    free[Cost::ProgramAgain as usize] = 0.0;
    let small = workload(1.0, 1.0, 1024.0, 0.0, 0.0);
    assert!((time(&small, &merging, &free) - 100.0).abs() < 10.0);
}

#[test]
fn a_time_is_the_sum_of_the_costs_on_its_path_and_changes_with_them() {
    let costs: [f64; COSTS] = std::array::from_fn(|place| 10.0 + 17.3 * place as f64);
    let layouts = [
        Layout::PLAIN,
        Layout {
            units: 12,
            members: 2,
            buffer_pages: 8,
            channels: 3,
            writes_in_turn: true,
            reads_first: true,
            merges: true,
            caches_reads: true,
            reads_ahead: true,
            duplex: true,
            ..Layout::PLAIN
        },
    ];
    for layout in &layouts {
        for (number, size) in [512.0, 3072.0, 65_536.0, 4.0 * 1024.0 * 1024.0]
            .into_iter()
            .enumerate()
        {
            for depth in [1.0, 7.0, 128.0] {
                let row = workload(0.3 * number as f64, depth, size, 0.4, 1536.0);
                let found = replay(&row, layout, &costs, Length::fixed(64)).unwrap()[0];
                let sum: f64 = found.counts.iter().zip(&costs).map(|(n, c)| n * c).sum();
                assert!((sum - found.ns).abs() < 1e-4 * found.ns, "{sum} {found:?}");
                // Twice the costs, twice the time.
                let twice = costs.map(|cost| 2.0 * cost);
                let slower = replay(&row, layout, &twice, Length::fixed(64)).unwrap()[0];
                assert!((slower.ns - 2.0 * found.ns).abs() < 1e-6 * slower.ns);
            }
        }
    }
}

#[test]
fn what_is_no_drive_or_workload_is_refused() {
    let costs = [1.0; COSTS];
    let row = workload(0.5, 1.0, 4096.0, 1.0, 0.0);
    let refused = |layout: Layout| {
        replay(&row, &layout, &costs, Length::fixed(8))
            .unwrap_err()
            .to_string()
    };
    for (layout, message) in [
        (
            Layout {
                units: 0,
                ..Layout::PLAIN
            },
            "units is 0; allowed: 1 to 4096",
        ),
        (
            Layout {
                page_bytes: 1,
                ..Layout::PLAIN
            },
            "page_bytes is 1; allowed: 512 to 1048576",
        ),
        (
            Layout {
                members: 2,
                ..Layout::PLAIN
            },
            "members is 2; allowed: a divisor of the units",
        ),
        (
            Layout {
                buffer_pages: 1 << 17,
                ..Layout::PLAIN
            },
            "buffer_pages is 131072; allowed: 0 to 65536",
        ),
        (
            Layout {
                channels: 5000,
                ..Layout::PLAIN
            },
            "channels is 5000; allowed: 0 to 4096",
        ),
        (
            Layout {
                log_blocks: 65,
                ..Layout::PLAIN
            },
            "log_blocks is 65; allowed: 0 to 64",
        ),
        (
            Layout {
                block_pages: 0,
                ..Layout::PLAIN
            },
            "block_pages is 0; allowed: 1 to 65536",
        ),
    ] {
        assert_eq!(refused(layout), message);
    }
    for bad in [
        workload(1.5, 1.0, 4096.0, 1.0, 0.0),
        workload(0.5, 0.0, 4096.0, 1.0, 0.0),
        workload(0.5, 1.0, 1.0, 1.0, 0.0),
        workload(0.5, 1.0, f64::INFINITY, 1.0, 0.0),
        workload(f64::NAN, 1.0, 4096.0, 1.0, 0.0),
    ] {
        let error = replay(&bad, &Layout::PLAIN, &costs, Length::fixed(8)).unwrap_err();
        assert_eq!(error, QueueingError::Workload { row: 0 });
    }
    assert!(replay(&row[..7], &Layout::PLAIN, &costs, Length::fixed(8)).is_err());
    assert!(replay(&row, &Layout::PLAIN, &costs[..3], Length::fixed(8)).is_err());
    assert!(replay(&row, &Layout::PLAIN, &[f64::NAN; COSTS], Length::fixed(8)).is_err());
    // Values without effect are missing.
    let mut reads = row;
    reads[0] = 0.0;
    reads[3] = f64::NAN;
    reads[5] = f64::NAN;
    reads[7] = f64::NAN;
    assert!(replay(&reads, &Layout::PLAIN, &costs, Length::fixed(8)).unwrap()[0].ns > 0.0);
}

#[test]
fn what_waits_for_rare_long_work_is_replayed_until_its_mean_is_sure() {
    // A read meets a program of 100 reads' time now and then.
    let costs = costs(&[
        (Cost::Read, 50.0),
        (Cost::Program, 5_000.0),
        (Cost::LinkReadPage, 10.0),
    ]);
    let layout = Layout {
        units: 20,
        buffer_pages: 64,
        ..Layout::PLAIN
    };
    let rare = workload(0.3, 1.0, 4096.0, 1.0, 0.0);
    let of = |requests, doublings| {
        let length = Length {
            requests,
            doublings,
        };
        replay(&rare, &layout, &costs, length).unwrap()[0].ns
    };
    let truth = of(400_000, 0);
    let off = |ns: f64| (ns / truth - 1.0).abs();
    // Three standard errors; a few requests are farther off.
    assert!(off(of(384, 6)) < 0.015, "{} of {truth}", of(384, 6));
    assert!(off(of(384, 0)) > 0.015, "{} of {truth}", of(384, 0));
    // What always takes the same time is replayed no longer than it was.
    let even = workload(0.0, 1.0, 4096.0, 1.0, 0.0);
    let long = Length {
        requests: 384,
        doublings: 6,
    };
    let found = |length| replay(&even, &layout, &costs, length).unwrap();
    assert_eq!(found(long), found(Length::fixed(384)));
}

#[test]
fn answers_do_not_depend_on_the_rows_around_them() {
    let costs = costs(&[(Cost::Read, 50.0), (Cost::Program, 900.0)]);
    let rows: Vec<_> = (0..200)
        .map(|row| workload(f64::from(row) / 200.0, 4.0, 8192.0, 0.5, 0.0))
        .collect();
    let all = replay(
        rows.as_flattened(),
        &Layout::PLAIN,
        &costs,
        Length::fixed(64),
    );
    for (row, together) in rows.iter().zip(all.unwrap()) {
        let alone = replay(row, &Layout::PLAIN, &costs, Length::fixed(64)).unwrap();
        assert_eq!(alone, [together]);
    }
}
