//! Nothing is lost, time never goes back, and equal seeds give equal results,
//! on random drives under random loads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{Direction, Nanos, Request};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Load, Plan, Prepared};
use drivelab_workload::Characteristics;
use proptest::prelude::*;

fn small_drives() -> impl Strategy<Value = SsdConfig> {
    let shape = (1..4_u32, 1..3_u32, 1..3_u32, 1..3_u32, any::<bool>());
    let times = (0..3_u64, 0..3_u64, 0..3_u64, 0..2_u64);
    let host = (any::<bool>(), any::<bool>(), 0..5_u64, 1..9_u32);
    let rest = (any::<bool>(), prop_oneof![Just(0.0), Just(0.1)]);
    (shape, times, host, rest).prop_map(|(shape, times, host, (whole_block, sigma))| {
        let (channels, ways, dies, planes, plane_mode) = shape;
        let (dispatch, register, cell, program) = times;
        let (in_order, sata, buffer_pages, commands) = host;
        let interface = if sata {
            format!(
                "interface = \"sata\"\nlink_bytes_per_second = 200_000_000\n\
                 commands = {commands}\nread_command_ns = 1_000\nwrite_command_ns = 700\n\
                 write_acknowledge_ns = 300"
            )
        } else {
            "interface = \"free\"".to_owned()
        };
        let text = format!(
            "name = \"random\"\nkind = \"ssd\"\nsummary = \"-\"\ncondition = \"preconditioned\"\n\
             [geometry]\nchannels = {channels}\nways_per_channel = {ways}\n\
             dies_per_way = {dies}\nplanes_per_die = {planes}\nblocks_per_plane = 12\n\
             pages_per_block = 8\npage_size_bytes = 4096\nover_provisioning_ratio = 0.6\n\
             plane_mode = {plane_mode}\n\
             [timing]\nread_dispatch_ns = {}\nwrite_dispatch_ns = {}\nerase_dispatch_ns = {}\n\
             read_register_ns = {}\nwrite_register_ns = {}\nread_cell_ns = {}\n\
             program_cell_ns = {}\nerase_cell_ns = 5_000\n\
             [scheduling]\ndispatch = \"{}\"\n\
             [collection]\npolicy = \"greedy\"\npace = \"{}\"\nreserve_blocks_per_plane = 2\n\
             [host]\n{interface}\n[buffer]\nwrite_buffer_bytes = {}\n[variability]\nsigma = {sigma}\n",
            dispatch * 300,
            dispatch * 500,
            dispatch * 100,
            register * 1_000,
            register * 1_000,
            cell * 2_000,
            program * 10_000,
            if in_order { "in_order" } else { "per_die" },
            if whole_block { "whole_block" } else { "paced" },
            buffer_pages * 2 * 4096,
        );
        SsdConfig::from_text(&text).unwrap()
    })
}

fn workloads() -> impl Strategy<Value = Characteristics> {
    let ratio = || prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..=1.0];
    (
        ratio(),
        1..40_u32,
        1..40_u32,
        1..40_u32,
        ratio(),
        ratio(),
        0..20_u64,
        0..20_u64,
    )
        .prop_map(
            |(write_ratio, queue_depth, read, write, read_random, write_random, rs, ws)| {
                Characteristics {
                    write_ratio,
                    queue_depth,
                    read_size: read * 512,
                    write_size: write * 512,
                    read_random,
                    write_random,
                    read_stride: rs * 512,
                    write_stride: ws * 512,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_request_completes_and_runs_repeat(
        (config, workload, seed) in (small_drives(), workloads(), any::<u64>())
    ) {
        let prepared = Prepared::new(config).unwrap();
        let mut drive = prepared.worker().unwrap();
        let plan = Plan { warmup_requests: 37, requests: 400, ..Plan::default() };
        let outcome = drive.measure(&workload, seed, 3, plan).unwrap();
        let counted = outcome.read.latency.count() + outcome.write.latency.count();
        prop_assert_eq!(counted, 400);
        // Closed loop: whatever was outstanding at the end is drained.
        prop_assert_eq!(outcome.warmup_requests, 37);
        prop_assert!(outcome.drained_requests < u64::from(workload.queue_depth) + 1);
        let bytes = outcome.read.latency.count() * u64::from(workload.read_size)
            + outcome.write.latency.count() * u64::from(workload.write_size);
        prop_assert_eq!(outcome.read.bytes + outcome.write.bytes, bytes);
        for share in outcome.unit_utilisation.iter().chain(&outcome.channel_utilisation) {
            prop_assert!((0.0..=1.0 + 1e-12).contains(share), "utilisation {}", share);
        }
        // The same worker, returned to the prepared state, repeats itself.
        let again = drive.measure(&workload, seed, 3, plan).unwrap();
        prop_assert_eq!(format!("{outcome:?}"), format!("{again:?}"));
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_workers(
        (config, workloads, seed) in (
            small_drives(),
            prop::collection::vec(workloads(), 1..9),
            any::<u64>(),
        )
    ) {
        let prepared = Prepared::new(config).unwrap();
        let plan = Plan { warmup_requests: 10, requests: 100, ..Plan::default() };
        let work: Vec<_> = (5_u64..).zip(workloads).collect();
        let one = prepared.measure(&work, seed, plan, 1).unwrap();
        let three = prepared.measure(&work, seed, plan, 3).unwrap();
        prop_assert_eq!(format!("{one:?}"), format!("{three:?}"));
        // Nor on which other workloads are measured with it.
        let alone = prepared.measure(&work[work.len() - 1..], seed, plan, 1).unwrap();
        prop_assert_eq!(format!("{:?}", alone[0]), format!("{:?}", one[one.len() - 1]));
    }

    #[test]
    fn open_loops_complete_and_time_never_goes_back(
        (config, draws) in (
            small_drives(),
            prop::collection::vec((0..30_000_u64, any::<u32>(), 1..30_u32, any::<bool>()), 1..200),
        )
    ) {
        let prepared = Prepared::new(config).unwrap();
        let mut drive = prepared.worker().unwrap();
        let sectors = drive.capacity_bytes() / 512;
        let mut now = 0;
        let requests: Vec<_> = draws
            .iter()
            .map(|&(gap, place, size, is_write)| {
                now += gap;
                let size = u64::from(size).min(sectors);
                Request {
                    arrival: Nanos(now),
                    offset_bytes: u64::from(place) % (sectors - size + 1) * 512,
                    size_bytes: size as u32 * 512,
                    direction: if is_write { Direction::Write } else { Direction::Read },
                }
            })
            .collect();
        let plan = Plan { requests: requests.len() as u64, ..Plan::default() };
        let outcome = drive.run(Load::Open { requests }, plan, 1, 1).unwrap();
        let counted = outcome.read.latency.count() + outcome.write.latency.count();
        prop_assert_eq!(counted, draws.len() as u64);
        // The last completion is not before the last arrival.
        prop_assert!(outcome.window.0 >= now);
        prop_assert_eq!(outcome.drained_requests, 0);
    }
}
