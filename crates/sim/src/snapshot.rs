//! The frame around a drive's state between two runs.
//!
//! ```text
//!   "DRIVELAB STATE" | version (4) | configuration's hash (16) | length (1) | drive's name
//!                    | length (8) | changes | FNV-1a (8)
//! ```
//!
//! Numbers have their least byte first. The name appears in the error if the state is refused. The
//! changes are those of `drivelab_ftl::Restorable::changes_since`; a drive without flash has none.

use drivelab_ftl::StateError;
use thiserror::Error;

const MARK: &[u8; 14] = b"DRIVELAB STATE";

/// Changes with the layout of the bytes, and with the definition of a configuration's prepared
/// state.
const VERSION: u32 = 2;

const HASH_BYTES: usize = 16;

/// The reason why a snapshot is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// Not made by [`Ssd::save`](crate::ssd::Ssd::save), or cut off in its first bytes.
    #[error("this is no snapshot of a simulated drive: make one with --save-state, or Ssd::save")]
    NoSnapshot,
    /// Made by another version.
    #[error(
        "the snapshot has version {found}, this program reads version {VERSION}: make it anew, or \
         use the program that made it"
    )]
    Version {
        /// The snapshot's version.
        found: u32,
    },
    /// Made from another drive.
    #[error("the snapshot is of {found:?}, {}", other_than(.found, .expected))]
    Configuration {
        /// The name of the drive it was made from.
        found: String,
        /// The name of the drive that should load it.
        expected: String,
    },
    /// Some bytes are missing or changed.
    #[error("the snapshot is damaged, or was cut off: make it anew")]
    Checksum,
    /// Its bytes are complete, but they are not a state of the drive.
    #[error("the snapshot is damaged: {0}; make it anew")]
    Damaged(#[from] StateError),
}

/// The reason to refuse a state of the drive `found` on `expected`.
fn other_than(found: &str, expected: &str) -> String {
    if found == expected {
        "of other values than its preset has now, or filled otherwise than [occupancy] of the \
         scenario says: make it anew"
            .to_owned()
    } else {
        format!("not of {expected:?}: load it into the drive that it was made of")
    }
}

/// The name of a drive, cut to the characters that a frame holds.
fn held(name: &str) -> &str {
    let mut ends = (0..=name.len().min(usize::from(u8::MAX))).rev();
    ends.find_map(|end| name.get(..end)).unwrap_or_default()
}

/// FNV-1a, the same in every build.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// `changes` in their frame.
pub(crate) fn framed(name: &str, config_hash: &str, changes: &[u8]) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(config_hash.bytes().take(HASH_BYTES));
    let name = held(name);
    bytes.extend(u8::try_from(name.len()));
    bytes.extend(name.bytes());
    bytes.extend((changes.len() as u64).to_le_bytes());
    bytes.extend(changes);
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// The changes inside a frame of this version and configuration.
pub(crate) fn unframed<'a>(
    name: &str,
    config_hash: &str,
    bytes: &'a [u8],
) -> Result<&'a [u8], SnapshotError> {
    let rest = bytes.strip_prefix(MARK).ok_or(SnapshotError::NoSnapshot)?;
    let (version, rest) = rest.split_first_chunk().ok_or(SnapshotError::Checksum)?;
    let found = u32::from_le_bytes(*version);
    if found != VERSION {
        return Err(SnapshotError::Version { found });
    }
    let (content, sum) = bytes.split_last_chunk().ok_or(SnapshotError::Checksum)?;
    if checksum(content) != u64::from_le_bytes(*sum) {
        return Err(SnapshotError::Checksum);
    }
    let (hash, rest) = rest
        .split_first_chunk::<HASH_BYTES>()
        .ok_or(SnapshotError::Checksum)?;
    let (&length, rest) = rest.split_first().ok_or(SnapshotError::Checksum)?;
    let (found, rest) = rest
        .split_at_checked(length.into())
        .ok_or(SnapshotError::Checksum)?;
    if hash != config_hash.as_bytes() {
        return Err(SnapshotError::Configuration {
            found: String::from_utf8_lossy(found).into_owned(),
            expected: held(name).to_owned(),
        });
    }
    let (length, rest) = rest.split_first_chunk().ok_or(SnapshotError::Checksum)?;
    let (changes, _) = rest
        .split_last_chunk::<8>()
        .ok_or(SnapshotError::Checksum)?;
    if changes.len() as u64 != u64::from_le_bytes(*length) {
        return Err(SnapshotError::Checksum);
    }
    Ok(changes)
}
