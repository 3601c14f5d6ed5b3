//! A file transferred once, completely, at one request size: a measurement of SeRRa (Boito et al.
//! 2015, section 3).
//!
//! ```text
//!   file      | 0 | 1 | 2 | 3 | 4 | left over |        floor(file / size) requests
//!   in order    0   1   2   3   4
//!   random      3   0   4   2   1                      a permutation: each once
//! ```
//!
//! A partial pass stops after a given number of requests of its order. Its random order is still
//! one of the whole file.
//!
//! One request is outstanding at a time, as in IOzone and IOR. The remainder at the end of the file
//! is not transferred.

use drivelab_request::{Direction, SECTOR_BYTES};

use crate::{CharacteristicsError, MAX_REQUEST_BYTES};

/// One transfer of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholePass {
    /// Whether it is read or written.
    pub direction: Direction,
    /// Whether requests come in a random order.
    pub is_random: bool,
    /// Bytes of a request: whole sectors, at most the size of the file.
    pub request_bytes: u32,
    /// Where the file begins on the drive.
    pub start_bytes: u64,
    /// Its length: whole sectors.
    pub file_bytes: u64,
    /// Stops after this many requests, at least one; `None` means the whole file.
    pub first_requests: Option<u64>,
}

impl WholePass {
    /// The number of requests in the whole file.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.file_bytes / u64::from(self.request_bytes.max(1))
    }

    /// The number of requests sent.
    #[must_use]
    pub fn sent_requests(&self) -> u64 {
        let all = self.requests();
        self.first_requests
            .map_or(all, |first| first.clamp(1, all.max(1)))
    }

    /// The number of bytes they transfer.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.requests() * u64::from(self.request_bytes)
    }

    /// Checks that such a pass is possible.
    ///
    /// # Errors
    ///
    /// [`CharacteristicsError`] if file or request is not a whole number of sectors, or the request
    /// does not fit into the file.
    pub fn validate(&self) -> Result<(), CharacteristicsError> {
        let sector = u64::from(SECTOR_BYTES);
        let end = self.start_bytes.checked_add(self.file_bytes);
        if !self.start_bytes.is_multiple_of(sector)
            || !self.file_bytes.is_multiple_of(sector)
            || end.is_none_or(|end| end > u64::MAX / 2)
        {
            return Err(CharacteristicsError::Range {
                start: self.start_bytes,
                bytes: self.file_bytes,
            });
        }
        let (field, value) = ("request_size", self.request_bytes);
        if !value.is_multiple_of(SECTOR_BYTES)
            || !(SECTOR_BYTES..=MAX_REQUEST_BYTES).contains(&value)
        {
            return Err(CharacteristicsError::Size { field, value });
        }
        if u64::from(value) > self.file_bytes {
            return Err(CharacteristicsError::DoesNotFit {
                field,
                value: value.into(),
                limit: self.file_bytes,
                range_bytes: self.file_bytes,
            });
        }
        Ok(())
    }
}
