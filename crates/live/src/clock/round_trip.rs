//! How long a message takes to another thread and back, at best: no drive can seem faster.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

const ROUNDS: usize = 400;

/// As long as the shortest request of NBD.
const MESSAGE_BYTES: usize = 28;

/// What one in ten round trips through a socket undercuts, ns: a busy machine makes others long,
/// not these.
///
/// # Errors
/// [`io::Error`] where the system refuses a socket or a thread.
pub fn round_trip_ns() -> io::Result<u64> {
    let (mut here, mut there) = UnixStream::pair()?;
    let echo = thread::Builder::new().spawn(move || {
        let mut message = [0; MESSAGE_BYTES];
        while there.read_exact(&mut message).is_ok() && there.write_all(&message).is_ok() {}
    })?;
    let mut times = Vec::with_capacity(ROUNDS);
    let mut message = [0; MESSAGE_BYTES];
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        here.write_all(&message)?;
        here.read_exact(&mut message)?;
        times.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    drop(here);
    // It ends with its socket.
    let _ = echo.join();
    times.sort_unstable();
    Ok(times[ROUNDS / 10])
}
