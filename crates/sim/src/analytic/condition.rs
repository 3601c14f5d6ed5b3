//! The conditions under which the equations hold, and the refusals where they do not.

use std::fmt;

use drivelab_request::Direction;

use super::equations::Steps;
use crate::preset::{Dispatch, HostInterface, Mapping, SsdConfig};

/// One condition that a drive does not meet.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Operations do not pass through one in-order stage.
    NotInOrder(Dispatch),
    /// Neighbouring pages may lie on the same unit.
    Mapping(Mapping),
    /// Writes go to SLC blocks first.
    Slc,
    /// Several logical pages share one flash page.
    Compression,
    /// The host's placement handles decide where data lies.
    Placement,
    /// Zones are written in order and reset.
    Zones,
    /// Pages take different times in the cell array.
    PageTypes {
        /// The preset key that sets this.
        key: &'static str,
        /// How many different times there are.
        types: usize,
    },
    /// Wear changes the flash times.
    Ageing,
    /// The firmware takes time.
    Firmware,
    /// The host link takes time.
    HostLink(HostInterface),
    /// Writes complete in a buffer.
    WriteBuffer {
        /// The buffer's size.
        bytes: u64,
    },
    /// Reads are answered from memory.
    ReadCache {
        /// The cache's size.
        bytes: u64,
    },
    /// Durations vary between runs.
    Variability {
        /// The preset key that sets this.
        key: &'static str,
        /// Its value.
        value: f64,
    },
    /// rho differs from the number of units.
    Rho {
        /// The value in the preset.
        rho: u64,
        /// The number of planes in plane mode, otherwise the number of dies.
        units: u64,
    },
    /// Two transfers may want the same channel at the same time.
    TransfersOverlap {
        /// Whether this concerns reads or writes.
        direction: Direction,
        /// Channels of the drive.
        channels: u32,
        /// Dispatch of a page of this direction.
        dispatch_ns: u64,
        /// Transfer of a page of this direction.
        register_ns: u64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInOrder(dispatch) => write!(
                formatter,
                "scheduling.dispatch is {:?}, not {:?}",
                dispatch.word(),
                Dispatch::InOrder.word()
            ),
            Self::Mapping(mapping) => write!(
                formatter,
                "mapping.scheme is {:?}, mapping.order {:?} and mapping.allocation {:?}, not {:?}, \
                 {:?} and {:?}",
                mapping.scheme.word(),
                mapping.order.word(),
                mapping.allocation.word(),
                Mapping::default().scheme.word(),
                Mapping::default().order.word(),
                Mapping::default().allocation.word()
            ),
            Self::Slc => write!(formatter, "[slc] has blocks that take writes first"),
            Self::Compression => write!(formatter, "[compression] packs pages together"),
            Self::Placement => write!(formatter, "[placement] fills reclaim units"),
            Self::Zones => write!(formatter, "[zones] are written in order"),
            Self::PageTypes { key, types } => {
                write!(formatter, "{key} has {types} times, not one for all pages")
            }
            Self::Ageing => write!(formatter, "[ageing] has times that change with erases"),
            Self::Firmware => write!(formatter, "[firmware] says that the firmware takes time"),
            Self::HostLink(interface) => write!(
                formatter,
                "host.interface is {:?}, not {:?}",
                interface.word(),
                HostInterface::Free.word()
            ),
            Self::WriteBuffer { bytes } => {
                write!(formatter, "buffer.write_buffer_bytes is {bytes}, not 0")
            }
            Self::ReadCache { bytes } => {
                write!(formatter, "buffer.read_cache_bytes is {bytes}, not 0")
            }
            Self::Variability { key, value } => write!(formatter, "{key} is {value}, not 0"),
            Self::Rho { rho, units } => write!(
                formatter,
                "closed_form.rho is {rho} but {units} units work at once"
            ),
            Self::TransfersOverlap {
                direction,
                channels,
                dispatch_ns,
                register_ns,
            } => write!(
                formatter,
                "for {direction}s channels x dispatch ({channels} x {dispatch_ns} ns) is below the \
                 register transfer ({register_ns} ns), so transfers of a channel overlap"
            ),
        }
    }
}

/// Every condition of the closed form that a drive fails to meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The preset's name.
    pub preset: String,
    /// The failed conditions; at least one.
    pub reasons: Vec<Reason>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the closed form does not hold for {}: ",
            self.preset
        )?;
        for (position, reason) in self.reasons.iter().enumerate() {
            let separator = if position == 0 { "" } else { "; " };
            write!(formatter, "{separator}{reason}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// Conditions that rule the drive out for both directions.
pub(super) fn general_reasons(config: &SsdConfig) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if config.scheduling.dispatch != Dispatch::InOrder {
        reasons.push(Reason::NotInOrder(config.scheduling.dispatch));
    }
    if config.mapping != Mapping::default() {
        reasons.push(Reason::Mapping(config.mapping.clone()));
    }
    if config.slc.is_some() {
        reasons.push(Reason::Slc);
    }
    if config.compression.is_some() {
        reasons.push(Reason::Compression);
    }
    if config.placement.is_some() {
        reasons.push(Reason::Placement);
    }
    if config.zones.is_some() {
        reasons.push(Reason::Zones);
    }
    if config.ageing.is_some_and(|ageing| ageing.changes_times()) {
        reasons.push(Reason::Ageing);
    }
    for (key, cell) in [
        ("timing.read_cell_ns", config.timing.read_cell_ns),
        ("timing.program_cell_ns", config.timing.program_cell_ns),
    ] {
        let types = cell.types();
        if types > 1 {
            reasons.push(Reason::PageTypes { key, types });
        }
    }
    if config.firmware.is_some() {
        reasons.push(Reason::Firmware);
    }
    if config.host.interface != HostInterface::Free {
        reasons.push(Reason::HostLink(config.host.interface));
    }
    if config.buffer.write_buffer_bytes != 0 {
        reasons.push(Reason::WriteBuffer {
            bytes: config.buffer.write_buffer_bytes,
        });
    }
    if config.buffer.read_cache_bytes != 0 {
        reasons.push(Reason::ReadCache {
            bytes: config.buffer.read_cache_bytes,
        });
    }
    let varies = &config.variability;
    for (key, value) in [
        ("variability.sigma", varies.sigma),
        (
            "variability.outlier_probability",
            varies.outlier_probability,
        ),
        ("variability.correlated_sigma", varies.correlated_sigma),
    ] {
        if value != 0.0 {
            reasons.push(Reason::Variability { key, value });
        }
    }
    let units = u64::from(config.units());
    if let Some(rho) = config.closed_form.rho
        && rho != units
    {
        reasons.push(Reason::Rho { rho, units });
    }
    reasons
}

/// Conditions that rule out one direction.
pub(super) fn overlap(config: &SsdConfig, direction: Direction) -> Option<Reason> {
    let steps = Steps::of(config, direction);
    let channels = config.geometry.channels;
    let apart_ns = u128::from(channels) * u128::from(steps.dispatch_ns);
    (apart_ns < u128::from(steps.register_ns)).then_some(Reason::TransfersOverlap {
        direction,
        channels,
        dispatch_ns: steps.dispatch_ns,
        register_ns: steps.register_ns,
    })
}
