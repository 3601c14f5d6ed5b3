//! Energy of a measurement window, from what the flash did in it.
//!
//! ```text
//!   J = (reads + retries) x read + programs x program + erases x erase
//!       + (reads + programs - halves of copybacks) x page bytes x transfer
//!       + window x idle power
//! ```
//!
//! An operation counts in the window in which it completes.

use drivelab_request::Nanos;

use crate::preset::SsdConfig;

/// Operations that completed in a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub reads: u64,
    /// Times that their pages were sensed again.
    pub retries: u64,
    pub programs: u64,
    /// Of both, those without a transfer.
    pub copybacks: u64,
    pub erases: u64,
    pub requests: u64,
    pub window: Nanos,
}

/// What a window took of the power supply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// In the cell arrays.
    pub cell_joules: f64,
    /// On the channels.
    pub channel_joules: f64,
    /// What the drive takes without any work.
    pub idle_joules: f64,
    /// Mean over the window; 0 for an empty one.
    pub mean_watts: f64,
    /// Requests a second and watt, which is requests a joule; 0 where nothing was taken.
    pub iops_per_watt: f64,
}

impl Energy {
    /// All of it.
    #[must_use]
    pub fn joules(&self) -> f64 {
        self.cell_joules + self.channel_joules + self.idle_joules
    }

    /// Of `work` on a drive of which the energies are known.
    pub(super) fn of(config: &SsdConfig, work: Work) -> Option<Self> {
        const NANO: f64 = 1e-9;
        let each = config.energy.as_ref()?;
        let total = |count: u64, nanojoules: u64| count as f64 * nanojoules as f64 * NANO;
        let seconds = work.window.0 as f64 * NANO;
        let transfers = work.reads + work.programs - work.copybacks;
        let bytes = transfers * u64::from(config.geometry.page_size_bytes);
        let mut energy = Self {
            cell_joules: total(work.reads + work.retries, each.read_page_nj)
                + total(work.programs, each.program_page_nj)
                + total(work.erases, each.erase_block_nj),
            channel_joules: total(bytes, each.transfer_byte_pj) * 1e-3,
            idle_joules: each.idle_power_mw as f64 * 1e-3 * seconds,
            mean_watts: 0.0,
            iops_per_watt: 0.0,
        };
        let joules = energy.joules();
        if seconds > 0.0 {
            energy.mean_watts = joules / seconds;
        }
        if joules > 0.0 {
            energy.iops_per_watt = work.requests as f64 / joules;
        }
        Some(energy)
    }
}
