//! A run of a drive with any firmware: what the events do not tell.

use drivelab_ftl::Firmware;

use super::engine::Engine;
use super::load::Load;
use super::outcome::Outcome;
use super::timing::Timing;
use super::{Plan, SimError, plan};
use crate::host::clock::HostClock;
use crate::host::{Energy, HostTime, Media, measurement_factor};
use crate::preset::SsdConfig;

/// Whether a run can be made of `load` and `plan`.
pub(super) fn check(config: &SsdConfig, load: &Load, plan: Plan) -> Result<(), SimError> {
    let pairs = config.host.queue_pair_weights.len();
    plan::check(load, plan, config.geometry.user_capacity_bytes, pairs)
}

/// Runs what passed [`check`], with the variability of `seed` and `index`, and adds
/// erase counts and energy.
///
/// # Errors
/// As [`Engine::run`], and what the firmware gets wrong when it tells.
pub(super) fn run<F: Firmware>(
    engine: &mut Engine<F>,
    config: &SsdConfig,
    (load, plan): (Load, Plan),
    seed: u64,
    index: u64,
) -> Result<Outcome, SimError> {
    let factor = measurement_factor(&config.variability, seed, index);
    engine.users.clock = HostClock::new(HostTime::new(&config.variability, seed, index));
    let mut outcome = engine.run(load, plan, Timing::new(config, factor))?;
    outcome.variability_factor *= factor;
    end(engine, config, &mut outcome)?;
    Ok(outcome)
}

/// Adds what is known when a run is over: erase counts and energy.
///
/// # Errors
/// What the firmware gets wrong when it tells.
pub(super) fn end<F: Firmware>(
    engine: &mut Engine<F>,
    config: &SsdConfig,
    outcome: &mut Outcome,
) -> Result<(), SimError> {
    let Media::Flash(counters) = &mut outcome.media else {
        return Ok(());
    };
    counters.page_programs += engine.tally.programs();
    counters.erase_counts = engine.firmware.erase_counts()?;
    counters.bad_blocks = engine.firmware.bad_blocks().map(u64::from);
    let requests = outcome.measured_requests;
    outcome.energy = Energy::of(config, counters, requests, outcome.window);
    Ok(())
}
