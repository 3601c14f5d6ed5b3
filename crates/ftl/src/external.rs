//! A firmware of the user's own: a shared library behind the C interface of
//! `include/drivelab_firmware.h`.
//!
//! What it emits is only taken down here, with the ranges of its fields checked;
//! [`crate::Checked`] verifies the contract.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::{
    Action, Cause, Firmware, FirmwareError, FlashLayout, Operation, OperationBuffer, OperationKind,
    PageRun, Ppn,
};

/// `DRIVELAB_FIRMWARE_VERSION`.
const VERSION: u32 = 1;

/// More operations than this for one call are a loop without end.
const MOST_OPERATIONS: usize = 1 << 24;

#[repr(C)]
struct Layout {
    planes: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    logical_pages: u32,
    reserve_blocks: u32,
}

#[repr(C)]
struct Run {
    action: u32,
    first: u32,
    pages: u32,
    first_partial: u32,
    last_partial: u32,
}

#[repr(C)]
struct Emitted {
    kind: u32,
    cause: u32,
    plane: u32,
    page: u32,
    logical: u32,
    after: u32,
    request: u32,
}

#[repr(C)]
struct Sink {
    sink: *mut c_void,
    emit: extern "C" fn(*mut c_void, *const Emitted) -> u32,
}

type VersionOf = unsafe extern "C" fn() -> u32;
type Create = unsafe extern "C" fn(*const Layout) -> *mut c_void;
type Destroy = unsafe extern "C" fn(*mut c_void);
type Submit = unsafe extern "C" fn(*mut c_void, *const Run, u32, *const Sink) -> c_int;
type Completed = unsafe extern "C" fn(*mut c_void, *const Emitted);

/// Why a library cannot be the firmware.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExternalError {
    /// The system refuses to load it.
    #[error("the firmware {path} cannot be loaded: {reason}")]
    Load {
        /// The library.
        path: PathBuf,
        /// What the system says.
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
    /// Built with another header.
    #[error(
        "the firmware {path} was built with version {found} of drivelab_firmware.h, this program \
         has version {VERSION}: build it with this header"
    )]
    Version {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// It refuses the drive.
    #[error("the firmware {path} refuses to work on a drive of this layout: {layout:?}")]
    Refused {
        /// The library.
        path: PathBuf,
        /// The layout.
        layout: FlashLayout,
    },
}

/// A firmware behind the C interface. Wrap it in [`crate::Checked`].
pub struct External {
    layout: FlashLayout,
    state: *mut c_void,
    destroy: Destroy,
    submit: Submit,
    completed: Option<Completed>,
    runs: Vec<Run>,
}

// SAFETY: the header promises the library that one thread at a time uses an instance,
// and `External` is not `Sync`.
unsafe impl Send for External {}

/// A library that stays loaded until the program ends: nobody knows what of it is in use.
struct Library {
    path: PathBuf,
    handle: *mut c_void,
}

impl Library {
    #[cfg(target_os = "linux")]
    fn open(path: &Path) -> Result<Self, ExternalError> {
        let refuse = |reason: String| ExternalError::Load {
            path: path.to_owned(),
            reason,
        };
        // Without a slash the system would search its own folders.
        let whole = path
            .canonicalize()
            .map_err(|error| refuse(error.to_string()))?;
        let name = CString::new(whole.into_os_string().into_encoded_bytes())
            .map_err(|error| refuse(error.to_string()))?;
        // SAFETY: the name is a string; what the library does when it is loaded is its
        // user's choice.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            // SAFETY: after a failed dlopen, dlerror gives a string or null.
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
    fn open(path: &Path) -> Result<Self, ExternalError> {
        Err(ExternalError::Load {
            path: path.to_owned(),
            reason: "only Linux is supported".to_owned(),
        })
    }

    fn find(&self, name: &CStr) -> Option<*mut c_void> {
        #[cfg(target_os = "linux")]
        // SAFETY: the handle is of a library that stays loaded, the name a string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        #[cfg(not(target_os = "linux"))]
        let address = std::ptr::null_mut();
        (!address.is_null()).then_some(address)
    }

    fn need(&self, name: &CStr) -> Result<*mut c_void, ExternalError> {
        self.find(name).ok_or_else(|| ExternalError::Function {
            path: self.path.clone(),
            name: name.to_string_lossy().into_owned(),
        })
    }
}

impl External {
    /// The firmware in the library at `path`, on a fresh drive.
    ///
    /// # Errors
    /// [`ExternalError`] where it cannot be loaded, lacks a function, was built with
    /// another header or refuses the layout.
    pub fn load(path: &Path, layout: FlashLayout) -> Result<Self, ExternalError> {
        let library = Library::open(path)?;
        let version = library.need(c"drivelab_firmware_version")?;
        let create = library.need(c"drivelab_firmware_create")?;
        let destroy = library.need(c"drivelab_firmware_destroy")?;
        let submit = library.need(c"drivelab_firmware_submit")?;
        let completed = library.find(c"drivelab_firmware_completed");
        // SAFETY: functions of these names have these types, as the header says; the
        // library stays loaded.
        let (version, create, destroy, submit, completed) = unsafe {
            (
                std::mem::transmute::<*mut c_void, VersionOf>(version),
                std::mem::transmute::<*mut c_void, Create>(create),
                std::mem::transmute::<*mut c_void, Destroy>(destroy),
                std::mem::transmute::<*mut c_void, Submit>(submit),
                completed.map(|found| std::mem::transmute::<*mut c_void, Completed>(found)),
            )
        };
        // SAFETY: as the header says.
        let found = unsafe { version() };
        if found != VERSION {
            return Err(ExternalError::Version {
                path: path.to_owned(),
                found,
            });
        }
        let told = Layout {
            planes: layout.planes,
            blocks_per_plane: layout.blocks_per_plane,
            pages_per_block: layout.pages_per_block,
            logical_pages: layout.logical_pages,
            reserve_blocks: layout.reserve_blocks,
        };
        // SAFETY: the layout lives until the call returns.
        let state = unsafe { create(&raw const told) };
        if state.is_null() {
            return Err(ExternalError::Refused {
                path: path.to_owned(),
                layout,
            });
        }
        Ok(Self {
            layout,
            state,
            destroy,
            submit,
            completed,
            runs: Vec::new(),
        })
    }
}

impl Drop for External {
    fn drop(&mut self) {
        // SAFETY: the state was created by this library and is not used again.
        unsafe { (self.destroy)(self.state) }
    }
}

/// Where a call's operations go, and what was wrong with the first wrong one.
struct Taking<'a> {
    operations: &'a mut OperationBuffer,
    before: usize,
    fault: Option<String>,
}

