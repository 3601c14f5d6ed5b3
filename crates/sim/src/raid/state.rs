//! The state of an array as bytes: of every member how many, then these.

use crate::host::Device;
use crate::snapshot::SnapshotError;

/// What differs in `members` from the state in which they were made.
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

/// Gives `members` what [`changes`] answered of members like these; after an error some have it.
///
/// # Errors
/// [`SnapshotError`] where the bytes are not whole.
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
