//! The source of recorded requests: files, or a list in memory.

use std::sync::Arc;

use drivelab_trace::{Checks, Given, Options, Record, Trace, TraceError};

/// Listed requests given out at a time.
const LISTED: usize = 4096;

/// The source of recorded requests. It can be read any number of times.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Files of a trace, and how to read them.
    Files {
        /// The files.
        files: Vec<Given>,
        /// The reading options.
        options: Box<Options>,
    },
    /// A list of one device, in order of arrival.
    Listed(Arc<[Record]>),
}

/// Requests being read.
pub(crate) enum Records {
    Trace(Box<Trace>),
    Listed(Arc<[Record]>, usize),
}

impl Origin {
    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Files { files, .. } => files.first().map_or_else(String::new, Given::name),
            Self::Listed(_) => "the trace".to_owned(),
        }
    }

    pub(crate) fn open(&self) -> Result<Records, TraceError> {
        Ok(match self {
            Self::Files { files, options } => {
                Records::Trace(Box::new(Trace::open(files, options)?))
            }
            Self::Listed(records) => Records::Listed(Arc::clone(records), 0),
        })
    }
}

impl Records {
    /// Replaces `batch` with the next requests; empty at the end.
    pub fn next_batch(&mut self, batch: &mut Vec<Record>) -> Result<(), TraceError> {
        match self {
            Self::Trace(trace) => trace.next_batch(batch),
            Self::Listed(records, next) => {
                batch.clear();
                let left = records.get(*next..).unwrap_or_default();
                batch.extend_from_slice(left.get(..LISTED).unwrap_or(left));
                *next += batch.len();
                Ok(())
            }
        }
    }

    /// The findings while files were read.
    pub fn checks(&self) -> Option<&Checks> {
        match self {
            Self::Trace(trace) => Some(trace.checks()),
            Self::Listed(..) => None,
        }
    }

    /// The format of files.
    pub fn format(&self) -> Option<&'static str> {
        match self {
            Self::Trace(trace) => Some(trace.format().name),
            Self::Listed(..) => None,
        }
    }

    /// The names of the devices so far, and selected ones that do not exist.
    pub fn devices(&self) -> (Vec<String>, Vec<String>) {
        match self {
            Self::Trace(trace) => {
                let all = trace.devices().all().iter();
                let names = all.map(|device| device.name.clone()).collect();
                (names, trace.devices().missing())
            }
            Self::Listed(..) => (vec![String::new()], Vec::new()),
        }
    }
}
