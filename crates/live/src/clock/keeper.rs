//! The owner of the drive, who is told what time it is.

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_sim::host::{Completion, Device, Fullness, HostTime, Media, Outcome, SimError};

use super::wall::Dilation;

/// A long range is written piece by piece, one after the other: its operations would fill the
/// drive's queues, and making them would take longer than others may wait.
const PIECE_BYTES: u32 = 1 << 20;

/// The ticket of a request that nobody waits for.
const NOBODY: u64 = u64::MAX;

/// A request whose reply may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// What [`Keeper::submit`] was told.
    pub ticket: u64,
    /// When, ns of wall time since the start.
    pub at: u64,
    /// How long the drive took, ns of its own time.
    pub latency: u64,
}

/// What the drive did in a stretch of its time, and how it is left.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// Its length, ns of the drive's own time.
    pub length_ns: u64,
    /// What the drive's media did in it.
    pub media: Media,
    /// How full the drive is at its end.
    pub fullness: Fullness,
    /// Requests on their way then.
    pub outstanding: usize,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    ticket: u64,
    /// In the host's time, undilated.
    submitted: u64,
    command: Command,
    /// Bytes behind the command that are to be written after it.
    rest: u32,
}

/// A drive in real time.
pub struct Keeper {
    device: Box<dyn Device + Send>,
    dilation: Dilation,
    host_time: Option<HostTime>,
    /// By tag.
    pending: Vec<Option<Pending>>,
    outstanding: usize,
    /// The last moment of the drive's time that was served.
    served: u64,
    /// When the stretch began that is under way, in the drive's time.
    stretch_from: u64,
    /// When something happens next, in the drive's time.
    next: Option<u64>,
    /// What was served last; both kept for their memory.
    completions: Vec<Completion>,
    completed: Vec<(Pending, u64)>,
}

impl Keeper {
    /// A drive whose time is 0 now. `seed` keys what is random about it.
    #[must_use]
    pub fn new(mut device: Box<dyn Device + Send>, seed: u64, dilation: Dilation) -> Self {
        device.expect_programs();
        device.begin(seed, 0);
        device.open_window(0);
        Self {
            host_time: device.host_time(seed, 0),
            device,
            dilation,
            pending: Vec::new(),
            outstanding: 0,
            served: 0,
            stretch_from: 0,
            next: None,
            completions: Vec::new(),
            completed: Vec::new(),
        }
    }

    /// Requests on their way.
    #[must_use]
    pub const fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// When something happens next in the drive, ns of wall time; a reply is due then, or later.
    #[must_use]
    pub fn next_moment(&mut self) -> Option<u64> {
        let at = self.next?;
        Some(self.wall_ns(at))
    }

    fn wall_ns(&mut self, drive_ns: u64) -> u64 {
        let host_ns = self.host_ns(drive_ns);
        self.dilation.wall_ns(host_ns)
    }

    fn host_ns(&mut self, drive_ns: u64) -> u64 {
        match &mut self.host_time {
            None => drive_ns,
            Some(time) => time.host_ns(drive_ns),
        }
    }

    /// The first moment of the drive's time at which it is `now` of wall time.
    fn arrival_ns(&mut self, now: u64) -> u64 {
        let host_ns = self.dilation.drive_ns(now);
        match &mut self.host_time {
            None => host_ns,
            Some(time) => time.drive_ns(host_ns),
        }
    }

    /// The last such moment: several of a drive in haste lie in one nanosecond of the host.
    fn limit_ns(&mut self, now: u64) -> u64 {
        let host_ns = self.dilation.drive_ns(now);
        match &mut self.host_time {
            None => host_ns,
            Some(time) => time.drive_ns(host_ns + 1).saturating_sub(1),
        }
    }

    /// It is `now`: everything up to then happens; what is due is appended to `due`.
    ///
    /// # Errors
    /// [`SimError`] when the drive cannot go on.
    pub fn come_to(&mut self, now: u64, due: &mut Vec<Due>) -> Result<(), SimError> {
        if self.next.is_none() && self.host_time.is_none() {
            return Ok(());
        }
        let limit = self.limit_ns(now);
        self.serve(limit, due)?;
        self.served = self.served.max(limit);
        // Of the drift no more is kept than is needed, in hours of idleness too.
        if let Some(time) = &mut self.host_time
            && time.is_long()
        {
            time.forget(self.served);
        }
        Ok(())
    }

