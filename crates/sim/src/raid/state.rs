//! The state of an array as bytes: for each member a length and then its bytes.

use crate::host::Device;
use crate::snapshot::SnapshotError;

/// The difference of each of `members` from the state in which it was made.
pub(super) fn changes<'a, D: Device + ?Sized + 'a>(
    members: impl Iterator<Item = &'a D>,
) -> Vec<u8> {
    let mut all = Vec::new();
    for member in members {
        let changes = member.changes();
        all.extend((changes.len() as u64).to_le_bytes());
        all.extend(changes);
    }
    all
}

/// Restores what [`changes`] returned for equal `members`. After an error, only some members have
/// it.
///
/// # Errors
/// [`SnapshotError`] if the bytes are incomplete.
pub(super) fn take_up<'a, D: Device + ?Sized + 'a>(
    members: impl Iterator<Item = &'a mut D>,
    mut changes: &[u8],
) -> Result<(), SnapshotError> {
    for member in members {
        let (bytes, rest) = changes.split_first_chunk().ok_or(SnapshotError::Checksum)?;
        let bytes = usize::try_from(u64::from_le_bytes(*bytes));
        let (own, rest) = bytes
            .ok()
            .and_then(|bytes| rest.split_at_checked(bytes))
            .ok_or(SnapshotError::Checksum)?;
        member.take_up(own)?;
        changes = rest;
    }
    if changes.is_empty() {
        Ok(())
    } else {
        Err(SnapshotError::Checksum)
    }
}
