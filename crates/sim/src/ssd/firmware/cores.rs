//! The controller's cores, on which the firmware works.
//!
//! ```text
//!   asked ─> [core, the first that is free] ─ cost ─> due: operations enter the flash,
//!                                                     the command goes on
//!   moved, erased ─> [core, the first that is free]   nobody waits
//! ```
//!
//! The firmware is asked when a command reaches it, so it decides in order of arrival. The cost of
//! the decision is known then, and the core that is free first is reserved for it. If a command has
//! several pages, each page has a core; the first page shares the core of the command. A page that
//! leaves the write buffer later, or is read ahead, has a core too.
//!
//! The decision takes effect when these cores have finished, but no earlier than earlier decisions
//! for the same units. So operations of a unit keep the order in which they were emitted, whichever
//! core finishes first. At the same moment everything else ends that the command waits for.
//!
//! Work of collection and wear levelling occupies a core after the flash has done it, one move or
//! erase at a time. It takes its share of the cores next to the host's work, and no request waits
//! for the work of a whole collection. In idle time nothing new begins while all cores are busy.
//! Left out: moves do not wait for a core themselves, and the pages of a large command all enter
//! the flash together.
//!
//! A free firmware has no cores, and nothing here is ever called.

use drivelab_ftl::{Cause, Operation, OperationKind};

use crate::preset::{SsdConfig, Work};
use crate::ssd::flash::Account;
use crate::ssd::ring::Ring;

/// The cost of work: picoseconds of a core, by [`Work`].
#[derive(Clone, Debug)]
pub struct Costs {
    cores: u32,
    picos: [u64; Work::ALL.len()],
    /// Nanoseconds of a command that reads one whole page from the flash, and of one that programs
    /// one.
    page: [u64; 2],
    page_bytes: u32,
    /// Nanoseconds of operations that the flash did for the drive itself: a read and a program of
    /// the map, an erase, a move.
    own: [u64; 4],
}

/// What the firmware did for a command or a part of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    pub commands: u64,
    pub read_pages: u64,
    pub written_pages: u64,
    pub bytes: u64,
    pub flash_reads: u64,
    pub flash_programs: u64,
    /// Pages that leave the write buffer or are read ahead. They cost only the flash operations for
    /// them.
    pub other_pages: u64,
}

impl Costs {
    /// The costs with every time multiplied by `factor`; `None` if the firmware is free.
    pub fn new(config: &SsdConfig, factor: f64) -> Option<Box<Self>> {
        let firmware = config.firmware?;
        let picos = |work| (firmware.time.nanos(work) * 1_000.0 * factor).round() as u64;
        let page_bytes = config.geometry.page_size_bytes;
        let mut costs = Self {
            cores: firmware.cores,
            picos: Work::ALL.map(picos),
            page: [0; 2],
            page_bytes,
            own: [
                Work::FlashRead,
                Work::FlashProgram,
                Work::FlashErase,
                Work::PageMoved,
            ]
            .map(|work| nearest(picos(work))),
        };
        let read = Done {
            commands: 1,
            read_pages: 1,
            bytes: page_bytes.into(),
            flash_reads: 1,
            ..Done::default()
        };
        let write = Done {
            commands: 1,
            written_pages: 1,
            bytes: page_bytes.into(),
            flash_programs: 1,
            ..Done::default()
        };
        costs.page = [costs.nanos(&read), costs.nanos(&write)];
        Some(Box::new(costs))
    }

    /// Picoseconds of the command itself and of its pages.
    #[inline]
    fn picos_of(&self, done: &Done) -> (u64, u64) {
        let picos = |work: Work, count: u64| self.picos[work as usize].saturating_mul(count);
        let copied = picos(Work::CopiedKib, done.bytes) / 1024;
        let all = [
            picos(Work::ReadPage, done.read_pages),
            picos(Work::WrittenPage, done.written_pages),
            picos(Work::FlashRead, done.flash_reads),
            picos(Work::FlashProgram, done.flash_programs),
        ];
        let of_pages = all.into_iter().fold(copied, u64::saturating_add);
        (picos(Work::Command, done.commands), of_pages)
    }

