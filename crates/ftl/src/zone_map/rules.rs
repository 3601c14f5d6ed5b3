//! The rules of zones: how a command changes a zone's state, or why it is refused.
//!
//! ```text
//!              write, append, open                      last page, finish
//!   empty ───────────────────────> open ─────────────────────────────────> full
//!     ^  ^                       close | ^ write, append, open              |
//!     |  └──────── reset ──────── closed ── finish ───────────────────────> |
//!     └──────────────────────────── reset ──────────────────────────────────┘
//! ```
//!
//! A zone is open explicitly, by a command, or implicitly, by a write. When the most zones are
//! open, a new one replaces the zone that was implicitly opened first, which is closed. A judgement
//! counts at once: pages whose data has not arrived yet belong to the zone.

use drivelab_request::ZoneAction;

use super::counts::ZoneRefusal;
use super::{ZoneField, ZoneMap, ZoneState};
use crate::memory::{Cells, Memory};
use crate::{Action, Lpn, PageRun};

/// The result of an allowed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Where it goes: an append to its zone's write pointer, everything else to the page it
    /// named.
    pub first: Lpn,
    /// Pages of the zone that were not written before.
    pub unwritten: u32,
}

/// Counters of all zones.
#[derive(Clone, Copy)]
pub(super) enum Total {
    Open,
    Active,
    /// Number of openings so far: a clock for their order.
    Opened,
}

pub(super) const TOTALS: usize = 3;

impl<M: Memory> ZoneMap<M> {
    /// Judges a command before anything is done for it, and changes its zone's state.
    ///
    /// # Errors
    /// [`ZoneRefusal`] if it breaks a rule; nothing has changed then.
    pub fn judged(&mut self, run: &PageRun, asked: ZoneAction) -> Result<Judged, ZoneRefusal> {
        let judged = self.judge_uncounted(run, asked);
        if let Err(refusal) = judged {
            self.counts.refused[refusal as usize] += 1;
        }
        judged
    }

    fn judge_uncounted(&mut self, run: &PageRun, asked: ZoneAction) -> Result<Judged, ZoneRefusal> {
        let (zone, place) = self.zones.place_of(run.first.0);
        if zone >= self.zones.zones {
            return Err(ZoneRefusal::AcrossEnd);
        }
        let unwritten = self.policies.capacity_pages - self.zone(zone, ZoneField::Pointer);
        match run.action {
            Action::Read => {
                let last = u64::from(place) + u64::from(run.pages);
                if last > u64::from(self.policies.zone_pages) {
                    return Err(ZoneRefusal::AcrossEnd);
                }
            }
            Action::Write => {
                let first = self.judge_write((zone, place), run, asked)?;
                return Ok(Judged { first, unwritten });
            }
            Action::Trim => match asked {
                ZoneAction::Reset => self.judge_reset(zone),
                ZoneAction::Finish => self.judge_finish(zone),
                ZoneAction::Open => self.judge_open(zone)?,
                ZoneAction::Close => self.judge_close(zone)?,
                ZoneAction::None | ZoneAction::Append => {}
            },
        }
        let first = run.first;
        Ok(Judged { first, unwritten })
    }

    fn judge_write(
        &mut self,
        (zone, place): (u32, u32),
        run: &PageRun,
        asked: ZoneAction,
    ) -> Result<Lpn, ZoneRefusal> {
        let state = self.state(zone);
        if run.first_partial || run.last_partial || run.pages == 0 {
            return Err(ZoneRefusal::Invalid);
        }
        let is_append = asked == ZoneAction::Append;
        if is_append && (place != 0 || run.pages > self.policies.most_append_pages) {
            return Err(ZoneRefusal::Invalid);
        }
        if state == ZoneState::Full {
            return Err(ZoneRefusal::Full);
        }
        let pointer = self.zone(zone, ZoneField::Pointer);
        if !is_append && place != pointer {
            return Err(ZoneRefusal::NotAtPointer);
        }
        let end = u64::from(pointer) + u64::from(run.pages);
        if end > u64::from(self.policies.capacity_pages) {
            return Err(ZoneRefusal::AcrossEnd);
        }
        if matches!(state, ZoneState::Empty | ZoneState::Closed) {
            self.open(zone, state, ZoneState::Implicit)?;
        }
        self.counts.appends += u64::from(is_append);
        // It is at most the capacity.
        self.set_zone(zone, ZoneField::Pointer, end as u32);
        if end == u64::from(self.policies.capacity_pages) {
            self.counts.filled += 1;
            self.leave_state(zone, ZoneState::Full);
        }
        Ok(Lpn(run.first.0 - place + pointer))
    }

