//! Fields of a line of text, read from left to right, each byte once.

use crate::error::Problem;
use crate::record::Operation;

/// The rest of a line.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

const NUMBER: &str = "a whole number";
const TIME: &str = "a time";

impl<'a> Fields<'a> {
    #[inline]
    pub const fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    #[inline]
    pub fn blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Skips a comma and the blanks around it.
    #[inline]
    pub fn comma(&mut self, next: &'static str) -> Result<(), Problem> {
        self.blanks();
        let [b',', rest @ ..] = self.rest else {
            return Err(missing(next));
        };
        self.rest = rest;
        self.blanks();
        Ok(())
    }

    /// Skips a comma and the blanks around it, if there is one.
    pub fn optional_comma(&mut self) -> bool {
        self.comma("").is_ok()
    }

    /// Skips at least one blank.
    #[inline]
    pub fn blank(&mut self, next: &'static str) -> Result<(), Problem> {
        let before = self.rest.len();
        self.blanks();
        if self.rest.len() == before || self.rest.is_empty() {
            return Err(missing(next));
        }
        Ok(())
    }

    /// Skips this byte.
    pub fn byte(&mut self, byte: u8, field: &'static str) -> Result<(), Problem> {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                Ok(())
            }
            _ => Err(missing(field)),
        }
    }

    /// A whole number.
    #[inline]
    pub fn number(&mut self, field: &'static str) -> Result<u64, Problem> {
        let mut value: u64 = 0;
        let mut count = 0_u32;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            let digit = u64::from(digit - b'0');
            // Nineteen digits always fit.
            value = if count < 19 {
                value * 10 + digit
            } else {
                let grown = value
                    .checked_mul(10)
                    .and_then(|tens| tens.checked_add(digit));
                grown.ok_or(Problem::TooLarge { field })?
            };
            count += 1;
            self.rest = rest;
        }
        if count == 0 {
            return Err(Problem::Field {
                field,
                expected: NUMBER,
            });
        }
        Ok(value)
    }

    /// A whole number in units of `unit`.
    #[inline]
    pub fn scaled(&mut self, field: &'static str, unit: u64) -> Result<u64, Problem> {
        let number = self.number(field)?;
        number.checked_mul(unit).ok_or(Problem::TooLarge { field })
    }

    /// A number that fits 32 bits.
    #[inline]
    pub fn small(&mut self, field: &'static str) -> Result<u32, Problem> {
        u32::try_from(self.number(field)?).map_err(|_| Problem::TooLarge { field })
    }

    /// A time in ns, written in units of `unit_ns`, with or without decimals. Fractions of a ns are
    /// dropped.
    #[inline]
    pub fn time(&mut self, field: &'static str, unit_ns: u64) -> Result<u64, Problem> {
        let whole = self.number(field).map_err(|problem| match problem {
            Problem::Field { field, .. } => Problem::Field {
                field,
                expected: TIME,
            },
            other => other,
        })?;
        let too_large = Problem::TooLarge { field };
        let Some(whole_ns) = whole.checked_mul(unit_ns) else {
            return Err(too_large);
        };
        let [b'.', rest @ ..] = self.rest else {
            return Ok(whole_ns);
        };
        self.rest = rest;
        let (mut fraction, mut scale) = (0_u64, 1_u64);
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            if scale < MOST_SCALE {
                fraction = fraction * 10 + u64::from(digit - b'0');
                scale *= 10;
            }
            self.rest = rest;
        }
        let part_ns = match unit_ns.checked_div(scale) {
            Some(step) if step * scale == unit_ns => fraction * step,
            _ => (u128::from(fraction) * u128::from(unit_ns) / u128::from(scale)) as u64,
        };
        whole_ns.checked_add(part_ns).ok_or(too_large)
    }

    /// A time that may be missing or negative; `None` in these cases.
    pub fn optional_time(&mut self, unit_ns: u64) -> Result<Option<u64>, Problem> {
        match self.rest {
            [] | [b',' | b' ', ..] => Ok(None),
            [b'-', rest @ ..] => {
                self.rest = rest;
                self.time("response time", unit_ns)?;
                Ok(None)
            }
            _ => self.time("response time", unit_ns).map(Some),
        }
    }

    /// The text before the next comma, blank or end.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        let ends = |byte: &u8| matches!(byte, b',' | b' ' | b'\t');
        let length = self.rest.iter().position(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }

    /// A read or a write, given by its word or first letter in either case.
    #[inline]
    pub fn read_or_write(&mut self) -> Result<Operation, Problem> {
        let word = self.word();
        match word {
            [b'R' | b'r'] => Ok(Operation::Read),
            [b'W' | b'w'] => Ok(Operation::Write),
            _ if word.eq_ignore_ascii_case(b"read") => Ok(Operation::Read),
            _ if word.eq_ignore_ascii_case(b"write") => Ok(Operation::Write),
            _ => Err(Problem::Field {
                field: "operation",
                expected: "a read (R) or a write (W)",
            }),
        }
    }

    /// What is left.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Refuses anything but blanks.
    #[inline]
    pub fn end(&mut self) -> Result<(), Problem> {
        self.blanks();
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Problem::MoreFields)
        }
    }
}

const MOST_SCALE: u64 = 1_000_000_000;

#[cold]
const fn missing(field: &'static str) -> Problem {
    Problem::Field {
        field,
        expected: "there",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        let time = |text: &str, unit| Fields::new(text.as_bytes()).time("time", unit);
        assert_eq!(time("0.026214", 1_000_000_000), Ok(26_214_000));
        assert_eq!(time("1.123456789999", 1_000_000_000), Ok(1_123_456_789));
        assert_eq!(time("13.191135", 1_000_000), Ok(13_191_135));
        assert_eq!(time("7.5", 1), Ok(7));
        assert_eq!(time("7.", 100), Ok(700));
        assert_eq!(time("18446744073.709551615", 1_000_000_000), Ok(u64::MAX));
        assert!(time("18446744073.709551616", 1_000_000_000).is_err());
        assert!(time("18446744073709551616", 1).is_err());
        assert!(time(".5", 1).is_err());
        assert!(time("-1", 1).is_err());
    }
}
