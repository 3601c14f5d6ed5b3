//! A drive that is a formula: it serves one request after another, each for the time of equations 1
//! to 7 of Yoo et al. 2014.
//!
//! ```text
//!   submit ──> line ──> the first is served for t_record ──> complete
//! ```
//!
//! The equations describe one request on an idle drive, so requests that come meanwhile wait. Trims
//! and flushes take no time. Partial pages count as pages.

use std::collections::VecDeque;

use drivelab_request::{Command, CommandKind, Direction};
use drivelab_sim::analytic::{ClosedForm, ClosedFormError};
use drivelab_sim::host::{Completion, Device, Outcome, PARTS, PartNames, SimError};
use drivelab_sim::preset::SsdConfig;

/// The equations as a drive.
#[derive(Debug)]
pub struct Formula {
    equations: ClosedForm,
    /// Tags and the times at which they complete, in order.
    line: VecDeque<(u32, u64)>,
    vacant: Vec<u32>,
    tags: u32,
}

impl Formula {
    /// The equations of a drive.
    ///
    /// # Errors
    /// [`ClosedFormError`] if they do not hold for its reads or its writes.
    pub fn new(config: &SsdConfig) -> Result<Self, ClosedFormError> {
        let equations = ClosedForm::new(config)?;
        for direction in Direction::ALL {
            equations.record_ns(direction, config.geometry.page_size_bytes.into())?;
        }
        Ok(Self {
            equations,
            line: VecDeque::new(),
            vacant: Vec::new(),
            tags: 0,
        })
    }

    /// How long a command takes on the idle drive.
    fn takes_ns(&self, command: &Command) -> u64 {
        let direction = match command.kind {
            CommandKind::Read => Direction::Read,
            CommandKind::Write => Direction::Write,
            CommandKind::Trim | CommandKind::Flush | CommandKind::WriteZeroes => return 0,
        };
        let page = u64::from(self.equations.config().geometry.page_size_bytes);
        let first = command.offset_bytes / page;
        let end = (command.offset_bytes + u64::from(command.size_bytes)).div_ceil(page);
        let record = (end - first) * page;
        // Whole pages on the drive, in a direction that was checked: this cannot be refused.
        self.equations.record_ns(direction, record).unwrap_or(0)
    }
}

impl Device for Formula {
    fn capacity_bytes(&self) -> u64 {
        self.equations.config().geometry.user_capacity_bytes
    }

    fn part_names(&self) -> PartNames {
        &[]
    }

    fn takes_trims(&self) -> bool {
        true
    }

    fn begin(&mut self, _: u64, _: u64) -> f64 {
        self.line.clear();
        self.vacant.clear();
        self.tags = 0;
        1.0
    }

    fn submit(&mut self, command: &Command, now: u64) -> Result<u32, SimError> {
        let begins = self.line.back().map_or(now, |&(_, at)| at.max(now));
        let at = begins.saturating_add(self.takes_ns(command));
        let tag = self.vacant.pop().unwrap_or_else(|| {
            self.tags += 1;
            self.tags - 1
        });
        self.line.push_back((tag, at));
        Ok(tag)
    }

    fn next_event(&self) -> Option<u64> {
        self.line.front().map(|&(_, at)| at)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        if let Some(moment) = self.next_event().filter(|&at| at <= limit) {
            while self.next_event() == Some(moment)
                && let Some((tag, at)) = self.line.pop_front()
            {
                self.vacant.push(tag);
                let parts = [0; PARTS];
                completions.push(Completion { tag, at, parts });
            }
        }
        Ok(self.next_event())
    }

    fn drain(&mut self, _: u64) -> bool {
        false
    }

    fn open_window(&mut self, _: u64) {}

    fn close_window(&mut self, _: u64, _: &mut Outcome) {}
}
