//! What makes a file's data survive, on a thread of its own: it takes long, and time goes on.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::event::{EventfdFlags, eventfd};

/// Syncs under way.
#[derive(Debug)]
pub struct Syncs {
    wanted: Sender<u64>,
    done: Receiver<(u64, bool)>,
    told: OwnedFd,
}

impl Syncs {
    /// Starts the thread; it ends when this is dropped.
    ///
    /// # Errors
    /// [`std::io::Error`] where the system refuses a thread or a descriptor.
    pub fn start(file: File) -> io::Result<Self> {
        let (wanted, asked) = channel::<u64>();
        let (answer, done) = channel();
        let told = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let tell = told.try_clone()?;
        let work = move || {
            // The system says once that data could not be written, and then takes them for clean:
            // what is synced later does not bring them back.
            let mut is_lost = false;
            while let Ok(first) = asked.recv() {
                // One sync is good for all that were asked for before it begins.
                let tickets: Vec<u64> = [first].into_iter().chain(asked.try_iter()).collect();
                is_lost |= file.sync_data().is_err();
                for ticket in tickets {
                    if answer.send((ticket, !is_lost)).is_err() {
                        return;
                    }
                }
                // It counts up to what no number of syncs reaches, so it cannot be full.
                let _ = rustix::io::write(&tell, &1_u64.to_ne_bytes());
            }
        };
        thread::Builder::new()
            .name("drivelab-sync".to_owned())
            .spawn(work)?;
        Ok(Self { wanted, done, told })
    }

    /// Everything written so far is to survive. After one failure all fail.
    pub fn ask(&self, ticket: u64) {
        // The thread lives as long as this does.
        let _ = self.wanted.send(ticket);
    }

    /// Waits until everything written so far survives. Answers whether it does.
    #[must_use]
    pub fn finish(&self) -> bool {
        self.ask(u64::MAX);
        let mut ended = self.done.iter();
        ended
            .find(|&(ticket, _)| ticket == u64::MAX)
            .is_some_and(|(_, is_done)| is_done)
    }

    /// Syncs that have ended, and whether they succeeded.
    pub fn ended(&self) -> impl Iterator<Item = (u64, bool)> {
        let mut count = [0; 8];
        // Only to make it quiet again.
        let _ = rustix::io::read(&self.told, &mut count);
        self.done.try_iter()
    }
}

impl AsFd for Syncs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.told.as_fd()
    }
}
