//! Queue pairs: who may enter the drive next, and when the host is told.
//!
//! ```text
//!   stream ─> pair 0 ─ waiting ─┐ weighted   [commands in the drive]   ┌ pair 0: interrupt ─> host
//!   stream ─> pair 1 ─ waiting ─┘ round robin                          └ pair 1: interrupt ─> host
//! ```
//!
//! The drive takes a command at once while it has a slot for it and the pair has
//! fewer than its depth inside. Otherwise the command waits; a slot that becomes
//! free goes to the pair whose turn it is ([`super::arbitration`]). SATA and SAS have one pair.
//!
//! An interrupt tells of so many completions of a pair, or of fewer when the first
//! of them has waited long enough. The host serves the interrupts of a pair one
//! after the other.

use std::collections::VecDeque;

use super::arbitration::Arbitration;
use crate::preset::{HostInterface, SsdConfig};

/// What queue pairs are like.
#[derive(Clone, Debug)]
pub(super) struct PairSettings {
    /// Commands in the drive at once, of all pairs.
    commands: u32,
    /// By pair.
    weights: Vec<u32>,
    /// By pair, its class; of none without classes.
    classes: Vec<u32>,
    /// Of the classes high, medium and low.
    class_weights: Vec<u32>,
    /// Commands of a pair in the drive at once.
    depth: u32,
    /// Completions that an interrupt tells.
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
    /// Commands that may still enter.
    free: u32,
    waiting: VecDeque<u32>,
    /// Completions that the host has not been told of, first those of the raised
    /// interrupts.
    posted: VecDeque<u32>,
    /// Interrupts on their way: when the host has served each, and of how many
    /// completions it tells.
    raised: VecDeque<(u64, u32)>,
    /// Until when the completions behind those wait for others.
    gathers_until: Option<u64>,
    /// How many these are.
    gathered: u32,
    host_free_at: u64,
}

/// All queue pairs of a drive.
#[derive(Clone, Debug)]
pub(super) struct QueuePairs {
    settings: PairSettings,
    pairs: Vec<QueuePair>,
    /// Commands that may still enter; of one pair, by its depth too.
    free_commands: u32,
    /// There is but one pair: its own `free` stands still.
    is_one: bool,
    /// Waiting in all pairs.
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

    /// Whether a command of `pair` enters the drive now; if not, it waits.
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

    /// A command of `pair` has left: which one enters instead, if one waits that may.
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

    /// A command of `pair` is complete in the drive at `now`; an interrupt takes the
    /// host `cost`, and the completion waits for others until `now + wait` at most.
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

    /// When something happens to the completions that were posted.
    pub fn next_event(&self) -> Option<u64> {
        let of_pair = |pair: &QueuePair| {
            let served = pair.raised.front().map(|&(at, _)| at);
            [served, pair.gathers_until].into_iter().flatten().min()
        };
        self.pairs.iter().filter_map(of_pair).min()
    }

    /// One that the host has been told of by `now`, of the first pair that has one.
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
