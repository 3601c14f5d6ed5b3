//! Scenarios: what they describe, and one clear line for anything invalid.
#![allow(clippy::unwrap_used, clippy::panic)]

use drivelab_request::{CommandKind, Nanos, WindowPlan};
use drivelab_sim::host::plan::window_of;
use drivelab_sim::host::{Plan, SimError};
use drivelab_sim::scenario::{self, Scenario};
use drivelab_workload::{Arrivals, Key, Requests, Source, WriteMode};

use crate::small_drive;

const THREE: &str = r#"
summary = "a database beside its log and a backup"
requests = 1_000
warmup_requests = 10
interval_ns = 1_000_000

[[stream]]
name = "database"
queue_depth = 16
write_ratio = 0.3
read_size_bytes = 8192

[[stream]]
name = "log"
rate_iops = 2_000
arrivals = "fixed"
write_ratio = 1.0
write_random = 0.0
range_offset_bytes = 1_048_576
range_bytes = 4_194_304
priority = 1
queue_pair = 3

[[stream]]
name = "backup"
requests_csv = "backup.csv"
"#;

const BACKUP: &str = "at_ns,action,offset_bytes,size_bytes,forced\n\
                      0,write,0,4096,true\n\
                      \n\
                      1500,read,8192,512,\n\
                      1500,trim,4096,4096,false\n\
                      2000,flush,,,\n";

pub fn read(text: &str) -> Result<Scenario, String> {
    let file = |name: &str| (name == "backup.csv").then(|| BACKUP.to_owned());
    Scenario::read(text, &file).map_err(|error| error.to_string())
}

/// When counting begins and ends.
fn window(scenario: &Scenario) -> Result<WindowPlan, SimError> {
    window_of(&scenario.streams, scenario.window())
}

/// A scenario of one stream with these lines.
pub fn stream(lines: &str) -> String {
    format!("requests = 1\n[[stream]]\nname = \"a\"\n{lines}\n")
}

#[test]
fn it_says_streams_of_all_three_kinds() {
    let scenario = read(THREE).unwrap();
    assert_eq!(Scenario::files(THREE), ["backup.csv"]);
    assert_eq!(scenario.requests, Some(1000));
    assert_eq!(scenario.interval, Some(Nanos(1_000_000)));
    let window = window(&scenario).unwrap();
    assert_eq!((window.warmup_requests, window.requests), (10, Some(1000)));
    let [database, log, backup] = scenario.streams.as_slice() else {
        panic!("{scenario:?}");
    };
    let Source::Closed(Requests::Characteristics(characteristics)) = &database.source else {
        panic!("{database:?}");
    };
    assert_eq!(characteristics.queue_depth, 16);
    assert_eq!(
        (characteristics.read_size, characteristics.write_size),
        (8192, 4096)
    );
    let Source::Open {
        rate_iops,
        is_poisson,
        ..
    } = log.source
    else {
        panic!("{log:?}");
    };
    assert_eq!((rate_iops, is_poisson), (2000.0, false));
    assert_eq!(log.range, Some((1 << 20, 4 << 20)));
    assert_eq!((log.priority, log.queue_pair), (1, 3));
    let Source::Timed(commands) = &backup.source else {
        panic!("{backup:?}");
    };
    let found: Vec<_> = commands
        .iter()
        .map(|c| {
            (
                c.arrival.0,
                c.kind,
                c.offset_bytes,
                c.size_bytes,
                c.is_forced,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, CommandKind::Write, 0, 4096, true),
            (1500, CommandKind::Read, 8192, 512, false),
            (1500, CommandKind::Trim, 4096, 4096, false),
            (2000, CommandKind::Flush, 0, 0, false),
        ]
    );
}

#[test]
fn closed_loops_may_hold_shares() {
    let share = |lines: &str| {
        let scenario = read(&stream(&format!("queue_depth = 4\n{lines}"))).unwrap();
        scenario.streams[0].share
    };
    assert_eq!(share(""), None);
    assert_eq!(share("share = 0.04"), Some(0.04));
    let scenario = read(&stream(
        "queue_depth = 4\nshare = 0.5\nburst_requests = 512",
    ));
    assert_eq!(scenario.unwrap().streams[0].burst, 512);
    let error = read(&stream("queue_depth = 4\nburst_requests = 512")).unwrap_err();
    assert!(
        error.contains("burst_requests is for streams with a share"),
        "{error}"
    );
}

