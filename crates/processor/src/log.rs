//! Records as lines of JSON: a head that describes the numbers, one list of numbers per record, and
//! an end line, which shows that nothing is missing.
//!
//! ```text
//! {"format":"drivelab-processor-records","version":1,"model":"host","parameters":{...},"columns":[...]}
//! [0,5211,...]
//! [1,5187,...]
//! {"end":"mark","records":2}
//! ```
//!
//! The first number of a line is the record's number, from 0; the columns follow, in order.

use std::io::{self, Write};

use serde_json::json;

use crate::model::Model;

/// The name of the format.
pub const FORMAT: &str = "drivelab-processor-records";
/// Its version: a reader refuses others.
pub const VERSION: u32 = 1;

/// How measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program marked the end.
    Mark,
    /// The program ended without this mark: what it did after the last record is missing.
    Exit,
}

/// Writes records as they come.
#[derive(Debug)]
pub struct Log<W: Write> {
    out: W,
    records: u64,
    line: String,
}

impl<W: Write> Log<W> {
    /// Writes the head.
    ///
    /// # Errors
    ///
    /// Whatever writing fails with.
    pub fn new(mut out: W, kind: &str, model: &impl Model) -> io::Result<Self> {
        let head = json!({
            "format": FORMAT,
            "version": VERSION,
            "model": kind,
            "parameters": model.parameters(),
            "columns": model.columns(),
        });
        writeln!(out, "{head}")?;
        Ok(Self {
            out,
            records: 0,
            line: String::new(),
        })
    }

    /// Writes a record.
    ///
    /// # Errors
    ///
    /// Whatever writing fails with.
    pub fn record(&mut self, values: &[u64]) -> io::Result<()> {
        use std::fmt::Write as _;
        self.line.clear();
        let _ = write!(self.line, "[{}", self.records);
        for value in values {
            let _ = write!(self.line, ",{value}");
        }
        self.line.push_str("]\n");
        self.records += 1;
        self.out.write_all(self.line.as_bytes())
    }

    /// Writes the end.
    ///
    /// # Errors
    ///
    /// Whatever writing fails with.
    pub fn end(&mut self, end: End) -> io::Result<()> {
        let how = match end {
            End::Mark => "mark",
            End::Exit => "exit",
        };
        let line = json!({"end": how, "records": self.records});
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// Records written so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }
}
