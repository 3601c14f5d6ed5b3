//! Order and times: sorting within a window, ties, steps.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{Check, Options, TraceError};
use proptest::prelude::*;

use crate::made::*;

fn trace(times: &[u64]) -> String {
    let lines = times.iter().enumerate();
    lines
        .map(|(index, time)| format!("0,{index},512,r,0.{time:09}\n"))
        .collect()
}

fn with_window(sort_window: usize) -> Options {
    Options {
        sort_window,
        ..skipping()
    }
}

fn arrivals(read: &Read) -> Vec<u64> {
    read.records
        .iter()
        .map(|record| record.arrival_ns)
        .collect()
}

#[test]
fn times_that_step_back_are_sorted_in_and_counted() {
    let read = read(trace(&[50, 20, 20, 70, 60])).unwrap();
    assert_eq!(arrivals(&read), [0, 0, 30, 40, 50]);
    // Requests with equal times keep their order.
    let positions: Vec<u64> = read.records.iter().map(|record| record.position).collect();
    assert_eq!(positions, [2, 3, 1, 5, 4]);
    let steps = read.checks.finding(Check::StepBack);
    assert_eq!((steps.count, steps.places.len()), (3, 3));
    assert_eq!((read.checks.ties, read.checks.smallest_step_ns), (1, 10));
    assert_eq!(read.checks.span_ns, 50);
}

/// A request may come behind as many later ones as the window holds, but not one more.
#[test]
fn the_window_is_wide_enough_on_one_side_only() {
    for window in [1_usize, 2, 7, 64] {
        // The request of time 5 comes behind `later` others, in the middle of sorted ones.
        let moved = |later: u64| {
            let mut times: Vec<u64> = (1000..1000 + 3 * window as u64).collect();
            times.extend((0..later).map(|index| 5000 + index));
            times.push(4000);
            times.extend((0..3 * window as u64).map(|index| 9000 + index));
            trace(&times)
        };
        let read = read_with(moved(window as u64), &with_window(window)).unwrap();
        assert_eq!(read.checks.finding(Check::Late).count, 0, "window {window}");
        assert!(read.records.is_sorted_by_key(|record| record.arrival_ns));
        let far = read_with(moved(4 * window as u64 + 1), &with_window(window)).unwrap();
        assert_eq!(far.checks.finding(Check::Late).count, 1, "window {window}");
        assert!(far.records.is_sorted_by_key(|record| record.arrival_ns));
    }
}

#[test]
fn without_a_window_every_step_back_is_bad() {
    let strict = Options {
        sort_window: 0,
        ..Options::default()
    };
    let error = read_with(trace(&[1, 2, 2, 1]), &strict).unwrap_err();
    assert!(matches!(error, TraceError::Bad { .. }));
    let text = error.to_string();
    assert!(
        text.contains("line 4") && text.contains("1 ns earlier"),
        "{text}"
    );
    let read = read_with(trace(&[5, 7, 6, 5, 8]), &with_window(0)).unwrap();
    assert_eq!(arrivals(&read), [0, 2, 3]);
    let late = read.checks.finding(Check::Late);
    assert_eq!(
        late.places
            .iter()
            .map(|place| place.position)
            .collect::<Vec<_>>(),
        [3, 4]
    );
    assert_eq!(
        read_with(trace(&[1, 1, 1]), &strict).unwrap().checks.ties,
        2
    );
}

#[test]
fn files_are_merged_by_time() {
    let files = [
        given("a", trace(&[10, 30, 30])),
        given("b", trace(&[5, 30, 40])),
    ];
    let read = read_files(&files, &Options::default()).unwrap();
    assert_eq!(arrivals(&read), [0, 5, 25, 25, 25, 35]);
    let from: Vec<u16> = read.records.iter().map(|record| record.file).collect();
    assert_eq!(from, [1, 0, 0, 0, 1, 1]);
    assert_eq!(read.checks.finding(Check::StepBack).count, 0);
    let bad = [
        given("a", trace(&[1])),
        given("the second", "0,1,512,r,0.1\n0,x,512,r,0.2\n"),
    ];
    let error = read_files(&bad, &Options::default())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("the second, line 2: the LBA"), "{error}");
}

proptest! {
    /// For any shuffled trace, requests are given out in order, and none is lost except those
    /// counted as late. A request behind no more later ones than the window holds is never late.
    #[test]
    fn order_comes_out(
        times in prop::collection::vec(0_u64..200, 1..300), window in 0_usize..40,
    ) {
        let read = read_with(trace(&times), &with_window(window)).unwrap();
        prop_assert!(read.records.is_sorted_by_key(|record| record.arrival_ns));
        let late = read.checks.finding(Check::Late).count as usize;
        prop_assert_eq!(read.records.len() + late, times.len());
        let given_out: std::collections::HashSet<u64> =
            read.records.iter().map(|record| record.position).collect();
        for (index, time) in times.iter().enumerate() {
            let preceding = times[..index].iter().filter(|other| *other > time).count();
            if preceding <= window.max(1) - usize::from(window == 0) {
                prop_assert!(given_out.contains(&(index as u64 + 1)), "line {}", index + 1);
            }
        }
    }
}
