//! The closed form compared with the paper's figures, with results by hand, and with a page-by-page
//! recurrence.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::Direction::{self, Read, Write};
use drivelab_sim::analytic::{ClosedForm, ClosedFormError, RecordTiming};
use drivelab_sim::preset::{SsdConfig, names, text};
use drivelab_sim::ssd::{Plan, Prepared};
use drivelab_workload::Characteristics;
use proptest::prelude::*;

use crate::small_drive::measured;

const KIB: u64 = 1024;

fn preset(name: &str) -> SsdConfig {
    SsdConfig::from_text(text(name).unwrap()).unwrap()
}

fn derived(lines: &str) -> SsdConfig {
    let text = format!("base = \"x25m-yoo2014\"\nname = \"mine\"\n{lines}\n");
    SsdConfig::from_text(&text).unwrap_or_else(|error| panic!("{error}"))
}

fn record(name: &str, direction: Direction, record_bytes: u64) -> RecordTiming {
    let closed_form = ClosedForm::new(&preset(name)).unwrap();
    closed_form.record(direction, record_bytes).unwrap()
}

/// Tolerance of a printed number: half a unit of its last digit.
fn agrees_as_printed(value: f64, printed: f64) -> bool {
    (value - printed).abs() <= 0.05
}

#[test]
fn tables_4_and_5_of_the_paper() {
    let iops = |direction| 1e9 / record("x25m-yoo2014", direction, 4 * KIB).record_ns as f64;
    let mib_per_second = |direction| {
        let seconds = record("x25m-yoo2014", direction, 512 * KIB).record_ns as f64 / 1e9;
        0.5 / seconds
    };
    assert!(agrees_as_printed(iops(Write), 947.9), "{}", iops(Write));
    assert!(agrees_as_printed(iops(Read), 4201.7), "{}", iops(Read));
    assert!(agrees_as_printed(mib_per_second(Write), 65.7));
    assert!(agrees_as_printed(mib_per_second(Read), 220.3));
}

#[test]
fn a_write_with_waiting_by_hand() {
    // 128 pages over 20 units: 6 full cycles and 8 pages.
    // W_page = 33 + 82 + 940; t_wait = 1055 - 660; t_record = 33 x 127 + 395 x 6 + 1055.
    assert_eq!(
        record("x25m-yoo2014", Write, 512 * KIB),
        RecordTiming {
            pages: 128,
            rho: 20,
            cycles: 7,
            last_cycle_pages: 8,
            page_ns: 1_055_000,
            wait_ns: 395_000,
            cycle_ns: 1_055_000,
            last_cycle_ns: 1_286_000,
            record_ns: 7_616_000,
        }
    );
}

#[test]
fn a_read_without_waiting_by_hand() {
    // R_page = 16 + 82 + 140 is below 16 x 20; t_record = 16 x 127 + 238.
    assert_eq!(
        record("x25m-yoo2014", Read, 512 * KIB),
        RecordTiming {
            pages: 128,
            rho: 20,
            cycles: 7,
            last_cycle_pages: 8,
            page_ns: 238_000,
            wait_ns: 0,
            cycle_ns: 320_000,
            last_cycle_ns: 350_000,
            record_ns: 2_270_000,
        }
    );
}

#[test]
fn planes_double_what_is_in_flight() {
    // 33 x 40 is above W_page, so that nothing waits: 33 x 127 + 1055.
    let timing = record("x25m-yoo2014-planes", Write, 512 * KIB);
    assert_eq!((timing.rho, timing.cycles, timing.wait_ns), (40, 4, 0));
    assert_eq!(timing.record_ns, 5_246_000);
}

#[test]
fn last_cycles_from_one_page_to_all() {
    for (pages, cycles, last, record_ns) in [
        (1, 1, 1, 1_055_000),
        (20, 1, 20, 33_000 * 19 + 1_055_000),
        (21, 2, 1, 33_000 * 20 + 395_000 + 1_055_000),
        (40, 2, 20, 33_000 * 39 + 395_000 + 1_055_000),
        (41, 3, 1, 33_000 * 40 + 395_000 * 2 + 1_055_000),
    ] {
        let timing = record("x25m-yoo2014", Write, pages * 4 * KIB);
        assert_eq!((timing.cycles, timing.last_cycle_pages), (cycles, last));
        assert_eq!(timing.record_ns, record_ns, "{pages} pages");
    }
}

