//! The drive of one thread. It measures one workload after another, each from its own start state.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::measuring::Work;
use super::states::Held;
use super::{State, States};
use crate::host::{Outcome, SimError};

/// A drive that moves from state to state. It needs no thread of its own.
pub struct Bench {
    states: Arc<States>,
    seed: u64,
    stop: Arc<AtomicBool>,
    has_second_core: bool,
    held: Option<Held>,
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
        let mut held = match self.held.take() {
            Some(same) if same.settling == work.settling => same,
            other => {
                // It may be in the same state, reached by other writing.
                other.into_iter().for_each(|held| self.states.rest(held));
                let mut held = self.states.take(work.settling, &self.stop)?;
                held.drive.set_second_core(self.has_second_core);
                held
            }
        };
        let mut plan = work.plan;
        if work.settling.is_some() {
            plan.window.warmup_requests += held.state.filling_requests(&work.streams);
        }
        let key = (self.seed, work.index);
        let outcome = held.drive.run(&work.streams, plan, key, State::Returned);
        self.held = Some(held);
        outcome
    }

    /// Gives the drive back for the next user.
    pub fn rest(self) {
        if let Some(held) = self.held {
            self.states.rest(held);
        }
    }
}
