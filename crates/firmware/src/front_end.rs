//! The front end, worker 0. It takes submission entries, checks them, finds their data, splits them
//! at page bounds, hands out the segments, and posts completions.

use crate::controller::{CONTEXTS, Controller};
use crate::geometry::{PAGE_SECTORS, SECTOR_BYTES};
use crate::host::{Doorbell, QUEUE_ENTRIES};
use crate::nvme::{
    COMMAND_BYTES, Command, Completion, HOST_PAGE_BYTES, Operation, Sectors, Status, walk,
};
use crate::records::{Counter, Counters};
use crate::segment::{Segment, Work};

/// Entries taken in one turn.
const TURN_COMMANDS: usize = 4;
/// The most pages covered by one segment of a trim.
const TRIM_PAGES: u32 = 4096;
const RANGE_BYTES: u64 = 16;

/// A command in progress.
#[derive(Clone, Copy, Debug)]
struct Context {
    identifier: u16,
    /// Segments not done, plus one while it is being split.
    pending: u32,
    status: Status,
}

/// What is left of the command being split.
#[derive(Clone, Copy, Debug)]
enum Cutting {
    Data {
        work: Work,
        sectors: Sectors,
        transfer: u32,
    },
    Trim(Trim),
    Flush,
}

/// The same for a deallocation.
#[derive(Clone, Copy, Debug)]
struct Trim {
    /// Pages left of the current range.
    first: u32,
    pages: u32,
    /// Number of ranges after it, and their place in the list.
    ranges: u32,
    next: u64,
    prp: [u64; 2],
}

/// A segment of a command without any content.
fn nothing(context: u16) -> Segment {
    Segment {
        work: Work::Flush,
        context,
        logical: 0,
        first: 0,
        sectors: 0,
        transfer: 0,
        pages: 0,
    }
}

/// Worker 0.
pub struct FrontEnd<'a> {
    shared: &'a Controller,
    counters: &'a Counters,
    capacity: u64,
    contexts: Vec<Context>,
    free: Vec<u16>,
    cutting: Option<(u16, Cutting)>,
    /// Identifiers in use, one bit each.
    in_use: Vec<u64>,
    submission_head: u16,
    completion_tail: u16,
    phase: bool,
}

impl<'a> FrontEnd<'a> {
    /// The front end of `shared`.
    #[must_use]
    pub fn new(shared: &'a Controller) -> Self {
        let idle = Context {
            identifier: 0,
            pending: 0,
            status: Status::SUCCESS,
        };
        Self {
            shared,
            counters: &shared.counters[0],
            capacity: shared.geometry.sectors(),
            contexts: vec![idle; CONTEXTS],
            free: (0..CONTEXTS as u16).rev().collect(),
            cutting: None,
            in_use: vec![0; (u16::MAX as usize + 1) / 64],
            submission_head: 0,
            completion_tail: 0,
            phase: true,
        }
    }

    /// Posts what is done, then takes new commands. Returns whether there was anything.
    pub fn turn(&mut self, doorbell: Doorbell) -> bool {
        let mut did = self.take_done(doorbell);
        for _ in 0..TURN_COMMANDS {
            if !self.cut_on() || !self.take_command(doorbell) {
                break;
            }
            did = true;
        }
        self.cut_on();
        did
    }

    fn take_done(&mut self, doorbell: Doorbell) -> bool {
        let mut did = false;
        for ring in &self.shared.done {
            // Each may need a completion entry.
            while self.completion_room(doorbell) > 0 {
                let Some(done) = ring.take() else {
                    break;
                };
                did = true;
                if done.status != Status::SUCCESS {
                    self.contexts[usize::from(done.context)].status = done.status;
                }
                self.settle(done.context, 1);
            }
        }
        did
    }

    fn completion_room(&self, doorbell: Doorbell) -> u16 {
        let used =
            (self.completion_tail + QUEUE_ENTRIES - doorbell.completion_head) % QUEUE_ENTRIES;
        QUEUE_ENTRIES - 1 - used
    }

