//! Data out first: a channel moves what was read before it begins anything else.
//!
//! ```text
//!   channel:   |data out|data out|           |program's data|      |data out|
//!   free dies:                    read, read  program        ...
//! ```
//!
//! A die begins an operation only when its channel is free and nothing that was read waits for
//! it. So a die may be idle with work before it while others' data crosses. Where several may
//! begin they do so in turn, from the one behind the last that sent data. Beginning takes no
//! time on the channel here, so that reads and erases of all free dies begin at once; a program
//! has the channel for its data.
//!
//! What this leaves out: data of the map does not go before the host's, nor that before the
//! collection's.

use super::Flash;
use super::pipeline::Pipelines;
use crate::ssd::timeline::Timeline;

/// By channel, whose turn it is to begin.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    channels: u32,
    /// Units of each channel.
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

    /// The first unit of every channel is next.
    pub fn reset(&mut self) {
        self.next.fill(0);
    }

    /// Whose turn it is on `channel`; then the next one's.
    fn pass(&mut self, channel: u32) -> u32 {
        let next = &mut self.next[channel as usize];
        let unit = channel + self.channels * *next;
        *next = (*next + 1) % self.each;
        unit
    }
}

impl Flash {
    /// From when on a batch may enter `unit`, as far as its channel is concerned.
    pub(super) fn enters_from(&self, pipelines: &Pipelines, unit: u32) -> u64 {
        match pipelines.turns {
            Some(_) => self.channels[self.units[unit as usize].channel as usize].free_at,
            None => 0,
        }
    }

    /// Something happened in `unit`: the units of its channel begin what waits, in turn, until
    /// the channel is taken.
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
