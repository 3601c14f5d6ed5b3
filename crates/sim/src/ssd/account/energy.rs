//! Energy of a measurement window, computed from what the flash did in it.
//!
//! ```text
//!   J = (reads + retries) x read + programs x program + erases x erase
//!       + (reads + programs - halves of copybacks) x page bytes x transfer
//!       + window x idle power
//! ```
//!
//! An operation counts in the window in which it completes.

use drivelab_request::Nanos;

use crate::host::{Energy, FlashCounters};
use crate::preset::SsdConfig;

impl Energy {
    /// The energy of a window with these requests and completed operations. `None` if the preset
    /// gives no energies.
    pub(in crate::ssd) fn of(
        config: &SsdConfig,
        counters: &FlashCounters,
        requests: u64,
        window: Nanos,
    ) -> Option<Self> {
        const NANO: f64 = 1e-9;
        let each = config.energy.as_ref()?;
        let total = |count: u64, nanojoules: u64| count as f64 * nanojoules as f64 * NANO;
        let seconds = window.0 as f64 * NANO;
        let (reads, programs) = (counters.page_reads, counters.programs());
        // Copybacks transfer nothing.
        let copybacks = counters.copyback_page_reads + counters.copyback_page_programs;
        let bytes = (reads + programs - copybacks) * u64::from(config.geometry.page_size_bytes);
        let mut energy = Self {
            cell_joules: total(
                reads + counters.read_retries.unwrap_or(0),
                each.read_page_nj,
            ) + total(programs, each.program_page_nj)
                + total(counters.block_erases, each.erase_block_nj),
            channel_joules: total(bytes, each.transfer_byte_pj) * 1e-3,
            idle_joules: each.idle_power_mw as f64 * 1e-3 * seconds,
            mean_watts: 0.0,
            requests,
        };
        if seconds > 0.0 {
            energy.mean_watts = energy.joules() / seconds;
        }
        Some(energy)
    }
}
