//! When a measurement window opens and closes, on both sides of each moment.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::{ClosedBy, CompletionWindow, Direction, HalfWidth, Nanos, WindowPlan};

/// Completions at 10, 20, 30 ... with their number as latency; reads and writes alternate.
fn window_after(plan: WindowPlan, completions: u64) -> CompletionWindow {
    let mut window = CompletionWindow::new(plan);
    for number in 1..=completions {
        let direction = Direction::ALL[(number % 2) as usize];
        window.complete(10 * number, number, direction, 512);
    }
    window
}

#[test]
fn without_a_warm_up_everything_counts() {
    let window = window_after(WindowPlan::default(), 5);
    assert_eq!(window.opened_at(), Some(Nanos(0)));
    assert_eq!((window.requests(), window.completed()), (5, 5));
    assert_eq!(window.duration(), Nanos(50));
    assert_eq!(window.closed_by(), None);
    let writes = window.counted(Direction::Write);
    assert_eq!((writes.bytes, writes.latency.count()), (3 * 512, 3));
    assert_eq!(writes.latency.sum_ns(), 1 + 3 + 5);
    assert_eq!(window.counted(Direction::Read).latency.sum_ns(), 2 + 4);
}

#[test]
fn it_opens_with_the_last_request_of_the_warm_up() {
    let plan = WindowPlan {
        warmup_requests: 3,
        ..WindowPlan::default()
    };
    assert_eq!(window_after(plan, 2).opened_at(), None);
    let window = window_after(plan, 3);
    assert_eq!(
        (window.opened_at(), window.requests()),
        (Some(Nanos(30)), 0)
    );
    let window = window_after(plan, 4);
    assert_eq!((window.duration(), window.requests()), (Nanos(10), 1));
}

#[test]
fn it_opens_when_the_time_of_the_warm_up_is_over() {
    let plan = WindowPlan {
        warmup: Nanos(20),
        ..WindowPlan::default()
    };
    assert!(!window_after(plan, 1).is_open());
    let mut window = window_after(plan, 1);
    window.advance(19);
    assert!(!window.is_open());
    window.advance(20);
    assert!(window.is_open());
    // A completion at that very moment counts.
    assert_eq!(window_after(plan, 2).requests(), 1);
    let late = WindowPlan {
        warmup: Nanos(25),
        ..plan
    };
    assert_eq!(window_after(late, 3).opened_at(), Some(Nanos(25)));
}

#[test]
fn it_opens_at_the_later_of_both() {
    let plan = WindowPlan {
        warmup_requests: 2,
        warmup: Nanos(35),
        ..WindowPlan::default()
    };
    assert_eq!(window_after(plan, 4).opened_at(), Some(Nanos(35)));
    let plan = WindowPlan {
        warmup_requests: 4,
        ..plan
    };
    assert_eq!(window_after(plan, 5).opened_at(), Some(Nanos(40)));
}

#[test]
fn a_number_of_requests_closes_it() {
    let plan = WindowPlan {
        warmup_requests: 2,
        requests: Some(3),
        ..WindowPlan::default()
    };
    assert_eq!(window_after(plan, 4).closed_by(), None);
    for completions in [5, 6, 9] {
        let window = window_after(plan, completions);
        assert_eq!(window.closed_by(), Some(ClosedBy::Requests));
        assert_eq!((window.requests(), window.duration()), (3, Nanos(30)));
        assert_eq!(window.completed(), completions);
    }
}

#[test]
fn a_time_closes_it() {
    let plan = WindowPlan {
        warmup: Nanos(15),
        duration: Some(Nanos(20)),
        ..WindowPlan::default()
    };
    let mut window = window_after(plan, 3);
    assert_eq!((window.requests(), window.closed_by()), (2, None));
    window.advance(34);
    assert_eq!(window.closed_by(), None);
    window.advance(35);
    assert_eq!(window.closed_by(), Some(ClosedBy::Duration));
    let window = window_after(plan, 9);
    assert_eq!((window.requests(), window.duration()), (2, Nanos(20)));
}

#[test]
fn the_first_of_both_closes_it() {
    let both = |requests, nanos| WindowPlan {
        requests: Some(requests),
        duration: Some(Nanos(nanos)),
        ..WindowPlan::default()
    };
    assert_eq!(
        window_after(both(3, 50), 9).closed_by(),
        Some(ClosedBy::Requests)
    );
    assert_eq!(
        window_after(both(5, 40), 9).closed_by(),
        Some(ClosedBy::Duration)
    );
    assert_eq!(window_after(both(5, 40), 9).requests(), 3);
}

/// A window of completions with latency 100 and sometimes `other`.
fn until_sure(
    ratio: f64,
    requests: Option<u64>,
    max_requests: u64,
    other: u64,
) -> CompletionWindow {
    let plan = WindowPlan {
        warmup_requests: 7,
        requests,
        half_width: Some(HalfWidth {
            ratio,
            max_requests,
        }),
        ..WindowPlan::default()
    };
    let mut window = CompletionWindow::new(plan);
    for number in 1..=2000_u64 {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let is_other = (mixed ^ (mixed >> 32)).wrapping_mul(mixed) >> 62 == 0;
        let latency = if is_other { other } else { 100 };
        window.complete(10 * number, latency, Direction::Read, 512);
    }
    window
}

#[test]
fn a_half_width_closes_it_after_the_least_number() {
    let window = until_sure(0.01, Some(300), 1000, 100);
    assert_eq!(window.closed_by(), Some(ClosedBy::HalfWidth));
    assert_eq!((window.requests(), window.warmup_requests()), (300, 7));
    // The least number with a half-width, at the looks 1, 2, 3, ... 15, 18.
    assert_eq!(until_sure(0.01, None, 1000, 100).requests(), 18);
}

