//! RAID-0 compared with its members and with sums by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_request::{Command, CommandKind, Nanos};
use drivelab_sim::drive::{self, State};
use drivelab_sim::host::{Device, Outcome, Plan, Runner, SimError};
use drivelab_sim::preset::DriveConfig;
use drivelab_sim::raid::Array;
use drivelab_sim::ssd::{Prepared, SnapshotError};
use drivelab_workload::{Characteristics, Source, Stream};

use crate::counted::flash;
use crate::small_drive::{BASE, LINK, ONE_DIE, PAGE, closed, command, drive, read, timed, write};

const STRIPE: u64 = 4 * PAGE as u64;

/// Blocks are refreshed every few hundred requests.
const REFRESHED: &str = "refresh.read_limit = 60\nrefresh.retention_ns = 500_000_000\n";

const SUSPENDS: &str = "scheduling.suspends_per_operation = 3\n\
    timing.suspend_ns = 5_000\ntiming.resume_ns = 5_000\ntiming.suspend_progress_ns = 10_000\n";
const MULTI_PLANE: &str = "scheduling.multi_plane = \"any_page\"\n\
    scheduling.cache_operations = true\n\
    geometry.planes_per_die = 2\ngeometry.blocks_per_plane = 32\n";
const CLASSES: &str = "collection.temperature_classes = 3\ncollection.policy = \"cost_benefit\"\n\
    collection.reserve_blocks_per_plane = 6\n";
const MEMORY: &str = "buffer.memory_ns = 3_000\nbuffer.memory_bytes_per_second = 1_000_000_000\n\
    buffer.memory_takes_writes = true\n";
const INTERRUPTS: &str = "host.interrupt_ns = 2_000\nhost.interrupt_completions = 2\n\
    host.interrupt_wait_ns = 9_000\n";

fn array(member: &Prepared, members: u32, stripe_bytes: u64) -> Runner<Array> {
    let members = (0..members).map(|_| member.device());
    Runner::new(Array::new(members.collect(), stripe_bytes), &Arc::default())
}

fn run(runner: &mut Runner<Array>, commands: Vec<Command>) -> Outcome {
    let plan = Plan {
        log_requests: Some(commands.len() as u64),
        ..Plan::counting(0, commands.len() as u64)
    };
    runner.run(&timed(commands), plan, 1, 0).unwrap()
}

fn latencies(outcome: &Outcome) -> Vec<u64> {
    let requests = &outcome.log.as_ref().unwrap().requests;
    requests.iter().map(|r| r.latency_ns()).collect()
}

fn workload(write_ratio: f64, queue_depth: u32, size: u32, random: f64) -> Characteristics {
    Characteristics {
        write_ratio,
        queue_depth,
        read_size: size,
        write_size: size,
        read_random: random,
        write_random: random,
        ..Characteristics::default()
    }
}

/// The outcome of a run on `count` members, limited to requests and flash.
fn outcome_of(runner: &mut Runner<Array>, workload: &Characteristics, plan: Plan) -> Outcome {
    let outcome = runner.run(&closed(*workload), plan, 1, 0).unwrap();
    runner.device_mut().reset();
    outcome
}

