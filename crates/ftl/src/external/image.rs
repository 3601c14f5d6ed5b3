//! Checks that a shared library file is complete.
//!
//! The system maps a library as its headers say, without checking the file's length. A truncated
//! file would end the whole program (`SIGBUS`) instead of failing to load.

use std::path::Path;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader};

/// The reason why the file at `path` cannot be loaded, where the system would not give one.
pub(super) fn defect(path: &Path) -> Option<String> {
    // If it cannot be read, the system reports that.
    let data = std::fs::read(path).ok()?;
    let data = data.as_slice();
    let damaged = |error: object::Error| format!("it is no shared library, or damaged: {error}");
    let header = match FileHeader64::<Endianness>::parse(data) {
        Ok(header) => header,
        Err(error) => return Some(damaged(error)),
    };
    let segments = header
        .endian()
        .and_then(|endian| Ok((endian, header.program_headers(endian, data)?)));
    let (endian, segments) = match segments {
        Ok(segments) => segments,
        Err(error) => return Some(damaged(error)),
    };
    let end_of = |segment: &_| {
        let (start, size) = ProgramHeader::file_range(segment, endian);
        start.saturating_add(size)
    };
    let needed = segments.iter().map(end_of).max().unwrap_or(0);
    let missing = needed.saturating_sub(data.len() as u64);
    (missing > 0).then(|| format!("its last {missing} bytes are missing: build or copy it again"))
}