#[test]
fn it_is_looked_at_when_a_quarter_more_have_completed() {
    let looks = [300, 375, 468, 585, 731, 913, 1000];
    let mut seen = Vec::new();
    for ratio in [0.2, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04] {
        let window = until_sure(ratio, Some(300), 1000, 300);
        assert!(looks.contains(&window.requests()), "{}", window.requests());
        seen.push(window.requests());
        let reached = window.batches().reaches(ratio);
        let expected = if reached {
            ClosedBy::HalfWidth
        } else {
            ClosedBy::MaxRequests
        };
        assert_eq!(window.closed_by(), Some(expected));
        assert!(reached || window.requests() == 1000);
    }
    assert!(seen.is_sorted());
    assert!(seen.first() < seen.last());
}

#[test]
fn the_most_requests_close_it_without_the_half_width() {
    let window = until_sure(1e-6, Some(300), 1000, 300);
    assert_eq!(window.closed_by(), Some(ClosedBy::MaxRequests));
    assert_eq!(window.requests(), 1000);
    assert_eq!(until_sure(1e-6, Some(2000), 1000, 300).requests(), 1000);
}

#[test]
fn a_time_closes_it_with_or_without_the_half_width() {
    for (requests, by) in [(10, ClosedBy::HalfWidth), (90, ClosedBy::Duration)] {
        let plan = WindowPlan {
            requests: Some(requests),
            duration: Some(Nanos(505)),
            half_width: Some(HalfWidth {
                ratio: 0.5,
                max_requests: 1000,
            }),
            ..WindowPlan::default()
        };
        let mut window = CompletionWindow::new(plan);
        for number in 1..=99 {
            window.complete(10 * number, 100, Direction::Read, 512);
        }
        assert_eq!(window.closed_by(), Some(by));
        let expected = if by == ClosedBy::Duration {
            (50, Nanos(505))
        } else {
            (18, Nanos(180))
        };
        assert_eq!((window.requests(), window.duration()), expected);
    }
}

#[test]
fn it_says_when_time_decides_next() {
    let plan = WindowPlan {
        warmup_requests: 2,
        warmup: Nanos(35),
        duration: Some(Nanos(40)),
        ..WindowPlan::default()
    };
    assert_eq!(window_after(plan, 1).next_time(), None);
    assert_eq!(window_after(plan, 2).next_time(), Some(Nanos(35)));
    assert_eq!(window_after(plan, 4).next_time(), Some(Nanos(75)));
    assert_eq!(window_after(plan, 9).next_time(), None);
}

#[test]
fn in_a_pause_neither_requests_nor_time_count() {
    let plan = WindowPlan {
        duration: Some(Nanos(35)),
        ..WindowPlan::default()
    };
    let mut window = window_after(plan, 2);
    window.pause();
    window.complete(30, 7, Direction::Read, 512);
    window.complete(40, 7, Direction::Read, 512);
    assert_eq!((window.requests(), window.completed()), (2, 4));
    assert_eq!((window.duration(), window.is_open()), (Nanos(20), false));
    window.resume();
    window.complete(54, 7, Direction::Read, 512);
    assert_eq!((window.requests(), window.duration()), (3, Nanos(34)));
    window.complete(55, 7, Direction::Read, 512);
    assert_eq!((window.requests(), window.duration()), (3, Nanos(35)));
    assert_eq!(window.closed_by(), Some(ClosedBy::Duration));
}

#[test]
fn a_window_may_open_in_a_pause() {
    let plan = WindowPlan {
        warmup_requests: 2,
        warmup: Nanos(25),
        ..WindowPlan::default()
    };
    let mut window = window_after(plan, 1);
    window.pause();
    for at in [20, 30, 40] {
        window.complete(at, 7, Direction::Read, 512);
    }
    assert_eq!(
        (window.opened_at(), window.requests()),
        (Some(Nanos(25)), 0)
    );
    assert_eq!(window.duration(), Nanos(0));
    window.resume();
    window.complete(50, 7, Direction::Read, 512);
    assert_eq!((window.requests(), window.duration()), (1, Nanos(10)));
}

/// Pauses do not change what counts, when, or in which batches.
#[test]
fn a_pause_changes_nothing_of_what_counts() {
    let latency = |number: u64| 100 + number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 90;
    for (requests, duration, ratio) in [
        (Some(200), None, None),
        (None, Some(Nanos(1234)), None),
        (Some(50), None, Some(0.02)),
        (Some(50), Some(Nanos(3000)), Some(0.001)),
        (Some(50), None, Some(0.001)),
    ] {
        let plan = WindowPlan {
            warmup_requests: 20,
            warmup: Nanos(55),
            requests,
            duration,
            half_width: ratio.map(|ratio| HalfWidth {
                ratio,
                max_requests: 500,
            }),
        };
        let mut whole = CompletionWindow::new(plan);
        let mut paused = CompletionWindow::new(plan);
        let mut late = 0;
        for number in 1..=900 {
            whole.complete(10 * number, latency(number), Direction::Read, 512);
            if number % 60 == 31 {
                paused.pause();
                for other in 1..=7 {
                    late += 13 * other;
                    paused.complete(10 * number - 10 + late, 7, Direction::Write, 512);
                }
                paused.resume();
            }
            paused.complete(10 * number + late, latency(number), Direction::Read, 512);
        }
        assert!(whole.closed_by().is_some());
        assert_eq!(paused.closed_by(), whole.closed_by());
        assert_eq!(paused.requests(), whole.requests());
        assert_eq!(paused.duration(), whole.duration());
        assert_eq!(
            paused.batches().latency_batches(),
            whole.batches().latency_batches()
        );
        assert_eq!(paused.counted(Direction::Write).latency.count(), 0);
    }
}
