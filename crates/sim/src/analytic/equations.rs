//! Equations 1 to 7 of Yoo et al. 2014. Each line that implements one carries its number.

use drivelab_request::Direction;
use thiserror::Error;

use super::condition::{Refusal, general_reasons, overlap};
use crate::preset::SsdConfig;

/// The three parts of a page operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// W_ch or R_ch.
    pub(super) dispatch_ns: u64,
    /// W_reg or R_reg.
    pub(super) register_ns: u64,
    /// W_cell or R_cell.
    pub(super) cell_ns: u64,
}

impl Steps {
    pub(super) fn of(config: &SsdConfig, direction: Direction) -> Self {
        let timing = &config.timing;
        match direction {
            Direction::Read => Self {
                dispatch_ns: timing.read_dispatch_ns,
                register_ns: timing.read_register_ns,
                cell_ns: timing.read_cell_ns.of_page(0),
            },
            Direction::Write => Self {
                dispatch_ns: timing.write_dispatch_ns,
                register_ns: timing.write_register_ns,
                cell_ns: timing.program_cell_ns.of_page(0),
            },
        }
    }
}

/// The closed form of one drive.
///
/// A latency is that of a single request of whole pages. The drive is idle, and consecutive pages
/// lie on the units in turn.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedForm {
    config: SsdConfig,
    rho: u64,
}

/// The latency of a record and its parts. The symbols are those of Yoo et al. 2014, table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordTiming {
    /// N_page.
    pub pages: u64,
    /// rho: the number of pages in flight at once.
    pub rho: u64,
    /// N_cycle.
    pub cycles: u64,
    /// N_remain: pages of the last cycle, 1 to rho.
    pub last_cycle_pages: u64,
    /// W_page or R_page.
    pub page_ns: u64,
    /// t_wait.
    pub wait_ns: u64,
    /// t_cycle.
    pub cycle_ns: u64,
    /// t_cycle_last.
    pub last_cycle_ns: u64,
    /// t_record.
    pub record_ns: u64,
}

/// Reasons why the closed form gives no answer.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ClosedFormError {
    /// The equations do not hold for this drive.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The record is not a whole number of pages of the drive, or not at least one.
    #[error(
        "a record of {record_bytes} bytes is not possible; allowed: a multiple of the page size, \
         {page_bytes}, up to the capacity, {capacity_bytes}"
    )]
    NotWholePages {
        /// The requested size.
        record_bytes: u64,
        /// The drive's page size.
        page_bytes: u64,
        /// The drive's capacity.
        capacity_bytes: u64,
    },
    /// The result does not fit in 64 bits of nanoseconds.
    #[error("a record of {record_bytes} bytes takes longer than 584 years: use a smaller record")]
    TooLong {
        /// The requested size.
        record_bytes: u64,
    },
}

impl ClosedForm {
    /// Builds the closed form of a drive.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with every failed condition, if at least one of them rules out both
    /// directions. If a condition rules out only one direction, [`ClosedForm::record`] refuses that
    /// direction.
    pub fn new(config: &SsdConfig) -> Result<Self, Refusal> {
        let mut reasons = general_reasons(config);
        let overlaps: Vec<_> = Direction::ALL
            .into_iter()
            .filter_map(|direction| overlap(config, direction))
            .collect();
        if !reasons.is_empty() || overlaps.len() == Direction::ALL.len() {
            reasons.extend(overlaps);
            return Err(Refusal {
                preset: config.name.clone(),
                reasons,
            });
        }
        Ok(Self {
            rho: config
                .closed_form
                .rho
                .unwrap_or_else(|| u64::from(config.units())),
            config: config.clone(),
        })
    }

    /// The drive.
    #[must_use]
    pub fn config(&self) -> &SsdConfig {
        &self.config
    }

    /// The number of pages in flight at once.
    #[must_use]
    pub fn rho(&self) -> u64 {
        self.rho
    }

    /// t_record alone: the latency of one request.
    ///
    /// # Errors
    ///
    /// The same as [`ClosedForm::record`].
    pub fn record_ns(
        &self,
        direction: Direction,
        record_bytes: u64,
    ) -> Result<u64, ClosedFormError> {
        Ok(self.record(direction, record_bytes)?.record_ns)
    }

    /// The latency of one request, with its parts.
    ///
    /// # Errors
    ///
    /// [`ClosedFormError::NotWholePages`] unless the size is one or more whole pages within the
    /// capacity. [`ClosedFormError::Refused`] if transfers in this direction overlap.
    pub fn record(
        &self,
        direction: Direction,
        record_bytes: u64,
    ) -> Result<RecordTiming, ClosedFormError> {
        if let Some(reason) = overlap(&self.config, direction) {
            return Err(ClosedFormError::Refused(Refusal {
                preset: self.config.name.clone(),
                reasons: vec![reason],
            }));
        }
        let page_bytes = u64::from(self.config.geometry.page_size_bytes);
        let capacity_bytes = self.config.geometry.user_capacity_bytes;
        if record_bytes == 0
            || !record_bytes.is_multiple_of(page_bytes)
            || record_bytes > capacity_bytes
        {
            return Err(ClosedFormError::NotWholePages {
                record_bytes,
                page_bytes,
                capacity_bytes,
            });
        }
        let pages = record_bytes / page_bytes;
        timing(Steps::of(&self.config, direction), self.rho, pages)
            .ok_or(ClosedFormError::TooLong { record_bytes })
    }
}

/// Equations 1 to 7. `None` if a result does not fit in 64 bits.
fn timing(steps: Steps, rho: u64, pages: u64) -> Option<RecordTiming> {
    let Steps {
        dispatch_ns,
        register_ns,
        cell_ns,
    } = steps;
    let cycles = pages.div_ceil(rho);
    let last_cycle_pages = pages - rho * (cycles - 1);
    let round_ns = dispatch_ns.checked_mul(rho)?;
    // Eq. 1 (write), eq. 2 (read).
    let page_ns = dispatch_ns.checked_add(register_ns)?.checked_add(cell_ns)?;
    // Eq. 3.
    let wait_ns = page_ns.saturating_sub(round_ns);
    // Eq. 4.
    let cycle_ns = round_ns.checked_add(wait_ns)?;
    // Eq. 5.
    let last_cycle_ns = dispatch_ns
        .checked_mul(last_cycle_pages - 1)?
        .checked_add(page_ns)?;
    // Eq. 6 (write), eq. 7 (read).
    let record_ns = dispatch_ns
        .checked_mul(pages - 1)?
        .checked_add(wait_ns.checked_mul(cycles - 1)?)?
        .checked_add(page_ns)?;
    Some(RecordTiming {
        pages,
        rho,
        cycles,
        last_cycle_pages,
        page_ns,
        wait_ns,
        cycle_ns,
        last_cycle_ns,
        record_ns,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn results_beyond_64_bits_are_no_results() {
        let steps = |dispatch_ns, cell_ns| Steps {
            dispatch_ns,
            register_ns: 0,
            cell_ns,
        };
        assert_eq!(timing(steps(u64::MAX, 1), 1, 1), None);
        assert_eq!(timing(steps(u64::MAX / 2, 0), 3, 1), None);
        assert_eq!(timing(steps(2, 0), 1, u64::MAX), None);
        assert_eq!(timing(steps(0, u64::MAX), 1, 2), None);
        assert_eq!(
            timing(steps(0, u64::MAX), 1, 1).unwrap().record_ns,
            u64::MAX
        );
    }
}
