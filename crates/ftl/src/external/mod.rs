//! The user's own firmware: a shared library behind the C interface of
//! `include/drivelab_firmware.h`.
//!
//! This module only records what it emits and checks the ranges of the fields. [`crate::Checked`]
//! verifies the contract.

mod counting;
mod functions;
#[cfg(target_os = "linux")]
mod image;
mod library;

use std::ffi::{c_int, c_void};
use std::path::Path;

use crate::{
    Action, Cause, Firmware, FirmwareError, FlashLayout, IdleTime, NOTHING, Operation,
    OperationBuffer, OperationKind, OwnCounts, PageRun, Ppn,
};

use counting::Counting;
pub(crate) use counting::became_less;
pub use functions::ExternalFunctions;
use functions::{Emitted, Layout, Offer, Run, Sink};
pub use library::ExternalError;

/// More operations than this in one call mean an endless loop.
const MOST_OPERATIONS: usize = 1 << 24;

/// A firmware behind the C interface. Wrap it in [`crate::Checked`].
pub struct External {
    layout: FlashLayout,
    state: *mut c_void,
    functions: ExternalFunctions,
    counting: Counting,
    runs: Vec<Run>,
}

// SAFETY: the header promises the library that one thread at a time uses an instance, and
// `External` is not `Sync`.
unsafe impl Send for External {}

impl External {
    /// The firmware in the library at `path`, on a new drive whose planes should have
    /// `background_blocks` free blocks after idle time, if any is offered.
    ///
    /// # Errors
    /// [`ExternalError`] if it cannot be loaded, lacks a function, was built with another header,
    /// refuses the layout or has counts with invalid names.
    pub fn load(
        path: &Path,
        layout: FlashLayout,
        background_blocks: Option<u32>,
    ) -> Result<Self, ExternalError> {
        let functions = ExternalFunctions::load(path)?;
        Self::new(functions, path, layout, background_blocks)
    }

    /// The firmware that this program was linked with. Errors call it `path`.
    ///
    /// # Errors
    /// As [`External::load`].
    ///
    /// # Safety
    /// The functions do what `drivelab_firmware.h` says about those of their names.
    pub unsafe fn linked(
        functions: ExternalFunctions,
        path: &Path,
        layout: FlashLayout,
    ) -> Result<Self, ExternalError> {
        Self::new(functions, path, layout, None)
    }

    fn new(
        functions: ExternalFunctions,
        path: &Path,
        layout: FlashLayout,
        background_blocks: Option<u32>,
    ) -> Result<Self, ExternalError> {
        let functions = functions.of_version(path)?;
        let counting = Counting::of(&functions, path)?;
        let told = Layout {
            planes: layout.planes,
            blocks_per_plane: layout.blocks_per_plane,
            pages_per_block: layout.pages_per_block,
            logical_pages: layout.logical_pages,
            reserve_blocks: layout.reserve_blocks,
            background_blocks: background_blocks.unwrap_or(0),
        };
        // SAFETY: the layout lives until the call returns.
        let state = unsafe { (functions.create)(&raw const told) };
        if state.is_null() {
            return Err(ExternalError::Refused {
                path: path.to_owned(),
                layout,
            });
        }
        Ok(Self {
            layout,
            state,
            functions,
            counting,
            runs: Vec::new(),
        })
    }

    /// Records what `call` emits, and what the firmware has counted by then.
    fn taken(
        &mut self,
        operations: &mut OperationBuffer,
        call: impl FnOnce(&mut Self, *const Sink) -> c_int,
    ) -> Result<(), FirmwareError> {
        let moved = moves(operations);
        taken(operations, |out| call(self, out))?;
        self.counting.moved += moves(operations) - moved;
        self.counting.add_to(&mut operations.counts, self.state)
    }
}

/// Pages moved, for any cause.
fn moves(operations: &OperationBuffer) -> u64 {
    operations.counts.moves + operations.counts.wear_moves
}

impl Drop for External {
    fn drop(&mut self) {
        // SAFETY: the state was created by this library and is not used again.
        unsafe { (self.functions.destroy)(self.state) }
    }
}

/// The buffer for a call's operations, and the error in the first wrong one.
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
        // A library's map is not visible here.
        let causes = &Cause::ALL[..3];
        let cause = *causes.get(emitted.cause as usize).ok_or_else(|| {
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

/// The planes of an offer of idle time.
struct Planes<'a> {
    is_free: &'a dyn Fn(u32) -> bool,
    planes: u32,
}

extern "C" fn is_free(planes: *const c_void, plane: u32) -> u32 {
    // SAFETY: they belong to the call in progress.
    let planes = unsafe { planes.cast::<Planes<'_>>().as_ref() };
    planes
        .is_some_and(|planes| plane < planes.planes && (planes.is_free)(plane))
        .into()
}

/// Records into `operations` what `call` emits, and converts its result to an error.
fn taken(
    operations: &mut OperationBuffer,
    call: impl FnOnce(*const Sink) -> c_int,
) -> Result<(), FirmwareError> {
    let mut taking = Taking {
        before: operations.operations().len(),
        operations,
        fault: None,
    };
    let out = Sink {
        sink: (&raw mut taking).cast(),
        emit,
    };
    let result = call(&raw const out);
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

const NO_OPERATION: &str = "emit was called without an operation";

extern "C" fn emit(sink: *mut c_void, emitted: *const Emitted) -> u32 {
    // SAFETY: the sink belongs to the call in progress, and nobody else holds it.
    let taking = unsafe { sink.cast::<Taking<'_>>().as_mut() };
    // SAFETY: the header requires an operation.
    let emitted = unsafe { emitted.as_ref() };
    let Some(taking) = taking else {
        return NOTHING;
    };
    if taking.fault.is_some() {
        return NOTHING;
    }
    let Some(emitted) = emitted else {
        taking.fault = Some(NO_OPERATION.to_owned());
        return NOTHING;
    };
    taking.take(emitted).unwrap_or_else(|fault| {
        taking.fault = Some(fault);
        NOTHING
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
            run.check_end(self.layout.logical_pages)?;
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
        // SAFETY: state, runs and sink live until the call returns.
        self.taken(operations, |own, out| unsafe {
            (own.functions.submit)(own.state, own.runs.as_ptr(), own.runs.len() as u32, out)
        })
    }

    fn background(
        &mut self,
        offer: &IdleTime<'_>,
        operations: &mut OperationBuffer,
    ) -> Result<(), FirmwareError> {
        let Some(background) = self.functions.background else {
            return Ok(());
        };
        let planes = Planes {
            is_free: offer.is_free,
            planes: self.layout.planes,
        };
        let told = Offer {
            idle_ns: offer.idle.0,
            budget: offer.budget,
            planes: (&raw const planes).cast(),
            is_free,
        };
        // SAFETY: state, offer and sink live until the call returns.
        self.taken(operations, |own, out| unsafe {
            background(own.state, &raw const told, out)
        })
    }

    fn erase_count(&self, block: u32) -> Option<u32> {
        // SAFETY: the state lives until the call returns.
        self.functions
            .erase_count
            .map(|erase_count| unsafe { erase_count(self.state, block) })
    }

    fn own_counts(&self) -> Result<OwnCounts, FirmwareError> {
        self.counting.told(self.state)
    }

    fn heeds_completions(&self) -> bool {
        self.functions.completed.is_some()
    }

    fn completed(&mut self, operation: &Operation) {
        let Some(completed) = self.functions.completed else {
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
