//! Which operations are recorded, and their times while these may still change.

use std::ops::Range;

use drivelab_ftl::OperationKind;
use rustc_hash::FxHashMap;

use super::Flash;
use super::recorded::RecordedOperation;

/// The most operations in a record. Later ones are left out.
const MOST_RECORDED: usize = 1 << 20;
/// The record is searched for finished operations when it holds this many.
const FEW_RECORDED: usize = 1 << 8;
/// One second. No operation waits this long for its channel.
const PATIENCE: u64 = 1_000_000_000;

/// An operation whose times may still change.
#[derive(Clone, Debug)]
struct Tagged {
    place: u64,
    operation: RecordedOperation,
    /// It is paused and will resume. Its recorded end is when it would have ended without the
    /// pause.
    is_paused: bool,
}

/// The operations in progress during a span of time, each with its place in the order of emission.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    span: Range<u64>,
    /// The stream for which write buffer and read cache work.
    pub stream: Option<u16>,
    emitted: u64,
    /// Operations that ended while others took their tags.
    kept: Vec<(u64, RecordedOperation)>,
    /// By unit and tag. It is looked up, thinned and sorted, so its order cannot matter.
    tagged: FxHashMap<(u32, u16), Tagged>,
    /// Size at which it is thinned.
    limit: usize,
}

impl Recording {
    pub fn of(span: Range<u64>) -> Self {
        Self {
            span,
            stream: None,
            emitted: 0,
            kept: Vec::new(),
            tagged: FxHashMap::default(),
            limit: FEW_RECORDED,
        }
    }

    /// Begins the record of an operation, if it may be in progress during the span. Returns its
    /// tag.
    pub fn open(&mut self, operation: RecordedOperation, now: u64) -> u16 {
        let tag = self.emitted as u16;
        let key = (operation.unit, tag);
        // It was emitted 65,536 operations ago, so it has ended.
        let last = self.tagged.remove(&key);
        let start = self.span.start;
        let last = last.map(|last| (last.place, last.operation));
        self.kept
            .extend(last.filter(|(_, last)| last.end() > start));
        if self.tagged.len() >= self.limit {
            self.tagged
                .retain(|_, each| each.operation.end() > start || !each.is_over(now));
            self.limit = FEW_RECORDED.max(2 * self.tagged.len());
        }
        if now < self.span.end && self.kept.len() + self.tagged.len() < MOST_RECORDED {
            let tagged = Tagged {
                place: self.emitted,
                operation,
                is_paused: false,
            };
            self.tagged.insert(key, tagged);
        }
        self.emitted += 1;
        tag
    }

    /// What was recorded, in the order of emission.
    pub fn into_operations(self) -> Vec<RecordedOperation> {
        let mut operations = self.kept;
        let tagged = self.tagged.into_values();
        operations.extend(tagged.map(|each| (each.place, each.operation)));
        operations.sort_unstable_by_key(|&(place, _)| place);
        let operations = operations.into_iter().map(|(_, operation)| operation);
        operations.filter(|o| o.end() > self.span.start).collect()
    }
}

impl Tagged {
    /// Whether its times cannot change any more.
    fn is_over(&self, now: u64) -> bool {
        let (start, end) = self.operation.transfer;
        let has_all = match self.operation.operation.kind {
            // While it waits for the channel, its transfer has no length.
            OperationKind::Read => start < end || end.saturating_add(PATIENCE) < now,
            OperationKind::Program | OperationKind::Erase => {
                self.operation.cell.1 > 0 && !self.is_paused
            }
        };
        has_all && self.operation.end() <= now
    }
}

impl Flash {
    /// The record of a task of `unit`, if there is one.
    #[inline(always)]
    pub(super) fn recorded_task(&mut self, unit: u32, tag: u16) -> Option<&mut RecordedOperation> {
        self.tagged(unit, tag).map(|each| &mut each.operation)
    }

    #[inline(always)]
    fn tagged(&mut self, unit: u32, tag: u16) -> Option<&mut Tagged> {
        let recording = self.recording.as_mut()?;
        recording.tagged.get_mut(&(unit, tag))
    }

    /// The recorded task of `unit` is paused: its recorded end is not final.
    pub(super) fn record_pause(&mut self, unit: u32, tag: u16) {
        if let Some(tagged) = self.tagged(unit, tag) {
            tagged.is_paused = true;
        }
    }

    /// The recorded task of `unit` resumes and ends at `end`.
    pub(super) fn record_resume(&mut self, unit: u32, tag: u16, end: u64) {
        if let Some(tagged) = self.tagged(unit, tag) {
            tagged.is_paused = false;
            tagged.operation.cell.1 = end;
        }
    }
}
