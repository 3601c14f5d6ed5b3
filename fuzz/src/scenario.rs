//! Scenarios, with the list of requests that they name: an accepted one runs as described.

use drivelab_request::Nanos;
use drivelab_sim::host::plan::window_of;
use drivelab_sim::scenario::Scenario;
use drivelab_workload::{Arrivals, Key, Source, WindowedRequests};

use crate::{Reader, check_message, texts};

pub(crate) const READER: Reader = Reader {
    name: "scenario",
    sources: &["crates/sim/src/scenario/"],
    check,
    seeds,
};

const CAPACITY_BYTES: u64 = 1 << 30;
const DRAWN: usize = 16;

fn check(data: &[u8]) {
    let Some([text, csv]) = texts(data) else {
        return;
    };
    let _ = Scenario::files(text);
    let scenario = match Scenario::read(text, &|_| Some(csv.to_owned())) {
        Ok(scenario) => scenario,
        Err(error) => return check_message(&error),
    };
    match window_of(&scenario.streams, scenario.window()) {
        Ok(window) => assert!(window.requests.is_some() || window.duration.is_some()),
        Err(error) => check_message(&error),
    }
    for stream in scenario.streams {
        let (start, length) = stream.range.unwrap_or((0, CAPACITY_BYTES));
        let requests = match stream.source {
            Source::Closed(requests) => requests,
            Source::Open {
                requests,
                rate_iops,
                ..
            } => {
                let mut arrivals = Arrivals::poisson(rate_iops, 0, 0).expect("a rate");
                let mut last = Nanos::ZERO;
                for _ in 0..DRAWN {
                    let next = arrivals.next_arrival();
                    assert!(next >= last, "an arrival before the last");
                    last = next;
                }
                requests
            }
            Source::Paced(_) => unreachable!("a scenario names no trace"),
            Source::Windows(windows) => {
                let mut drawn = match WindowedRequests::new(&windows, (start, length), (0, 0)) {
                    Ok(drawn) => drawn,
                    Err(error) => return check_message(&error),
                };
                let mut last = Nanos::ZERO;
                for _ in 0..DRAWN {
                    let next = drawn.next_command();
                    assert!(next.arrival >= last, "an arrival before the last");
                    let end = next.offset_bytes + u64::from(next.size_bytes);
                    assert!(next.offset_bytes >= start && end <= start + length);
                    last = next.arrival;
                }
                continue;
            }
            Source::Timed(commands) => {
                assert!(commands.is_sorted_by_key(|command| command.arrival));
                continue;
            }
        };
        let generator = match requests.loops((start, length), Key::first(0, 0)) {
            Ok(mut loops) => loops.remove(0).generator,
            Err(error) => return check_message(&error),
        };
        for request in generator.take(DRAWN) {
            let end = request.offset_bytes + u64::from(request.size_bytes);
            assert!(
                request.offset_bytes >= start && end <= start + length,
                "a request from {} to {end} outside {length} bytes from {start}",
                request.offset_bytes
            );
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let burst_csv = include_str!("../../examples/burst.csv");
    let few: String = burst_csv.split_inclusive('\n').take(4).collect();
    let burst = include_str!("../../examples/burst.toml");
    let backup = include_str!("../../examples/database-and-backup.toml");
    let listed = "requests = 2\n[[stream]]\nname = \"listed\"\n[[stream.request]]\nat_ns = 0\n\
                  action = \"write\"\noffset_bytes = 0\nsize_bytes = 4096\n[[stream.request]]\n\
                  at_ns = 5\naction = \"flush\"\n";
    let open = "duration_ns = 1000\n[[stream]]\nname = \"a\"\nrate_iops = 1000.5\n\
                arrivals = \"fixed\"\nwrite_ratio = 0.5\nread_size_bytes = 8192\n\
                write_size_bytes = 512\nread_random = 1.0\nwrite_random = 0.25\n\
                range_offset_bytes = 4096\nrange_bytes = 1048576\nwrites_as = \"trim\"\n\
                [[stream]]\nname = \"b\"\nqueue_depth = 4\nshare = 0.5\npriority = 1\n\
                burst_requests = 8\n\
                read_stride_bytes = 4096\nread_random = 0.5\nwrites_per_flush = 3\n\
                [[stream]]\nname = \"c\"\nqueue_depth = 4\neach_place_once = true\n";
    let windows = "duration_ns = 1000\n[[stream]]\nname = \"w\"\n[[stream.kind]]\naction = \"read\"\n\
                   place = \"next\"\nsizes_bytes = [4096]\nranks = [0, 1]\nkinds_after = [1, 3]\n\
                   [[stream.kind]]\naction = \"write\"\nplace = \"behind\"\ngroup = 1\n\
                   sizes_bytes = [512, 8192]\ndistances_bytes = [512, 65536]\ngrid_bytes = 512\n\
                   [[stream.gap]]\ngaps_ns = [0, 100]\n[[stream.region]]\n\
                   range_offset_bytes = 0\nrange_bytes = 1048576\n[[stream.window]]\n\
                   duration_ns = 900\nkinds = [0, 5, 1, 2]\ngaps = [0, 7]\nregions = [0, 1]\n";
    vec![
        windows.as_bytes().to_vec(),
        format!("{burst}\0{few}").into_bytes(),
        format!("{backup}\0{few}").into_bytes(),
        listed.as_bytes().to_vec(),
        open.as_bytes().to_vec(),
    ]
}
