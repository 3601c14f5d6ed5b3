//! A crash gets a line: a program that is ended by a signal says nothing by itself.

use std::sync::OnceLock;

use crate::command_line::Program;

/// What ends a program that does what no program may, and what it means.
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

/// Room for the handler where the stack is what is at its end.
const STACK_BYTES: usize = 64 << 10;

/// The lines of the signals, ready to be written: a handler may not make them.
static LINES: OnceLock<Vec<(libc::c_int, String)>> = OnceLock::new();

/// From now on a crash writes a line, and ends the program as it would have without; only a stack
/// that is full in another thread has none. A pipe that nobody reads is an error where it is written
/// to, not the end.
pub fn tell_crashes(program: Program) {
    LINES.get_or_init(|| {
        let line = |what: &str| {
            let (who, remedy) = (program.who(), program.after_crash());
            format!("drivelab-firmware: {who} was ended by {what}: {remedy}\n")
        };
        SIGNALS.map(|(signal, what)| (signal, line(what))).into()
    });
    // It is there as long as the program.
    let stack: &'static mut [u8] = Box::leak(vec![0; STACK_BYTES].into_boxed_slice());
    // SAFETY: the stack is nobody else's, and the handler calls nothing that a handler may not.
    unsafe {
        let mut other: libc::stack_t = std::mem::zeroed();
        other.ss_sp = stack.as_mut_ptr().cast();
        other.ss_size = stack.len();
        libc::sigaltstack(&raw const other, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = crashed as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // What the signal does by itself comes back, and at once.
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
        for (signal, _) in SIGNALS {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

extern "C" fn crashed(signal: libc::c_int) {
    for (of, line) in LINES.get().into_iter().flatten() {
        if *of == signal {
            // SAFETY: the line is there as long as the program.
            unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
        }
    }
    // SAFETY: the handler is not the signal's any more.
    unsafe { libc::raise(signal) };
}
