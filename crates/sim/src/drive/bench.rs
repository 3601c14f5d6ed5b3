//! The drive of one thread. It measures one workload after another, each from its own start state.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::measuring::Work;
use super::{Drive, Prepared, State, States};
use crate::host::{Outcome, Settling, SimError};

/// A drive that moves from state to state. It needs no thread of its own.
pub struct Bench {
    states: Arc<States>,
    seed: u64,
    stop: Arc<AtomicBool>,
    has_second_core: bool,
    held: Option<Held>,
}

/// A drive and the state that it returns to.
struct Held {
    settling: Option<Settling>,
    state: Prepared,
    drive: Drive,
}

impl Bench {
    /// A bench that holds no drive yet. Its measurements end soon after `stop` is set.
    #[must_use]
    pub const fn new(states: Arc<States>, seed: u64, stop: Arc<AtomicBool>) -> Self {
        Self {
            states,
            seed,
            stop,
            has_second_core: false,
            held: None,
        }
    }

    /// The same with a second core that may be used. Results are the same.
    #[must_use]
    pub fn with_second_core(self, has_second_core: bool) -> Self {
        Self {
            has_second_core,
            ..self
        }
    }

    /// Measures on the drive it holds, or on another one if the work begins in another state.
    ///
    /// # Errors
    /// As [`States::get`] and [`Drive::run`].
    pub fn measure(&mut self, work: &Work) -> Result<Outcome, SimError> {
        let mut drive_of = match self.held.take() {
            Some(same) if same.settling == work.settling => same,
            other => self.another(other, work.settling)?,
        };
        let mut plan = work.plan;
        if work.settling.is_some() {
            plan.window.warmup_requests += drive_of.state.filling_requests(&work.streams);
        }
        let key = (self.seed, work.index);
        let outcome = drive_of
            .drive
            .run(&work.streams, plan, key, State::Returned);
        self.held = Some(drive_of);
        outcome
    }

    /// Gets a drive in another state. The drive held before is kept for later use, or dropped if
    /// memory is short.
    fn another(&self, held: Option<Held>, settling: Option<Settling>) -> Result<Held, SimError> {
        let state = self.states.get(settling, &self.stop)?;
        if let Some(before) = held
            && state.check_workers(1).is_ok()
        {
            before.state.rest(before.drive);
        }
        let mut drive = state.rested_worker(&self.stop);
        drive.set_second_core(self.has_second_core);
        Ok(Held {
            settling,
            state,
            drive,
        })
    }

    /// Gives the drive back for the next user.
    pub fn rest(self) {
        if let Some(Held { state, drive, .. }) = self.held {
            state.rest(drive);
        }
    }
}