    /// What the drive did since the last stretch ended. This one ends `now`, or, where the drive
    /// has not come to that, at what it served last.
    pub fn end_stretch(&mut self, now: u64) -> Stretch {
        let limit = self.limit_ns(now);
        let at = match self.next {
            Some(next) if next <= limit => self.served,
            _ => limit.max(self.served),
        };
        self.served = at;
        let length_ns = at - std::mem::replace(&mut self.stretch_from, at);
        let mut outcome = Outcome {
            window: Nanos(length_ns),
            ..Outcome::default()
        };
        self.device.close_window(at, &mut outcome);
        self.device.open_window(at);
        Stretch {
            length_ns,
            media: outcome.media,
            fullness: self.device.fullness(),
            outstanding: self.outstanding,
        }
    }

    fn serve(&mut self, limit: u64, due: &mut Vec<Due>) -> Result<(), SimError> {
        while self.next.is_some_and(|at| at <= limit) {
            self.completions.clear();
            self.next = self.device.serve_until(limit, &mut self.completions)?;
            // A tag is free from here on: what the first sends may get the second's.
            self.completed.clear();
            for completion in &self.completions {
                let slot = self.pending.get_mut(completion.tag as usize);
                let taken = slot.and_then(Option::take);
                self.completed
                    .extend(taken.map(|done| (done, completion.at)));
            }
            for place in 0..self.completed.len() {
                let (done, at) = self.completed[place];
                self.served = self.served.max(at);
                self.complete(done, at, due)?;
            }
        }
        Ok(())
    }

    fn complete(&mut self, done: Pending, at: u64, due: &mut Vec<Due>) -> Result<(), SimError> {
        if done.rest > 0 {
            let size = done.rest.min(PIECE_BYTES);
            let before = done.command.offset_bytes;
            let command = Command {
                offset_bytes: before + u64::from(done.command.size_bytes),
                size_bytes: size,
                ..done.command
            };
            let rest = done.rest - size;
            return self.send(
                Pending {
                    command,
                    rest,
                    ..done
                },
                at,
            );
        }
        self.outstanding -= 1;
        if done.ticket == NOBODY {
            return Ok(());
        }
        let host_ns = self.host_ns(at);
        due.push(Due {
            ticket: done.ticket,
            at: self.dilation.wall_ns(host_ns),
            latency: host_ns.saturating_sub(done.submitted),
        });
        Ok(())
    }

    /// Whether the newest data of the sector at this offset would be lost with the power now.
    #[must_use]
    pub fn would_lose(&self, offset_bytes: u64) -> bool {
        self.device.would_lose(offset_bytes)
    }

    /// The power is gone at `now`: nobody waits for anything any more. What the drive still does
    /// is done while it is off, and so is a flush; it is back at the earliest when nothing is
    /// [outstanding](Keeper::outstanding).
    ///
    /// # Errors
    /// [`SimError`] when the drive cannot go on.
    pub fn cut(&mut self, now: u64) -> Result<(), SimError> {
        for pending in self.pending.iter_mut().flatten() {
            pending.ticket = NOBODY;
            pending.rest = 0;
        }
        let flush = Command {
            arrival: Nanos::ZERO,
            offset_bytes: 0,
            size_bytes: 0,
            kind: CommandKind::Flush,
            is_forced: false,
            content: Content::Random,
            zone: ZoneAction::None,
        };
        self.submit(now, (flush, false), NOBODY, &mut Vec::new())
    }

    /// A request arrives at `now`; one that is `parted` is sent piece by piece. What is due by
    /// then comes first, and is appended to `due`.
    ///
    /// # Errors
    /// [`SimError`] when the drive cannot serve it.
    pub fn submit(
        &mut self,
        now: u64,
        (command, is_parted): (Command, bool),
        ticket: u64,
        due: &mut Vec<Due>,
    ) -> Result<(), SimError> {
        let at = self.arrival_ns(now).max(self.served);
        self.serve(at, due)?;
        let most = if is_parted { PIECE_BYTES } else { u32::MAX };
        let size = command.size_bytes.min(most);
        let pending = Pending {
            ticket,
            submitted: self.host_ns(at),
            command: Command {
                size_bytes: size,
                ..command
            },
            rest: command.size_bytes - size,
        };
        self.outstanding += 1;
        self.send(pending, at)
    }

    fn send(&mut self, pending: Pending, at: u64) -> Result<(), SimError> {
        self.served = at;
        let tag = self.device.submit(&pending.command, at)? as usize;
        if self.pending.len() <= tag {
            self.pending.resize(tag + 1, None);
        }
        self.pending[tag] = Some(pending);
        self.next = self.device.next_event();
        Ok(())
    }
}
