//! On a second core, requests are drawn and the firmware is asked ahead of time.
//!
//! ```text
//!   second core:  count what completed ─> draw requests ─> firmware ─> operations ─┐
//!                 └─< completed <───────────────────────────────────────── batches <┘
//!   engine:       flash done ─> completed ─> next request ─> flash
//! ```
//!
//! The firmware's answers depend on the requests before, not on their times: on the
//! [straight way](super::straight) it hears of no completions and works in no idle time. In a run of
//! a single closed loop requests are submitted in the order in which they are drawn. So the results
//! are the same as if the firmware had been asked at each moment.
//!
//! The second core prepares only requests that will surely be submitted: the decision of the
//! measurement window that could end the loop lies behind them, and the last one is the first after
//! which the engine may leave the straight way.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use drivelab_ftl::{Firmware, Operation, PageRun};
use drivelab_request::{PlacementId, Request};

use super::straight::{Left, Way, pages_of, waits_of};
use super::supply::{Asking, Supply};
use crate::host::counting::{Completed, Counting};
use crate::host::load::{Drawn, Running};
use crate::ssd::SimError;
use crate::ssd::flash::Lookahead;

/// Requests that change threads together.
const BATCH: usize = 512;
/// Batches that may wait for the engine.
const WAITING: usize = 3;
/// All batches: those, one that is being prepared, and two with the engine while it changes them.
const BATCHES: usize = WAITING + 3;
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
    /// The firmware was not asked.
    Nothing,
    /// It refused the request.
    Refused,
}

#[derive(Default)]
struct Batch {
    requests: Vec<Prepared>,
    operations: Vec<Operation>,
    /// Why the firmware refused the last request.
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

    /// Adds a request. Returns whether the engine surely goes on after it.
    #[inline(always)]
    fn prepare<F: Firmware>(
        &mut self,
        asking: &mut Asking<'_, F>,
        request: Request,
        placement: PlacementId,
    ) -> bool {
        let run = pages_of(&request, asking.page_shift);
        let (answer, goes_on) = match asking.operation(&run) {
            Some(operation) => (Answer::One(operation), true),
            None => self.ask_for_all(asking, (&request, &run), placement),
        };
        self.requests.push(Prepared { request, answer });
        goes_on
    }

    #[inline(never)]
    fn ask_for_all<F: Firmware>(
        &mut self,
        asking: &mut Asking<'_, F>,
        asked: (&Request, &PageRun),
        placement: PlacementId,
    ) -> (Answer, bool) {
        match asking.operations(asked, placement) {
            Ok(Some(operations)) => {
                let from = self.operations.len() as u32;
                self.operations.extend_from_slice(operations);
                let answer = Answer::Several(from, self.operations.len() as u32);
                (answer, waits_of(asked.0).any_of(operations))
            }
            Ok(None) => (Answer::Nothing, false),
            Err(error) => {
                self.error = Some(error);
                (Answer::Refused, false)
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
fn prepare<F: Firmware>(
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

/// What the second core has prepared.
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

    /// The second core gets the batch back for `other`.
    fn give_back(&mut self, other: Batch) {
        let spent = std::mem::replace(&mut self.batch, other);
        // There is room for all batches, so this does not wait. It fails only after a panic there.
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
        _asked: (&Request, &PageRun),
        _placement: PlacementId,
    ) -> Result<Option<&[Operation]>, SimError> {
        let prepared = self.batch.requests.get(self.place);
        match prepared.map(|each| each.answer) {
            Some(Answer::Several(from, to)) => {
                Ok(self.batch.operations.get(from as usize..to as usize))
            }
            Some(Answer::Refused) => self.batch.error.take().map_or(Ok(None), Err),
            _ => Ok(None),
        }
    }

    #[inline(always)]
    fn record(&mut self, _counting: &mut Counting, request: &Completed) {
        self.batch.completed.push(*request);
    }
}

impl Way<'_> {
    /// Whether a second core pays for `most` requests, and cannot change results.
    pub(super) fn can_use_second_core(&self, most: u64) -> bool {
        let has_one_loop = self.users.streams.len() == 1;
        // A window that ends by its duration ends the loop at a request that is not known before.
        most >= LEAST && has_one_loop && self.users.window.next_time().is_none()
    }

    /// As [`Way::go`], on two cores if another thread can be started.
    pub(super) fn go_on_two_cores<F: Firmware>(
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
        let ((full, filled), (spent, empty)) = (sync_channel(WAITING), sync_channel(BATCHES));
        let mut counting = std::mem::take(&mut self.users.counting);
        let ends = Ends { full, spent: empty };
        let left = thread::scope(|scope| {
            let (drawn, counting) = (&mut drawn, &mut counting);
            let work = || prepare(asking, drawn, job, counting, ends);
            let other = thread::Builder::new().spawn_scoped(scope, work).ok()?;
            let mut received = Received {
                full: filled,
                spent,
                batch: Batch::default(),
                place: 0,
            };
            let left = self.go(ahead.as_deref_mut(), &mut received, batches * BATCH as u64);
            received.give_back(Batch::default());
            // If the engine has ended early, so does the other thread.
            drop(received);
            if let Err(panic) = other.join() {
                resume_unwind(panic);
            }
            Some(left)
        });
        self.users.streams[0].take_back(drawn);
        self.users.counting = counting;
        left.unwrap_or_else(|| self.go(ahead, asking, most))
    }
}
