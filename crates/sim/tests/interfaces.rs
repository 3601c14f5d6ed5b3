//! Links, queue pairs and interrupts compared with times computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, SimError};
use drivelab_workload::{Characteristics, Stream};

use crate::small_drive::{self, drive, read, write};

/// Eight dies on eight channels. Commands and acknowledgements take no time.
const EIGHT_DIES: &str = "geometry.channels = 8\ngeometry.blocks_per_plane = 32\n\
                          geometry.user_capacity_bytes = 4194304\n\
                          host.read_command_ns = 0\nhost.write_command_ns = 0\n\
                          host.write_acknowledge_ns = 0\n";

fn config(host: &str) -> SsdConfig {
    small_drive::config(&[EIGHT_DIES, host])
}

/// A page crosses the link in 10 us.
const RATE: &str = "host.link_bytes_per_second = 409_600_000\n";

fn host(interface: &str, more: &str) -> String {
    format!("host.interface = \"{interface}\"\n{RATE}{more}")
}

fn reads(pages: std::ops::Range<u64>) -> Vec<Command> {
    pages.map(|page| read(0, page)).collect()
}

fn run(host: &str, commands: Vec<Command>) -> Outcome {
    small_drive::run(&drive(&[EIGHT_DIES, host]), commands)
}

#[test]
fn both_ways_at_once_only_where_the_link_is_full_duplex() {
    // The read's data is ready at 60 us. The write, sent at 55, has the link until 65. On SATA the
    // data waits for that and ends at 75; elsewhere it ends at 70.
    let requests = || vec![read(0, 0), write(55, 1)];
    for (interface, end) in [("sata", 75_000), ("sas", 70_000), ("nvme", 70_000)] {
        let outcome = run(&host(interface, ""), requests());
        let latency = outcome.read.latency.max_ns();
        assert_eq!(latency, Some(end), "{interface}");
        assert_eq!(outcome.write.latency.max_ns(), Some(10_000 + 310_000));
    }
}

#[test]
fn the_rate_follows_from_what_is_on_the_box() {
    let rate = |host: &str| config(host).host.link_bytes_per_second;
    let sata = |gigabits: &str| {
        rate(&format!(
            "host.interface = \"sata\"\nhost.link_gigabits_per_second = {gigabits}\n"
        ))
    };
    assert_eq!(
        [sata("1.5"), sata("3"), sata("6.0")],
        [150_000_000, 300_000_000, 600_000_000]
    );
    let sas = "host.interface = \"sas\"\nhost.link_gigabits_per_second = 12\n";
    assert_eq!(rate(sas), 1_200_000_000);
    let nvme = "host.interface = \"nvme\"\nhost.pcie_generation = 4\nhost.pcie_lanes = 4\n";
    // 4 lanes x 16 GT/s / 8 x 128 / 130.
    assert_eq!(rate(nvme), 7_876_923_076);
    let commands = [sas, nvme].map(|host| config(host).host.commands);
    assert_eq!(commands, [256, 1024]);
}

#[test]
fn a_faster_link_shortens_a_read_by_the_difference_of_its_transfers() {
    // 4096 bytes at 300 and 600 MB/s: 13,654 and 6,827 ns, rounded up.
    let latency = |gigabits: u32| {
        let host =
            format!("host.interface = \"sata\"\nhost.link_gigabits_per_second = {gigabits}\n");
        run(&host, reads(0..1)).read.latency.max_ns()
    };
    assert_eq!(latency(3), Some(60_000 + 13_654));
    assert_eq!(latency(6), Some(60_000 + 6_827));
}

/// Two streams that submit eight reads each at once, through pairs 0 and 1.
fn two_pairs(host: &str) -> Result<Outcome, SimError> {
    let stream = |name: &str, queue_pair| {
        let commands = reads(0..8);
        Stream {
            queue_pair,
            ..Stream::timed(name, commands)
        }
    };
    let load = [stream("first", 0), stream("second", 1)];
    let drive = drive(&[EIGHT_DIES, host]);
    drive.worker().run(&load, Plan::counting(0, 16), 0, 0)
}