#[test]
fn random_requests_may_go_to_each_place_once() {
    let requests = |lines: &str| {
        let scenario = read(&stream(&format!("queue_depth = 4\n{lines}")));
        scenario.map(|mut scenario| scenario.streams.remove(0).source)
    };
    let is_once = |lines: &str| {
        matches!(
            requests(lines).unwrap(),
            Source::Closed(Requests::EachOnce(_))
        )
    };
    assert!(is_once("each_place_once = true"));
    assert!(!is_once("each_place_once = false"));
    let error = requests("each_place_once = true\nread_random = 0.5").unwrap_err();
    assert!(
        error.contains("read_random is 0.5; allowed where each_place_once is true: 0 (in order)"),
        "{error}"
    );
}

#[test]
fn generated_writes_may_be_sent_as_trims_or_forced_and_flushes_between_them() {
    let sent = |lines: &str| {
        let scenario = read(&stream(&format!("queue_depth = 1\n{lines}"))).unwrap();
        (
            scenario.streams[0].writes,
            scenario.streams[0].writes_per_flush,
        )
    };
    assert_eq!(sent(""), (WriteMode::Plain, 0));
    assert_eq!(sent("writes_as = \"write\""), (WriteMode::Plain, 0));
    assert_eq!(sent("writes_as = \"trim\""), (WriteMode::Trim, 0));
    let forced = "writes_as = \"forced_write\"\nwrites_per_flush = 32";
    assert_eq!(sent(forced), (WriteMode::Forced, 32));
    let error = read(&stream("queue_depth = 1\nwrites_as = \"fua\"")).unwrap_err();
    assert!(
        error.contains("\"write\" or \"forced_write\" or \"trim\""),
        "{error}"
    );
    let error = read(&stream("queue_depth = 1\nwrites_per_flush = 0")).unwrap_err();
    assert!(error.contains("writes_per_flush"), "{error}");
    let error = read(&stream(
        "requests_csv = \"backup.csv\"\nwrites_as = \"trim\"",
    ))
    .unwrap_err();
    assert!(
        error.contains("has no effect on requests that are listed"),
        "{error}"
    );
}

#[test]
fn generated_requests_lie_in_the_range_of_their_stream() {
    let log = &read(THREE).unwrap().streams[1];
    let Source::Open {
        requests,
        rate_iops,
        is_poisson: false,
    } = &log.source
    else {
        panic!("the log is an open loop");
    };
    let mut arrivals = Arrivals::fixed(*rate_iops).unwrap();
    let loops = requests.loops(log.range.unwrap(), Key::first(7, 0));
    let mut generator = loops.unwrap().remove(0).generator;
    for number in 1..=2000 {
        let request = generator.next_request();
        assert!((1 << 20..5 << 20).contains(&request.offset_bytes));
        assert_eq!(arrivals.next_arrival(), Nanos(500_000 * number));
    }
}

#[test]
fn listed_requests_may_stand_in_the_scenario_and_all_of_them_are_counted() {
    let text = "[[stream]]\nname = \"a\"\n\
                [[stream.request]]\nat_ns = 5\naction = \"read\"\noffset_bytes = 0\nsize_bytes = 512\n\
                [[stream.request]]\nat_ns = 5\naction = \"flush\"\n";
    let mut scenario = read(text).unwrap();
    assert_eq!(window(&scenario).unwrap().requests, Some(2));
    scenario.warmup_requests = 1;
    assert_eq!(window(&scenario).unwrap().requests, Some(1));
    scenario.warmup_requests = 2;
    let said = window(&scenario).unwrap_err().to_string();
    assert!(said.contains("allowed: fewer"), "{said}");
    scenario.requests = Some(1);
    let said = window(&scenario).unwrap_err().to_string();
    assert!(
        said.contains("1 requests are to be counted, and 0 are listed"),
        "{said}"
    );
}

