//! A simulated drive with a firmware of the user's own in the place of the built-in.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_ftl::{Checked, External};

use super::engine::Engine;
use super::load::Load;
use super::outcome::Outcome;
use super::prepare::{check, passes, write_in_order};
use super::timing::Timing;
use super::{Plan, SimError, variability};
use crate::preset::{Condition, SsdConfig};

/// A drive whose firmware is a shared library (`drivelab_firmware.h`), always under
/// the checker of the firmware contract. It has no way back to its prepared state:
/// every run goes on from where the one before ended.
pub struct ExternalSsd {
    engine: Engine<Checked<External>>,
    config: SsdConfig,
}

impl ExternalSsd {
    /// Loads the library and brings the drive into the condition of `config`.
    ///
    /// # Errors
    /// [`SimError`] when the library cannot be loaded, or fails or breaks its contract
    /// while it prepares the drive; soon after another thread has set `stop`.
    pub fn new(
        config: SsdConfig,
        library: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, SimError> {
        Engine::<Checked<External>>::check(&config)?;
        let layout = config.layout();
        config.policies().validate(&layout)?;
        if config.condition == Condition::Worn {
            return Err(SimError::WornExternal);
        }
        let mut firmware = Checked::fresh(External::load(library, layout)?);
        for _ in 0..passes(config.condition) {
            write_in_order(&mut firmware, config.geometry.page_size_bytes, stop)?;
        }
        let mut engine = Engine::new(&config, firmware);
        engine.stop = Arc::clone(stop);
        Ok(Self { engine, config })
    }

    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.engine.capacity_bytes
    }

    /// Runs any load and keeps the state it leaves.
    ///
    /// # Errors
    /// [`SimError`] when a request cannot be served, or the firmware broke its contract:
    /// the drive is not to be used again then.
    pub fn run(
        &mut self,
        load: Load,
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        check(&self.config, &load, plan)?;
        let factor = variability::factor(self.config.variability.sigma, seed, index);
        let timing = Timing::new(&self.config, factor);
        let mut outcome = self.engine.run(load, plan, timing)?;
        outcome.variability_factor = factor;
        Ok(outcome)
    }
}
