//! A simulated drive with the user's own firmware instead of the built-in one.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_ftl::{Checked, External};
use drivelab_workload::Stream;

use super::engine::run;
use super::{Plan, SimError, Watch};
use crate::host::outcome::Outcome;
use crate::preset::{Condition, SsdConfig};
use crate::ssd::engine::Engine;
use crate::ssd::fill::{fill, passes};
use crate::ssd::settle::overwrite_until_steady;

/// A drive whose firmware is a shared library (`drivelab_firmware.h`). The checker of the firmware
/// contract always wraps it. It cannot return to its prepared state: every run continues where the
/// one before ended.
pub struct ExternalSsd {
    engine: Engine<Checked<External>>,
    config: SsdConfig,
}

impl ExternalSsd {
    /// Loads the library and brings the drive into the condition of `config`.
    ///
    /// # Errors
    /// [`SimError`] if the library cannot be loaded, or if it fails or breaks its contract while it
    /// prepares the drive. Also soon after another thread has set `stop`.
    pub fn new(
        config: SsdConfig,
        library: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, SimError> {
        Engine::<Checked<External>>::check(&config)?;
        let layout = config.layout();
        let policies = config.policies();
        policies.validate(&layout)?;
        if config.condition == Condition::Worn {
            return Err(SimError::WornExternal);
        }
        if config.failures().is_some() {
            return Err(SimError::BadBlocksExternal);
        }
        if config.slc.is_some() {
            return Err(SimError::SlcExternal);
        }
        if config.compression.is_some() {
            return Err(SimError::CompressionExternal);
        }
        if config.placement.is_some() {
            return Err(SimError::PlacementExternal);
        }
        if config.zones.is_some() {
            return Err(SimError::ZonesExternal);
        }
        if config.refresh.is_some() {
            return Err(SimError::RefreshExternal);
        }
        let mut firmware =
            Checked::fresh(External::load(library, layout, policies.background_blocks)?);
        for _ in 0..passes(&config) {
            fill(&mut firmware, &config, stop)?;
        }
        if config.occupancy.is_some_and(|occupancy| occupancy.steady) {
            overwrite_until_steady(&mut firmware, &config, stop)?;
        }
        let mut engine = Engine::new(&config, firmware);
        engine.users.stop = Arc::clone(stop);
        Ok(Self { engine, config })
    }

    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.engine.capacity_bytes
    }

    /// Reports the progress of every later run to `watch`.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.engine.users.watch = Some(Arc::clone(watch));
    }

    /// Runs streams and keeps the resulting state.
    ///
    /// # Errors
    /// [`SimError`] if a request cannot be served or the firmware breaks its contract. The drive
    /// must not be used again then.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        let loops = run::loops_of(&self.engine, &self.config, (streams, plan), (seed, index))?;
        run::run(&mut self.engine, &self.config, (loops, plan), seed, index)
    }
}
