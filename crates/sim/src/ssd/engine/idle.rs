//! What the firmware does while the drive is idle.
//!
//! ```text
//!   last completion ── idle time ──> one operation a unit ── each that ends ──> another
//! ```
//!
//! The firmware is asked for one operation at a time, and never while all cores are busy. So an
//! arriving command waits at most for the operations in progress, one for each unit. The drive
//! checks for idleness once per idle time while commands of an open loop are still to come, or
//! always may come (a drive used by programs). After the last command nothing more happens, however
//! long it would take.

use drivelab_ftl::{Firmware, IdleTime};
use drivelab_request::Nanos;

use crate::ssd::engine::Engine;
use crate::ssd::flash::Account;
use crate::ssd::timeline::IDLE;

impl<F: Firmware> Engine<F> {
    /// A command has arrived: schedules the next check for idleness, if another command will come.
    pub(in crate::ssd) fn await_idleness(&mut self) {
        let Some(idle) = self.background.idle_ns() else {
            return;
        };
        let now = self.timeline.now();
        let at = self.is_awaiting().then_some(now + idle);
        self.timeline.events.set_side(IDLE, at);
    }

    /// Whether another command will come.
    pub(super) fn is_awaiting(&self) -> bool {
        self.background.is_always_awaited() || self.next_arrival().is_some()
    }

    /// Whether the drive has no command, and the firmware nothing left to hand over.
    pub(super) fn is_idle(&self) -> bool {
        self.front.outstanding() == 0 && self.cores.next_due().is_none()
    }

    #[cold]
    pub(in crate::ssd) fn idle_event(&mut self, now: u64) {
        let Some(idle) = self.background.idle_ns() else {
            return;
        };
        if !self.is_idle() || self.flash.is_at_work() {
            self.timeline.events.set_side(IDLE, Some(now + idle));
        } else if now < self.background.idle_since() + idle {
            let at = self.background.idle_since() + idle;
            self.timeline.events.set_side(IDLE, Some(at));
        } else {
            self.timeline.events.set_side(IDLE, None);
            self.background.run_while(true);
            self.work_in_background(self.flash.unit_count(), now);
        }
    }

    /// Asks the firmware for at most `operations`, unless a command has come.
    #[cold]
    #[inline(never)]
    pub(in crate::ssd) fn work_in_background(&mut self, operations: u32, now: u64) {
        if !self.is_idle() || !self.is_awaiting() {
            self.background.run_while(false);
            return;
        }
        let free = self.cores.free_from();
        if free > now {
            // Finished moves keep the cores busy, so a command would wait for any more of them.
            self.background.run_while(self.flash.is_at_work());
            if !self.background.is_running() {
                self.timeline.events.set_side(IDLE, Some(free));
            }
            return;
        }
        let idle = Nanos(now - self.background.idle_since());
        for _ in 0..operations {
            self.out.clear();
            let flash = &self.flash;
            let is_free = |plane: u32| flash.is_free(plane);
            let offer = IdleTime {
                idle,
                budget: 1,
                is_free: &is_free,
            };
            if let Err(error) = Self::ask_in_idle_time(&mut self.firmware, &mut self.out, &offer) {
                self.failure = Some(error.into());
                return;
            }
            let Some(&operation) = self.out.operations().first() else {
                break;
            };
            self.enter_flash(&operation, Account::NOBODY, now);
        }
        // With nothing in the flash, no completion would ask again.
        self.background.run_while(self.flash.is_at_work());
    }
}
