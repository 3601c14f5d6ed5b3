//! A stream written for fio in pieces, and comparisons with what comes back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{ClosedBy, CompletionWindow, Direction, Nanos, WindowPlan};
use drivelab_workload::{
    Characteristics, Completion, Generator, QueueEnds, ReplayError, RequestStream, completions,
    count, iolog,
};
use proptest::prelude::*;

const RANGE: u64 = 1 << 23;

fn mixed(queue_depth: u32) -> Characteristics {
    Characteristics {
        write_ratio: 0.3,
        queue_depth,
        write_size: 512,
        read_random: 0.5,
        write_random: 0.2,
        write_stride: 1024,
        ..Characteristics::default()
    }
}

fn stream(queue_depth: u32) -> RequestStream {
    RequestStream::new(&mixed(queue_depth), 0, RANGE, 7, 3).unwrap()
}

/// The first completions of the stream, in its order.
fn in_order(count: usize) -> Vec<Completion> {
    Generator::new(&mixed(1), 0, RANGE, 7, 3)
        .unwrap()
        .take(count)
        .map(|request| Completion {
            at_ns: 0,
            latency_ns: 1,
            offset_bytes: request.offset_bytes,
            size_bytes: request.size_bytes,
            direction: request.direction,
        })
        .collect()
}

fn text_of(completions: &[Completion]) -> String {
    let mut text = "fio version 2 iolog\n/x add\n/x open\n".to_owned();
    for done in completions {
        let name = if done.direction == Direction::Read {
            "read"
        } else {
            "write"
        };
        text += &format!("/x {name} {} {}\n", done.offset_bytes, done.size_bytes);
    }
    text
}

#[test]
fn an_iolog_holds_the_stream_and_pieces_continue_it() {
    let all = in_order(1000);
    let mut stream = stream(1);
    for piece in all.chunks(300) {
        let text = stream.iolog("/x", piece.len()).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), text_of(piece));
        stream.complete(piece).unwrap();
    }
    assert_eq!(stream.position(), 1000);
}

#[test]
fn what_was_written_and_not_sent_is_written_again() {
    let all = in_order(100);
    let mut stream = stream(1);
    stream.iolog("/x", 80).unwrap();
    stream.complete(&all[..30]).unwrap();
    let text = String::from_utf8(stream.iolog("/x", 70).unwrap()).unwrap();
    assert_eq!(text, text_of(&all[30..]));
}

#[test]
fn names_that_fio_would_take_apart_are_refused() {
    for name in ["", "a b", "a\nb", "\u{e4}", &"x".repeat(256)] {
        let error = iolog(name, []).unwrap_err().to_string();
        assert!(error.contains("cannot stand in an iolog"), "{error}");
    }
    assert!(iolog(&"x".repeat(255), []).is_ok());
}

#[test]
fn at_depth_one_only_the_stream_s_order_will_do() {
    let mut all = in_order(50);
    all.swap(20, 21);
    let mut stream = stream(1);
    let error = stream.complete(&all).unwrap_err();
    assert!(
        matches!(error, ReplayError::Foreign { number: 21, .. }),
        "{error}"
    );
    assert_eq!(stream.position(), 0);
    assert!(
        error
            .to_string()
            .contains("which the stream does not hold there")
    );
}

#[test]
fn a_request_that_never_completed_is_noticed() {
    let mut all = in_order(50);
    let lost = all.remove(20);
    let error = stream(8).complete(&all).unwrap_err();
    // All later requests were sent, so this one was too.
    assert_eq!(
        error,
        ReplayError::Lost {
            direction: lost.direction,
            offset_bytes: lost.offset_bytes
        }
    );
}

#[test]
fn another_size_or_direction_is_another_request() {
    let all = in_order(20);
    for change in [
        |done: &mut Completion| done.size_bytes += 512,
        |done: &mut Completion| done.offset_bytes += 512,
        |done: &mut Completion| {
            done.direction = match done.direction {
                Direction::Read => Direction::Write,
                Direction::Write => Direction::Read,
            };
        },
    ] {
        let mut changed = all.clone();
        change(&mut changed[10]);
        assert!(stream(4).complete(&changed).is_err());
    }
}

/// Completions at 10, 20 ... ns.
fn timed(count: usize) -> Vec<Completion> {
    let mut completions = in_order(count);
    for (index, done) in completions.iter_mut().enumerate() {
        done.at_ns = 10 * (index as u64 + 1);
    }
    completions
}

