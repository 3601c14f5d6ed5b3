//! Whether memory is there before it is needed.
//!
//! Tables of a drive are made by ordinary allocations, and one that fails ends the program without
//! a word. So before a drive is prepared, and before workers get states of their own, all that they
//! will need is asked for at once and given back untouched: where address space is limited that
//! fails here, with an error. What the system promises and cannot keep (a cgroup's limit) is held
//! against the need by whoever knows of it.

use std::hint::black_box;

use super::SimError;

/// What is small beside a drive's tables: requests on their way, results, stacks of threads.
const MARGIN_BYTES: u64 = 32 << 20;

/// Checks that `bytes`, and a margin, can be had now.
///
/// # Errors
/// [`SimError::NoMemory`] when they cannot.
pub fn check_room(bytes: u64) -> Result<(), SimError> {
    let refused = SimError::NoMemory { bytes };
    let Ok(wanted) = usize::try_from(bytes.saturating_add(MARGIN_BYTES)) else {
        return Err(refused);
    };
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(wanted).map_err(|_| refused)?;
    // Else the compiler may leave both out, the asking and the giving back.
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
