//! The record of a span of a run is that part of the record of the whole run.
#![allow(clippy::unwrap_used)]

mod drives;

use drivelab_request::Nanos;
use drivelab_sim::ssd::{Load, Plan, Prepared, RecordedOperation};
use drivelab_workload::Generator;
use proptest::prelude::*;

use drives::{fitted, small_drives, workloads};

fn begin(operation: &RecordedOperation) -> u64 {
    let stages = [operation.dispatch, operation.transfer, operation.cell];
    let lasting = stages.into_iter().filter(|(start, end)| start < end);
    lasting.map(|(start, _)| start).min().unwrap_or(u64::MAX)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_span_is_recorded_as_in_the_whole_run(
        config in small_drives(),
        workload in workloads(),
        seed: u64,
        from in 0_u64..20_000_000,
        length in 1_u64..5_000_000,
    ) {
        let workload = fitted(workload, &config);
        let Ok(prepared) = Prepared::new(config) else { return Ok(()) };
        let mut plan = Plan::default();
        plan.window.duration = Some(Nanos(from + length));
        let record = |span| {
            let mut drive = prepared.worker();
            let generator = Generator::new(&workload, 0, drive.capacity_bytes(), seed, 0).unwrap();
            let load = Load::closed(generator, workload.queue_depth);
            drive.run_recorded(load, plan, seed, span)
        };
        let Ok((_, whole)) = record(0..u64::MAX) else { return Ok(()) };
        let (_, part) = record(from..from + length).unwrap();
        let under_way = |o: &&RecordedOperation| o.end() > from && begin(o) < from + length;
        let expected: Vec<_> = whole.iter().filter(under_way).collect();
        // Beside them stand those that were emitted in the span and began after it.
        let found: Vec<_> = part.iter().filter(under_way).collect();
        prop_assert_eq!(found, expected);
        prop_assert!(part.iter().all(|o| o.end() > from));
        prop_assert!(part.len() <= whole.len());
    }
}