#[test]
fn what_completes_while_a_queue_fills_or_drains_does_not_count() {
    let mut window = CompletionWindow::new(WindowPlan::default());
    let first = QueueEnds {
        draining: 3,
        ..QueueEnds::default()
    };
    count(&mut window, &timed(10), first);
    assert_eq!((window.requests(), window.duration()), (7, Nanos(70)));
    assert_eq!((window.completed(), window.now()), (10, Nanos(100)));
    let second = QueueEnds {
        filling: 4,
        draining: 3,
        stopped_ns: None,
    };
    count(&mut window, &timed(20), second);
    // Thirteen more, and the time from the fourth completion to the seventeenth.
    assert_eq!(
        (window.requests(), window.duration()),
        (20, Nanos(70 + 130))
    );
    assert_eq!((window.completed(), window.now()), (30, Nanos(300)));
    count(&mut window, &timed(5), second);
    assert_eq!((window.requests(), window.duration()), (20, Nanos(200)));
}

#[test]
fn a_job_that_time_stopped_lasted_until_then() {
    let plan = WindowPlan {
        duration: Some(Nanos(105)),
        ..WindowPlan::default()
    };
    let stopped = |stopped_ns| QueueEnds {
        draining: 2,
        stopped_ns: Some(stopped_ns),
        filling: 0,
    };
    let mut window = CompletionWindow::new(plan);
    count(&mut window, &timed(12), stopped(105));
    assert_eq!(
        (window.requests(), window.closed_by()),
        (10, Some(ClosedBy::Duration))
    );
    let mut window = CompletionWindow::new(plan);
    count(&mut window, &timed(12), stopped(104));
    assert_eq!((window.requests(), window.closed_by()), (10, None));
    assert_eq!(window.duration(), Nanos(104));
}

#[test]
fn a_warm_up_in_a_job_of_its_own_opens_the_window_for_the_next() {
    let plan = WindowPlan {
        warmup: Nanos(105),
        requests: Some(5),
        ..WindowPlan::default()
    };
    let mut window = CompletionWindow::new(plan);
    let warmup = QueueEnds {
        draining: 1,
        stopped_ns: Some(105),
        filling: 0,
    };
    count(&mut window, &timed(11), warmup);
    assert_eq!(
        (window.opened_at(), window.requests()),
        (Some(Nanos(105)), 0)
    );
    count(
        &mut window,
        &timed(20),
        QueueEnds {
            filling: 2,
            draining: 1,
            stopped_ns: None,
        },
    );
    assert_eq!(window.closed_by(), Some(ClosedBy::Requests));
    assert_eq!((window.requests(), window.duration()), (5, Nanos(50)));
}

proptest! {
    /// Any order that a queue of this depth can produce is accepted; one place more is not.
    #[test]
    fn a_queue_may_reorder_as_far_as_it_is_deep(
        depth in 1_usize..20, picks in prop::collection::vec(any::<prop::sample::Index>(), 200),
    ) {
        let mut waiting = in_order(200).into_iter();
        let mut flying: Vec<Completion> = Vec::new();
        let mut done = Vec::new();
        for pick in picks {
            while flying.len() < depth {
                match waiting.next() {
                    Some(next) => flying.push(next),
                    None => break,
                }
            }
            done.push(flying.remove(pick.index(flying.len())));
        }
        let mut stream = stream(depth as u32);
        prop_assert!(stream.complete(&done).is_ok());
        prop_assert_eq!(stream.position(), 200);
        // The request after the last one that may be in flight cannot complete first.
        let mut ahead = in_order(100);
        let early = ahead.remove(depth);
        let known = ahead[..depth].contains(&early);
        ahead.insert(0, early);
        prop_assert!(known || RequestStream::new(&mixed(depth as u32), 0, RANGE, 7, 3)
            .unwrap().complete(&ahead).is_err());
    }

    /// Any log is read or refused, and what is read is what was written.
    #[test]
    fn any_log_is_read_or_refused(
        bytes in prop::collection::vec(prop_oneof![
            prop::sample::select(b"0123456789, \n".to_vec()), any::<u8>(),
        ], 0..300),
        rows in prop::collection::vec(
            (0_u64..50, 0_u64..1 << 40, 0_u32..2, 0_u32..1 << 20, 0_u64..1 << 50), 0..50,
        ),
    ) {
        let _ = completions(&bytes);
        let mut rows = rows;
        rows.sort_by_key(|row| row.0);
        let text: String = rows
            .iter()
            .map(|(at, latency, direction, size, offset)| {
                format!("{at}, {latency}, {direction}, {size}, {offset}, 0\n")
            })
            .collect();
        let read = completions(text.as_bytes()).unwrap();
        prop_assert_eq!(read.len(), rows.len());
        for (found, (at, latency, direction, size, offset)) in read.iter().zip(&rows) {
            prop_assert_eq!(found.at_ns / 1_000_000, *at);
            prop_assert_eq!(found.latency_ns, *latency);
            prop_assert_eq!(found.direction as u32, *direction);
            prop_assert_eq!((found.size_bytes, found.offset_bytes), (*size, *offset));
        }
        prop_assert!(read.is_sorted_by_key(|found| found.at_ns));
    }
}
