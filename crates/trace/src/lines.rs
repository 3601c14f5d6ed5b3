//! Text formats: splits blocks into lines.

use memchr::memchr;

use crate::checks::Check;
use crate::error::{Problem, TraceError};
use crate::input::{Input, MOST_LINE_BYTES};
use crate::sink::{Sink, Source};

/// Reads the lines of a format.
pub(crate) trait LineFormat: Send {
    /// Puts the content of a line into the sink.
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem>;

    /// Puts what was held back into the sink after the last line.
    fn finish(&mut self, _sink: &mut Sink) {}
}

/// A file of lines.
pub(crate) struct Lines<F> {
    input: Input,
    format: F,
    line: u64,
    /// Whether a line with column names may still come.
    may_be_header: bool,
    /// Inside a line that was too long, up to its end.
    is_passing: bool,
}

impl<F: LineFormat> Lines<F> {
    pub const fn new(input: Input, format: F) -> Self {
        Self {
            input,
            format,
            line: 0,
            may_be_header: true,
            is_passing: false,
        }
    }

    /// Reads the complete lines in the buffer. Returns the bytes they take.
    fn whole_lines(&mut self, sink: &mut Sink) -> Result<usize, TraceError> {
        let bytes = self.input.bytes();
        let mut at = 0;
        while !sink.is_full() {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(length) = memchr(b'\n', rest) else {
                break;
            };
            let line = rest.get(..length).unwrap_or_default();
            at += length + 1;
            self.line += 1;
            if self.is_passing {
                self.is_passing = false;
                continue;
            }
            sink.position = self.line;
            one_line(&mut self.format, &mut self.may_be_header, line, sink)?;
        }
        Ok(at)
    }

    /// Handles a line whose end is not in the buffer.
    fn without_end(&mut self, sink: &mut Sink) -> Result<(), TraceError> {
        let length = self.input.bytes().len();
        sink.position = self.line + 1;
        if !self.is_passing && length > MOST_LINE_BYTES {
            self.is_passing = true;
            sink.bad_here(Problem::LongLine, &[])?;
        }
        if self.is_passing {
            self.input.consume(length);
        }
        Ok(())
    }

    fn last_line(&mut self, sink: &mut Sink) -> Result<(), TraceError> {
        let line = self.input.bytes();
        let length = line.len();
        if length > 0 {
            self.line += 1;
            sink.position = self.line;
            if !self.is_passing {
                sink.note(Check::NoLineEnd, self.line);
                one_line(&mut self.format, &mut self.may_be_header, line, sink)?;
            }
        }
        self.input.consume(length);
        self.format.finish(sink);
        Ok(())
    }
}

#[inline]
fn one_line<F: LineFormat>(
    format: &mut F,
    may_be_header: &mut bool,
    line: &[u8],
    sink: &mut Sink,
) -> Result<(), TraceError> {
    sink.checks.lines += 1;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > MOST_LINE_BYTES {
        return sink.bad_here(Problem::LongLine, &[]);
    }
    if matches!(line, [] | [b'#', ..]) {
        return Ok(());
    }
    let found = format.read(line, sink);
    let was_first = std::mem::replace(may_be_header, false);
    match found {
        Ok(()) => Ok(()),
        Err(_) if line.trim_ascii().is_empty() => {
            *may_be_header = was_first;
            Ok(())
        }
        Err(_) if was_first && is_header(line) => Ok(()),
        Err(problem) => {
            let has_nul = memchr(0, line).is_some();
            let problem = if has_nul { Problem::Nul } else { problem };
            sink.bad_here(problem, line)
        }
    }
}

/// Whether a line names columns: it has several cells, and none begins like a number.
pub(crate) fn is_header(line: &[u8]) -> bool {
    if memchr(b',', line).is_none() {
        return false;
    }
    let cells = line.split(|&byte| byte == b',');
    let mut names = cells.map(|cell| cell.trim_ascii_start().first().copied());
    names.all(|first| first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'"'))
}

impl<F: LineFormat> Source for Lines<F> {
    fn fill(&mut self, sink: &mut Sink) -> Result<bool, TraceError> {
        loop {
            let used = self.whole_lines(sink)?;
            self.input.consume(used);
            if sink.is_full() {
                return Ok(false);
            }
            if self.input.is_at_end() {
                self.last_line(sink)?;
                return Ok(true);
            }
            self.without_end(sink)?;
            self.input.fill()?;
        }
    }
}
