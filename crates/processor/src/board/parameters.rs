//! A target's parameters, from TOML.

use serde::{Deserialize, Serialize};

use crate::parameters::{
    CacheSize, MOST_BYTES, MOST_ENTRIES, MOST_OWN_BYTES, ParameterError, Prefetch, power_of_two,
    read, within,
};

/// Several in-order cores.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TargetParameters {
    /// `target`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// A description in one line.
    pub summary: String,
    /// Cores; logical worker `n` runs on core `n` modulo this number.
    pub cores: usize,
    /// Cycles per second.
    pub frequency_hz: u64,
    /// A core's instruction cache.
    pub l1i: CacheSize,
    /// A core's data cache.
    pub l1d: CacheSize,
    /// The cache that all cores share.
    pub l2: CacheSize,
    /// The prefetcher of each core.
    pub prefetch: Prefetch,
    /// The branch predictor of each core.
    pub predictor: TargetPredictor,
    /// How instructions issue.
    pub pipeline: Pipeline,
    /// What misses cost, each as a band.
    pub penalty: Penalties,
}

/// A target's branch predictor.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TargetPredictor {
    /// Two-bit counters.
    pub pattern_entries: usize,
    /// Branches in the history.
    pub history_bits: u32,
    /// Entries for targets of indirect branches.
    pub indirect_entries: usize,
    /// Entries of the return stack.
    pub return_entries: usize,
}

/// How instructions issue, in order. A latency counts from an instruction's issue to its result; an
/// early operand is needed this many cycles after the issue.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Instructions that may issue in one cycle.
    pub issue_width: u64,
    /// Shifts by constants, constants, addresses of code.
    pub shift_cycles: u64,
    /// Other arithmetic and logic.
    pub alu_cycles: u64,
    /// Products.
    pub multiply_cycles: u64,
    /// Quotients, one at a time.
    pub divide_cycles: u64,
    /// A load that hits in L1.
    pub load_cycles: u64,
    /// Vectors and floating point.
    pub vector_cycles: u64,
    /// Quotients and roots of vectors, one at a time.
    pub vector_divide_cycles: u64,
    /// An operand of arithmetic, used as it is.
    pub alu_operand_early_cycles: u64,
    /// An operand that is shifted or extended first, or a factor.
    pub shifted_operand_early_cycles: u64,
    /// The value that is stored.
    pub stored_operand_early_cycles: u64,
    /// Flags that a branch tests.
    pub flags_early_cycles: u64,
    /// An address that was loaded.
    pub loaded_address_early_cycles: u64,
    /// Bytes that the load unit takes per cycle.
    pub load_bytes_per_cycle: u64,
    /// Bytes that it stores per cycle.
    pub store_bytes_per_cycle: u64,
    /// Cycles without an issue after a taken branch.
    pub taken_branch_cycles: u64,
    /// Extra cycles of an ordered or exclusive load or store.
    pub exclusive_cycles: u64,
}

/// A cost that is not known exactly.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The lowest plausible value.
    pub low: u64,
    /// The most likely value.
    pub likely: u64,
    /// The highest plausible value.
    pub high: u64,
}

impl Band {
    /// Its values, from low to high.
    #[must_use]
    pub fn values(&self) -> [u64; 3] {
        [self.low, self.likely, self.high]
    }

    fn check(&self, key: &str, most: u64) -> Result<(), ParameterError> {
        within(&format!("{key}.high"), self.high, 0, most)?;
        within(&format!("{key}.likely"), self.likely, 0, self.high)?;
        within(&format!("{key}.low"), self.low, 0, self.likely)
    }
}

/// What misses cost, in cycles more than a hit in L1.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Penalties {
    /// A hit in the shared cache.
    pub l2_cycles: Band,
    /// A miss that memory serves.
    pub memory_cycles: Band,
    /// A miss that memory serves and the prefetcher foresaw.
    pub streamed_cycles: Band,
    /// A line that another core's cache gives, or must give up.
    pub snoop_cycles: Band,
    /// A mispredicted branch.
    pub mispredict_cycles: Band,
    /// The part of these penalties that a store waits for.
    pub stored_miss_percent: Band,
}

impl TargetParameters {
    /// Reads a target from its text.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] if the text is no target or a value is impossible.
    pub fn from_toml(text: &str) -> Result<Self, ParameterError> {
        let parameters: Self = read(text, "target")?;
        parameters.check()?;
        Ok(parameters)
    }

    fn check(&self) -> Result<(), ParameterError> {
        within("cores", self.cores as u64, 1, 64)?;
        within(
            "frequency_hz",
            self.frequency_hz,
            1_000_000,
            100_000_000_000,
        )?;
        self.l1i.check("l1i", MOST_OWN_BYTES)?;
        self.l1d.check("l1d", MOST_OWN_BYTES)?;
        self.l2.check("l2", MOST_BYTES)?;
        self.prefetch.check()?;
        let predictor = &self.predictor;
        let entries = predictor.pattern_entries as u64;
        within("predictor.pattern_entries", entries, 1, MOST_ENTRIES as u64)?;
        within(
            "predictor.history_bits",
            u64::from(predictor.history_bits),
            0,
            32,
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
        self.pipeline.check()?;
        let penalty = &self.penalty;
        penalty.l2_cycles.check("penalty.l2_cycles", 100_000)?;
        penalty
            .memory_cycles
            .check("penalty.memory_cycles", 100_000)?;
        penalty
            .streamed_cycles
            .check("penalty.streamed_cycles", 100_000)?;
        penalty
            .snoop_cycles
            .check("penalty.snoop_cycles", 100_000)?;
        penalty
            .mispredict_cycles
            .check("penalty.mispredict_cycles", 100_000)?;
        penalty
            .stored_miss_percent
            .check("penalty.stored_miss_percent", 100)
    }
}

impl Pipeline {
    fn check(&self) -> Result<(), ParameterError> {
        within("pipeline.issue_width", self.issue_width, 1, 8)?;
        within(
            "pipeline.load_bytes_per_cycle",
            self.load_bytes_per_cycle,
            1,
            64,
        )?;
        within(
            "pipeline.store_bytes_per_cycle",
            self.store_bytes_per_cycle,
            1,
            64,
        )?;
        for (key, cycles) in [
            ("pipeline.shift_cycles", self.shift_cycles),
            ("pipeline.alu_cycles", self.alu_cycles),
            ("pipeline.multiply_cycles", self.multiply_cycles),
            ("pipeline.divide_cycles", self.divide_cycles),
            ("pipeline.load_cycles", self.load_cycles),
            ("pipeline.vector_cycles", self.vector_cycles),
            ("pipeline.vector_divide_cycles", self.vector_divide_cycles),
        ] {
            within(key, cycles, 1, 1000)?;
        }
        for (key, cycles) in [
            (
                "pipeline.alu_operand_early_cycles",
                self.alu_operand_early_cycles,
            ),
            (
                "pipeline.shifted_operand_early_cycles",
                self.shifted_operand_early_cycles,
            ),
            (
                "pipeline.stored_operand_early_cycles",
                self.stored_operand_early_cycles,
            ),
            ("pipeline.flags_early_cycles", self.flags_early_cycles),
            (
                "pipeline.loaded_address_early_cycles",
                self.loaded_address_early_cycles,
            ),
            ("pipeline.taken_branch_cycles", self.taken_branch_cycles),
            ("pipeline.exclusive_cycles", self.exclusive_cycles),
        ] {
            within(key, cycles, 0, 1000)?;
        }
        Ok(())
    }
}