    /// The sum of both, to the nearest nanosecond.
    fn nanos(&self, done: &Done) -> u64 {
        let (command, pages) = self.picos_of(done);
        nearest(command.saturating_add(pages))
    }

    /// The cost of an operation that the flash did for the drive itself.
    fn nanos_of_own(&self, kind: OperationKind, cause: Cause) -> u64 {
        match (kind, cause) {
            (OperationKind::Read, Cause::Map) => self.own[0],
            (OperationKind::Program, Cause::Map) => self.own[1],
            (OperationKind::Erase, _) => self.own[2],
            (
                OperationKind::Program,
                Cause::Collection | Cause::Wear | Cause::Fold | Cause::Refresh,
            ) => self.own[3],
            // A move counts with its program, and the host's operations with their command.
            _ => 0,
        }
    }
}

const fn nearest(picos: u64) -> u64 {
    picos.saturating_add(500) / 1_000
}

/// What happens when a core has finished.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// One operation enters the flash for the command in the slot.
    Page(Operation, Account),
    /// The same, and the command's data is in the buffer.
    BufferedPage(Operation, Account),
    /// A read's operations enter the flash; this many more of its pages are in the write buffer.
    Read(u32),
    /// The operations of a write without a buffer enter the flash.
    Write,
    /// The operations of a buffered part of a write enter the flash: first page, number of pages,
    /// and stretch between flushes.
    Piece(u32, u32, u32),
    /// The last data of a write has been gathered in the buffer.
    Gathered,
    /// Gathered pages of a stretch between flushes enter the flash.
    Pushed(u32),
    /// A trim or a flush begins.
    Command,
    /// Operations caused by a trim enter the flash.
    Trimmed,
    /// Pages of a read arrive; this many of them come from the controller's memory.
    ThroughMemory(u32),
    /// Pages are read ahead.
    Ahead,
    /// The controller has finished a command for a whole zone.
    Zone,
}

/// Something due at a given time.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub at: u64,
    pub asked: u64,
    pub slot: u32,
    /// Where its operations are parked, if it has several.
    pub parked: u32,
    pub what: What,
}

impl Default for Due {
    fn default() -> Self {
        Self {
            at: 0,
            asked: 0,
            slot: 0,
            parked: NOT_PARKED,
            what: What::Ahead,
        }
    }
}

/// Results that are due at the same time keep the order in which they were asked for.
impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Due {}

const NOT_PARKED: u32 = u32::MAX;

/// Operations that wait for their core.
#[derive(Clone, Debug, Default)]
pub struct Parked {
    pub operations: Vec<Operation>,
    /// The account of each operation, if they differ.
    pub accounts: Vec<Account>,
    /// Pages that need no program of their own.
    pub packed: Vec<u32>,
}

/// An interval in which a core worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedWork {
    /// The number of the core.
    pub core: u32,
    /// Whether the work was for the host, or else for collection and the map.
    pub is_for_host: bool,
    /// Beginning and end, ns of simulated time.
    pub span: (u64, u64),
}

/// The cores of a controller.
#[derive(Clone, Debug)]
pub struct Cores {
    /// Whether the firmware takes time.
    is_on: bool,
    /// The costs, if it does.
    costs: Option<Box<Costs>>,
    /// When each core will have finished its reserved work, the earliest first.
    free_at: Ring<(u64, u32)>,
    /// For each unit, when the last operation emitted for it is due.
    lanes: Vec<u64>,
    /// For each slot, when the last part of its write is due.
    pieces: Vec<u64>,
    due: Ring<Due>,
    parked: Vec<Parked>,
    vacant: Vec<u32>,
    /// Core time reserved since the drive was last idle, and the part of it that was over when the
    /// window opened.
    promised: u64,
    before_window: u64,
    /// If work is recorded: the span to record, and the record.
    recorded: Option<(std::ops::Range<u64>, Vec<RecordedWork>)>,
}

