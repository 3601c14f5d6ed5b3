//! The beginning of a trace, from which its format is recognised.

use crate::input::Input;

/// The number of lines examined.
const LINES: usize = 64;

/// The first bytes of a trace, after decompression.
pub(crate) struct Head<'a> {
    /// As many bytes as are available.
    pub bytes: &'a [u8],
    lines: Vec<&'a [u8]>,
}

/// A test for a cell of a line.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    /// Digits.
    Whole,
    /// Digits, with or without a decimal point.
    Number,
    /// A number that may be negative, or nothing.
    Optional,
    /// 0 or 1.
    Bit,
    /// R or W, in either case.
    Letter,
    /// Read or Write, in either case.
    Word,
    /// One or two hexadecimal digits.
    Hex,
    /// Anything.
    Any,
}

impl<'a> Head<'a> {
    pub fn of(input: &'a Input) -> Self {
        let bytes = input.bytes();
        let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').take(LINES + 1).collect();
        // The last line is incomplete, or there is nothing behind it.
        if lines.len() > 1 {
            lines.pop();
        }
        let lines = lines.into_iter().map(<[u8]>::trim_ascii);
        let lines = lines.filter(|line| !matches!(line, [] | [b'#', ..]));
        Self {
            bytes,
            lines: lines.collect(),
        }
    }

    /// The first line that is neither blank nor a comment.
    pub fn first_line(&self) -> &'a [u8] {
        self.lines.first().copied().unwrap_or_default()
    }

    /// Whether more than half of the lines match. The first may name columns instead.
    pub fn most(&self, fits: impl Fn(&[u8]) -> bool) -> bool {
        let lines = match self.lines.as_slice() {
            [first, rest @ ..] if !rest.is_empty() && crate::lines::is_header(first) => rest,
            lines => lines,
        };
        let fitting = lines.iter().filter(|line| fits(line)).count();
        fitting > 0 && 2 * fitting > lines.len()
    }

    /// Whether any line contains a byte.
    pub fn any_holds(&self, byte: u8) -> bool {
        self.lines.iter().any(|line| line.contains(&byte))
    }
}

/// Whether cells behind the last one are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    Allowed,
    Refused,
}

/// Whether a line has these cells between commas.
pub(crate) fn comma_line(line: &[u8], cells: &[Cell], more: More) -> bool {
    fit(
        line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii),
        cells,
        more,
    )
}

/// Whether a line has these cells between blanks.
pub(crate) fn blank_line(line: &[u8], cells: &[Cell], more: More) -> bool {
    let words = line.split(u8::is_ascii_whitespace);
    fit(words.filter(|word| !word.is_empty()), cells, more)
}

fn fit<'a>(mut found: impl Iterator<Item = &'a [u8]>, cells: &[Cell], more: More) -> bool {
    for cell in cells {
        if !found.next().is_some_and(|text| cell.fits(text)) {
            return false;
        }
    }
    more == More::Allowed || found.next().is_none()
}

impl Cell {
    fn fits(self, text: &[u8]) -> bool {
        let whole = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        match self {
            Self::Whole => whole(text),
            Self::Number => {
                let mut parts = text.splitn(2, |&byte| byte == b'.');
                let begins = parts.next().is_some_and(whole);
                begins
                    && parts
                        .next()
                        .is_none_or(|part| part.iter().all(u8::is_ascii_digit))
            }
            Self::Optional => {
                let text = text.strip_prefix(b"-").unwrap_or(text);
                text.is_empty() || Self::Number.fits(text)
            }
            Self::Bit => matches!(text, b"0" | b"1"),
            Self::Letter => matches!(text, b"R" | b"r" | b"W" | b"w"),
            Self::Word => text.eq_ignore_ascii_case(b"read") || text.eq_ignore_ascii_case(b"write"),
            Self::Hex => matches!(text.len(), 1 | 2) && text.iter().all(u8::is_ascii_hexdigit),
            Self::Any => !text.is_empty(),
        }
    }
}
