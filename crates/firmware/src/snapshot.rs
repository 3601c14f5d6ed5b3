//! A state as a file that is mapped, not read. So a run begins at once, and pages of the file are
//! copied only when the run changes them.
//!
//! ```text
//!   0      "DLFWSTAT", versions of the file and of the tables, geometry, number of tables,
//!          offset and length of each, all least byte first
//!   4096   the tables, each at a multiple of 64 KiB: those of the map in their order, then
//!          how far the blocks of all dies are programmed, 2 bytes each
//! ```
//!
//! Tables are stored in the byte order of the machine, which must be little-endian. That holds for
//! x86-64 and aarch64. A file that was damaged later can harm only its own run: its content is
//! checked where it is used.

use std::ffi::c_void;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drivelab_ftl::{PageMap, Shared};

use crate::error::RunError;
use crate::geometry::Geometry;
use crate::state::State;

const MAGIC: [u8; 8] = *b"DLFWSTAT";
const FILE_VERSION: u32 = 1;
const HEAD_BYTES: usize = 4096;
/// The largest page of any machine that maps the file.
const ALIGNMENT: u64 = 64 << 10;

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> RunError + '_ {
    move |error| RunError::File {
        path: path.to_owned(),
        error,
    }
}

/// Where tables of `lengths` bytes lie, and the end of the file.
fn places(lengths: &[u64]) -> (Vec<u64>, u64) {
    let mut end = HEAD_BYTES as u64;
    let offsets = lengths
        .iter()
        .map(|length| {
            let offset = end.next_multiple_of(ALIGNMENT);
            end = offset + length;
            offset
        })
        .collect();
    (offsets, end)
}

fn lengths(geometry: &Geometry) -> Vec<u64> {
    let tables = PageMap::<Shared>::tables(&geometry.layout());
    let blocks = u64::from(geometry.layout().blocks());
    tables
        .iter()
        .map(|table| table.bytes() as u64)
        .chain([blocks * 2])
        .collect()
}

fn head(geometry: &Geometry) -> [u8; HEAD_BYTES] {
    let lengths = lengths(geometry);
    let (offsets, _) = places(&lengths);
    let mut bytes = MAGIC.to_vec();
    for number in [
        FILE_VERSION,
        PageMap::<Shared>::TABLES_VERSION,
        geometry.channels,
        geometry.ways,
        geometry.dies,
        geometry.blocks,
        geometry.pages,
        lengths.len() as u32,
    ] {
        bytes.extend(number.to_le_bytes());
    }
    for (offset, length) in offsets.iter().zip(&lengths) {
        bytes.extend(offset.to_le_bytes());
        bytes.extend(length.to_le_bytes());
    }
    let mut head = [0; HEAD_BYTES];
    head[..bytes.len()].copy_from_slice(&bytes);
    head
}

/// A file that is written under another name, and takes its place when it is complete.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
    beside: PathBuf,
    file: Option<File>,
}

impl Unfinished {
    /// Begins the file `path`, before the work whose result it will keep.
    ///
    /// # Errors
    /// [`RunError::File`] if it cannot be written, or something else has its name.
    pub fn begin(path: &Path) -> Result<Self, RunError> {
        if let Some(why) = in_its_place(path) {
            return Err(file_error(path)(std::io::Error::other(why)));
        }
        let mut beside = path.as_os_str().to_owned();
        // Another process may write the same file.
        beside.push(format!(".unfinished-{}", std::process::id()));
        let beside = PathBuf::from(beside);
        let file = File::create(&beside).map_err(file_error(path))?;
        Ok(Self {
            path: path.to_owned(),
            beside,
            file: Some(file),
        })
    }

    /// Writes `state`, and replaces any file in its place.
    ///
    /// # Errors
    /// [`RunError::File`] if that fails.
    pub fn finish(mut self, state: &State) -> Result<(), RunError> {
        let written = match &mut self.file {
            Some(file) => write_tables(state, file),
            None => Ok(()),
        };
        written
            .and_then(|()| std::fs::rename(&self.beside, &self.path))
            .map_err(file_error(&self.path))?;
        self.file = None;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // An incomplete file is useless, and there is nobody to inform.
            let _ = std::fs::remove_file(&self.beside);
        }
    }
}

/// What already has the name `path` and must not be replaced.
fn in_its_place(path: &Path) -> Option<&'static str> {
    let metadata = path.metadata().ok()?;
    if metadata.is_dir() {
        return Some("it is a folder: name a file in it");
    }
    (!metadata.is_file()).then_some("it is no regular file: choose another name")
}

