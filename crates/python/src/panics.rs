//! What is left of a panic for a report: its message and its place in the source. Nothing is
//! printed.
//!
//! `PyO3` turns a panic into `pyo3_runtime.PanicException`, which knows only the message, after
//! Rust has printed lines of its own. The hook here keeps the first panic instead, in whichever
//! thread it happened. A panic in a thread of the core surfaces in another thread when it is
//! joined.

use std::any::Any;
use std::panic::PanicHookInfo;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::panic::PanicException;
use pyo3::prelude::*;

/// Place and message of the first panic.
static FIRST: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    std::panic::set_hook(Box::new(keep));
    module.add("PanicException", module.py().get_type::<PanicException>())?;
    module.add_function(wrap_pyfunction!(take_panic, module)?)?;
    module.add_function(wrap_pyfunction!(panic_on_purpose, module)?)
}

fn first() -> MutexGuard<'static, Option<(String, String)>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let report = (place.unwrap_or_default(), message_of(panic.payload()));
    first().get_or_insert(report);
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or_default()
        .to_owned()
}

/// The place and the message of the first panic since the last call, if there was one.
#[pyfunction]
fn take_panic() -> Option<(String, String)> {
    first().take()
}

/// Panics, here or in a thread of the core, to test how panics are handled. Nothing else can be
/// made to panic on request.
#[pyfunction]
#[expect(clippy::panic, reason = "what it is for")]
fn panic_on_purpose(py: Python<'_>, in_thread: bool) {
    if in_thread {
        py.detach(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| panic!("on purpose, in a thread"));
            });
        });
    }
    panic!("on purpose");
}
