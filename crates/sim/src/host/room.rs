//! Checks that memory suffices before it is needed.
//!
//! The tables of a drive use ordinary allocations, and a failed one ends the program without a
//! message. So before a drive is prepared, and before workers get their own states, everything they
//! will need is allocated at once and freed untouched. Where address space is limited, that fails
//! here with an error. Limits that the system does not enforce on allocation (such as a cgroup's)
//! are checked by whoever knows them.

use std::hint::black_box;

use super::SimError;

/// Everything small compared with a drive's tables: outstanding requests, results, thread stacks.
const MARGIN_BYTES: u64 = 32 << 20;

/// Checks that `bytes` plus a margin are available now.
///
/// # Errors
/// [`SimError::NoMemory`] if they are not.
pub fn check_room(bytes: u64) -> Result<(), SimError> {
    let refused = SimError::NoMemory { bytes };
    let Ok(wanted) = usize::try_from(bytes.saturating_add(MARGIN_BYTES)) else {
        return Err(refused);
    };
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(wanted).map_err(|_| refused)?;
    // Without this the compiler may remove both the allocation and the release.
    black_box(&room);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{SimError, check_room};

    #[test]
    fn what_no_machine_has_is_refused_and_little_is_not() {
        assert!(check_room(1 << 20).is_ok());
        for bytes in [1 << 60, u64::MAX] {
            let refused = check_room(bytes);
            assert!(matches!(refused, Err(SimError::NoMemory { bytes: of }) if of == bytes));
        }
    }
}
