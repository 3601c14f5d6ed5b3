//! When the drive counts as idle, and whether its firmware works then.

/// The state of idle-time work.
#[derive(Clone, Copy, Debug)]
pub struct Background {
    /// How long after a completion the drive counts as idle; `None` if nothing would happen then.
    idle_ns: Option<u64>,
    /// Idle-time operations are being asked for.
    is_running: bool,
    /// Another command may come at any time.
    is_always_awaited: bool,
    last_completion: u64,
}

impl Background {
    pub fn new(idle_ns: Option<u64>) -> Self {
        Self {
            idle_ns,
            is_running: false,
            is_always_awaited: false,
            last_completion: 0,
        }
    }

    pub fn reset(&mut self) {
        *self = Self {
            is_always_awaited: self.is_always_awaited,
            ..Self::new(self.idle_ns)
        };
    }

    /// How long after a completion the drive counts as idle, if anything is done then.
    #[inline]
    pub fn idle_ns(&self) -> Option<u64> {
        self.idle_ns
    }

    /// Whether a completion of an idle-time operation asks for another.
    #[inline(always)]
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Starts or stops asking for idle-time operations.
    pub fn run_while(&mut self, is_running: bool) {
        self.is_running = is_running;
    }

    /// From now on commands may come at any time.
    pub fn await_always(&mut self) {
        self.is_always_awaited = true;
    }

    #[inline(always)]
    pub fn is_always_awaited(&self) -> bool {
        self.is_always_awaited
    }

    /// A command completed.
    #[inline(always)]
    pub fn complete(&mut self, now: u64) {
        self.last_completion = now;
    }

    /// When the last command completed.
    pub fn idle_since(&self) -> u64 {
        self.last_completion
    }
}
