//! Reasons to doubt a trace's units, and limits on what it can show.
//!
//! A wrong unit leads to impossible values: rates that no drive reaches, years between requests,
//! responses that take hours. The limits here are far beyond those of real traces, so a caution
//! means something.

use crate::checks::Checks;
use crate::record::{Operation, UNKNOWN};

/// A reason for caution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caution {
    /// Its name in a summary.
    pub name: &'static str,
    /// One sentence for people.
    pub text: String,
}

/// Above this, more requests a second than any drive serves.
const MOST_REQUESTS_PER_SECOND: f64 = 1e8;
/// Above this, more bytes a second than any drive moves.
const MOST_BYTES_PER_SECOND: f64 = 1e12;
/// Above this, a longer mean gap than in any trace of a drive in use, s.
const MOST_MEAN_GAP_S: f64 = 600.0;
/// Above this, a longer trace than anybody recorded, s: two years.
const MOST_SPAN_S: f64 = 2.0 * 365.25 * 86_400.0;
/// Above this, a longer response than any drive's, ns: ten minutes.
const MOST_RESPONSE_NS: u64 = 600_000_000_000;
/// Above this, a larger device than any, in bytes.
const MOST_DEVICE_BYTES: u64 = 1_000_000_000_000_000;
/// Above this, a larger read or write than any, in bytes.
const MOST_REQUEST_BYTES: u64 = 1 << 30;
/// Clock steps from this size on hide the order of arrivals, ns.
const COARSE_STEP_NS: u64 = 1_000_000;
/// From this fraction of ties on, a clock is too coarse.
const COARSE_TIES: f64 = 0.1;
/// No drive moves less.
const SECTOR_BYTES: f64 = 512.0;

/// The cautions that follow from `checks`.
#[must_use]
pub fn cautions(checks: &Checks) -> Vec<Caution> {
    let mut found = Vec::new();
    clock(checks, &mut found);
    units(checks, &mut found);
    found
}

fn add(found: &mut Vec<Caution>, name: &'static str, text: String) {
    found.push(Caution { name, text });
}

fn clock(checks: &Checks, found: &mut Vec<Caution>) {
    if checks.requests < 2 {
        return;
    }
    if checks.span_ns == 0 {
        let text = "all requests have the same time: the trace has no clock, so it cannot be sent \
                    at its recorded times";
        return add(found, "no_clock", text.to_owned());
    }
    let ties = checks.ties as f64 / (checks.requests - 1) as f64;
    if ties >= COARSE_TIES && checks.smallest_step_ns >= COARSE_STEP_NS {
        let text = format!(
            "{:.0} % of the requests have the time of the one before, and the clock's smallest \
             step is {} ms: what arrives within a step arrives at once",
            100.0 * ties,
            checks.smallest_step_ns as f64 / 1e6
        );
        add(found, "coarse_clock", text);
    }
}

fn units(checks: &Checks, found: &mut Vec<Caution>) {
    let span_s = checks.span_ns as f64 / 1e9;
    let requests = checks.requests as f64;
    let moved = [Operation::Read, Operation::Write].map(Operation::index);
    let bytes: f64 = moved
        .iter()
        .map(|&place| checks.bytes_by_operation[place] as f64)
        .sum();
    let moving: u64 = moved.iter().map(|&place| checks.by_operation[place]).sum();
    if moving > 0 && bytes / (moving as f64) < SECTOR_BYTES {
        let text = format!(
            "a request moves {:.1} bytes on average, less than a sector: the unit of sizes is larger",
            bytes / moving as f64
        );
        add(found, "size", text);
    }
    if span_s > 0.0 {
        let (per_second, bytes_per_second) = (requests / span_s, bytes / span_s);
        // A few requests may well arrive at once.
        let enough = checks.requests >= 100;
        if enough && per_second > MOST_REQUESTS_PER_SECOND {
            let text = format!("{per_second:.3e} requests a second: the unit of time is larger");
            add(found, "rate", text);
        } else if enough && bytes_per_second > MOST_BYTES_PER_SECOND {
            let text = format!(
                "{:.3e} MB/s: the unit of time or that of sizes is another",
                bytes_per_second / 1e6
            );
            add(found, "bandwidth", text);
        }
        if span_s > MOST_SPAN_S || (enough && span_s / requests > MOST_MEAN_GAP_S) {
            let text = format!(
                "{requests} requests in {:.1} days: the unit of time is smaller",
                span_s / 86_400.0
            );
            add(found, "span", text);
        }
    }
    if checks.responses > 0 && checks.most_response_ns > MOST_RESPONSE_NS {
        let text = format!(
            "a response took {:.0} s: the unit of response times is smaller",
            checks.most_response_ns as f64 / 1e9
        );
        add(found, "response", text);
    }
    if checks.least_response_ns != UNKNOWN && checks.most_response_ns == 0 {
        let text = "all response times are 0: they were not recorded".to_owned();
        add(found, "response", text);
    }
    if checks.most_end_bytes > MOST_DEVICE_BYTES {
        let text = format!(
            "a request ends at {:.0} TB: the unit of addresses is smaller",
            checks.most_end_bytes as f64 / 1e12
        );
        add(found, "offset", text);
    }
    if checks.most_size_bytes > MOST_REQUEST_BYTES {
        let text = format!(
            "a request moves {:.0} MB: the unit of sizes is smaller",
            checks.most_size_bytes as f64 / 1e6
        );
        add(found, "size", text);
    }
}
