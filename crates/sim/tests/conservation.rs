//! Nothing is lost, time never goes back, and equal seeds give equal results, on random drives
//! under random loads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_sim::drive::State;
use drivelab_sim::ssd::{Plan, Prepared, SimError};
use proptest::prelude::*;

use crate::counted::flash;
use crate::drives::{draws, fitted, placed, small_drives, workloads};
use crate::small_drive::{closed, measured, timed, worker};

/// The result, unless random times of 0 left the window without any time.
fn unless_no_time<T>(result: Result<T, SimError>) -> Option<T> {
    match result {
        Err(SimError::NoTime) => None,
        other => Some(other.unwrap()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_request_completes_and_runs_repeat(
        (config, workload, seed) in (small_drives(), workloads(), any::<u64>())
    ) {
        let workload = fitted(workload, &config);
        let prepared = Prepared::new(config).unwrap();
        let mut drive = worker(&prepared);
        let plan = Plan::counting(37, 400);
        let mut run = || drive.run(&closed(workload), plan, (seed, 3), State::Returned);
        let Some(outcome) = unless_no_time(run()) else {
            return Ok(());
        };
        let counted = outcome.read.latency.count() + outcome.write.latency.count();
        prop_assert_eq!(counted, 400);
        // Closed loop: commands outstanding at the end are drained.
        prop_assert_eq!(outcome.warmup_requests, 37);
        prop_assert!(outcome.drained_requests < u64::from(workload.queue_depth) + 1);
        let bytes = outcome.read.latency.count() * u64::from(workload.read_size)
            + outcome.write.latency.count() * u64::from(workload.write_size);
        prop_assert_eq!(outcome.read.bytes + outcome.write.bytes, bytes);
        for share in flash(&outcome).unit_utilisation_ratio.iter().chain(&flash(&outcome).channel_utilisation_ratio) {
            prop_assert!((0.0..=1.0 + 1e-12).contains(share), "utilisation {}", share);
        }
        // The same worker, returned to the prepared state, repeats the run exactly.
        let again = run().unwrap();
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
        let workloads = workloads.into_iter().map(|workload| fitted(workload, &config));
        let work: Vec<_> = (5_u64..).zip(workloads).collect();
        let prepared = Prepared::new(config).unwrap();
        let plan = Plan::counting(10, 100);
        let Some(one) = unless_no_time(measured(&prepared, &work, seed, plan, 1)) else {
            return Ok(());
        };
        let three = measured(&prepared, &work, seed, plan, 3).unwrap();
        prop_assert_eq!(format!("{one:?}"), format!("{three:?}"));
        // Nor do results depend on which other workloads are measured.
        let alone = measured(&prepared, &work[work.len() - 1..], seed, plan, 1).unwrap();
        prop_assert_eq!(format!("{:?}", alone[0]), format!("{:?}", one[one.len() - 1]));
    }

    #[test]
    fn open_loops_complete_and_time_never_goes_back(
        (config, draws) in (small_drives(), draws(200))
    ) {
        let prepared = Prepared::new(config).unwrap();
        let mut drive = prepared.worker();
        let requests = placed(&draws, drive.capacity_bytes());
        let last = requests[requests.len() - 1].arrival;
        let plan = Plan::counting(0, requests.len() as u64);
        let outcome = drive.run(&timed(requests), plan, 1, 1).unwrap();
        prop_assert_eq!(outcome.measured_requests, draws.len() as u64);
        // The last completion is not before the last arrival.
        prop_assert!(outcome.window >= last);
        prop_assert_eq!(outcome.drained_requests, 0);
    }
}
