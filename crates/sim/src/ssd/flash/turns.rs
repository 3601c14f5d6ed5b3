//! Data out first: a channel moves data that was read before it begins anything else.
//!
//! ```text
//!   channel:   |data out|data out|           |program's data|      |data out|
//!   free dies:                    read, read  program        ...
//! ```
//!
//! A die begins an operation only when its channel is free and no data that was read waits for the
//! channel. So a die with waiting work may be idle while the data of others crosses. If several
//! dies may begin, they take turns, starting behind the last one that sent data. Beginning takes no
//! channel time here, so reads and erases of all free dies begin at once; a program needs the
//! channel for its data.
//!
//! Left out: map data does not go before host data, nor host data before collection data.

use super::Flash;
use super::pipeline::Pipelines;
use crate::ssd::timeline::Timeline;

/// For each channel, whose turn it is to begin.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    channels: u32,
    /// Units on each channel.
    each: u32,
    next: Vec<u32>,
}

impl Turns {
    pub fn new(channels: u32, units: u32) -> Self {
        Self {
            channels,
            each: units / channels,
            next: vec![0; channels as usize],
        }
    }

    /// Makes the first unit of every channel the next.
    pub fn reset(&mut self) {
        self.next.fill(0);
    }

    /// Whose turn it is on `channel`. Then the turn passes on.
    fn pass(&mut self, channel: u32) -> u32 {
        let next = &mut self.next[channel as usize];
        let unit = channel + self.channels * *next;
        *next = (*next + 1) % self.each;
        unit
    }
}

impl Flash {
    /// From when on the channel allows a batch to enter `unit`.
    pub(super) fn enters_from(&self, pipelines: &Pipelines, unit: u32) -> u64 {
        match pipelines.turns {
            Some(_) => self.channels[self.units[unit as usize].channel as usize].free_at,
            None => 0,
        }
    }

    /// Something happened in `unit`: the units of its channel begin waiting operations, in turn,
    /// until the channel is taken.
    pub(super) fn take_in_turn(
        &mut self,
        pipelines: &mut Pipelines,
        unit: u32,
        timeline: &mut Timeline,
        now: u64,
    ) {
        let channel = u32::from(self.units[unit as usize].channel);
        let (channels, each) = match &pipelines.turns {
            Some(turns) => (turns.channels, turns.each),
            None => return,
        };
        for _ in 0..each {
            if self.channels[channel as usize].free_at > now {
                break;
            }
            let next = pipelines.turns.as_mut().map(|turns| turns.pass(channel));
            if let Some(next) = next {
                self.take_batch(pipelines, next, now);
            }
        }
        for place in 0..each {
            self.set_die_event(pipelines, channel + channels * place, timeline, now);
        }
    }
}
