//! Requests at their own times, whose completion is computed by hand.

#![allow(clippy::unwrap_used)]

use drivelab_queueing::{
    Answered, COSTS, Cost, Layout, Length, MOST_GAP_BYTES, OpenLoop, Request, replay,
};

use crate::loops::costs;

const PAGE: u64 = 4096;

fn request(due_ns: u64, is_write: bool, page: u64) -> Request {
    Request {
        due_ns,
        depth: 1024,
        is_write,
        offset_bytes: page * PAGE,
        size_bytes: PAGE,
    }
}

fn served(layout: &Layout, costs: &[f64; COSTS], requests: &[Request]) -> Vec<Answered> {
    let mut drive = OpenLoop::new(layout, costs).unwrap();
    let mut all = Vec::new();
    for one in requests {
        drive.send(one, &mut |answered| all.push(answered));
    }
    drive.finish(&mut |answered| all.push(answered));
    all
}

fn latencies(layout: &Layout, costs: &[f64; COSTS], requests: &[Request]) -> Vec<f64> {
    let done = served(layout, costs, requests);
    let latency = |one: &Answered| one.completed_ns - one.sent_ns;
    done.iter().map(latency).collect()
}

#[test]
fn a_request_that_meets_nobody_takes_every_cost_in_turn() {
    let costs = costs(&[
        (Cost::LinkRead, 7.0),
        (Cost::Read, 50.0),
        (Cost::LinkReadPage, 11.0),
        (Cost::PathRead, 3.0),
        (Cost::LinkWrite, 5.0),
        (Cost::LinkWritePage, 13.0),
        (Cost::Program, 900.0),
        (Cost::ProgramRandom, 20.0),
        (Cost::PathWrite, 2.0),
    ]);
    let far_apart = [request(0, false, 10), request(10_000, true, 1000)];
    let expected = [7.0 + 50.0 + 11.0 + 3.0, 5.0 + 13.0 + 900.0 + 20.0 + 2.0];
    assert_eq!(latencies(&Layout::PLAIN, &costs, &far_apart), expected);
}

#[test]
fn a_read_waits_for_one_that_came_a_nanosecond_before_it_is_done_and_for_no_other() {
    let costs = costs(&[(Cost::Read, 100.0)]);
    for (second_ns, waited) in [(99, 1.0), (100, 0.0), (101, 0.0)] {
        let two = [request(0, false, 0), request(second_ns, false, 500)];
        assert_eq!(
            latencies(&Layout::PLAIN, &costs, &two),
            [100.0, 100.0 + waited]
        );
    }
}

#[test]
fn a_write_that_meets_room_waits_for_no_program() {
    let costs = costs(&[(Cost::PathWrite, 5.0), (Cost::Program, 1000.0)]);
    let buffered = Layout {
        buffer_pages: 2,
        ..Layout::PLAIN
    };
    let at_once: Vec<_> = (0..4).map(|place| request(0, true, 100 * place)).collect();
    // The third waits for the first program, the fourth for the second.
    assert_eq!(
        latencies(&buffered, &costs, &at_once),
        [5.0, 5.0, 1005.0, 2005.0]
    );
    // A closed loop keeps the buffer full, so each of its writes waits.
    let closed = [1.0, 1.0, 4096.0, 4096.0, 1.0, 1.0, 0.0, 0.0];
    let each = replay(&closed, &buffered, &costs, Length::fixed(256)).unwrap()[0].ns;
    assert!((each - 1000.0).abs() < 10.0, "{each}");
    // If they are sent as fast as they are programmed, they find room again.
    let slow: Vec<_> = (0..8)
        .map(|place| request(1000 * place, true, 100 * place))
        .collect();
    assert_eq!(latencies(&buffered, &costs, &slow), [5.0; 8]);
}