impl Cores {
    /// Idle cores; none if the firmware is free.
    pub fn new(costs: Option<Box<Costs>>, units: u32) -> Self {
        let is_on = costs.is_some();
        let mut free_at = Ring::default();
        for core in 0..costs.as_ref().map_or(0, |costs| costs.cores) {
            free_at.push((0, core));
        }
        Self {
            is_on,
            costs,
            free_at,
            lanes: vec![0; if is_on { units as usize } else { 0 }],
            pieces: Vec::new(),
            due: Ring::default(),
            parked: Vec::new(),
            vacant: Vec::new(),
            promised: 0,
            before_window: 0,
            recorded: None,
        }
    }

    /// Idle cores at the beginning of a run. Recording, if requested, starts here.
    pub fn begin(&mut self, costs: Option<Box<Costs>>, units: u32) {
        let recorded = self.recorded.take();
        *self = Self::new(costs, units);
        self.recorded = recorded;
    }

    /// Whether the firmware takes time.
    #[inline(always)]
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Records work in progress during `span` of the next run.
    pub fn record(&mut self, span: std::ops::Range<u64>) {
        self.recorded = Some((span, Vec::new()));
    }

    /// When cores worked since [`Cores::record`], in the order in which they were asked.
    pub fn recorded(&mut self) -> Vec<RecordedWork> {
        let recorded = self.recorded.take();
        recorded.map(|(_, work)| work).unwrap_or_default()
    }

    /// Schedules what happens when a core has finished. Returns whether it is before everything
    /// else scheduled.
    #[inline(always)]
    pub fn promise(&mut self, due: Due) -> bool {
        let is_first = self.due.of_front(|first| due.at < first.at, true);
        self.due.insert_in_order(due);
        is_first
    }

    /// Takes what is due first.
    #[inline(always)]
    pub fn take_due(&mut self) -> Option<Due> {
        self.due.pop()
    }

    /// When something is due next.
    #[inline(always)]
    pub fn next_due(&self) -> Option<u64> {
        self.due.front().map(|due| due.at)
    }

    /// A core works for `nanos`, asked at `now`. Returns when it has finished.
    #[inline(always)]
    fn work(&mut self, nanos: u64, is_for_host: bool, now: u64) -> u64 {
        if nanos == 0 {
            return now;
        }
        let Some(&(first, core)) = self.free_at.front() else {
            return now;
        };
        let start = first.max(now);
        let end = start.saturating_add(nanos);
        self.free_at.replace_first_in_order((end, core));
        self.promised += nanos;
        if let Some((span, kept)) = &mut self.recorded
            && start < span.end
            && end > span.start
        {
            kept.push(RecordedWork {
                core,
                is_for_host,
                span: (start, end),
            });
        }
        end
    }

    /// Work that the firmware did for the host. The core that is free first does the command and
    /// its first page; each further page goes to the core that is free first then. Returns when all
    /// of it is done.
    #[inline]
    pub fn work_for_host(&mut self, done: &Done, now: u64) -> u64 {
        let costs = self.costs.as_ref();
        let (command, of_pages) = costs.map_or((0, 0), |costs| costs.picos_of(done));
        let pages = (done.read_pages + done.written_pages + done.other_pages).max(1);
        if pages == 1 {
            return self.work(nearest(command.saturating_add(of_pages)), true, now);
        }
        let (share, more) = (of_pages / pages, of_pages % pages);
        let (mut before, mut last) = (0, now);
        for page in 1..=pages {
            // Round at the ends, so that the pages' times add up.
            let picos = command.saturating_add(share * page + more.min(page));
            let until = nearest(picos);
            last = last.max(self.work(until - before, true, now));
            before = until;
        }
        last
    }

