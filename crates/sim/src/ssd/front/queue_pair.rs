//! Queue pairs: which command may enter the drive next, and when the host receives completions.
//!
//! ```text
//!   stream ─> pair 0 ─ waiting ─┐ weighted   [commands in the drive]   ┌ pair 0: interrupt ─> host
//!   stream ─> pair 1 ─ waiting ─┘ round robin                          └ pair 1: interrupt ─> host
//! ```
//!
//! The drive takes a command at once if it has a free slot and the pair has fewer commands inside
//! than its depth. Otherwise the command waits. A slot that becomes free goes to the pair whose
//! turn it is ([`super::arbitration`]). SATA and SAS have one pair.
//!
//! An interrupt reports a set number of completions of a pair, or fewer if the first of them has
//! waited long enough. The host serves the interrupts of a pair one after another.

use std::collections::VecDeque;

use super::arbitration::Arbitration;
use crate::preset::{HostInterface, SsdConfig};

/// The settings of the queue pairs.
#[derive(Clone, Debug)]
pub(super) struct PairSettings {
    /// Commands in the drive at once, over all pairs.
    commands: u32,
    /// The weight of each pair.
    weights: Vec<u32>,
    /// The class of each pair; empty without classes.
    classes: Vec<u32>,
    /// The weights of the classes high, medium and low.
    class_weights: Vec<u32>,
    /// Commands of one pair in the drive at once.
    depth: u32,
    /// Completions reported by one interrupt.
    batch: u32,
}

impl PairSettings {
    pub fn new(config: &SsdConfig) -> Self {
        let host = &config.host;
        let commands = match host.interface {
            HostInterface::Free => u32::MAX,
            HostInterface::Sata | HostInterface::Sas | HostInterface::Nvme => host.commands,
        };
        Self {
            commands,
            weights: host.queue_pair_weights.clone(),
            classes: host.queue_pair_classes.clone(),
            class_weights: host.class_weights.clone(),
            depth: host.queue_pair_depth.unwrap_or(u32::MAX),
            batch: host.interrupt_completions,
        }
    }
}

#[derive(Clone, Debug)]
struct QueuePair {
    /// How many more commands may enter.
    free: u32,
    waiting: VecDeque<u32>,
    /// Completions that the host has not received. Those of raised interrupts come first.
    posted: VecDeque<u32>,
    /// Interrupts in progress: when the host has served each, and how many completions it reports.
    raised: VecDeque<(u64, u32)>,
    /// Until when the completions behind those wait for others.
    gathers_until: Option<u64>,
    /// The number of these completions.
    gathered: u32,
    host_free_at: u64,
}

/// All queue pairs of a drive.
#[derive(Clone, Debug)]
pub(super) struct QueuePairs {
    settings: PairSettings,
    pairs: Vec<QueuePair>,
    /// How many more commands may enter. With a single pair, this includes the limit of its depth.
    free_commands: u32,
    /// There is only one pair; its own `free` is unused.
    is_one: bool,
    /// Commands waiting in all pairs.
    waiting: u32,
    arbitration: Arbitration,
}

impl QueuePairs {
    pub fn new(settings: PairSettings) -> Self {
        let pair = |_: &u32| QueuePair {
            free: settings.depth,
            waiting: VecDeque::new(),
            posted: VecDeque::new(),
            raised: VecDeque::new(),
            gathers_until: None,
            gathered: 0,
            host_free_at: 0,
        };
        let is_one = settings.weights.len() == 1;
        Self {
            pairs: settings.weights.iter().map(pair).collect(),
            free_commands: if is_one {
                settings.commands.min(settings.depth)
            } else {
                settings.commands
            },
            is_one,
            waiting: 0,
            arbitration: Arbitration::new(
                &settings.weights,
                &settings.classes,
                &settings.class_weights,
            ),
            settings,
        }
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.settings.clone());
    }

    /// Whether no command ever waits.
    pub fn take_all(&self) -> bool {
        self.settings.commands == u32::MAX && self.settings.depth == u32::MAX
    }

    /// Whether a command of `pair` enters the drive now. If not, it waits.
    #[inline(always)]
    pub fn enters(&mut self, pair: u16, slot: u32) -> bool {
        if self.is_one && self.free_commands > 0 {
            self.free_commands -= 1;
            return true;
        }
        let place = &mut self.pairs[pair as usize];
        if self.free_commands > 0 && place.free > 0 {
            self.free_commands -= 1;
            place.free -= 1;
            return true;
        }
        place.waiting.push_back(slot);
        self.waiting += 1;
        false
    }

    /// A command of `pair` has left. Returns the one that enters instead, if one waits that may.
    #[inline(always)]
    pub fn leaves(&mut self, pair: u16) -> Option<u32> {
        self.free_commands += 1;
        if !self.is_one {
            self.pairs[pair as usize].free += 1;
        }
        if self.waiting == 0 {
            None
        } else {
            self.next_waiting()
        }
    }

    fn next_waiting(&mut self) -> Option<u32> {
        let pairs = &self.pairs;
        let next = self.arbitration.next(|pair| {
            let pair = &pairs[usize::from(pair)];
            pair.free > 0 && !pair.waiting.is_empty()
        })?;
        let pair = &mut self.pairs[usize::from(next)];
        let slot = pair.waiting.pop_front()?;
        pair.free -= u32::from(!self.is_one);
        self.free_commands -= 1;
        self.waiting -= 1;
        Some(slot)
    }

    /// A command of `pair` completed in the drive at `now`. An interrupt takes `cost` of the host's
    /// time. The completion waits for others until `now + wait` at most.
    pub fn post(&mut self, pair: u16, slot: u32, now: u64, cost: u64, wait: u64) {
        let batch = self.settings.batch;
        let pair = &mut self.pairs[pair as usize];
        pair.posted.push_back(slot);
        pair.gathered += 1;
        if pair.gathered == batch {
            pair.raise(now, cost);
        } else if pair.gathered == 1 {
            pair.gathers_until = Some(now + wait);
        }
    }

    /// The time of the next event of posted completions.
    pub fn next_event(&self) -> Option<u64> {
        let of_pair = |pair: &QueuePair| {
            let served = pair.raised.front().map(|&(at, _)| at);
            [served, pair.gathers_until].into_iter().flatten().min()
        };
        self.pairs.iter().filter_map(of_pair).min()
    }

    /// A completion that has reached the host by `now`, from the first pair that has one.
    pub fn told(&mut self, now: u64, cost: u64) -> Option<u32> {
        for pair in &mut self.pairs {
            if pair.gathers_until.is_some_and(|until| until <= now) {
                pair.raise(now, cost);
            }
            let Some((at, left)) = pair.raised.front_mut() else {
                continue;
            };
            if *at <= now {
                *left -= 1;
                if *left == 0 {
                    pair.raised.pop_front();
                }
                return pair.posted.pop_front();
            }
        }
        None
    }
}

impl QueuePair {
    fn raise(&mut self, now: u64, cost: u64) {
        self.host_free_at = self.host_free_at.max(now) + cost;
        self.raised.push_back((self.host_free_at, self.gathered));
        self.gathered = 0;
        self.gathers_until = None;
    }
}
