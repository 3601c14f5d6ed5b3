//! The frame around a drive's state between two runs.
//!
//! ```text
//!   "DRIVELAB STATE" | version (4) | configuration's hash (16) | length (8) | changes | FNV-1a (8)
//! ```
//!
//! Numbers have their least byte first. The changes are those of
//! `drivelab_ftl::Restorable::changes_since`; a drive without flash has none.

use drivelab_ftl::StateError;
use thiserror::Error;

const MARK: &[u8; 14] = b"DRIVELAB STATE";

/// Changes with the layout of the bytes, and with what the prepared state of a
/// configuration is.
const VERSION: u32 = 1;

const HASH_BYTES: usize = 16;

/// Why a snapshot is refused.
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
    /// Made of another drive.
    #[error(
        "the snapshot is of a drive with the configuration hash {found}, this one has {expected}: \
         load it into the drive that it was made of"
    )]
    Configuration {
        /// Of the drive that it was made of.
        found: String,
        /// Of the drive that is to load it.
        expected: String,
    },
    /// Not all of its bytes are there, or some were changed.
    #[error("the snapshot is damaged, or was cut off: make it anew")]
    Checksum,
    /// Its bytes are whole, but no state of the drive.
    #[error("the snapshot is damaged: {0}; make it anew")]
    Damaged(#[from] StateError),
}

/// FNV-1a, the same in every build.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// `changes` with their frame.
pub(crate) fn framed(config_hash: &str, changes: &[u8]) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(config_hash.bytes().take(HASH_BYTES));
    bytes.extend((changes.len() as u64).to_le_bytes());
    bytes.extend(changes);
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// The changes inside a frame of this version and configuration.
pub(crate) fn unframed<'a>(config_hash: &str, bytes: &'a [u8]) -> Result<&'a [u8], SnapshotError> {
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
    if hash != config_hash.as_bytes() {
        return Err(SnapshotError::Configuration {
            found: String::from_utf8_lossy(hash).into_owned(),
            expected: config_hash.to_owned(),
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
