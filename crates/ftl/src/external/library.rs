//! Shared libraries, and reasons why one cannot be the firmware.

use std::ffi::{CStr, c_void};
#[cfg(target_os = "linux")]
use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::functions::{OLDEST, VERSION};
use crate::FlashLayout;

/// The reason why a library cannot be the firmware.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExternalError {
    /// The system refuses to load it.
    #[error("the firmware {path} cannot be loaded: {reason}")]
    Load {
        /// The library.
        path: PathBuf,
        /// The reason that the system gives.
        reason: String,
    },
    /// A function is missing.
    #[error("the firmware {path} has no function {name}: define it as drivelab_firmware.h says")]
    Function {
        /// The library.
        path: PathBuf,
        /// The function.
        name: String,
    },
    /// Built with a different header.
    #[error(
        "the firmware {path} was built with version {found} of drivelab_firmware.h, this program \
         takes versions {OLDEST} to {VERSION}: build it with this header"
    )]
    Version {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A count has an invalid name.
    #[error("the firmware {path} calls its count {index} {name:?}: {why}")]
    Count {
        /// The library.
        path: PathBuf,
        /// Its index, from 0.
        index: u32,
        /// Its name, or the beginning of it.
        name: String,
        /// The error.
        why: String,
    },
    /// It refuses the drive.
    #[error(
        "the firmware {path} refuses to work on this drive: {} planes of {} blocks of {} pages, {} \
         logical pages, {} blocks a plane kept back",
        layout.planes, layout.blocks_per_plane, layout.pages_per_block, layout.logical_pages,
        layout.reserve_blocks
    )]
    Refused {
        /// The library.
        path: PathBuf,
        /// The layout.
        layout: FlashLayout,
    },
}

/// A library that stays loaded until the program ends: nobody knows what of it is in use.
pub(super) struct Library {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    handle: *mut c_void,
}

impl Library {
    #[cfg(target_os = "linux")]
    pub fn open(path: &Path) -> Result<Self, ExternalError> {
        let refuse = |reason: String| ExternalError::Load {
            path: path.to_owned(),
            reason,
        };
        // Without a slash the system would search its own folders.
        let whole = path
            .canonicalize()
            .map_err(|error| refuse(error.to_string()))?;
        if let Some(reason) = super::image::defect(&whole) {
            return Err(refuse(reason));
        }
        let name = CString::new(whole.into_os_string().into_encoded_bytes())
            .map_err(|error| refuse(error.to_string()))?;
        // SAFETY: the name is a string. What the library does when it is loaded is its user's
        // choice.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: after a failed dlopen, dlerror returns a string or null.
            let reason = unsafe {
                let text: *const c_char = libc::dlerror();
                if text.is_null() {
                    "no reason given".to_owned()
                } else {
                    CStr::from_ptr(text).to_string_lossy().into_owned()
                }
            };
            return Err(refuse(reason));
        }
        Ok(Self {
            path: path.to_owned(),
            handle,
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn open(path: &Path) -> Result<Self, ExternalError> {
        Err(ExternalError::Load {
            path: path.to_owned(),
            reason: "only Linux is supported".to_owned(),
        })
    }

    #[cfg(target_os = "linux")]
    pub fn find(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle belongs to a library that stays loaded, and the name is a string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    /// Finds nothing: no library was opened.
    #[cfg(not(target_os = "linux"))]
    pub fn find(&self, _name: &CStr) -> Option<*mut c_void> {
        None
    }

    pub fn need(&self, name: &CStr) -> Result<*mut c_void, ExternalError> {
        self.find(name).ok_or_else(|| ExternalError::Function {
            path: self.path.clone(),
            name: name.to_string_lossy().into_owned(),
        })
    }
}