#[test]
fn an_array_of_one_is_its_member_to_the_nanosecond() {
    let buffered = "buffer.write_buffer_bytes = 65_536\nhost.interface = \"sata\"\n";
    let worn = "condition = \"preconditioned\"\n";
    let reads_first = "scheduling.order = \"reads_first\"\n";
    for changes in [
        &[][..],
        &[worn],
        &[buffered, LINK, worn],
        &[buffered, LINK, reads_first],
        &["scheduling.cache_operations = true\n", worn],
        &["host.interface = \"nvme\"\n", LINK, worn],
        &["variability.sigma = 0.2\n", worn],
        &["scheduling.dispatch = \"in_order\"\ntiming.read_dispatch_ns = 2000\n"],
        &[REFRESHED, worn],
        &[SUSPENDS, reads_first, worn],
        &["scheduling.copyback = true\n", worn],
        &[MULTI_PLANE, worn],
        &["mapping.scheme = \"bast\"\nmapping.log_blocks_per_plane = 2\n"],
        &[
            "mapping.scheme = \"fast\"\nmapping.log_blocks_per_plane = 2\n",
            buffered,
            LINK,
        ],
        &["mapping.scheme = \"demand_cached_page\"\nmapping.cached_entries = 1024\n"],
        &["mapping.allocation = \"least_loaded\"\n", worn],
        &[
            "wear.static_spread = 4\nwear.least_worn_first = true\n",
            worn,
        ],
        &[CLASSES],
        &[
            "buffer.read_cache_bytes = 65_536\nbuffer.read_ahead_bytes = 16_384\n",
            buffered,
            LINK,
        ],
        &[MEMORY, buffered, LINK],
        &["buffer.policy = \"write_through\"\n", buffered, LINK],
        &[INTERRUPTS, "host.interface = \"nvme\"\n", LINK],
        &["firmware.time = \"fixed\"\nfirmware.cores = 1\nfirmware.command_ns = 4_000\n"],
    ] {
        let member = drive(changes);
        let mut one = array(&member, 1, STRIPE);
        for (write_ratio, queue_depth, size) in [(0.0, 1, PAGE), (1.0, 4, PAGE), (0.4, 9, 3 * PAGE)]
        {
            let workload = workload(write_ratio, queue_depth, size, 0.7);
            let plan = Plan {
                log_requests: Some(3_000),
                ..Plan::counting(100, 3_000)
            };
            let mut alone = member.worker();
            let expected = alone.run(&closed(workload), plan, 1, 0).unwrap();
            let outcome = outcome_of(&mut one, &workload, plan);
            assert_eq!(outcome.log, expected.log, "{changes:?} {workload:?}");
            assert_eq!(outcome.window, expected.window);
            assert_eq!(outcome.split, expected.split);
            assert_eq!(flash(&outcome), flash(&expected));
            let factors = (outcome.variability_factor, expected.variability_factor);
            assert_eq!(factors.0.to_bits(), factors.1.to_bits());
        }
    }
}

#[test]
fn members_refresh_their_own_blocks() {
    // Each member is read as often as it is alone, and refreshes one of 60 reads.
    let read_by = |members: u32| {
        let mut drive = worker(&["refresh.read_limit = 60"], members);
        let reads = workload(0.0, members, PAGE, 1.0);
        let plan = Plan::counting(0, 10_000 * u64::from(members));
        let outcome = drive
            .run(&closed(reads), plan, (1, 0), State::Kept)
            .unwrap();
        flash(&outcome).into_owned()
    };
    let (alone, three) = (read_by(1), read_by(3));
    assert!(alone.refreshed_blocks > 100, "{alone:?}");
    let each = three.refreshed_blocks as f64 / 3.0;
    let ratio = each / alone.refreshed_blocks as f64;
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    assert_eq!(three.refresh_page_programs, three.refreshed_blocks * 16);
    assert_eq!(three.programs(), three.refresh_page_programs);
}

/// A worker of an array of such drives, built as from a preset.
pub fn worker(changes: &[&str], members: u32) -> drive::Drive {
    let member = format!("base = \"base\"\nname = \"member\"\n{}", changes.join("\n"));
    let resolve = |name: &str| match name {
        "base" => Some(BASE.to_owned()),
        _ => (name == "member").then(|| member.clone()),
    };
    let varies = changes.iter().find(|line| line.contains("variability"));
    let array = format!(
        "name = \"array\"\nkind = \"raid0\"\nsummary = \"-\"\nmember = \"member\"\n\
         members = {members}\nstripe_bytes = {STRIPE}\n{}\n",
        varies.unwrap_or(&"variability.sigma = 0.0")
    );
    let config = DriveConfig::from_toml(&array, resolve).unwrap();
    let prepared = drive::Prepared::stoppable(config, &AtomicBool::new(false)).unwrap();
    prepared.worker(&Arc::default())
}

