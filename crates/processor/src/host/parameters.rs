//! A host's parameters, from TOML.

use serde::{Deserialize, Serialize};

use crate::parameters::{
    CacheSize, MOST_BYTES, MOST_ENTRIES, MOST_OWN_BYTES, ParameterError, Prefetch, power_of_two,
    read, within,
};
use crate::predict::tagged::MOST_HISTORY;

/// A host-like core.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HostParameters {
    /// `host`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// A description in one line.
    pub summary: String,
    /// Cycles per second.
    pub frequency_hz: u64,
    /// Bus cycles per second.
    pub bus_hz: u64,
    /// The first data cache.
    pub l1d: CacheSize,
    /// The second cache.
    pub l2: CacheSize,
    /// The last cache.
    pub llc: CacheSize,
    /// Its prefetcher.
    pub prefetch: Prefetch,
    /// Its branch predictor.
    pub predictor: HostPredictor,
    /// The parameters that cycles are derived with.
    pub derived: Derived,
}

/// A host's branch predictor.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HostPredictor {
    /// Counters by address.
    pub base_entries: usize,
    /// Entries of each table by history.
    pub tagged_entries: usize,
    /// How many branches each table remembers.
    pub history_lengths: Vec<u32>,
    /// Entries for targets of indirect branches.
    pub indirect_entries: usize,
    /// Entries of the return stack.
    pub return_entries: usize,
}

/// The parameters that cycles are derived with.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// Micro-operations of a hundred cycles without stalls.
    pub micro_operations_per_100_cycles: u64,
    /// A mispredicted branch.
    pub mispredict_cycles: u64,
    /// A hit in the second cache.
    pub l2_cycles: u64,
    /// A hit in the last cache.
    pub llc_cycles: u64,
    /// A hit in the last cache that the prefetcher foresaw.
    pub llc_streamed_cycles: u64,
    /// A miss that memory serves.
    pub memory_cycles: u64,
    /// A miss that memory serves and the prefetcher foresaw.
    pub streamed_cycles: u64,
    /// The part of a load's latency that is not hidden.
    pub exposed_percent: u64,
    /// The part of a store's latency that is not hidden.
    pub exposed_store_percent: u64,
}

impl HostParameters {
    /// Reads a host from its text.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] if the text is no host or a value is impossible.
    pub fn from_toml(text: &str) -> Result<Self, ParameterError> {
        let parameters: Self = read(text, "host")?;
        parameters.check()?;
        Ok(parameters)
    }

    fn check(&self) -> Result<(), ParameterError> {
        within(
            "frequency_hz",
            self.frequency_hz,
            1_000_000,
            100_000_000_000,
        )?;
        within("bus_hz", self.bus_hz, 1_000_000, self.frequency_hz)?;
        self.l1d.check("l1d", MOST_OWN_BYTES)?;
        self.l2.check("l2", MOST_OWN_BYTES)?;
        self.llc.check("llc", MOST_BYTES)?;
        self.prefetch.check()?;
        let predictor = &self.predictor;
        power_of_two(
            "predictor.base_entries",
            predictor.base_entries,
            MOST_ENTRIES,
        )?;
        power_of_two(
            "predictor.tagged_entries",
            predictor.tagged_entries,
            MOST_ENTRIES,
        )?;
        power_of_two(
            "predictor.indirect_entries",
            predictor.indirect_entries,
            MOST_ENTRIES,
        )?;
        within(
            "predictor.return_entries",
            predictor.return_entries as u64,
            1,
            1024,
        )?;
        for &length in &predictor.history_lengths {
            let most = u64::from(MOST_HISTORY);
            within("predictor.history_lengths", u64::from(length), 1, most)?;
        }
        let derived = &self.derived;
        let rate = derived.micro_operations_per_100_cycles;
        within("derived.micro_operations_per_100_cycles", rate, 10, 2000)?;
        for (key, cycles) in [
            ("derived.mispredict_cycles", derived.mispredict_cycles),
            ("derived.l2_cycles", derived.l2_cycles),
            ("derived.llc_cycles", derived.llc_cycles),
            ("derived.llc_streamed_cycles", derived.llc_streamed_cycles),
            ("derived.memory_cycles", derived.memory_cycles),
            ("derived.streamed_cycles", derived.streamed_cycles),
        ] {
            within(key, cycles, 0, 100_000)?;
        }
        within("derived.exposed_percent", derived.exposed_percent, 0, 100)?;
        within(
            "derived.exposed_store_percent",
            derived.exposed_store_percent,
            0,
            100,
        )
    }
}
