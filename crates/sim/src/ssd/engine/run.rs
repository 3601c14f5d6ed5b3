//! A run of a drive with any firmware: results that do not come from events.

use drivelab_ftl::Firmware;
use drivelab_workload::Stream;

use crate::host::clock::HostClock;
use crate::host::load::{self, Host, Running};
use crate::host::outcome::Outcome;
use crate::host::{Energy, HostTime, Media, measurement_factor, plan};
use crate::preset::SsdConfig;
use crate::ssd::engine::Engine;
use crate::ssd::times::Times;
use crate::ssd::{Plan, SimError};

/// The loops of `streams`, if a run can be made from them and `plan`.
pub(in crate::ssd) fn loops_of<F: Firmware>(
    engine: &Engine<F>,
    config: &SsdConfig,
    (streams, plan): (&[Stream], Plan),
    (seed, index): (u64, u64),
) -> Result<Vec<Running>, SimError> {
    let host = Host {
        capacity_bytes: config.geometry.user_capacity_bytes,
        queue_pairs: config.host.queue_pair_weights.len(),
        takes_trims: config.zones.is_none(),
        takes_zeroes: config.zones.is_none(),
        takes_ranges: config.zones.is_none(),
        zones: engine.zones_at_host(),
        namespaces: (config.namespaces.iter())
            .flat_map(|namespaces| namespaces.each())
            .map(|(name, start, bytes)| (name.to_owned(), start, bytes))
            .collect(),
    };
    let loops = load::loops_of(streams, &host, seed, index)?;
    plan::check(streams, plan)?;
    Ok(loops)
}

/// Runs the loops of [`loops_of`] with the variability of `seed` and `index`, and adds erase counts
/// and energy.
///
/// # Errors
/// As [`Engine::run`], and wrong reports of the firmware.
pub(in crate::ssd) fn run<F: Firmware>(
    engine: &mut Engine<F>,
    config: &SsdConfig,
    (loops, plan): (Vec<Running>, Plan),
    seed: u64,
    index: u64,
) -> Result<Outcome, SimError> {
    let factor = measurement_factor(&config.variability, seed, index);
    engine.users.clock = HostClock::new(HostTime::new(&config.variability, seed, index));
    let mut outcome = engine.run(loops, plan, Times::new(config, factor))?;
    outcome.variability_factor *= factor;
    end(engine, config, &mut outcome)?;
    Ok(outcome)
}

/// Adds what is known only after a run: erase counts and energy.
///
/// # Errors
/// Wrong reports of the firmware.
pub(in crate::ssd) fn end<F: Firmware>(
    engine: &mut Engine<F>,
    config: &SsdConfig,
    outcome: &mut Outcome,
) -> Result<(), SimError> {
    let Media::Flash(counters) = &mut outcome.media else {
        return Ok(());
    };
    counters.page_programs += engine.flash.programs();
    counters.erase_counts = engine.firmware.erase_counts()?;
    counters.bad_blocks = engine.firmware.bad_blocks().map(u64::from);
    let requests = outcome.measured_requests;
    outcome.energy = Energy::of(config, counters, requests, outcome.window);
    Ok(())
}