fn mean_us(outcome: &Outcome, stream: usize) -> f64 {
    let latency = &outcome.streams[stream].commands[CommandKind::Read.index()].counted;
    latency.latency.mean_ns().unwrap() / 1000.0
}

#[test]
fn free_slots_go_to_the_queue_pairs_by_weight() {
    // One command at a time, 70 us each. The first pair's first read enters at once. Then three for
    // each one of the second pair, while both have some.
    let one = |weights: &str| {
        let more = format!("host.commands = 1\nhost.queue_pair_weights = {weights}\n");
        two_pairs(&host("nvme", &more)).unwrap()
    };
    let mean = |places: &[u64]| places.iter().sum::<u64>() as f64 * 70.0 / 8.0;
    let outcome = one("[3, 1]");
    // Turns: 1 without waiting, then 3 + 1, 3 + 1, 1 + 6.
    assert_eq!(mean_us(&outcome, 0), mean(&[1, 2, 3, 4, 6, 7, 8, 10]));
    assert_eq!(mean_us(&outcome, 1), mean(&[5, 9, 11, 12, 13, 14, 15, 16]));
    let outcome = one("[1, 1]");
    assert_eq!(mean_us(&outcome, 0), mean(&[1, 2, 4, 6, 8, 10, 12, 14]));
    assert_eq!(mean_us(&outcome, 1), mean(&[3, 5, 7, 9, 11, 13, 15, 16]));
}

#[test]
fn a_queue_pair_has_no_more_commands_in_the_drive_than_its_depth() {
    // Depth 1: each pair reads its eight pages one after another, at first both on the same die. So
    // the second pair waits 60 us there, and from then on they alternate. First: 0-60, link to 70;
    // its next on die 1 at 70. Second: die 0 from 60 to 120, link to 130, then die 1, free since
    // 130. Nobody waits any more: 8 x 70 each.
    let more = "host.queue_pair_weights = [1, 1]\nhost.queue_pair_depth = 1\n";
    let outcome = two_pairs(&host("nvme", more)).unwrap();
    let first = (1..=8).map(|n| f64::from(n) * 70.0).sum::<f64>() / 8.0;
    assert_eq!(mean_us(&outcome, 0), first);
    assert_eq!(mean_us(&outcome, 1), first + 60.0);
}

#[test]
fn a_queue_pair_that_is_not_there_is_refused() {
    let error = two_pairs(&host("nvme", "")).unwrap_err();
    let text = "stream \"second\": queue pair 1 is not there: this drive has only pair 0; a \
                solid-state drive with host.interface = \"nvme\" has more with \
                host.queue_pair_weights";
    assert_eq!(error.to_string(), text);
}

#[test]
fn the_host_serves_interrupts_one_after_the_other() {
    // Data of four reads at 70, 80, 90 and 100 us, interrupts of 25 us each: 95, 120,
    // 145, 170.
    let outcome = run(&host("nvme", "host.interrupt_ns = 25_000\n"), reads(0..4));
    assert_eq!(outcome.window, Nanos(170_000));
    assert_eq!(
        outcome.read.latency.mean_ns(),
        Some((95_000 + 120_000 + 145_000 + 170_000) as f64 / 4.0)
    );
}

#[test]
fn an_interrupt_for_several_completions_costs_once_and_waits_for_them() {
    // Three to an interrupt: the first three are reported together at 90 + 25. The fourth waits 40
    // us for others and is reported at 100 + 40 + 25.
    let more = "host.interrupt_ns = 25_000\nhost.interrupt_completions = 3\n\
                host.interrupt_wait_ns = 40_000\n";
    let outcome = run(&host("nvme", more), reads(0..4));
    assert_eq!(outcome.window, Nanos(165_000));
    assert_eq!(
        outcome.read.latency.mean_ns(),
        Some((3 * 115_000 + 165_000) as f64 / 4.0)
    );
}

