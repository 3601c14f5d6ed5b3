//! The shortest time for a message to another thread and back. No drive can seem faster.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Instant;

const ROUNDS: usize = 400;

/// As long as the shortest request of NBD.
const MESSAGE_BYTES: usize = 28;

/// The first decile of round trips through a socket, ns. A busy machine lengthens other round
/// trips, but not these.
///
/// # Errors
/// [`io::Error`] if the system refuses a socket or a thread.
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
    // The thread ends with its socket.
    let _ = echo.join();
    times.sort_unstable();
    Ok(times[ROUNDS / 10])
}
