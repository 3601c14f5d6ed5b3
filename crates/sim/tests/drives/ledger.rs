//! When the oracle's window opens and closes, computed from the list of all completions.
//!
//! Nothing is updated incrementally: every query computes everything anew.

use drivelab_request::{ClosedBy, Command};
use drivelab_sim::ssd::{PARTS, Plan};

use super::story::Entry;

/// Student's t at 97.5 % for 15 to 63 degrees of freedom, computed with scipy.
const STUDENT_975: [f64; 49] = [
    2.131449546,
    2.119905299,
    2.109815578,
    2.100922040,
    2.093024054,
    2.085963447,
    2.079613845,
    2.073873068,
    2.068657610,
    2.063898562,
    2.059538553,
    2.055529439,
    2.051830516,
    2.048407142,
    2.045229642,
    2.042272456,
    2.039513446,
    2.036933343,
    2.034515297,
    2.032244509,
    2.030107928,
    2.028094001,
    2.026192463,
    2.024394164,
    2.022690920,
    2.021075390,
    2.019540970,
    2.018081703,
    2.016692199,
    2.015367574,
    2.014103389,
    2.012895599,
    2.011740514,
    2.010634758,
    2.009575237,
    2.008559112,
    2.007583770,
    2.006646805,
    2.005745995,
    2.004879288,
    2.004044783,
    2.003240719,
    2.002465459,
    2.001717484,
    2.000995378,
    2.000297822,
    1.999623585,
    1.998971517,
    1.998340543,
];

/// Every completion so far, and what the plan makes of it.
pub struct Ledger {
    plan: Plan,
    /// Time and latency of each completion.
    completions: Vec<(u64, u64)>,
    /// The number of marks made in the journal.
    marks: usize,
    /// When the window opened, and how many requests had completed.
    pub opened: Option<(u64, usize)>,
    /// When it closed, how many had completed, and the reason.
    pub closed: Option<(u64, usize, ClosedBy)>,
}

impl Ledger {
    pub fn new(plan: Plan) -> Self {
        let mut ledger = Self {
            plan,
            completions: Vec::new(),
            marks: 0,
            opened: None,
            closed: None,
        };
        ledger.open_if_warm(0);
        ledger
    }

    /// Opens the window if the warm-up's requests are complete and its time is over.
    fn open_if_warm(&mut self, now: u64) {
        let window = &self.plan.window;
        let is_warm = self.completions.len() as u64 >= window.warmup_requests;
        if self.opened.is_none() && is_warm && now >= window.warmup.0 {
            let last = if window.warmup_requests == 0 {
                0
            } else {
                self.completions[window.warmup_requests as usize - 1].0
            };
            let at = last.max(window.warmup.0);
            self.opened = Some((at, self.completions.len()));
        }
    }

    /// Time reaches `now`. Events at that moment have not been recorded yet.
    pub fn time(&mut self, now: u64, journal: &mut Vec<Entry>) {
        self.open_if_warm(now);
        if let (Some((opened, _)), Some(duration), None) =
            (self.opened, self.plan.window.duration, self.closed)
        {
            let end = opened + duration.0;
            if now >= end {
                self.close(end, ClosedBy::Duration);
            }
        }
        self.mark(journal);
    }

    pub fn completion(
        &mut self,
        request: Command,
        stream: usize,
        latency: u64,
        parts: [u64; PARTS],
        at: u64,
        journal: &mut Vec<Entry>,
    ) {
        journal.push(Entry::Completion {
            request,
            stream,
            latency,
            parts,
            at,
        });
        self.count(at, latency);
        self.mark(journal);
    }

    fn count(&mut self, at: u64, latency: u64) {
        self.completions.push((at, latency));
        if self.opened.is_none() {
            self.open_if_warm(at);
            return;
        }
        let counted = self.counted();
        let requests = counted.len() as u64;
        if self.closed.is_some() {
            return;
        }
        match self.plan.window.half_width {
            None if self.plan.window.requests == Some(requests) => {
                self.close(at, ClosedBy::Requests);
            }
            Some(half_width) if requests == half_width.max_requests => {
                self.close(at, ClosedBy::MaxRequests);
            }
            Some(_) if self.looks().contains(&requests) && self.is_sure() => {
                self.close(at, ClosedBy::HalfWidth);
            }
            _ => {}
        }
    }

    /// Records in the journal that the window has opened or closed.
    fn mark(&mut self, journal: &mut Vec<Entry>) {
        let happened = [
            self.opened.map(|_| Entry::Opened),
            self.closed.map(|_| Entry::Closed),
        ];
        let happened: Vec<Entry> = happened.into_iter().flatten().collect();
        journal.extend(&happened[self.marks..]);
        self.marks = happened.len();
    }

    fn close(&mut self, at: u64, by: ClosedBy) {
        let by = if self.is_sure() {
            ClosedBy::HalfWidth
        } else {
            by
        };
        self.closed = Some((at, self.completions.len(), by));
    }

    pub fn completed(&self) -> usize {
        self.completions.len()
    }

    /// Latencies inside the window so far.
    pub fn counted(&self) -> Vec<u64> {
        let first = self
            .opened
            .map_or(self.completions.len(), |(_, first)| first);
        let end = self
            .closed
            .map_or(self.completions.len(), |(_, end, _)| end);
        let inside = &self.completions[first..end];
        inside.iter().map(|&(_, latency)| latency).collect()
    }

    /// The numbers of counted requests at which the half-width is checked.
    fn looks(&self) -> Vec<u64> {
        let mut looks = vec![self.plan.window.requests.unwrap_or(1)];
        while *looks.last().unwrap() < 1 << 20 {
            let last = *looks.last().unwrap();
            looks.push(last + 1.max(last / 4));
        }
        looks
    }

    fn is_sure(&self) -> bool {
        let Some(half_width) = self.plan.window.half_width else {
            return false;
        };
        let latencies = self.counted();
        let enough = latencies.len() as u64 >= self.plan.window.requests.unwrap_or(1);
        let mean = latencies.iter().sum::<u64>() as f64 / latencies.len() as f64;
        enough
            && self
                .half_width()
                .is_some_and(|found| found <= half_width.ratio * mean)
    }

    /// The half-width from the largest number of batches, 16 to 64, that are not correlated. If all
    /// are, from the smallest number, widened.
    pub fn half_width(&self) -> Option<f64> {
        let latencies = self.counted();
        let mut size = 1;
        while latencies.len() / size > 64 {
            size *= 2;
        }
        let mut sums: Vec<f64> = latencies
            .chunks_exact(size)
            .map(|batch| batch.iter().sum::<u64>() as f64)
            .collect();
        while sums.len() >= 16 {
            let (half_width, widening) = half_width(&sums);
            if widening == 1.0 || sums.len() < 32 {
                return Some(half_width * widening / size as f64);
            }
            sums = sums.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
            size *= 2;
        }
        None
    }
}

/// The half-width as for independent batches, and the factor by which correlation widens it.
fn half_width(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    if values.iter().all(|value| *value == values[0]) {
        return (0.0, 1.0);
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let pairs = values.iter().zip(&values[1..]);
    let steps: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
    let correlation = 1.0 - steps / squares / 2.0;
    let half_width = STUDENT_975[values.len() - 16] * (squares / (count - 1.0) / count).sqrt();
    // One-sided test at 20 %.
    if correlation * ((count.powi(2) - 1.0) / (count - 2.0)).sqrt() < 0.841_621_233_6 {
        (half_width, 1.0)
    } else {
        let widening = ((1.0 + correlation) / (1.0 - correlation)).sqrt();
        (half_width, widening)
    }
}
