//! Prints a line on a crash: a program ended by a signal says nothing by itself.

use std::sync::OnceLock;

use crate::command_line::Program;

/// Signals that end a faulty program, and their meaning.
const SIGNALS: [(libc::c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV, a wrong address"),
    (
        libc::SIGBUS,
        "SIGBUS, an address without memory or file behind it",
    ),
    (libc::SIGILL, "SIGILL, no instruction"),
    (libc::SIGFPE, "SIGFPE, a division by zero"),
    (libc::SIGABRT, "SIGABRT, a check that failed"),
];

/// Stack space for the handler, in case the normal stack is exhausted.
const STACK_BYTES: usize = 64 << 10;

/// The lines for the signals, prepared in advance because a handler may not build them.
static LINES: OnceLock<Vec<(libc::c_int, String)>> = OnceLock::new();

/// From now on a crash prints a line before it ends the program, even if this thread's stack is full;
/// other threads need a [`HandlerStack`] for that. Writing to a pipe that nobody reads is an error
/// from now on, not the end of the program.
pub fn tell_crashes(program: Program) {
    LINES.get_or_init(|| {
        let line = |what: &str| {
            let (who, remedy) = (program.who(), program.after_crash());
            format!("drivelab-firmware: {who} was ended by {what}: {remedy}\n")
        };
        SIGNALS.map(|(signal, what)| (signal, line(what))).into()
    });
    // It exists as long as the program.
    std::mem::forget(HandlerStack::new());
    // SAFETY: the handler calls only what a handler may call.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = crashed as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // The signal's default action is restored at once.
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        for (signal, _) in SIGNALS {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// The handler's stack if this thread's own stack is full, as long as this exists. A new thread has
/// none.
pub struct HandlerStack(*mut libc::c_void);

impl HandlerStack {
    /// For the calling thread, which also drops it.
    #[must_use]
    pub fn new() -> Self {
        let room = vec![0_u8; STACK_BYTES].into_boxed_slice();
        let place = Box::into_raw(room).cast();
        tell_kernel(place, 0);
        Self(place)
    }
}

impl Default for HandlerStack {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for HandlerStack {
    fn drop(&mut self) {
        tell_kernel(std::ptr::null_mut(), libc::SS_DISABLE);
        let room = std::ptr::slice_from_raw_parts_mut(self.0.cast::<u8>(), STACK_BYTES);
        // SAFETY: `new` took it out of such a box, and the kernel does not know it any more.
        drop(unsafe { Box::from_raw(room) });
    }
}

fn tell_kernel(place: *mut libc::c_void, flags: libc::c_int) {
    // SAFETY: zeroes are a valid value, and the memory has this many bytes while it is registered.
    unsafe {
        let mut stack: libc::stack_t = std::mem::zeroed();
        stack.ss_sp = place;
        stack.ss_size = STACK_BYTES;
        stack.ss_flags = flags;
        libc::sigaltstack(&raw const stack, std::ptr::null_mut());
    }
}

extern "C" fn crashed(signal: libc::c_int) {
    for (of, line) in LINES.get().into_iter().flatten() {
        if *of == signal {
            // SAFETY: the line exists as long as the program.
            unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
        }
    }
    // SAFETY: the handler is no longer installed for the signal.
    unsafe { libc::raise(signal) };
}
