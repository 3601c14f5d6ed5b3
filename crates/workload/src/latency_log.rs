//! fio's record of every request: its latency log, one line for each completion.
//!
//! ```text
//! 12, 83884, 0, 4096, 72134656, 0
//! │   │      │  │     └ offset in bytes   (then a priority, or more in later versions)
//! │   │      │  └ length in bytes
//! │   │      └ 0 read, 1 write
//! │   └ latency in ns
//! └ whole ms from the job's start to the completion
//! ```
//!
//! If `n` requests complete in one millisecond, the `k`-th is assumed to complete at `(k - 1/2) /
//! n` of it. That is exact to a fraction of a millisecond if many complete, and to half a
//! millisecond if one does.

use drivelab_request::Direction;
use thiserror::Error;

const NANOS_PER_MILLISECOND: u64 = 1_000_000;

/// One completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// From the job's start to the completion, ns.
    pub at_ns: u64,
    /// From submission to completion, ns.
    pub latency_ns: u64,
    /// First byte.
    pub offset_bytes: u64,
    /// Length.
    pub size_bytes: u32,
    /// Read or write.
    pub direction: Direction,
}

/// A log that fio would not write.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LatencyLogError {
    /// An invalid line.
    #[error("line {line} of fio's latency log is {text:?}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The beginning of its text.
        text: String,
    },
    /// Completions whose times are not in order.
    #[error("line {line} of fio's latency log is earlier than the one before")]
    Order {
        /// Its number, from 1.
        line: usize,
    },
}

/// Reads a whole log, in its order, which is that of completion.
///
/// # Errors
///
/// [`LatencyLogError`] if this is not such a log.
pub fn completions(log: &[u8]) -> Result<Vec<Completion>, LatencyLogError> {
    let mut found: Vec<Completion> = Vec::new();
    // Index of the first completion in the current millisecond.
    let mut first = 0;
    let mut current = 0;
    for (index, line) in log.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let (millisecond, completion) = parse(line).ok_or_else(|| LatencyLogError::Line {
            line: index + 1,
            text: String::from_utf8_lossy(&line[..line.len().min(60)])
                .trim_end()
                .to_owned(),
        })?;
        if millisecond < current {
            return Err(LatencyLogError::Order { line: index + 1 });
        }
        if millisecond > current {
            spread(found.get_mut(first..).unwrap_or_default(), current);
            (first, current) = (found.len(), millisecond);
        }
        found.push(completion);
    }
    spread(found.get_mut(first..).unwrap_or_default(), current);
    Ok(found)
}

/// Assigns times to the completions of one millisecond.
fn spread(completions: &mut [Completion], millisecond: u64) {
    let halves = 2 * completions.len() as u64;
    for (k, completion) in completions.iter_mut().enumerate() {
        completion.at_ns = millisecond * NANOS_PER_MILLISECOND
            + (2 * k as u64 + 1) * NANOS_PER_MILLISECOND / halves;
    }
}

/// The millisecond of a line, and its completion without a time.
fn parse(line: &[u8]) -> Option<(u64, Completion)> {
    // A truncated line has no line feed.
    let line = line.strip_suffix(b"\n")?;
    let mut fields = line.split(|&byte| byte == b',');
    let mut next = || number(fields.next()?.trim_ascii());
    let millisecond = next()?;
    let latency_ns = next()?;
    let direction = match next()? {
        0 => Direction::Read,
        1 => Direction::Write,
        _ => return None,
    };
    let size_bytes = u32::try_from(next()?).ok()?;
    let offset_bytes = next()?;
    // So that no sum of times overflows.
    let possible = millisecond < u64::from(u32::MAX) && latency_ns < 1 << 62;
    possible.then_some((
        millisecond,
        Completion {
            at_ns: 0,
            latency_ns,
            offset_bytes,
            size_bytes,
            direction,
        },
    ))
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn lines_are_read_and_spread_over_their_millisecond() {
        let log = b"0, 83884, 0, 4096, 72134656, 0\n2, 11778, 1, 512, 0, 0\n2, 5, 0, 4096, 8, 0\n";
        let found = completions(log).unwrap();
        let times: Vec<u64> = found.iter().map(|completion| completion.at_ns).collect();
        assert_eq!(times, [500_000, 2_250_000, 2_750_000]);
        assert_eq!(
            found[0],
            Completion {
                at_ns: 500_000,
                latency_ns: 83_884,
                offset_bytes: 72_134_656,
                size_bytes: 4096,
                direction: Direction::Read,
            }
        );
        assert_eq!(found[1].direction, Direction::Write);
        assert_eq!(completions(b"").unwrap(), []);
    }

    /// Older versions of fio write no priority; later ones may write more columns.
    #[test]
    fn columns_after_the_offset_are_not_looked_at() {
        let found = completions(b"0, 1, 0, 512, 1024\n0, 1, 0, 512, 1024, 0x4, 7\n").unwrap();
        assert_eq!(found[0].offset_bytes, found[1].offset_bytes);
    }

    #[test]
    fn what_fio_does_not_write_is_refused() {
        for line in [
            "",
            "0, 1, 0, 512",
            "0, 1, 2, 512, 0, 0",
            "0, -1, 0, 512, 0, 0",
            "x, 1, 0, 512, 0, 0",
            "0, 1, 0, 99999999999, 0, 0",
            "0, 99999999999999999999999, 0, 512, 0, 0",
            "99999999999999, 1, 0, 512, 0, 0",
            "0,, 0, 512, 0, 0",
        ] {
            let log = format!("0, 1, 0, 512, 0, 0\n{line}\n");
            let error = completions(log.as_bytes()).unwrap_err();
            assert!(error.to_string().starts_with("line 2 "), "{line}: {error}");
        }
        let cut = completions(b"0, 1, 0, 512, 0, 0\n0, 1, 0, 512, 10").unwrap_err();
        assert!(cut.to_string().starts_with("line 2 "), "{cut}");
        let order = completions(b"5, 1, 0, 512, 0, 0\n4, 1, 0, 512, 0, 0\n").unwrap_err();
        assert_eq!(order, LatencyLogError::Order { line: 2 });
    }
}