#[test]
fn a_run_that_nothing_ends_is_refused() {
    let scenario = read("[[stream]]\nname = \"a\"\nqueue_depth = 1").unwrap();
    let said = window(&scenario).unwrap_err().to_string();
    assert_eq!(said, "nothing ends the run; give requests or duration_ns");
}

#[test]
fn a_stream_that_does_not_fit_the_drive_is_refused() {
    for (lines, said) in [
        (
            "queue_depth = 1\nrange_offset_bytes = 1048576\nrange_bytes = 1073741824",
            "stream \"a\": its range of 1073741824 bytes at offset 1048576 does not lie on",
        ),
        (
            "queue_depth = 1\nread_size_bytes = 8192\nrange_bytes = 4096",
            "stream \"a\": read_size is 8192 bytes; allowed here: at most 4096",
        ),
    ] {
        let scenario = read(&stream(lines)).unwrap();
        let mut drive = small_drive::drive(&[]).worker();
        let run = drive.run(&scenario.streams, Plan::counting(0, 1), 0, 0);
        let error = run.unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
}

const WINDOWS: &str = r#"
duration_ns = 2_000_000
[[stream]]
name = "scans"
[[stream.kind]]
action = "read"
place = "region"
sizes_bytes = [8192]
kinds_after = [1, 9]
[[stream.kind]]
action = "read"
place = "next"
sizes_bytes = [8192]
[[stream.gap]]
gaps_ns = [1000, 2000]
[[stream.gap]]
gaps_ns = [50_000, 90_000]
begins_train = true
[[stream.region]]
range_offset_bytes = 0
range_bytes = 1_048_576
[[stream.train]]
lengths = [8, 12]
[[stream.window]]
duration_ns = 1_000_000
kinds = [0, 10, 1, 90]
gaps = [0, 90, 1, 10]
regions = [0, 10]
trains = [0, 10]
"#;

#[test]
fn windows_are_drawn_as_they_are_said_and_run() {
    let scenario = read(WINDOWS).unwrap();
    let Source::Windows(windows) = &scenario.streams[0].source else {
        panic!("{:?}", scenario.streams[0].source);
    };
    assert_eq!((windows.kinds.len(), windows.trains.len()), (2, 1));
    assert!(windows.gaps[1].begins_train);
    assert_eq!(scenario.streams[0].mean_bytes(), 8192.0);
    assert_eq!(scenario.streams[0].commands(), None);
    let mut drawn =
        drivelab_workload::WindowedRequests::new(windows, (0, 1 << 20), (0, 0)).unwrap();
    let late = (0..200).map(|_| drawn.next_command().arrival.0);
    // Two windows of 100 requests each.
    assert_eq!(late.filter(|&at| at >= 1_000_000).count(), 100);
}

#[test]
fn windows_that_cannot_be_are_one_line() {
    let cases = [
        (
            "kinds = [0, 10, 1, 90]",
            "kinds = [0, 10, 1]",
            "kinds has an odd number of values",
        ),
        (
            "kinds = [0, 10, 1, 90]",
            "kinds = [0, 10, 2, 90]",
            "names kind 2; allowed: 0 to 1",
        ),
        (
            "gaps = [0, 90, 1, 10]",
            "gaps = [0, 90]",
            "100 requests by kinds and 90 by gaps",
        ),
        (
            "place = \"next\"",
            "place = \"near\"",
            "allowed: \"next\" or \"next_of_any\" or",
        ),
        (
            "place = \"next\"",
            "place = \"ahead\"",
            "a request ahead or behind needs distances_bytes",
        ),
        (
            "sizes_bytes = [8192]\nkinds",
            "sizes_bytes = [100]\nkinds",
            "sizes_bytes",
        ),
        ("action = \"read\"\n", "", "action is missing"),
        ("duration_ns = 1_000_000\n", "", "duration_ns is missing"),
        (
            "lengths = [8, 12]",
            "lengths = []",
            "lengths of train 0 is not possible",
        ),
        (
            "name = \"scans\"",
            "name = \"scans\"\nwrite_ratio = 1",
            "has no effect on requests",
        ),
        (
            "name = \"scans\"",
            "name = \"scans\"\nqueue_depth = 1",
            "queue_depth and window say",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(WINDOWS.contains(from), "{from}");
        let message = read(&WINDOWS.replacen(from, to, 1)).unwrap_err();
        assert!(
            message.contains(expected) && !message.contains('\n'),
            "{message:?} lacks {expected:?}"
        );
    }
    let alone = stream("queue_depth = 1\n[[stream.train]]\nlengths = [1]");
    let message = read(&alone).unwrap_err();
    assert!(
        message.contains("[[stream.train]] is for streams with [[stream.window]]"),
        "{message}"
    );
}

#[test]
fn whatever_cannot_be_meant_is_one_line_that_says_what_can() {
    let request = |lines: &str| stream(&format!("[[stream.request]]\n{lines}"));
    let cases = [
        (
            "requests = 1".to_owned(),
            "the scenario has 0 streams; allowed: 1 to 64 tables [[stream]]",
        ),
        (
            "stream = 3".to_owned(),
            "line 1: stream is an array of tables: begin each with [[stream]]",
        ),
        (
            "[stream]\nname = \"a\"".to_owned(),
            "line 1: stream is an array of tables",
        ),
        ("requests = \n".to_owned(), "line 1: not valid TOML"),
        (
            "request = 1".to_owned(),
            "line 1: unknown key request; did you mean requests? valid here: summary, requests, ",
        ),
        (
            "occupancy = 0.5".to_owned(),
            "line 1: occupancy is a table: begin it with [occupancy]",
        ),
        (
            format!("{}[occupancy]\nfilled = 0", stream("queue_depth = 1")),
            "line 6: filled = 0 is not possible; allowed: a number from 0.000001 to 1",
        ),
        (
            format!("{}[occupancy]\nfill = 1", stream("queue_depth = 1")),
            "line 6: unknown key fill; did you mean filled? valid here: filled, order, steady",
        ),
        (
            "requests = 0".to_owned(),
            "line 1: requests = 0 is not possible; allowed: an integer from 1",
        ),
        (
            "[[stream]]\nqueue_depth = 1".to_owned(),
            "line 1: name is missing; give text in quotes",
        ),
        (
            stream(""),
            "line 3: nothing says where the stream's requests come from; give one of",
        ),
        (
            stream("queue_depth = 1\nrate_iops = 5"),
            "line 3: queue_depth and rate_iops say",
        ),
        (
            stream("queue_depth = 0"),
            "line 4: queue_depth = 0 is not possible; allowed: an integer",
        ),
        (
            stream("depth = 1"),
            "line 4: unknown key depth; valid here: name, queue_depth, ",
        ),
        (
            stream("queue_depth = 1\nwrite_ratio = 1.5"),
            "line 5: write_ratio = 1.5 is not possible",
        ),
        (
            stream("queue_depth = 1\nwrite_ratio = nan"),
            "line 5: write_ratio = NaN is not possible",
        ),
        (
            stream("queue_depth = 1\nread_size_bytes = 100"),
            "line 5: read_size_bytes = 100 is not",
        ),
        (
            stream("queue_depth = 1\narrivals = \"fixed\""),
            "line 5: arrivals is for streams with",
        ),
        (
            stream("rate_iops = 5\nshare = 0.5"),
            "line 5: share is for streams with queue_depth; remove it",
        ),
        (
            stream("queue_depth = 1\nshare = 0"),
            "line 5: share = 0 is not possible; allowed: a number from 0.000001 to 1",
        ),
        (
            stream("rate_iops = 1e-9"),
            "line 4: rate_iops = 1e-9 is not possible",
        ),
        (
            stream("rate_iops = 1\narrivals = \"bursty\""),
            "allowed: \"poisson\" or \"fixed\"",
        ),
        (
            stream("queue_depth = 1\nrange_offset_bytes = 512"),
            "line 2: range_bytes is missing",
        ),
        (
            stream("requests_csv = \"none.csv\""),
            "there is no file \"none.csv\" beside",
        ),
        (
            stream("requests_csv = \"backup.csv\"\nwrite_ratio = 1"),
            "write_ratio has no effect on",
        ),
        (request("action = \"read\""), "line 4: at_ns is missing"),
        (
            request("at_ns = 1\naction = \"erase\""),
            "allowed: \"read\" or \"write\" or \"trim\" or",
        ),
        (
            request("at_ns = 1\naction = \"read\"\nsize_bytes = 512"),
            "offset_bytes is missing",
        ),
        (
            request("at_ns = 1\naction = \"flush\"\nsize_bytes = 512"),
            "remove size_bytes",
        ),
        (
            request(
                "at_ns = 1\naction = \"read\"\noffset_bytes = 0\nsize_bytes = 512\nforced = true",
            ),
            "line 9: a read cannot be forced",
        ),
        (
            request(
                "at_ns = 2\naction = \"flush\"\n[[stream.request]]\nat_ns = 1\naction = \"flush\"",
            ),
            "line 8: this request arrives before the one above it",
        ),
        (
            format!(
                "{}[[stream]]\nname = \"a\"\nqueue_depth = 1",
                stream("queue_depth = 1")
            ),
            "line 5: two streams are called \"a\"",
        ),
    ];
    for (text, said) in cases {
        let error = read(&text).unwrap_err();
        assert!(error.contains(said), "{text}\n-> {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_line_of_a_file_that_is_no_request_is_named() {
    let cases = [
        (
            "",
            "a.csv, line 1: the file is empty; its first line names columns: at_ns, action,",
        ),
        ("at_ns,action\n", "a.csv holds no requests"),
        (
            "time;lba;size\n0;8;16\n",
            "a.csv, line 1: this is no list of requests: its first line names none of the \
             columns at_ns, action,",
        ),
        (
            "at_ns,action\n0\u{1b}[2J,flush\n",
            "a.csv, line 2: at_ns = 0\\u{1b}[2J is not possible",
        ),
        (
            "at_ns,op\n",
            "a.csv, line 1: unknown column \"op\"; valid: at_ns, action,",
        ),
        (
            "at_ns,at_ns,action\n",
            "a.csv, line 1: column at_ns is named twice",
        ),
        ("action\n", "a.csv, line 1: column at_ns is missing"),
        (
            "at_ns,action\n0,flush\n1\n",
            "a.csv, line 3: 1 cells where 2 columns are named",
        ),
        (
            "at_ns,action\n0,erase\n",
            "a.csv, line 2: action = \"erase\" is not possible",
        ),
        (
            "at_ns,action\n-1,flush\n",
            "a.csv, line 2: at_ns = -1 is not possible",
        ),
        (
            "at_ns,action\n1e3,flush\n",
            "a.csv, line 2: at_ns = 1e3 is not possible",
        ),
        ("at_ns,action\n,flush\n", "a.csv, line 2: at_ns is missing"),
        (
            "at_ns,action\n9,flush\n8,flush\n",
            "a.csv, line 3: this request arrives before",
        ),
        (
            "at_ns,action,offset_bytes\n0,read,0\n",
            "a.csv, line 2: size_bytes is missing",
        ),
    ];
    let text = stream("requests_csv = \"a.csv\"");
    for (csv, said) in cases {
        let error = Scenario::read(&text, &|_| Some(csv.to_owned())).unwrap_err();
        assert!(error.to_string().contains(said), "{csv}\n-> {error}");
    }
    // A cell as long as a file is not repeated in the message.
    let long = "\u{e4}".repeat(100_000);
    for csv in [
        format!("at_ns,{long}\n"),
        format!("at_ns,action\n{long},flush\n"),
        format!("at_ns,action\n0,{long}\n"),
    ] {
        let error = Scenario::read(&text, &|_| Some(csv.clone())).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(&"\u{e4}".repeat(40)), "{error}");
        assert!(error.chars().count() < 220, "{error}");
    }
}

#[test]
fn every_scenario_of_the_package_reads_says_what_it_is_and_ends() {
    let names = scenario::names();
    assert!(names.is_sorted());
    assert!(names.contains(&"kv-cache-offload"));
    assert_eq!(scenario::text("nonesuch"), None);
    for name in names {
        let text = scenario::text(name).unwrap();
        let read =
            Scenario::read(text, &|_| None).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.summary.is_some(), "{name}");
        let has_end = read.requests.is_some() || read.duration.is_some();
        assert!(has_end, "{name}");
    }
}
