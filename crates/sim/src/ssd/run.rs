//! A run of a drive with any firmware: what the events do not tell.

use drivelab_ftl::Firmware;

use super::energy::{Energy, Work};
use super::engine::Engine;
use super::load::Load;
use super::outcome::Outcome;
use super::timing::Timing;
use super::{Plan, SimError, variability};
use crate::preset::SsdConfig;

/// Whether a run can be made of `load` and `plan`.
pub(super) fn check(config: &SsdConfig, load: &Load, plan: Plan) -> Result<(), SimError> {
    let pairs = config.host.queue_pair_weights.len();
    load.check(config.geometry.user_capacity_bytes, pairs)?;
    let window = plan.window;
    let most = match window.half_width {
        Some(half_width) => Some(half_width.max_requests),
        None => window.requests,
    };
    let (warmup_requests, requests) = (window.warmup_requests, most.unwrap_or(1));
    let total = warmup_requests
        .checked_add(requests)
        .ok_or(SimError::TooMany {
            warmup_requests,
            requests,
        })?;
    let ends = most.is_some() || window.duration.is_some();
    // Where all commands are known, as many as are measured.
    let commands = load.commands();
    let is_short = commands.is_some_and(|commands| most.is_none() || commands < total);
    if is_short || !ends || requests == 0 || window.requests == Some(0) {
        return Err(SimError::Empty);
    }
    Ok(())
}

/// Runs what passed [`check`], with the variability factor of `seed` and `index`, and adds
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
    let factor = variability::factor(config.variability.sigma, seed, index);
    let mut outcome = engine.run(load, plan, Timing::new(config, factor))?;
    outcome.variability_factor = factor;
    outcome.erase_counts = engine.firmware.erase_counts()?;
    let programs = outcome.host_programs + outcome.collection_programs;
    let work = Work {
        reads: outcome.page_reads,
        programs: programs + outcome.wear_programs,
        copybacks: outcome.copyback_reads + outcome.copyback_programs,
        erases: outcome.erases,
        requests: outcome.measured_requests,
        window: outcome.window,
    };
    outcome.energy = Energy::of(config, work);
    Ok(outcome)
}
