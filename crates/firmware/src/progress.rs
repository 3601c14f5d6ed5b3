//! Whether servers with one thread each still make progress.
//!
//! Each counts its turns, and those in which it did something. Progress has stopped when all of
//! them have had very many turns since the last one in which any did something. Turns are counted,
//! not time: a thread that the machine does not run is not stuck.
//!
//! ```text
//!   server 1   . . m . . . . . . . . . . . .      m  a turn that did something
//!   server 2   . . . m . . . . . . . . . . .      .  one that did not
//!                      |<--- patience --->|       from when the front end, idle as well,
//!                                                 has first seen the last m
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

/// The turns of one server, which only it counts.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Progress {
    turns: AtomicU64,
    moves: AtomicU64,
}

impl Progress {
    /// A turn is over, and did something or not.
    pub fn count(&self, did: bool) {
        let moves = self.moves.load(Ordering::Relaxed);
        self.moves.store(moves + u64::from(did), Ordering::Relaxed);
        // Whoever sees the turn also sees what it did.
        let turns = self.turns.load(Ordering::Relaxed);
        self.turns.store(turns + 1, Ordering::Release);
    }
}

/// Watches the servers, for the front end.
#[derive(Debug)]
pub struct Watch<'a> {
    servers: &'a [Progress],
    /// Turns after which a server that did nothing will do nothing.
    patience: u64,
    /// Consecutive turns of the front end that did nothing.
    idle: u64,
    /// The servers' turns and moves when their last move was seen.
    turns: Vec<u64>,
    moves: u64,
}

impl<'a> Watch<'a> {
    /// Turns of the front end between two checks of the servers.
    const LOOK: u64 = 1024;

    /// Watches `servers`, and waits `patience` turns of each.
    #[must_use]
    pub fn new(servers: &'a [Progress], patience: u64) -> Self {
        Self {
            servers,
            patience,
            idle: 0,
            turns: Vec::new(),
            moves: 0,
        }
    }

    /// A turn of the front end is over, and did something or not. Returns whether all is stuck.
    pub fn is_stuck(&mut self, did: bool) -> bool {
        if did {
            self.idle = 0;
            return false;
        }
        self.idle += 1;
        if !self.idle.is_multiple_of(Self::LOOK) {
            return false;
        }
        let loads = |server: &Progress| server.turns.load(Ordering::Acquire);
        let turns: Vec<u64> = self.servers.iter().map(loads).collect();
        let of_moves = self.servers.iter();
        let moves = of_moves
            .map(|server| server.moves.load(Ordering::Relaxed))
            .sum();
        // The front end's last action may have given the servers something to do.
        if self.idle == Self::LOOK || moves != self.moves {
            (self.turns, self.moves) = (turns, moves);
            return false;
        }
        let mut since = turns.iter().zip(&self.turns);
        self.idle > self.patience && since.all(|(now, then)| now - then > self.patience)
    }
}