#[test]
fn only_so_many_are_outstanding_and_what_waits_is_late_not_slow() {
    let costs = costs(&[(Cost::Read, 100.0)]);
    let mut four: Vec<_> = (0..4).map(|place| request(0, false, 100 * place)).collect();
    four.iter_mut().for_each(|one| one.depth = 2);
    let done = served(&Layout::PLAIN, &costs, &four);
    let sent: Vec<f64> = done.iter().map(|one| one.sent_ns).collect();
    let completed: Vec<f64> = done.iter().map(|one| one.completed_ns).collect();
    assert_eq!(sent, [0.0, 0.0, 100.0, 200.0]);
    assert_eq!(completed, [100.0, 200.0, 300.0, 400.0]);
}

#[test]
fn a_loop_of_one_is_the_closed_loop() {
    // Each is sent when the one before completes, at random places of one unit and of several.
    let costs = costs(&[
        (Cost::Read, 100.0),
        (Cost::PathRead, 30.0),
        (Cost::LinkReadPage, 9.0),
    ]);
    for units in [1, 5] {
        let layout = Layout {
            units,
            ..Layout::PLAIN
        };
        let reads: Vec<_> = (0..200_u64)
            .map(|place| Request {
                depth: 1,
                ..request(0, false, place * 7919 % 100_003)
            })
            .collect();
        let done = served(&layout, &costs, &reads);
        let each = done.last().unwrap().completed_ns / 200.0;
        let closed = [0.0, 1.0, 4096.0, 4096.0, 1.0, 1.0, 0.0, 0.0];
        let expected = replay(&closed, &layout, &costs, Length::fixed(256)).unwrap()[0].ns;
        assert!((each - expected).abs() < 1e-6, "{each} {expected}");
    }
}

#[test]
fn what_goes_on_where_one_of_the_last_ended_is_in_order() {
    let costs = costs(&[(Cost::Program, 100.0), (Cost::ProgramRandom, 7.0)]);
    let beyond = MOST_GAP_BYTES / PAGE;
    // Two streams at the same time; then as far as still counts as in order, and one page further.
    let pages = [0, 1000, 1, 1001, 2 + beyond, 1002 + beyond + 1];
    let apart: Vec<_> = (pages.iter().enumerate())
        .map(|(place, &page)| request(1000 * place as u64, true, page))
        .collect();
    let random = [107.0, 107.0, 100.0, 100.0, 100.0, 107.0];
    assert_eq!(latencies(&Layout::PLAIN, &costs, &apart), random);
}

#[test]
fn read_ahead_goes_on_from_the_last_read_alone() {
    let costs = costs(&[(Cost::Read, 100.0), (Cost::PathRead, 5.0)]);
    let ahead = Layout {
        units: 4,
        reads_ahead: true,
        ..Layout::PLAIN
    };
    let apart = |pages: &[u64]| -> Vec<_> {
        (pages.iter().enumerate())
            .map(|(place, &page)| request(1000 * place as u64, false, page))
            .collect()
    };
    let in_order = latencies(&ahead, &costs, &apart(&[0, 1, 2]));
    assert_eq!(in_order, [105.0, 5.0, 5.0]);
    let in_turn = latencies(&ahead, &costs, &apart(&[0, 1000, 1, 1001]));
    assert_eq!(in_turn, [105.0; 4]);
}

#[test]
fn costs_change_for_what_comes_after() {
    let mut drive = OpenLoop::new(&Layout::PLAIN, &costs(&[(Cost::Read, 100.0)])).unwrap();
    let mut all = Vec::new();
    drive.send(&request(0, false, 0), &mut |one| all.push(one));
    drive.set_costs(&costs(&[(Cost::Read, 40.0)])).unwrap();
    drive.send(&request(1000, false, 50), &mut |one| all.push(one));
    drive.finish(&mut |one| all.push(one));
    let took: Vec<_> = all
        .iter()
        .map(|one| one.completed_ns - one.sent_ns)
        .collect();
    assert_eq!(took, [100.0, 40.0]);
    assert!(OpenLoop::new(&Layout::PLAIN, &[1.0]).is_err());
    assert!(drive.set_costs(&[-1.0; COSTS]).is_err());
}
