//! A second thread draws requests and asks the firmware ahead of time.
//!
//! ```text
//!   helper:  count what completed ─> draw requests ─> firmware ─> operations ─┐
//!            └─< completed <───────────────────────────────────────── batches <┘
//!   engine:  flash done ─> completed ─> next request ─> flash
//! ```
//!
//! What a page map answers depends on the requests before, not on their times. In a run of a single
//! closed loop requests are submitted in the order in which they are drawn. So the results are the
//! same as if the firmware had been asked at each moment.
//!
//! The helper prepares exactly as many requests as will surely be submitted: a decision of the
//! measurement window that could end the loop lies behind them.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use drivelab_ftl::{Firmware, Operation, PageRun};
use drivelab_request::{PlacementId, Request};

use super::straight::{Left, Way, pages_of};
use super::supply::{Asking, Supply};
use crate::host::counting::{Completed, Counting};
use crate::host::load::{Drawn, Running};
use crate::ssd::SimError;
use crate::ssd::flash::Lookahead;

/// Requests that change threads together.
const BATCH: usize = 512;
/// Batches that may wait for the engine.
const WAITING: usize = 3;
/// Fewer requests are not worth a thread.
const LEAST: u64 = 8 * BATCH as u64;

/// A request and what the firmware emitted for it.
struct Prepared {
    request: Request,
    answer: Answer,
}

#[derive(Clone, Copy)]
enum Answer {
    One(Operation),
    /// Operations of the batch, from the first number up to the second.
    Several(u32, u32),
    /// The firmware was not asked, or it failed.
    Nothing,
}

#[derive(Default)]
struct Batch {
    requests: Vec<Prepared>,
    operations: Vec<Operation>,
    /// The firmware refused the last request.
    error: Option<SimError>,
    /// Requests that completed meanwhile, on the way back.
    completed: Vec<Completed>,
}

impl Batch {
    fn clear(&mut self) {
        self.requests.clear();
        self.operations.clear();
        self.error = None;
        self.completed.clear();
    }

    /// Counts what has completed. Then it may be used again.
    fn count(mut self, counting: &mut Counting) -> Self {
        for request in &self.completed {
            counting.record(request);
        }
        self.clear();
        self
    }

    /// Adds a request. Returns whether another may follow.
    #[inline(always)]
    fn prepare<F: Firmware>(
        &mut self,
        asking: &mut Asking<'_, F>,
        request: Request,
        placement: PlacementId,
    ) -> bool {
        let run = pages_of(&request, asking.page_shift);
        let answer = match asking.operation(&run) {
            Some(operation) => Answer::One(operation),
            None => self.ask_for_all(asking, &run, placement),
        };
        self.requests.push(Prepared { request, answer });
        !matches!(answer, Answer::Nothing)
    }

    #[inline(never)]
    fn ask_for_all<F: Firmware>(
        &mut self,
        asking: &mut Asking<'_, F>,
        run: &PageRun,
        placement: PlacementId,
    ) -> Answer {
        match asking.operations(run, placement) {
            Ok(Some(operations)) => {
                let from = self.operations.len() as u32;
                self.operations.extend_from_slice(operations);
                Answer::Several(from, self.operations.len() as u32)
            }
            Ok(None) => Answer::Nothing,
            Err(error) => {
                self.error = Some(error);
                Answer::Nothing
            }
        }
    }
}

/// Both ends of the way between the threads, for one of them.
struct Ends {
    full: SyncSender<Batch>,
    spent: Receiver<Batch>,
}

/// Prepares `batches` batches, or fewer if the engine must go on alone, and counts the requests that
/// complete until the engine ends.
fn help<F: Firmware>(
    asking: &mut Asking<'_, F>,
    drawn: &mut Drawn,
    (placement, batches): (PlacementId, u64),
    counting: &mut Counting,
    ends: Ends,
) {
    let Ends { full, spent } = ends;
    for _ in 0..batches {
        let again = spent.try_recv().map(|batch| batch.count(counting));
        let mut batch = again.unwrap_or_default();
        let mut goes_on = true;
        while goes_on && batch.requests.len() < BATCH {
            let request = drawn.take(&*asking.firmware, asking.page_shift);
            goes_on = batch.prepare(asking, request, placement);
        }
        // It cannot be sent if the run failed.
        if full.send(batch).is_err() || !goes_on {
            break;
        }
    }
    drop(full);
    for batch in spent {
        batch.count(counting);
    }
}

