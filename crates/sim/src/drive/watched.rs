//! Runs long work on its own thread while the caller does other things.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::host::SimError;

/// Does `work` on another thread. It must end soon after `stop` is set. Meanwhile this thread calls
/// `look` once a step. The first error of `look` sets `stop` and becomes the result.
///
/// # Errors
/// The outer error is that of `look`. The inner one is that of `work`, or [`SimError::NoThread`].
pub fn watched<T: Send, E: Send>(
    stop: &AtomicBool,
    every: Duration,
    mut look: impl FnMut() -> Result<(), E>,
    work: impl FnOnce() -> Result<T, SimError> + Send,
) -> Result<Result<T, SimError>, E> {
    thread::scope(|scope| {
        let (sender, done) = mpsc::channel::<()>();
        let worker = thread::Builder::new().spawn_scoped(scope, move || {
            let _sender_goes_when_done = sender;
            work()
        });
        let worker = match worker {
            Ok(worker) => worker,
            Err(error) => {
                let reason = error.to_string();
                return Ok(Err(SimError::NoThread { reason }));
            }
        };
        let mut refused = None;
        while done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            if refused.is_none() {
                refused = look().err();
                stop.store(refused.is_some(), Ordering::Relaxed);
            }
        }
        let result = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        refused.map_or(Ok(result), Err)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn work_answers_and_a_look_that_fails_stops_it() {
        let stop = AtomicBool::new(false);
        let answered = watched(&stop, SOON, || Ok::<(), ()>(()), || Ok(7));
        assert_eq!(answered, Ok(Ok(7)));
        let until_stopped = || {
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(SOON);
            }
            Err::<(), _>(SimError::Stopped)
        };
        assert_eq!(
            watched(&stop, SOON, || Err("enough"), until_stopped),
            Err("enough")
        );
    }
}