#[test]
fn members_of_flash_in_one_loop_are_devices_side_by_side() {
    let buffered = "buffer.write_buffer_bytes = 65_536\nhost.interface = \"sata\"\n";
    let worn = "condition = \"preconditioned\"\n";
    let drifts = "variability.sigma = 0.2\nvariability.correlated_sigma = 0.1\n\
                  variability.correlation_time_ns = 100_000_000\n";
    let gathers = "buffer.flush_start_bytes = 49_152\nbuffer.flush_stop_bytes = 8_192\n";
    let unlinked = "buffer.write_buffer_bytes = 65_536\n";
    for changes in [
        &[worn][..],
        &[unlinked, worn],
        &[buffered, LINK, worn],
        &[buffered, LINK, gathers],
        &["scheduling.cache_operations = true\n", worn],
        &["host.interface = \"nvme\"\n", LINK, drifts],
        &[REFRESHED, worn],
    ] {
        let member = drive(changes);
        for (members, write_ratio, pages) in [(1, 0.5, 1), (2, 0.4, 1), (2, 1.0, 7), (3, 0.3, 4)] {
            let mut devices = array(&member, members, STRIPE);
            let mut one_loop = worker(changes, members);
            let capacity = one_loop.capacity_bytes();
            assert_eq!(capacity, devices.device().capacity_bytes());
            let mixed = workload(write_ratio, 9, pages * PAGE, 0.7);
            let work = |shares: Option<(f64, f64)>, writes_per_flush| {
                let mut work: Vec<Stream> = closed(mixed).into();
                if let Some((first, second)) = shares {
                    work.insert(0, work[0].clone());
                    work[0].share = Some(first);
                    work[1].share = Some(second);
                    work.extend(closed(Characteristics {
                        queue_depth: 2,
                        ..mixed
                    }));
                }
                work[0].writes_per_flush = writes_per_flush;
                let arriving = (0..200).map(|place| write(place * 700, place % 64));
                work.extend(timed(arriving));
                let drawn = Source::Open {
                    requests: mixed.into(),
                    rate_iops: 2_000.0,
                    is_poisson: true,
                };
                work.push(Stream::new("drawn", drawn));
                work
            };
            // The second window is open from the beginning, on members that have worked before. The
            // third opens and closes by time.
            let mut timed = Plan::counting(0, 1);
            timed.window.warmup = Nanos(3_000_000);
            timed.window.requests = None;
            timed.window.duration = Some(Nanos(20_000_000));
            // A log records every command. Without a log and without flushes, most commands on two
            // members take the short path.
            let plans = [Plan::counting(100, 2_000), Plan::counting(0, 2_000), timed];
            for (plan, log_requests) in plans
                .into_iter()
                .flat_map(|p| [(p, Some(2_000)), (p, None)])
            {
                let plan = Plan {
                    log_requests,
                    ..plan
                };
                let writes_per_flush = if log_requests.is_some() { 50 } else { 0 };
                for shares in [None, Some((0.3, 0.7))] {
                    let work = || work(shares, writes_per_flush);
                    let expected = devices.run(&work(), plan, 1, 3).unwrap();
                    let outcome = one_loop.run(&work(), plan, (1, 3), State::Kept).unwrap();
                    assert_eq!(format!("{outcome:?}"), format!("{expected:?}"));
                }
            }
        }
    }
}

#[test]
fn the_first_command_that_a_member_cannot_serve_ends_the_run() {
    // Nothing was written, so a read fails at once with that error.
    let reads = |queue_depth| workload(0.0, queue_depth, PAGE, 1.0);
    let fresh = ["condition = \"fresh\"\n"];
    let member = drive(&fresh);
    for members in [1, 2, 3] {
        let mut devices = array(&member, members, STRIPE);
        let mut one_loop = worker(&fresh, members);
        let drawn = Source::Open {
            requests: reads(1).into(),
            rate_iops: 20_000.0,
            is_poisson: true,
        };
        let open = [Stream::new("drawn", drawn)];
        let timed = timed((0..40).map(|place| read(place * 100, place)));
        for work in [closed(reads(8)), timed, open] {
            let plan = Plan::counting(0, 40);
            let expected = devices.run(&work, plan, 1, 0).unwrap_err();
            assert!(matches!(expected, SimError::Unmapped { .. }), "{expected}");
            let error = one_loop.run(&work, plan, (1, 0), State::Kept).unwrap_err();
            assert_eq!(error.to_string(), expected.to_string());
        }
    }
}

