//! The owner of the drive. Others say what time it is.

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_sim::host::{Completion, Device, Fullness, HostTime, Media, Outcome, SimError};

use super::wall::Dilation;

/// A long range is written in pieces, one after another. All its operations at once would fill the
/// drive's queues, and generating them would delay others too long.
const PIECE_BYTES: u32 = 1 << 20;

/// The ticket of a request that nobody waits for.
const NOBODY: u64 = u64::MAX;

/// A request whose reply may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The ticket given to [`Keeper::submit`].
    pub ticket: u64,
    /// When it was due, ns of wall time since the start.
    pub at: u64,
    /// How long the drive took, ns of its own time.
    pub latency: u64,
}

/// What the drive did in an interval of its time, and its state at the end.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// Length of the interval, ns of the drive's own time.
    pub length_ns: u64,
    /// What the drive's media did.
    pub media: Media,
    /// How full the drive is at the end.
    pub fullness: Fullness,
    /// Requests in progress at the end.
    pub outstanding: usize,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    ticket: u64,
    /// In the host's time, undilated.
    submitted: u64,
    command: Command,
    /// Bytes behind the command that must be written after it.
    rest: u32,
}

/// A drive in real time.
pub struct Keeper {
    device: Box<dyn Device + Send>,
    dilation: Dilation,
    host_time: Option<HostTime>,
    /// Pending requests by tag.
    pending: Vec<Option<Pending>>,
    outstanding: usize,
    /// The last moment of the drive's time that was served.
    served: u64,
    /// The beginning of the current interval, in the drive's time.
    stretch_from: u64,
    /// The next event, in the drive's time.
    next: Option<u64>,
    /// The completions served last; both are kept to reuse their memory.
    completions: Vec<Completion>,
    completed: Vec<(Pending, u64)>,
}

impl Keeper {
    /// A drive whose time is 0 now. `seed` is the key of its randomness.
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

    /// Requests in progress.
    #[must_use]
    pub const fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// The time of the drive's next event, ns of wall time. A reply is due then or later.
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

    /// The first moment of the drive's time at which wall time is `now`.
    fn arrival_ns(&mut self, now: u64) -> u64 {
        let host_ns = self.dilation.drive_ns(now);
        match &mut self.host_time {
            None => host_ns,
            Some(time) => time.drive_ns(host_ns),
        }
    }

    /// The last such moment. If the drive's clock runs fast, several of its ns fall into one ns of
    /// the host's.
    fn limit_ns(&mut self, now: u64) -> u64 {
        let host_ns = self.dilation.drive_ns(now);
        match &mut self.host_time {
            None => host_ns,
            Some(time) => time.drive_ns(host_ns + 1).saturating_sub(1),
        }
    }

    /// Time is `now`: serves everything up to it. Appends what is due to `due`.
    ///
    /// # Errors
    /// [`SimError`] if the drive cannot continue.
    pub fn come_to(&mut self, now: u64, due: &mut Vec<Due>) -> Result<(), SimError> {
        if self.next.is_none() && self.host_time.is_none() {
            return Ok(());
        }
        let limit = self.limit_ns(now);
        self.serve(limit, due)?;
        self.served = self.served.max(limit);
        // Keep only as much history of the drift as is needed, even in hours of idleness.
        if let Some(time) = &mut self.host_time
            && time.is_long()
        {
            time.forget(self.served);
        }
        Ok(())
    }

    /// What the drive did since the last interval ended. This one ends at `now`, or at the last
    /// served moment if the drive has not reached `now`.
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
            // All tags are free from here on: what the first completion sends may reuse the
            // second's tag.
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

    /// Whether a power loss now would destroy the newest data of the sector at this offset.
    #[must_use]
    pub fn would_lose(&self, offset_bytes: u64) -> bool {
        self.device.would_lose(offset_bytes)
    }

    /// Writes up to this size are lost completely or not at all when the power fails, bytes.
    #[must_use]
    pub fn atomic_power_loss_bytes(&self) -> u64 {
        self.device.atomic_power_loss_bytes()
    }

    /// The power goes at `now`, and nobody waits for anything any more. The drive finishes its work
    /// and flushes while it is off. It can return when nothing is
    /// [outstanding](Keeper::outstanding).
    ///
    /// # Errors
    /// [`SimError`] if the drive cannot continue.
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

    /// A request arrives at `now`. If it is `parted`, it is sent piece by piece. Requests due by
    /// then come first and are appended to `due`.
    ///
    /// # Errors
    /// [`SimError`] if the drive cannot serve it.
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
