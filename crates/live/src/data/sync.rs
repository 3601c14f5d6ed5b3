//! Makes a file's data durable, on a thread of its own, because that is slow and time must go on.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::event::{EventfdFlags, eventfd};

/// Syncs in progress.
#[derive(Debug)]
pub struct Syncs {
    wanted: Sender<u64>,
    done: Receiver<(u64, bool)>,
    signal: OwnedFd,
}

impl Syncs {
    /// Starts the thread. It ends when this is dropped.
    ///
    /// # Errors
    /// [`std::io::Error`] if the system refuses a thread or a descriptor.
    pub fn start(file: File) -> io::Result<Self> {
        let (wanted, asked) = channel::<u64>();
        let (answer, done) = channel();
        let signal = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let tell = signal.try_clone()?;
        let work = move || {
            // The system reports a failed write only once and then treats the data as clean. A
            // later sync does not write it again.
            let mut is_lost = false;
            while let Ok(first) = asked.recv() {
                // One sync covers all that were requested before it begins.
                let tickets: Vec<u64> = [first].into_iter().chain(asked.try_iter()).collect();
                is_lost |= file.sync_data().is_err();
                for ticket in tickets {
                    if answer.send((ticket, !is_lost)).is_err() {
                        return;
                    }
                }
                // The counter cannot overflow: no number of syncs reaches its limit.
                let _ = rustix::io::write(&tell, &1_u64.to_ne_bytes());
            }
        };
        thread::Builder::new()
            .name("drivelab-sync".to_owned())
            .spawn(work)?;
        Ok(Self {
            wanted,
            done,
            signal,
        })
    }

    /// Makes everything written so far durable. After one failure all later requests fail.
    pub fn ask(&self, ticket: u64) {
        // The thread lives as long as this does.
        let _ = self.wanted.send(ticket);
    }

    /// Waits until everything written so far is durable. Returns whether it is.
    #[must_use]
    pub fn finish(&self) -> bool {
        self.ask(u64::MAX);
        let mut ended = self.done.iter();
        ended
            .find(|&(ticket, _)| ticket == u64::MAX)
            .is_some_and(|(_, is_done)| is_done)
    }

    /// Ended syncs, and whether they succeeded.
    pub fn ended(&self) -> impl Iterator<Item = (u64, bool)> {
        let mut count = [0; 8];
        // Only to reset the signal.
        let _ = rustix::io::read(&self.signal, &mut count);
        self.done.try_iter()
    }
}

impl AsFd for Syncs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signal.as_fd()
    }
}