    /// `segments` of a command are done. After the last, the host is informed.
    fn settle(&mut self, context: u16, segments: u32) {
        let state = &mut self.contexts[usize::from(context)];
        state.pending -= segments;
        if state.pending > 0 {
            return;
        }
        let completion = Completion {
            identifier: state.identifier,
            status: state.status,
            head: self.submission_head,
            phase: self.phase,
        };
        let identifier = usize::from(state.identifier);
        self.in_use[identifier / 64] &= !(1 << (identifier % 64));
        self.free.push(context);
        self.post(completion);
    }

    fn post(&mut self, completion: Completion) {
        let at = Doorbell::completion_at(self.completion_tail);
        // The queues lie in the host's memory, which exists.
        let _ = self.shared.memory.write(at, &completion.to_bytes());
        self.completion_tail = Doorbell::after(self.completion_tail);
        self.phase ^= self.completion_tail == 0;
    }

    /// Takes the next submission entry. Returns `false` if there is none, or no room for it.
    fn take_command(&mut self, doorbell: Doorbell) -> bool {
        // A command that fails at once completes at once.
        if self.submission_head == doorbell.submission_tail || self.completion_room(doorbell) == 0 {
            return false;
        }
        let Some(context) = self.free.pop() else {
            return false;
        };
        let mut entry = [0; COMMAND_BYTES];
        let at = Doorbell::submission_at(self.submission_head);
        let fetched = self.shared.memory.read(at, &mut entry);
        self.submission_head = Doorbell::after(self.submission_head);
        self.counters.add(Counter::Commands, 1);
        let identifier = Command::identifier_of(&entry);
        let (word, bit) = (usize::from(identifier) / 64, 1 << (identifier % 64));
        if self.in_use[word] & bit != 0 {
            self.free.push(context);
            self.post(Completion {
                identifier,
                status: Status::IDENTIFIER_CONFLICT,
                head: self.submission_head,
                phase: self.phase,
            });
            return true;
        }
        self.in_use[word] |= bit;
        self.contexts[usize::from(context)] = Context {
            identifier,
            pending: 1,
            status: Status::SUCCESS,
        };
        let cutting = fetched
            .and_then(|()| Command::parse(&entry, self.capacity))
            .and_then(|command| self.begin(context, &command));
        match cutting {
            Ok(cutting) => self.cutting = Some((context, cutting)),
            Err(status) => {
                self.contexts[usize::from(context)].status = status;
                self.settle(context, 1);
            }
        }
        true
    }

    fn begin(&self, context: u16, command: &Command) -> Result<Cutting, Status> {
        let memory = &self.shared.memory;
        let data = |work, sectors: Sectors| {
            let transfer = &self.shared.transfers[usize::from(context)];
            let bytes = sectors.count * SECTOR_BYTES as u32;
            walk(memory, command.prp, bytes, |index, page| {
                transfer.set(index, page);
            })?;
            Ok(Cutting::Data {
                work,
                sectors,
                transfer: 0,
            })
        };
        match command.operation {
            Operation::Flush => Ok(Cutting::Flush),
            Operation::Read(sectors) => data(Work::Read, sectors),
            Operation::Write { sectors, is_forced } => {
                let work = if is_forced {
                    Work::WriteForced
                } else {
                    Work::Write
                };
                data(work, sectors)
            }
            Operation::Deallocate { ranges } => {
                // A list of 256 ranges fills a page, and may lie on two.
                walk(memory, command.prp, ranges * RANGE_BYTES as u32, |_, _| {})?;
                for range in 0..ranges {
                    self.range(command.prp, range.into())?;
                }
                Ok(Cutting::Trim(Trim {
                    first: 0,
                    pages: 0,
                    ranges,
                    next: 0,
                    prp: command.prp,
                }))
            }
        }
    }

