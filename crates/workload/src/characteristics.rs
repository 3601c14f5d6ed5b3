//! The workload vector and its allowed values.

use drivelab_request::{Direction, SECTOR_BYTES};
use thiserror::Error;

/// The deepest queue, that of NVMe.
pub const MAX_QUEUE_DEPTH: u32 = 65_536;
/// The largest request. Hosts split larger ones long before the drive sees them.
pub const MAX_REQUEST_BYTES: u32 = 64 << 20;

/// A workload as a vector of characteristics (Huang et al. 2011, equation 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Characteristics {
    /// Fraction of the requests that write, 0 to 1.
    pub write_ratio: f64,
    /// Requests outstanding at any time.
    pub queue_depth: u32,
    /// Bytes of a read.
    pub read_size: u32,
    /// Bytes of a write.
    pub write_size: u32,
    /// Fraction of the reads that go to a random offset, 0 to 1.
    pub read_random: f64,
    /// Fraction of the writes that go to a random offset, 0 to 1.
    pub write_random: f64,
    /// Bytes from the end of a read to the start of the next one, if that is not random; 0 is
    /// sequential.
    pub read_stride: u64,
    /// The same for writes.
    pub write_stride: u64,
}

impl Default for Characteristics {
    /// Random reads of 4 KiB, one at a time.
    fn default() -> Self {
        Self {
            write_ratio: 0.0,
            queue_depth: 1,
            read_size: 4096,
            write_size: 4096,
            read_random: 1.0,
            write_random: 1.0,
            read_stride: 0,
            write_stride: 0,
        }
    }
}

/// A characteristic that no drive, or not this drive, can serve.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CharacteristicsError {
    /// A ratio outside 0 to 1.
    #[error("{field} is {value}; allowed: a ratio from 0 to 1")]
    Ratio {
        /// The characteristic.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// An impossible queue depth.
    #[error("queue_depth is {value}; allowed: 1 to {MAX_QUEUE_DEPTH}")]
    QueueDepth {
        /// Its value.
        value: u32,
    },
    /// A request size that is not a multiple of the sector, or is zero or beyond the limit.
    #[error(
        "{field} is {value} bytes; allowed: a multiple of {SECTOR_BYTES} from {SECTOR_BYTES} to \
         {MAX_REQUEST_BYTES}"
    )]
    Size {
        /// The characteristic.
        field: &'static str,
        /// Its value.
        value: u32,
    },
    /// A stride that is not a multiple of the sector, or is far too long.
    #[error(
        "{field} is {value} bytes; allowed: 0 (sequential) or a multiple of {SECTOR_BYTES} below 2^63"
    )]
    Stride {
        /// The characteristic.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// A request or stride that does not fit into its range.
    #[error("{field} is {value} bytes; allowed here: at most {limit}, the range has {range_bytes}")]
    DoesNotFit {
        /// The characteristic.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The largest value that fits.
        limit: u64,
        /// Bytes of the range.
        range_bytes: u64,
    },
    /// Requests that visit each place once, but are neither all random nor all in order.
    #[error(
        "of the {name}s {random} are random; allowed where each place comes once: 0 or 1",
        name = .direction.name()
    )]
    RandomInPart {
        /// Reads or writes.
        direction: Direction,
        /// The fraction that is random.
        random: f64,
    },
    /// Requests whose places depend on the zones of a drive.
    #[error("it writes zone by zone; allowed on a simulated drive alone, whose zones are known")]
    Zoned,
    /// A range that is not a whole number of sectors, or ends beyond 2^63.
    #[error(
        "the range starts at {start} and has {bytes} bytes; allowed: multiples of {SECTOR_BYTES} \
         that end below 2^63"
    )]
    Range {
        /// Its first byte.
        start: u64,
        /// Its length.
        bytes: u64,
    },
}

