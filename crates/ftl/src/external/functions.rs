//! The functions of `include/drivelab_firmware.h`, and the plain values they take.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

use super::library::{ExternalError, Library};

/// `DRIVELAB_FIRMWARE_VERSION`.
pub(super) const VERSION: u32 = 3;

/// The oldest version whose libraries still work. It lacks the functions of later versions.
pub(super) const OLDEST: u32 = 1;

#[repr(C)]
pub(super) struct Layout {
    pub planes: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub logical_pages: u32,
    pub reserve_blocks: u32,
    // Since version 2.
    pub background_blocks: u32,
}

#[repr(C)]
pub(super) struct Run {
    pub action: u32,
    pub first: u32,
    pub pages: u32,
    pub first_partial: u32,
    pub last_partial: u32,
}

#[repr(C)]
pub(super) struct Emitted {
    pub kind: u32,
    pub cause: u32,
    pub plane: u32,
    pub page: u32,
    pub logical: u32,
    pub after: u32,
    pub request: u32,
}

#[repr(C)]
pub(super) struct Offer {
    pub idle_ns: u64,
    pub budget: u32,
    pub planes: *const c_void,
    pub is_free: extern "C" fn(*const c_void, u32) -> u32,
}

#[repr(C)]
pub(super) struct Sink {
    pub sink: *mut c_void,
    pub emit: extern "C" fn(*mut c_void, *const Emitted) -> u32,
}

type VersionOf = unsafe extern "C" fn() -> u32;
type Create = unsafe extern "C" fn(*const Layout) -> *mut c_void;
type Destroy = unsafe extern "C" fn(*mut c_void);
type Submit = unsafe extern "C" fn(*mut c_void, *const Run, u32, *const Sink) -> c_int;
type Completed = unsafe extern "C" fn(*mut c_void, *const Emitted);
type Background = unsafe extern "C" fn(*mut c_void, *const Offer, *const Sink) -> c_int;
type EraseCount = unsafe extern "C" fn(*mut c_void, u32) -> u32;
type CountName = unsafe extern "C" fn(u32) -> *const c_char;
type Count = unsafe extern "C" fn(*mut c_void, u32) -> u64;

/// The functions of a firmware, in the order of the header. A program linked with a firmware has
/// them as a table in C (`crates/own-firmware/link.c`).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ExternalFunctions {
    pub(super) version: VersionOf,
    pub(super) create: Create,
    pub(super) destroy: Destroy,
    pub(super) submit: Submit,
    pub(super) completed: Option<Completed>,
    pub(super) background: Option<Background>,
    pub(super) erase_count: Option<EraseCount>,
    pub(super) count_name: Option<CountName>,
    pub(super) count: Option<Count>,
}

/// `address` as a function.
///
/// # Safety
/// A function of the type `F` is there, permanently.
unsafe fn function<F: Copy>(address: *mut c_void) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) }
    // SAFETY: function pointers have the size of pointers; the caller guarantees the type.
    unsafe { std::mem::transmute_copy(&address) }
}

impl ExternalFunctions {
    /// The functions of the library at `path`, which stays loaded.
    pub(super) fn load(path: &Path) -> Result<Self, ExternalError> {
        let library = Library::open(path)?;
        // SAFETY: the header gives the functions with these names these types, and the library
        // stays loaded.
        unsafe {
            Ok(Self {
                version: function(library.need(c"drivelab_firmware_version")?),
                create: function(library.need(c"drivelab_firmware_create")?),
                destroy: function(library.need(c"drivelab_firmware_destroy")?),
                submit: function(library.need(c"drivelab_firmware_submit")?),
                completed: find(&library, c"drivelab_firmware_completed"),
                background: find(&library, c"drivelab_firmware_background"),
                erase_count: find(&library, c"drivelab_firmware_erase_count"),
                count_name: find(&library, c"drivelab_firmware_count_name"),
                count: find(&library, c"drivelab_firmware_count"),
            })
        }
    }

    /// Keeps the functions that the version of the library has: in an older library, a function
    /// with the name of a later one is something else.
    ///
    /// # Errors
    /// [`ExternalError`] if the version is unsupported, or one of two functions is missing.
    pub(super) fn of_version(mut self, path: &Path) -> Result<Self, ExternalError> {
        // SAFETY: as the header says.
        let version = unsafe { (self.version)() };
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(ExternalError::Version {
                path: path.to_owned(),
                found: version,
            });
        }
        if version < 2 {
            (self.background, self.erase_count) = (None, None);
        }
        if version < 3 {
            (self.count_name, self.count) = (None, None);
        }
        let missing = match (self.count_name, self.count) {
            (Some(_), None) => "drivelab_firmware_count",
            (None, Some(_)) => "drivelab_firmware_count_name",
            _ => return Ok(self),
        };
        Err(ExternalError::Function {
            path: path.to_owned(),
            name: missing.to_owned(),
        })
    }
}

/// A function that may be missing.
///
/// # Safety
/// As [`function`], if one with that name exists.
unsafe fn find<F: Copy>(library: &Library, name: &CStr) -> Option<F> {
    // SAFETY: the caller guarantees it.
    library
        .find(name)
        .map(|address| unsafe { function(address) })
}
