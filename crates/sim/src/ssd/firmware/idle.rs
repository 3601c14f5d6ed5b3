//! From when on the drive is idle, and whether its firmware is at work then.

/// What is known of idle time.
#[derive(Clone, Copy, Debug)]
pub struct Background {
    /// From when on after a completion the drive is idle; `None` if that changes nothing.
    idle_ns: Option<u64>,
    /// Operations of idle time are asked for.
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

    /// How long after a completion the drive is idle, if anything is done then.
    #[inline]
    pub fn idle_ns(&self) -> Option<u64> {
        self.idle_ns
    }

    /// Whether operations of idle time are asked for when one is complete.
    #[inline(always)]
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// They are, or are no more.
    pub fn run_while(&mut self, is_running: bool) {
        self.is_running = is_running;
    }

    /// Commands may come at any time from now on.
    pub fn await_always(&mut self) {
        self.is_always_awaited = true;
    }

    #[inline(always)]
    pub fn is_always_awaited(&self) -> bool {
        self.is_always_awaited
    }

    /// A command is complete.
    #[inline(always)]
    pub fn complete(&mut self, now: u64) {
        self.last_completion = now;
    }

    /// When the last command was complete.
    pub fn idle_since(&self) -> u64 {
        self.last_completion
    }
}