impl Characteristics {
    /// Bytes of a request in `direction`.
    #[must_use]
    pub const fn size(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Read => self.read_size,
            Direction::Write => self.write_size,
        }
    }

    /// Fraction of random accesses in `direction`.
    #[must_use]
    pub const fn random(&self, direction: Direction) -> f64 {
        match direction {
            Direction::Read => self.read_random,
            Direction::Write => self.write_random,
        }
    }

    /// Bytes between two non-random accesses in `direction`.
    #[must_use]
    pub const fn stride(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.read_stride,
            Direction::Write => self.write_stride,
        }
    }

    /// Checks that a drive or range of `capacity_bytes` can serve this workload.
    ///
    /// # Errors
    ///
    /// [`CharacteristicsError`] names the first impossible characteristic, its value and the
    /// allowed values. Characteristics without effect are checked too, such as the write size of a
    /// workload that only reads.
    pub fn validate(&self, capacity_bytes: u64) -> Result<(), CharacteristicsError> {
        ratio("write_ratio", self.write_ratio)?;
        if !(1..=MAX_QUEUE_DEPTH).contains(&self.queue_depth) {
            let value = self.queue_depth;
            return Err(CharacteristicsError::QueueDepth { value });
        }
        size("read_size", self.read_size)?;
        size("write_size", self.write_size)?;
        ratio("read_random", self.read_random)?;
        ratio("write_random", self.write_random)?;
        stride("read_stride", self.read_stride)?;
        stride("write_stride", self.write_stride)?;
        let fits = |field, value, limit| {
            if value <= limit {
                return Ok(());
            }
            Err(CharacteristicsError::DoesNotFit {
                field,
                value,
                limit,
                range_bytes: capacity_bytes,
            })
        };
        let (read, write) = (u64::from(self.read_size), u64::from(self.write_size));
        fits("read_size", read, capacity_bytes)?;
        fits("write_size", write, capacity_bytes)?;
        fits("read_stride", self.read_stride, capacity_bytes - read)?;
        fits("write_stride", self.write_stride, capacity_bytes - write)
    }
}

fn ratio(field: &'static str, value: f64) -> Result<(), CharacteristicsError> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(CharacteristicsError::Ratio { field, value })
    }
}

fn size(field: &'static str, value: u32) -> Result<(), CharacteristicsError> {
    if value.is_multiple_of(SECTOR_BYTES) && (SECTOR_BYTES..=MAX_REQUEST_BYTES).contains(&value) {
        Ok(())
    } else {
        Err(CharacteristicsError::Size { field, value })
    }
}

fn stride(field: &'static str, value: u64) -> Result<(), CharacteristicsError> {
    if value.is_multiple_of(u64::from(SECTOR_BYTES)) && value <= u64::MAX / 2 {
        Ok(())
    } else {
        Err(CharacteristicsError::Stride { field, value })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    const CAPACITY: u64 = 1 << 30;

    fn refusal(change: impl FnOnce(&mut Characteristics)) -> String {
        let mut characteristics = Characteristics::default();
        change(&mut characteristics);
        characteristics.validate(CAPACITY).unwrap_err().to_string()
    }

    #[test]
    fn the_default_is_possible() {
        Characteristics::default().validate(CAPACITY).unwrap();
    }

    #[test]
    fn ratios_name_field_value_and_what_is_allowed() {
        assert_eq!(
            refusal(|c| c.write_ratio = 1.5),
            "write_ratio is 1.5; allowed: a ratio from 0 to 1"
        );
        assert!(refusal(|c| c.read_random = -0.1).starts_with("read_random is -0.1;"));
        assert!(refusal(|c| c.write_random = f64::NAN).starts_with("write_random is NaN;"));
    }

    #[test]
    fn queue_depths() {
        assert_eq!(
            refusal(|c| c.queue_depth = 0),
            "queue_depth is 0; allowed: 1 to 65536"
        );
        assert!(refusal(|c| c.queue_depth = 65_537).starts_with("queue_depth is 65537;"));
    }

    #[test]
    fn sizes_and_strides_are_whole_sectors() {
        assert_eq!(
            refusal(|c| c.read_size = 1000),
            "read_size is 1000 bytes; allowed: a multiple of 512 from 512 to 67108864"
        );
        assert!(refusal(|c| c.write_size = 0).starts_with("write_size is 0 bytes;"));
        assert!(refusal(|c| c.write_size = u32::MAX - 511).contains("67108864"));
        assert_eq!(
            refusal(|c| c.write_stride = 513),
            "write_stride is 513 bytes; allowed: 0 (sequential) or a multiple of 512 below 2^63"
        );
    }

    #[test]
    fn requests_and_strides_fit_the_range() {
        let workload = Characteristics {
            read_size: 8192,
            read_stride: 4096,
            ..Characteristics::default()
        };
        workload.validate(12_288).unwrap();
        assert_eq!(
            workload.validate(11_776).unwrap_err().to_string(),
            "read_stride is 4096 bytes; allowed here: at most 3584, the range has 11776"
        );
        assert_eq!(
            workload.validate(4096).unwrap_err().to_string(),
            "read_size is 8192 bytes; allowed here: at most 4096, the range has 4096"
        );
    }
}