/// Writes `state` to `path`.
///
/// # Errors
/// [`RunError::File`] if that fails.
pub fn save(state: &State, path: &Path) -> Result<(), RunError> {
    Unfinished::begin(path)?.finish(state)
}

fn write_tables(state: &State, file: &mut File) -> std::io::Result<()> {
    file.write_all(&head(&state.geometry))?;
    let (offsets, end) = places(&lengths(&state.geometry));
    let mut offsets = offsets.into_iter();
    let mut write = |bytes: &[u8]| {
        let offset = offsets.next().unwrap_or(end);
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    };
    state.map.table_contents(&mut write)?;
    let programmed: Vec<u8> = state
        .programmed
        .iter()
        .flatten()
        .flat_map(|next| next.to_ne_bytes())
        .collect();
    write(&programmed)?;
    file.set_len(end)?;
    file.sync_all()
}

/// A file in memory. Changes to it stay private.
struct Mapping {
    address: *mut c_void,
    bytes: usize,
}

// SAFETY: the mapping is memory that every thread of the process sees.
unsafe impl Send for Mapping {}
// SAFETY: as above; it is accessed only through atomics.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn of(file: &File, bytes: usize) -> std::io::Result<Self> {
        // SAFETY: a new private mapping of an open file, at an address of the system's choice.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Self { address, bytes })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `of` made the mapping, and nobody uses it any more.
        unsafe { libc::munmap(self.address, self.bytes) };
    }
}

/// Maps the state that [`save`] wrote to `path`.
///
/// # Errors
/// [`RunError`] says why the file is not such a state.
pub fn load(path: &Path) -> Result<State, RunError> {
    let refuse = |why: String| RunError::Snapshot {
        path: path.to_owned(),
        why,
    };
    let mut file = File::open(path).map_err(file_error(path))?;
    let mut bytes = [0; HEAD_BYTES];
    if let Err(error) = file.read_exact(&mut bytes) {
        return Err(match error.kind() {
            std::io::ErrorKind::UnexpectedEof => refuse("it is too short for a snapshot".into()),
            _ => file_error(path)(error),
        });
    }
    if bytes[..8] != MAGIC {
        return Err(refuse("it is no snapshot of this program".into()));
    }
    let number = |index: usize| {
        let at = 8 + index * 4;
        let mut number = [0; 4];
        number.copy_from_slice(&bytes[at..at + 4]);
        u32::from_le_bytes(number)
    };
    if (number(0), number(1)) != (FILE_VERSION, PageMap::<Shared>::TABLES_VERSION) {
        return Err(refuse("another version of this program made it".into()));
    }
    let geometry = Geometry {
        channels: number(2),
        ways: number(3),
        dies: number(4),
        blocks: number(5),
        pages: number(6),
    };
    let geometry = geometry
        .check()
        .map_err(|error| refuse(error.to_string()))?;
    let (offsets, end) = places(&lengths(&geometry));
    if bytes != head(&geometry) {
        return Err(refuse("its head is damaged".into()));
    }
    let length = file.metadata().map_err(file_error(path))?.len();
    if length != end {
        return Err(refuse(format!("it has {length} bytes instead of {end}")));
    }
    let mapping = Mapping::of(&file, end as usize).map_err(file_error(path))?;
    let mapping = Arc::new(mapping);
    let address = |table: usize| {
        mapping
            .address
            .cast_const()
            .cast::<u8>()
            .wrapping_add(offsets[table] as usize)
    };
    // SAFETY: the file contains all its tables, which lie at multiples of 64 KiB, and each handle
    // to a table keeps the mapping.
    let map = unsafe {
        PageMap::over_tables(geometry.layout(), geometry.policies(), |table, _| {
            let keeper: Arc<Mapping> = Arc::clone(&mapping);
            (address(table), keeper)
        })
    };
    let map = map.map_err(|error| refuse(error.to_string()))?;
    let last = offsets.len() - 1;
    let blocks = geometry.layout().blocks() as usize;
    // SAFETY: the last table has 2 bytes for each block.
    let programmed = unsafe { std::slice::from_raw_parts(address(last).cast::<u16>(), blocks) };
    Ok(State {
        geometry,
        map,
        programmed: programmed
            .chunks(geometry.blocks as usize)
            .map(<[u16]>::to_vec)
            .collect(),
    })
}
