//! Whether a shared library is all there.
//!
//! The system maps a library as its headers say, without a look at the file's length: a
//! file that was cut off ends the whole program (`SIGBUS`) instead of failing to load.

use std::path::Path;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader};

/// Why the file at `path` cannot be loaded as a library, where the system would not say.
pub(super) fn defect(path: &Path) -> Option<String> {
    // What cannot be read is told by the system.
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
