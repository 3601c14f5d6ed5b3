//! Where requests of a direction went: the ends of streams, and requests that may be repeated.

use std::collections::VecDeque;

use super::HISTORY;

/// The number of streams remembered, for each group and overall.
const STREAMS: usize = 32;

/// Ends of streams, the most recent first.
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

/// The history of one direction.
#[derive(Clone, Debug)]
pub(super) struct Places {
    all: Ends,
    /// One entry for each group.
    groups: Vec<Ends>,
    /// For each group: offsets and sizes, the most recent at the end.
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

    /// A stream continues from `end`, so it no longer ends there.
    pub fn go_on(&mut self, group: usize, end: u64) {
        self.all.forget(end);
        let in_own = self.groups.get_mut(group).is_some_and(|g| g.forget(end));
        if !in_own {
            let _ = self.groups.iter_mut().any(|group| group.forget(end));
        }
    }

    /// Records a request of a group.
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