#[test]
fn a_command_after_the_end_of_time_is_told_as_that() {
    for at in [1 << 50, u64::MAX] {
        let arrival = Nanos(at);
        let late = timed([Command {
            arrival,
            ..write(0, 0)
        }]);
        let run = worker(&[], 2).run(&late, Plan::counting(0, 1), (1, 0), State::Kept);
        let error = run.unwrap_err();
        assert!(matches!(error, SimError::EndOfTime { .. }), "{error}");
    }
}

#[test]
fn what_is_smaller_than_a_stripe_goes_to_one_member() {
    // One die of 50 + 10 us a read. Two reads of one stripe wait for each other; reads of
    // neighbouring stripes do not.
    let member = drive(&[ONE_DIE]);
    let mut two = array(&member, 2, STRIPE);
    let same = run(&mut two, vec![read(0, 0), read(0, 1)]);
    assert_eq!(latencies(&same), [60_000, 120_000]);
    let reads: Vec<_> = same
        .media
        .members()
        .iter()
        .map(|member| flash(member).page_reads)
        .collect();
    assert_eq!(reads, [2, 0]);
    let apart = run(&mut two, vec![read(0, 0), read(0, 4)]);
    assert_eq!(latencies(&apart), [60_000, 60_000]);
    // Member 0 has stripes 0, 2, 4; page 9 of the array is its page 5.
    let ninth = run(&mut two, vec![read(0, 9)]);
    assert_eq!(flash(&ninth.media.members()[0]).page_reads, 1);
}

#[test]
fn a_request_is_complete_with_its_slowest_piece() {
    // Pages 2 to 6 in stripes of 4. Pages 2 and 3 are on member 0, whose die is busy for 120 us.
    // Pages 4, 5 and 6 are on member 1, 180 us; its parts are the request's: 60 us of work, 120 us
    // of waiting.
    let member = drive(&[ONE_DIE]);
    let mut two = array(&member, 2, STRIPE);
    let outcome = run(&mut two, vec![command(CommandKind::Read, 0, 2, 5)]);
    assert_eq!(latencies(&outcome), [180_000]);
    let parts = outcome.log.as_ref().unwrap().requests[0].parts;
    assert_eq!(parts.iter().sum::<u64>(), 180_000);
    let of = |name: &str| {
        let place = outcome.part_names.iter().position(|part| *part == name);
        parts[place.unwrap()]
    };
    assert_eq!(
        [of("cell"), of("channel"), of("queueing")],
        [50_000, 10_000, 120_000]
    );
    let utilisation: Vec<_> = outcome
        .media
        .members()
        .iter()
        .map(|m| flash(m).unit_utilisation_ratio[0])
        .collect();
    assert!((utilisation[0] - 2.0 / 3.0).abs() < 1e-9 && (utilisation[1] - 1.0).abs() < 1e-9);
}

#[test]
fn a_flush_waits_for_every_member() {
    // Both buffers hold a page in progress: 10 + 300 us after its arrival. One at 0, on member 0;
    // one at 100 us, on member 1, complete there at 410 us.
    let buffered = "buffer.write_buffer_bytes = 65_536\n";
    let member = drive(&[ONE_DIE, buffered]);
    let mut two = array(&member, 2, STRIPE);
    let flush = Command {
        arrival: Nanos(150_000),
        ..Command::flush(Nanos::ZERO)
    };
    let outcome = run(&mut two, vec![write(0, 0), write(100, 4), flush]);
    assert_eq!(latencies(&outcome), [0, 0, 260_000]);
}