#[test]
fn a_cycle_of_exactly_one_page_time_does_not_wait() {
    // W_page = 33 + 82 + 545 = 660 = 33 x 20; a nanosecond more waits a nanosecond.
    for (cell_ns, wait_ns) in [(544_999, 0), (545_000, 0), (545_001, 1)] {
        let config = derived(&format!("[timing]\nprogram_cell_ns = {cell_ns}"));
        let timing = ClosedForm::new(&config).unwrap().record(Write, 84 * KIB);
        assert_eq!(timing.unwrap().wait_ns, wait_ns);
    }
}

#[test]
fn every_condition_that_fails_is_listed() {
    let refusal = ClosedForm::new(&preset("x25m")).unwrap_err().to_string();
    for part in [
        "does not hold for x25m: ",
        "scheduling.dispatch is \"per_die\", not \"in_order\"; ",
        "host.interface is \"sata\", not \"free\"; ",
        "buffer.write_buffer_bytes is 262144, not 0; ",
        "for reads channels x dispatch (10 x 0 ns) is below",
        "for writes channels x dispatch",
    ] {
        assert!(refusal.contains(part), "{refusal}");
    }
    let varying = derived("[variability]\nsigma = 0.1");
    let refusal = ClosedForm::new(&varying).unwrap_err();
    assert_eq!(refusal.reasons.len(), 1);
    assert!(
        refusal
            .to_string()
            .contains("variability.sigma is 0.1, not 0")
    );
    let busy = derived("[firmware]\ntime = \"fixed\"\ncores = 1\ncommand_ns = 1_000_000");
    let refusal = ClosedForm::new(&busy).unwrap_err();
    assert_eq!(refusal.reasons.len(), 1);
    assert!(
        refusal
            .to_string()
            .ends_with("[firmware] says that the firmware takes time")
    );
    let by_type = derived("[timing]\nread_cell_ns = [50_000, 90_000]");
    let refusal = ClosedForm::new(&by_type).unwrap_err();
    assert_eq!(refusal.reasons.len(), 1);
    assert!(
        refusal
            .to_string()
            .ends_with("timing.read_cell_ns has 2 times, not one for all pages")
    );
    let mut wrong_rho = preset("x25m-yoo2014");
    wrong_rho.closed_form.rho = Some(40);
    let refusal = ClosedForm::new(&wrong_rho).unwrap_err().to_string();
    assert!(refusal.ends_with("closed_form.rho is 40 but 20 units work at once"));
}

#[test]
fn overlap_in_one_direction_refuses_that_direction() {
    // 10 x 8199 ns is one dispatch short of 82 us; 10 x 8200 ns is enough.
    let short = derived("[timing]\nread_dispatch_ns = 8199");
    let closed_form = ClosedForm::new(&short).unwrap();
    assert!(closed_form.record(Write, 4 * KIB).is_ok());
    let refusal = closed_form.record(Read, 4 * KIB).unwrap_err().to_string();
    assert!(
        refusal.contains("for reads channels x dispatch (10 x 8199 ns)"),
        "{refusal}"
    );
    let enough = derived("[timing]\nread_dispatch_ns = 8200");
    assert!(
        ClosedForm::new(&enough)
            .unwrap()
            .record(Read, 4 * KIB)
            .is_ok()
    );
}

#[test]
fn records_are_whole_pages_within_the_capacity() {
    let closed_form = ClosedForm::new(&preset("x25m-yoo2014")).unwrap();
    for bytes in [0, 1, 4095, 4097, 80_000_004_096, u64::MAX, u64::MAX - 4095] {
        let error = closed_form.record(Read, bytes).unwrap_err();
        assert!(
            matches!(error, ClosedFormError::NotWholePages { .. }),
            "{bytes}"
        );
        assert!(
            error
                .to_string()
                .contains("multiple of the page size, 4096")
        );
    }
    assert!(closed_form.record(Read, 80_000_000_000).is_ok());
}