    /// The whole pages of a deallocation range: the first, and their number. A range whose halves
    /// lie on two host pages is not supported.
    fn range(&self, prp: [u64; 2], index: u64) -> Result<(u32, u32), Status> {
        let page = HOST_PAGE_BYTES as u64;
        let at = prp[0] % page + index * RANGE_BYTES;
        if at < page && at + RANGE_BYTES > page {
            return Err(Status::INVALID_PRP_OFFSET);
        }
        let at = if at < page {
            prp[0] - prp[0] % page + at
        } else {
            prp[1] + (at - page)
        };
        let mut range = [0; RANGE_BYTES as usize];
        self.shared.memory.read(at, &mut range)?;
        let [_, _, _, _, a, b, c, d, first @ ..] = range;
        let count = u64::from(u32::from_le_bytes([a, b, c, d]));
        let first = u64::from_le_bytes(first);
        let end = first.checked_add(count).ok_or(Status::OUT_OF_RANGE)?;
        if end > self.capacity {
            return Err(Status::OUT_OF_RANGE);
        }
        let sectors = u64::from(PAGE_SECTORS);
        let (start, end) = (first.div_ceil(sectors), end / sectors);
        Ok((start as u32, end.saturating_sub(start) as u32))
    }

    /// Hands out segments of the command being split. Returns `false` if a queue fills up before
    /// the end.
    fn cut_on(&mut self) -> bool {
        while let Some((context, cutting)) = self.cutting {
            let Some(rest) = self.cut_one(context, cutting) else {
                return false;
            };
            self.cutting = rest.map(|rest| (context, rest));
            if self.cutting.is_none() {
                self.settle(context, 1);
            }
        }
        true
    }

    /// Hands out one segment and returns what is left to split; `None` if a queue is full.
    fn cut_one(&mut self, context: u16, cutting: Cutting) -> Option<Option<Cutting>> {
        match cutting {
            Cutting::Flush => {
                self.hand_to_all(nothing(context))?;
                Some(None)
            }
            Cutting::Data {
                work,
                sectors,
                transfer,
            } => self.cut_data(context, work, sectors, transfer),
            Cutting::Trim(trim) => self.cut_trim(context, trim),
        }
    }

    fn cut_data(
        &mut self,
        context: u16,
        work: Work,
        sectors: Sectors,
        transfer: u32,
    ) -> Option<Option<Cutting>> {
        let first = (sectors.first % u64::from(PAGE_SECTORS)) as u32;
        let count = sectors.count.min(PAGE_SECTORS - first);
        let segment = Segment {
            work,
            logical: (sectors.first / u64::from(PAGE_SECTORS)) as u32,
            first: first as u8,
            sectors: count as u8,
            transfer: transfer as u16,
            ..nothing(context)
        };
        let server = self.shared.server_of(segment.logical);
        if !self.shared.inboxes[server].put(segment, self.counters) {
            return None;
        }
        self.counters.add(Counter::Pages, 1);
        self.contexts[usize::from(context)].pending += 1;
        let left = sectors.count - count;
        Some((left > 0).then_some(Cutting::Data {
            work,
            sectors: Sectors {
                first: sectors.first + u64::from(count),
                count: left,
            },
            transfer: transfer + count,
        }))
    }

    fn cut_trim(&mut self, context: u16, trim: Trim) -> Option<Option<Cutting>> {
        if trim.pages > 0 {
            let count = trim.pages.min(TRIM_PAGES);
            self.hand_to_all(Segment {
                work: Work::Trim,
                logical: trim.first,
                pages: count,
                ..nothing(context)
            })?;
            return Some(Some(Cutting::Trim(Trim {
                first: trim.first + count,
                pages: trim.pages - count,
                ..trim
            })));
        }
        if trim.ranges == 0 {
            return Some(None);
        }
        // The list was already read once, when it was checked.
        let (first, pages) = self.range(trim.prp, trim.next).unwrap_or((0, 0));
        Some(Some(Cutting::Trim(Trim {
            first,
            pages,
            ranges: trim.ranges - 1,
            next: trim.next + 1,
            ..trim
        })))
    }

    /// Hands a segment to every server; `None` if one has no room.
    fn hand_to_all(&mut self, segment: Segment) -> Option<()> {
        let inboxes = &self.shared.inboxes;
        if inboxes.iter().any(|inbox| inbox.room() == 0) {
            return None;
        }
        for inbox in inboxes {
            // There is room: nobody else puts anything in.
            if inbox.put(segment, self.counters) {
                self.contexts[usize::from(segment.context)].pending += 1;
            }
        }
        Some(())
    }
}