#[test]
fn two_members_read_in_order_twice_as_fast() {
    // 128 pages at once keep both dies of each member busy: a page every 30 us on each member.
    let member = drive(&[]);
    let large = workload(0.0, 1, 128 * PAGE, 0.0);
    let rate = |members| {
        let mut runner = array(&member, members, STRIPE);
        let outcome = outcome_of(&mut runner, &large, Plan::counting(5, 200));
        outcome.read.bytes as f64 / outcome.window.0 as f64
    };
    let alone = rate(1);
    // Two dies on two channels, each 60 us a page: 4096 bytes in 30 us.
    assert!((alone - 4096.0 / 30_000.0).abs() / alone < 0.01, "{alone}");
    for members in [2, 4] {
        let ratio = rate(members) / alone;
        assert!((ratio / f64::from(members) - 1.0).abs() < 0.01, "{ratio}");
    }
}

#[test]
fn random_reads_scale_where_enough_are_outstanding() {
    let member = drive(&[]);
    let rate = |members, queue_depth| {
        let mut runner = array(&member, members, STRIPE);
        let small = workload(0.0, queue_depth, PAGE, 1.0);
        let outcome = outcome_of(&mut runner, &small, Plan::counting(500, 20_000));
        20_000.0 / outcome.window.0 as f64
    };
    // With one command at a time nothing is gained. At depth 64 each of the 4 or 8 dies is almost
    // always busy.
    assert!((rate(4, 1) / rate(1, 1) - 1.0).abs() < 1e-9);
    let ratio = rate(4, 64) / rate(1, 64);
    assert!((3.7..4.01).contains(&ratio), "{ratio}");
}

#[test]
fn the_state_of_the_members_is_what_every_measurement_starts_from() {
    let member = drive(&["condition = \"preconditioned\"\n"]);
    let mut two = array(&member, 2, STRIPE);
    let writes = workload(1.0, 4, PAGE, 1.0);
    let plan = Plan::counting(0, 2_000);
    let first = outcome_of(&mut two, &writes, plan);
    let again = outcome_of(&mut two, &writes, plan);
    assert_eq!(first.window, again.window);
    assert_eq!(
        flash(&first).collection_page_programs,
        flash(&again).collection_page_programs
    );
}

/// Two runs of writes, the second on another, equal array that has loaded the state of the first.
#[test]
fn a_run_of_an_array_goes_on_from_a_snapshot_as_if_there_had_been_none() {
    for (member, size) in [
        ("bench-64gib", "geometry.blocks_per_plane = 24"),
        ("spinpoint-m7", ""),
    ] {
        let member = format!("base = \"{member}\"\nname = \"member\"\n{size}\n");
        let resolve = |name: &str| match name {
            "member" => Some(member.clone()),
            name => drivelab_sim::preset::text(name).map(str::to_owned),
        };
        let lines = "name = \"pair\"\nkind = \"raid0\"\nsummary = \"-\"\nmembers = 2\n\
                     stripe_bytes = 65_536\nmember = \"member\"\nvariability.sigma = 0.0\n";
        let prepared = |lines: &str| {
            let config = DriveConfig::from_toml(lines, resolve).unwrap();
            drive::Prepared::stoppable(config, &AtomicBool::new(false)).unwrap()
        };
        let array = prepared(lines);
        let worker = || array.worker(&Arc::default());
        let written = |drive: &mut drive::Drive, index: u64| {
            let writes = workload(1.0, 8, PAGE, 1.0);
            let plan = Plan::counting(0, 20_000);
            let outcome = drive
                .run(&closed(writes), plan, (1, index), State::Kept)
                .unwrap();
            format!("{outcome:?}")
        };
        let mut first = worker();
        written(&mut first, 0);
        let state = first.save();
        let (expected, end) = (written(&mut first, 1), first.save());
        let mut other = worker();
        written(&mut other, 2);
        other.load(&state).unwrap();
        assert_eq!(other.save(), state);
        assert_eq!(written(&mut other, 1), expected);
        assert_eq!(other.save(), end);
        // Another stripe size is another array, and bytes cut by one are no state.
        let mut wide = prepared(&lines.replace("65_536", "131_072")).worker(&Arc::default());
        let refused = wide.load(&state).unwrap_err();
        assert!(
            matches!(refused, SnapshotError::Configuration { .. }),
            "{refused}"
        );
        assert!(other.load(&state[..state.len() - 1]).is_err());
        assert_eq!(other.save(), worker().save());
        // Variability between runs does not change the state.
        let lines = lines.replace("sigma = 0.0", "sigma = 0.1");
        prepared(&lines)
            .worker(&Arc::default())
            .load(&state)
            .unwrap();
    }
}