/// One request, page by page: one dispatch stage, one bus for each channel, one unit for each page.
fn page_by_page(config: &SsdConfig, direction: Direction, pages: u64) -> u64 {
    let timing = &config.timing;
    let (dispatch, register, cell) = match direction {
        Read => (
            timing.read_dispatch_ns,
            timing.read_register_ns,
            timing.read_cell_ns.of_page(0),
        ),
        Write => (
            timing.write_dispatch_ns,
            timing.write_register_ns,
            timing.program_cell_ns.of_page(0),
        ),
    };
    let units = config.units() as usize;
    let channels = config.geometry.channels as usize;
    let mut unit_free = vec![0_u64; units];
    let mut bus_free = vec![0_u64; channels];
    let mut stage_free = 0;
    let mut done = 0;
    for page in 0..pages as usize {
        let unit = page % units;
        let bus = unit % channels;
        let dispatched = u64::max(stage_free, unit_free[unit]) + dispatch;
        stage_free = dispatched;
        let finished = match direction {
            Write => {
                let transferred = u64::max(dispatched, bus_free[bus]) + register;
                bus_free[bus] = transferred;
                transferred + cell
            }
            Read => {
                let transferred = u64::max(dispatched + cell, bus_free[bus]) + register;
                bus_free[bus] = transferred;
                transferred
            }
        };
        unit_free[unit] = finished;
        done = u64::max(done, finished);
    }
    done
}