/// What the helper has prepared.
struct Received {
    full: Receiver<Batch>,
    spent: SyncSender<Batch>,
    batch: Batch,
    /// The place of the current request.
    place: usize,
}

impl Received {
    #[inline(never)]
    fn receive(&mut self) {
        if let Ok(batch) = self.full.recv() {
            self.place = 0;
            self.give_back(batch);
        }
    }

    /// The helper gets the batch back for `other`.
    fn give_back(&mut self, other: Batch) {
        let spent = std::mem::replace(&mut self.batch, other);
        // There is always room: more batches are never under way. Only a panic ends the helper
        // earlier.
        let _ = self.spent.send(spent);
    }
}

impl Supply for Received {
    #[inline(always)]
    fn request(&mut self, _running: &mut Running) -> Option<Request> {
        self.place += 1;
        if self.place >= self.batch.requests.len() {
            self.receive();
        }
        self.batch.requests.get(self.place).map(|each| each.request)
    }

    #[inline(always)]
    fn operation(&mut self, _run: &PageRun) -> Option<Operation> {
        match self.batch.requests.get(self.place)?.answer {
            Answer::One(operation) => Some(operation),
            _ => None,
        }
    }

    #[inline(never)]
    fn operations(
        &mut self,
        _run: &PageRun,
        _placement: PlacementId,
    ) -> Result<Option<&[Operation]>, SimError> {
        if let Some(error) = self.batch.error.take() {
            return Err(error);
        }
        let prepared = self.batch.requests.get(self.place);
        Ok(match prepared.map(|each| each.answer) {
            Some(Answer::Several(from, to)) => {
                self.batch.operations.get(from as usize..to as usize)
            }
            _ => None,
        })
    }

    #[inline(always)]
    fn record(&mut self, _counting: &mut Counting, request: &Completed) {
        self.batch.completed.push(*request);
    }
}

impl Way<'_> {
    /// Whether a helper pays for `most` requests, and cannot change results.
    pub(super) fn can_be_helped(&self, most: u64) -> bool {
        let has_one_loop = self.users.streams.len() == 1;
        // A window that ends by its duration ends the loop at a request that is not known before.
        most >= LEAST && has_one_loop && self.users.window.next_time().is_none()
    }

    /// As [`Way::go`], with a helper if there can be one.
    pub(super) fn go_helped<F: Firmware>(
        &mut self,
        mut ahead: Option<&mut Lookahead>,
        asking: &mut Asking<'_, F>,
        most: u64,
    ) -> Left {
        let placement = self.users.streams[0].placement;
        let Some(mut drawn) = self.users.streams[0].lend() else {
            return self.go(ahead, asking, most);
        };
        let batches = most / BATCH as u64;
        let job = (placement, batches);
        let ((full, filled), (spent, empty)) = (sync_channel(WAITING), sync_channel(2 * WAITING));
        let mut counting = std::mem::take(&mut self.users.counting);
        let ends = Ends { full, spent: empty };
        let left = thread::scope(|scope| {
            let (drawn, counting) = (&mut drawn, &mut counting);
            let help = || help(asking, drawn, job, counting, ends);
            let helper = thread::Builder::new().spawn_scoped(scope, help).ok()?;
            let mut received = Received {
                full: filled,
                spent,
                batch: Batch::default(),
                place: 0,
            };
            let left = self.go(ahead.as_deref_mut(), &mut received, batches * BATCH as u64);
            received.give_back(Batch::default());
            // If the engine has ended early, so does the helper.
            drop(received);
            if let Err(panic) = helper.join() {
                resume_unwind(panic);
            }
            Some(left)
        });
        self.users.streams[0].take_back(drawn);
        self.users.counting = counting;
        left.unwrap_or_else(|| self.go(ahead, asking, most))
    }
}