fn array_config(lines: &str) -> Result<DriveConfig, String> {
    let text = format!("name = \"mine\"\nkind = \"raid0\"\nsummary = \"-\"\n{lines}\n");
    DriveConfig::from_text(&text).map_err(|error| error.to_string())
}

const TWO: &str = "member = \"x25m\"\nmembers = 2\nstripe_bytes = 65_536\nvariability.sigma = 0.0";

#[test]
fn a_preset_names_its_members() {
    let config = array_config(TWO).unwrap();
    let member = DriveConfig::from_text(drivelab_sim::preset::text("x25m").unwrap()).unwrap();
    let stripes = member.capacity_bytes() / 65_536;
    assert_eq!(config.capacity_bytes(), 2 * stripes * 65_536);
    // Another number, stripe size or member makes another array; other descriptive texts do not.
    let package = drivelab_sim::preset::text("array-x25m").unwrap();
    assert_eq!(
        DriveConfig::from_text(package).unwrap().hash(),
        config.hash()
    );
    for (from, to) in [
        ("= 2", "= 3"),
        ("65_536", "4096"),
        ("\"x25m\"", "\"spinpoint-m7\""),
    ] {
        assert_ne!(
            array_config(&TWO.replace(from, to)).unwrap().hash(),
            config.hash()
        );
    }
    // The array's variability is its members'.
    let varying = array_config(&TWO.replace("0.0", "0.2")).unwrap();
    assert_ne!(varying.hash(), config.hash());
    assert_eq!(varying.without_variability().hash(), config.hash());
}

#[test]
fn a_wrong_array_is_one_line_that_says_what_is_allowed() {
    for (from, to, said) in [
        ("\"x25m\"", "\"x26m\"", "member = \"x26m\""),
        ("\"x25m\"", "\"array-x25m\"", "not another array"),
        ("members = 2", "members = 17", "an integer from 1 to 16"),
        ("members = 2\n", "", "members is missing"),
        ("65_536", "1000", "a multiple of 512"),
        (
            "members = 2",
            "geometry.channels = 2",
            "an array has no table [geometry], its members have it",
        ),
        ("members = 2", "channels = 2", "unknown key channels"),
    ] {
        let error = array_config(&TWO.replace(from, to)).unwrap_err();
        assert!(error.contains(said), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn disks_can_be_members() {
    let disks = TWO.replace("x25m", "spinpoint-m7");
    let config = array_config(&disks).unwrap();
    let prepared = drive::Prepared::stoppable(config, &AtomicBool::new(false)).unwrap();
    let mut two = prepared.worker(&Arc::default());
    let large = workload(0.0, 4, 1 << 20, 0.0);
    let outcome = two
        .run(
            &closed(large),
            Plan::counting(10, 200),
            (1, 0),
            State::Returned,
        )
        .unwrap();
    let both = outcome.media.disk().unwrap();
    let each: Vec<_> = outcome
        .media
        .members()
        .iter()
        .map(|m| m.media.disk().unwrap())
        .collect();
    assert_eq!(each.len(), 2);
    assert_eq!(both.media_bytes, each[0].media_bytes + each[1].media_bytes);
    assert_eq!(each[0].media_reads, each[1].media_reads);
}
