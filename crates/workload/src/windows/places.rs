//! Where requests of a direction went: streams by where they ended, and what may come again.

use std::collections::VecDeque;

use super::HISTORY;

/// Streams that are remembered, of a group and of all.
const STREAMS: usize = 32;

/// Ends of streams, the last one first.
#[derive(Clone, Debug, Default)]
struct Ends(VecDeque<u64>);

impl Ends {
    fn at(&self, rank: u32) -> Option<u64> {
        let last = self.0.len().checked_sub(1)?;
        self.0.get((rank as usize).min(last)).copied()
    }

    fn forget(&mut self, end: u64) -> bool {
        let found = self.0.iter().position(|&each| each == end);
        found.is_some_and(|place| self.0.remove(place).is_some())
    }

    fn push(&mut self, end: u64) {
        self.0.truncate(STREAMS - 1);
        self.0.push_front(end);
    }
}

/// What one direction did.
#[derive(Clone, Debug)]
pub(super) struct Places {
    all: Ends,
    /// By group.
    groups: Vec<Ends>,
    /// By group: offsets and sizes, the last one at the end.
    history: Vec<VecDeque<(u64, u32)>>,
}

impl Places {
    pub fn new(groups: usize) -> Self {
        Self {
            all: Ends::default(),
            groups: vec![Ends::default(); groups],
            history: vec![VecDeque::new(); groups],
        }
    }

    /// Where a stream of a group ended.
    pub fn end(&self, group: usize, rank: u32) -> Option<u64> {
        self.groups.get(group)?.at(rank)
    }

    /// Where a stream of any group ended.
    pub fn end_of_any(&self, rank: u32) -> Option<u64> {
        self.all.at(rank)
    }

    /// Where an earlier request of a group went, and its size.
    pub fn earlier(&self, group: usize, rank: u32) -> Option<(u64, u32)> {
        let history = self.history.get(group)?;
        let last = history.len().checked_sub(1)?;
        history.get(last - (rank as usize).min(last)).copied()
    }

    /// A stream goes on from `end`: it ends there no longer.
    pub fn go_on(&mut self, group: usize, end: u64) {
        self.all.forget(end);
        let in_own = self.groups.get_mut(group).is_some_and(|g| g.forget(end));
        if !in_own {
            let _ = self.groups.iter_mut().any(|group| group.forget(end));
        }
    }

    /// A request of a group went there.
    pub fn went(&mut self, group: usize, offset: u64, size: u32) {
        let end = offset + u64::from(size);
        self.all.push(end);
        if let Some(ends) = self.groups.get_mut(group) {
            ends.push(end);
        }
        if let Some(history) = self.history.get_mut(group) {
            if history.len() == HISTORY {
                history.pop_front();
            }
            history.push_back((offset, size));
        }
    }
}