/// Closed loops of reads, each through its own queue pair and deep enough that commands always
/// wait. Returns the counted requests of each. One command is in the drive at a time, 60 us each
/// plus 10 on the link.
fn shares(more: &str, streams: &[(u16, u32)]) -> Vec<u64> {
    let stream = |&(queue_pair, queue_depth): &(u16, u32)| Stream {
        queue_pair,
        ..Stream::closed(
            format!("pair {queue_pair}"),
            Characteristics {
                queue_depth,
                ..Characteristics::default()
            },
        )
    };
    let streams: Vec<Stream> = streams.iter().map(stream).collect();
    let more = format!("host.commands = 1\n{more}");
    let drive = drive(&[EIGHT_DIES, &host("nvme", &more)]);
    let plan = Plan::counting(100, 7_000);
    let outcome = drive.worker().run(&streams, plan, 0, 0).unwrap();
    let reads = outcome.streams.iter().map(|stream| {
        let reads = &stream.commands[CommandKind::Read.index()].counted;
        reads.latency.count()
    });
    reads.collect()
}

/// If every pair has waiting commands, classes get parts in proportion to their weights, whatever
/// the number of their pairs. The pairs of a class get equal parts, or parts in proportion to their
/// bursts.
#[test]
fn classes_of_queue_pairs_share_by_their_weights() {
    let near = |found: Vec<u64>, expected: &[u64]| {
        let are_near = |(found, expected): (&u64, &u64)| found.abs_diff(*expected) <= 8;
        assert!(
            found.iter().zip(expected).all(are_near),
            "{found:?} {expected:?}"
        );
    };
    let all = [(0, 16), (1, 16), (2, 16), (3, 16)];
    let classes = |pairs: &str, bursts: &str, weights: &str| {
        format!(
            "host.queue_pair_weights = {bursts}\nhost.queue_pair_classes = {pairs}\n\
             host.class_weights = {weights}\n"
        )
    };
    let even = "[1, 1, 1, 1]";
    near(
        shares(&classes("[1, 2, 3, 3]", even, "[4, 2, 1]"), &all),
        &[4000, 2000, 500, 500],
    );
    near(
        shares(&classes("[3, 3, 3, 3]", even, "[9, 9, 9]"), &all),
        &[1750; 4],
    );
    let bursts = classes("[1, 1, 2, 2]", "[3, 1, 1, 4]", "[5, 2, 1]");
    near(shares(&bursts, &all), &[3750, 1250, 400, 1600]);
    // Urgent pairs leave nothing while they have commands waiting.
    let urgent = classes("[0, 0, 1, 3]", even, "[4, 2, 1]");
    near(shares(&urgent, &all), &[3500, 3500, 0, 0]);
    // A pair with a single outstanding command has none waiting when the other class's command
    // ends, so they alternate.
    near(shares(&urgent, &[(0, 1), (2, 16)]), &[3500, 3500]);
}

#[test]
fn classes_that_cannot_be_are_refused() {
    let refusal = |more: &str| {
        let text = format!(
            "base = \"base\"\nname = \"x\"\n{EIGHT_DIES}{}",
            host("nvme", more)
        );
        let base = |name: &str| (name == "base").then(|| small_drive::BASE.to_owned());
        SsdConfig::from_toml(&text, base).unwrap_err().to_string()
    };
    let two = "host.queue_pair_weights = [1, 1]\nhost.class_weights = [4, 2, 1]\n";
    let message = refusal(&format!("{two}host.queue_pair_classes = [1]\n"));
    assert!(
        message.contains("a class for each of the 2 queue pairs"),
        "{message}"
    );
    let message = refusal(&format!("{two}host.queue_pair_classes = [1, 4]\n"));
    assert!(message.contains("from 0 to 3"), "{message}");
    assert!(refusal(two).contains("host.queue_pair_classes is missing"));
    let message = refusal("host.queue_pair_classes = [1]\nhost.class_weights = [4, 2]\n");
    assert!(
        message.contains("three weights: of the classes high, medium and low"),
        "{message}"
    );
    let classes = "host.queue_pair_classes = [2]\nhost.class_weights = [4, 2, 1]\n";
    let drive = config(&host("nvme", classes));
    assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
    let plain = config(&host("nvme", ""));
    assert_ne!(drive.hash(), plain.hash());
}