    /// The same for a command of one whole flash page, read or written. `None` if the command has
    /// another size than one page.
    #[inline(always)]
    pub fn work_on_page(&mut self, bytes: u32, is_write: bool, now: u64) -> Option<u64> {
        let costs = self.costs.as_ref()?;
        let nanos = (bytes == costs.page_bytes).then(|| costs.page[usize::from(is_write)])?;
        Some(self.work(nanos, true, now))
    }

    /// The flash has done an operation for the drive itself.
    #[inline(never)]
    pub fn work_for_drive(&mut self, kind: OperationKind, cause: Cause, now: u64) {
        let costs = self.costs.as_ref();
        let nanos = costs.map_or(0, |costs| costs.nanos_of_own(kind, cause));
        self.work(nanos, false, now);
    }

    /// When an operation on `unit` is due if its core has finished at `done`.
    #[inline]
    pub fn due_on(&self, unit: u32, done: u64) -> u64 {
        done.max(self.lanes[unit as usize])
    }

    /// When a part of the write in `slot` is due if its core has finished at `done`. It is no
    /// earlier than the parts before it, so that the command completes with its last part.
    pub fn due_of_piece(&mut self, slot: u32, is_first: bool, done: u64) -> u64 {
        let slot = slot as usize;
        if self.pieces.len() <= slot {
            self.pieces.resize(slot + 1, 0);
        }
        let before = if is_first { 0 } else { self.pieces[slot] };
        done.max(before)
    }

    /// From here on, no part of the write in `slot` is due before `at`.
    pub fn hold_piece(&mut self, slot: u32, at: u64) {
        if let Some(last) = self.pieces.get_mut(slot as usize) {
            *last = at;
        }
    }

    /// From here on, nothing on `unit` is due before `at`.
    #[inline]
    pub fn hold_lane(&mut self, unit: u32, at: u64) {
        self.lanes[unit as usize] = at;
    }

    /// Whether something due at `at` can happen at once, because nothing asked for earlier is still
    /// to come.
    #[inline]
    pub fn is_at_once(&self, at: u64, now: u64) -> bool {
        at <= now && self.due.of_front(|first| first.at > now, true)
    }

    /// A place for waiting operations, and an empty container for them.
    pub fn park(&mut self) -> (u32, Parked) {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.parked.push(Parked::default());
            (self.parked.len() - 1) as u32
        });
        (place, self.unpark(place))
    }

    /// Stores waiting operations in a place.
    pub fn keep(&mut self, place: u32, parked: Parked) {
        if let Some(empty) = self.parked.get_mut(place as usize) {
            *empty = parked;
        }
    }

    /// Takes the operations from a place. Give the container back to reuse its memory.
    pub fn unpark(&mut self, place: u32) -> Parked {
        let parked = self.parked.get_mut(place as usize);
        parked.map(std::mem::take).unwrap_or_default()
    }

    pub fn give_back(&mut self, place: u32, mut parked: Parked) {
        parked.operations.clear();
        parked.accounts.clear();
        parked.packed.clear();
        self.keep(place, parked);
        self.vacant.push(place);
    }

    /// When a core is free for work that nobody waits for.
    pub fn free_from(&self) -> u64 {
        self.free_at.front().map_or(0, |&(free, _)| free)
    }

    /// The time that all cores together have worked until `now`, the present. Reserved time beyond
    /// it follows without a gap.
    fn worked_until(&self, now: u64) -> u64 {
        let free_at = self.free_at.values();
        let beyond = free_at.map(|(free, _)| free.saturating_sub(now));
        self.promised - beyond.sum::<u64>()
    }

    pub fn open_window(&mut self, now: u64) {
        self.before_window = self.worked_until(now);
    }

    /// Time worked since the window opened.
    pub fn close_window(&self, now: u64) -> u64 {
        self.worked_until(now) - self.before_window
    }
}