impl Taking<'_> {
    fn take(&mut self, emitted: &Emitted) -> Result<u32, String> {
        let kind = match emitted.kind {
            0 => OperationKind::Read,
            1 => OperationKind::Program,
            2 => OperationKind::Erase,
            other => {
                return Err(format!(
                    "it emits an operation of kind {other}; there are 0 to 2"
                ));
            }
        };
        let cause = *Cause::ALL.get(emitted.cause as usize).ok_or_else(|| {
            let cause = emitted.cause;
            format!("it emits an operation with cause {cause}; there are 0 to 2")
        })?;
        if self.operations.operations().len() - self.before >= MOST_OPERATIONS {
            return Err(format!(
                "it emits more than {MOST_OPERATIONS} operations in one call"
            ));
        }
        let counts = &mut self.operations.counts;
        match (kind, cause) {
            (OperationKind::Program, Cause::Collection) => counts.moves += 1,
            (OperationKind::Program, Cause::Wear) => counts.wear_moves += 1,
            (OperationKind::Erase, Cause::Collection) => counts.collections += 1,
            _ => {}
        }
        Ok(self.operations.push(Operation {
            kind,
            cause,
            plane: emitted.plane,
            ppn: Ppn(emitted.page),
            lpn: emitted.logical,
            after: emitted.after,
            request: emitted.request,
        }))
    }
}

extern "C" fn emit(sink: *mut c_void, emitted: *const Emitted) -> u32 {
    // SAFETY: the sink is the one of the call in progress, which nobody else holds.
    let taking = unsafe { sink.cast::<Taking<'_>>().as_mut() };
    // SAFETY: the header asks for an operation.
    let emitted = unsafe { emitted.as_ref() };
    let (Some(taking), Some(emitted)) = (taking, emitted) else {
        return crate::NOTHING;
    };
    if taking.fault.is_some() {
        return crate::NOTHING;
    }
    taking.take(emitted).unwrap_or_else(|fault| {
        taking.fault = Some(fault);
        crate::NOTHING
    })
}

impl Firmware for External {
    fn layout(&self) -> &FlashLayout {
        &self.layout
    }

    fn submit(
        &mut self,
        batch: &[PageRun],
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        self.runs.clear();
        for run in batch {
            let end = u64::from(run.first.0) + u64::from(run.pages);
            if end > u64::from(self.layout.logical_pages) {
                return Err(FirmwareError::BeyondEnd {
                    last: end - 1,
                    logical_pages: self.layout.logical_pages,
                });
            }
            self.runs.push(Run {
                action: match run.action {
                    Action::Read => 0,
                    Action::Write => 1,
                    Action::Trim => 2,
                },
                first: run.first.0,
                pages: run.pages,
                first_partial: run.first_partial.into(),
                last_partial: run.last_partial.into(),
            });
        }
        let mut taking = Taking {
            before: operations.operations().len(),
            operations,
            fault: None,
        };
        let out = Sink {
            sink: (&raw mut taking).cast(),
            emit,
        };
        // SAFETY: state, runs and sink live until the call returns.
        let result = unsafe {
            (self.submit)(
                self.state,
                self.runs.as_ptr(),
                self.runs.len() as u32,
                &raw const out,
            )
        };
        let what = match (taking.fault, result) {
            (Some(fault), _) => fault,
            (None, 0) => return Ok(()),
            (None, 1) => "it has no space left: raise the over-provisioning, or let it collect \
                          earlier"
                .to_owned(),
            (None, other) => format!("it answered {other}; 0 is success, 1 no space"),
        };
        Err(FirmwareError::External { what })
    }

    fn completed(&mut self, operation: &Operation) {
        let Some(completed) = self.completed else {
            return;
        };
        let told = Emitted {
            kind: operation.kind as u32,
            cause: operation.cause as u32,
            plane: operation.plane,
            page: operation.ppn.0,
            logical: operation.lpn,
            after: operation.after,
            request: operation.request,
        };
        // SAFETY: state and operation live until the call returns.
        unsafe { completed(self.state, &raw const told) }
    }
}