prop_compose! {
    /// A drive of any shape that meets the condition.
    fn drive_inside()(
        channels in 1_u64..=16, ways in 1_u64..=4, dies in 1_u64..=2, planes in 1_u64..=2,
        plane_mode: bool, dispatches in (1_u64..100_000, 1_u64..100_000),
        shares in (0.0..=1.0, 0.0..=1.0), cells in (0_u64..500_000, 0_u64..2_000_000),
    ) -> SsdConfig {
        let (read_dispatch, write_dispatch) = dispatches;
        let register = |dispatch: u64, share: f64| ((channels * dispatch) as f64 * share) as u64;
        let units = channels * ways * dies * if plane_mode { planes } else { 1 };
        derived(&format!(
            "[geometry]\nchannels = {channels}\nways_per_channel = {ways}\ndies_per_way = {dies}\n\
             planes_per_die = {planes}\nblocks_per_plane = 40\npages_per_block = 16\n\
             plane_mode = {plane_mode}\nover_provisioning_ratio = 1.0\n\
             [timing]\nread_dispatch_ns = {read_dispatch}\nwrite_dispatch_ns = {write_dispatch}\n\
             read_register_ns = {}\nwrite_register_ns = {}\nread_cell_ns = {}\n\
             program_cell_ns = {}\n[closed_form]\nrho = {units}",
            register(read_dispatch, shares.0), register(write_dispatch, shares.1),
            cells.0, cells.1,
        ))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equations_agree_with_the_recurrence(config in drive_inside(), pages in 1_u64..=600) {
        let closed_form = ClosedForm::new(&config).unwrap();
        for direction in Direction::ALL {
            let pages = pages.min(u64::from(config.logical_pages()));
            let timing = closed_form.record(direction, pages * 4 * KIB).unwrap();
            prop_assert_eq!(timing.record_ns, page_by_page(&config, direction, pages));
            // Eq. 6 is the sum over cycles from which the paper derives it.
            prop_assert_eq!(
                timing.record_ns,
                timing.cycle_ns * (timing.cycles - 1) + timing.last_cycle_ns
            );
        }
    }
}

#[test]
fn the_condition_is_needed() {
    // With one nanosecond too little dispatch, the second transfer on a channel waits for the
    // first.
    let config = derived(
        "[geometry]\nchannels = 2\nover_provisioning_ratio = 0.1\n\
         [timing]\nwrite_dispatch_ns = 40999\n[closed_form]\nrho = 4",
    );
    let equation = 40_999 * 3 + 40_999 + 82_000 + 940_000;
    assert_eq!(page_by_page(&config, Write, 4), equation + 2);
    assert!(ClosedForm::new(&config).is_err());
}

/// The end of the last flash operation of one request on the idle drive.
fn simulated_ns(prepared: &Prepared, direction: Direction, record_bytes: u64) -> u64 {
    let operations = prepared
        .record_one(direction, record_bytes as u32)
        .unwrap_or_else(|error| panic!("{error}"))
        .operations;
    assert_eq!(
        operations.len() as u64,
        record_bytes / u64::from(prepared.config().geometry.page_size_bytes)
    );
    operations
        .iter()
        .map(|operation| u64::max(operation.transfer.1, operation.cell.1))
        .max()
        .unwrap()
}

/// The question put to both: direction, bytes and the random ratio.
type Question = (Direction, u64, f64);

/// Shortest and longest latency of a few requests, one after another, for each question.
fn measured_ns(prepared: &Prepared, questions: &[Question], requests: u64) -> Vec<(u64, u64)> {
    let work: Vec<_> = questions
        .iter()
        .map(|&(direction, record_bytes, random)| Characteristics {
            write_ratio: if direction == Write { 1.0 } else { 0.0 },
            queue_depth: 1,
            read_size: record_bytes as u32,
            write_size: record_bytes as u32,
            read_random: random,
            write_random: random,
            read_stride: 0,
            write_stride: 0,
        })
        .zip(0..)
        .map(|(workload, index)| (index, workload))
        .collect();
    let plan = Plan::counting(0, requests);
    let outcomes = measured(prepared, &work, 7, plan, 1).unwrap();
    questions
        .iter()
        .zip(&outcomes)
        .map(|(&(direction, ..), outcome)| {
            let latency = &outcome.of(direction).latency;
            assert_eq!(latency.count(), requests);
            (latency.min_ns().unwrap(), latency.max_ns().unwrap())
        })
        .collect()
}

#[test]
fn simulator_and_equations_agree_on_the_presets() {
    let mut compared = 0;
    for name in names() {
        // Other kinds of drives have no closed form.
        let Ok(config) = SsdConfig::from_text(text(name).unwrap()) else {
            continue;
        };
        let Ok(closed_form) = ClosedForm::new(&config) else {
            continue;
        };
        let prepared = Prepared::new(config).unwrap();
        let mut questions: Vec<Question> = Vec::new();
        for direction in Direction::ALL {
            for pages in [1, 2, 10, 11, 19, 20, 21, 39, 40, 41, 127, 128, 129] {
                questions.extend([0.0, 1.0].map(|random| (direction, pages * 4 * KIB, random)));
            }
        }
        let measured = measured_ns(&prepared, &questions, 30);
        for (&(direction, bytes, random), measured) in questions.iter().zip(measured) {
            let expected = closed_form.record_ns(direction, bytes).unwrap();
            assert_eq!(
                measured,
                (expected, expected),
                "{name}: {direction} {bytes} {random}"
            );
            compared += 1;
        }
        let bytes = 512 * KIB;
        for direction in Direction::ALL {
            let expected = closed_form.record_ns(direction, bytes).unwrap();
            assert_eq!(simulated_ns(&prepared, direction, bytes), expected);
        }
    }
    assert_eq!(compared, 2 * 2 * 13 * 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simulator_and_equations_agree_on_any_geometry(
        config in drive_inside(), pages in 1_u64..=150, random: bool,
    ) {
        let closed_form = ClosedForm::new(&config).unwrap();
        let prepared = Prepared::new(config).unwrap();
        let random = if random { 1.0 } else { 0.0 };
        for direction in Direction::ALL {
            let bytes = pages * 4 * KIB;
            let expected = closed_form.record_ns(direction, bytes).unwrap();
            prop_assert_eq!(simulated_ns(&prepared, direction, bytes), expected);
            // Few enough writes that collection does not start. The equations do not cover it.
            let requests = (u64::from(prepared.config().planes()) * 150 / pages).clamp(1, 12);
            let question = (direction, bytes, random);
            prop_assert_eq!(
                measured_ns(&prepared, &[question], requests),
                vec![(expected, expected)]
            );
        }
    }
}