    /// Opens an empty or closed zone, if another one may be open.
    fn open(&mut self, zone: u32, before: ZoneState, state: ZoneState) -> Result<(), ZoneRefusal> {
        let is_new = before == ZoneState::Empty;
        if is_new && self.total(Total::Active) >= self.policies.most_active {
            return Err(ZoneRefusal::TooManyActive);
        }
        if self.total(Total::Open) >= self.policies.most_open {
            let first = self.first_implicit().ok_or(ZoneRefusal::TooManyOpen)?;
            self.counts.drive_closes += 1;
            self.leave_state(first, ZoneState::Closed);
        }
        self.change_total(Total::Open, 1);
        self.change_total(Total::Active, i32::from(is_new));
        self.change_total(Total::Opened, 1);
        self.set_zone(zone, ZoneField::OpenedAt, self.total(Total::Opened));
        self.set_zone(zone, ZoneField::State, state as u32);
        self.note_most();
        Ok(())
    }

    /// Among the zones opened by a write, the one opened first.
    fn first_implicit(&self) -> Option<u32> {
        let zones = 0..self.zones.zones;
        zones
            .filter(|&zone| self.state(zone) == ZoneState::Implicit)
            .min_by_key(|&zone| self.zone(zone, ZoneField::OpenedAt))
    }

    /// A zone becomes empty, closed or full.
    fn leave_state(&mut self, zone: u32, state: ZoneState) {
        let before = self.state(zone);
        let is_open = matches!(before, ZoneState::Implicit | ZoneState::Explicit);
        let was_active = is_open || before == ZoneState::Closed;
        let stays_active = state == ZoneState::Closed;
        self.change_total(Total::Open, -i32::from(is_open));
        self.change_total(Total::Active, -i32::from(was_active && !stays_active));
        self.set_zone(zone, ZoneField::State, state as u32);
    }

    fn judge_reset(&mut self, zone: u32) {
        if self.state(zone) == ZoneState::Empty {
            return;
        }
        self.counts.resets += 1;
        self.leave_state(zone, ZoneState::Empty);
        self.set_zone(zone, ZoneField::Pointer, 0);
    }

    fn judge_finish(&mut self, zone: u32) {
        if self.state(zone) == ZoneState::Full {
            return;
        }
        self.counts.finishes += 1;
        self.leave_state(zone, ZoneState::Full);
    }

    fn judge_open(&mut self, zone: u32) -> Result<(), ZoneRefusal> {
        match self.state(zone) {
            ZoneState::Full => return Err(ZoneRefusal::Transition),
            ZoneState::Explicit => return Ok(()),
            ZoneState::Implicit => {
                self.set_zone(zone, ZoneField::State, ZoneState::Explicit as u32)
            }
            before => self.open(zone, before, ZoneState::Explicit)?,
        }
        self.counts.opens += 1;
        Ok(())
    }

    fn judge_close(&mut self, zone: u32) -> Result<(), ZoneRefusal> {
        match self.state(zone) {
            ZoneState::Empty | ZoneState::Full => Err(ZoneRefusal::Transition),
            ZoneState::Closed => Ok(()),
            ZoneState::Implicit | ZoneState::Explicit => {
                self.counts.closes += 1;
                self.leave_state(zone, ZoneState::Closed);
                Ok(())
            }
        }
    }

    pub(super) fn total(&self, total: Total) -> u32 {
        self.totals.get(total as usize)
    }

    fn change_total(&mut self, total: Total, by: i32) {
        let value = self.total(total).wrapping_add_signed(by);
        self.totals.set(total as usize, value);
    }

    /// Raises the maxima to the present numbers of open and active zones.
    pub(super) fn note_most(&mut self) {
        let (open, active) = (self.total(Total::Open), self.total(Total::Active));
        let counts = &mut self.counts;
        counts.open_most = counts.open_most.max(open.into());
        counts.active_most = counts.active_most.max(active.into());
    }
}
