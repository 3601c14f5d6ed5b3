//! Commands of a drive with zones. They are judged when they enter, by the rules of the firmware.
//!
//! ```text
//!   enters ─┬─ its zone is being reset, or a reset has writes before it ─> waits
//!           └─ judged ─┬─ allowed ─> the way of its kind; an append to where its zone goes on
//!                      └─ refused ─> the way of a command without data
//! ```
//!
//! Judging a command changes the firmware's state. Its pages are written when their data arrives,
//! in the order in which commands were judged. A command for a whole zone waits until the writes
//! judged before it are complete, and later writes to the zone wait for it.

use std::collections::{BTreeMap, VecDeque};

use drivelab_ftl::{Action, Firmware, Lpn, PageRun, ZoneShape};
use drivelab_request::{CommandKind, ZoneAction};
use drivelab_workload::ZonesFound;

use super::Engine;
use crate::preset::SsdConfig;
use crate::ssd::firmware::cores::{Done, Due, What};
use crate::ssd::flash::{Account, Waits};
use crate::ssd::times::scaled;

/// The times of commands for whole zones.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::ssd) struct ZoneTimes {
    reset: u64,
    /// A reset completes only when the blocks are erased.
    reset_waits: bool,
    finish: u64,
    finish_page: u64,
}

impl ZoneTimes {
    /// Resolves a configuration, with every time multiplied by `factor`.
    pub fn new(config: &SsdConfig, factor: f64) -> Self {
        let Some(zones) = &config.zones else {
            return Self::default();
        };
        Self {
            reset: scaled(zones.reset_ns, factor),
            reset_waits: zones.reset_waits,
            finish: scaled(zones.finish_ns, factor),
            finish_page: scaled(zones.finish_page_ns, factor),
        }
    }
}

/// Commands in progress in a zone.
#[derive(Clone, Copy, Debug, Default)]
struct UnderWay {
    writes: u32,
    /// A command for the whole zone is in progress.
    is_managed: bool,
}

/// What is in progress in zones, and what waits for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate {
    times: ZoneTimes,
    zone_pages: u32,
    zones: Vec<UnderWay>,
    /// Slots of waiting commands, in order.
    held: VecDeque<u32>,
    /// For each slot with a command that finishes a zone: the number of pages not written.
    unwritten: BTreeMap<u32, u32>,
}

impl Gate {
    /// Begins a run.
    pub fn begin(&mut self, shape: Option<ZoneShape>, times: ZoneTimes) {
        let shape = shape.unwrap_or(ZoneShape {
            zones: 0,
            zone_pages: 1,
            capacity_pages: 0,
        });
        *self = Self {
            times,
            zone_pages: shape.zone_pages,
            zones: vec![UnderWay::default(); shape.zones as usize],
            ..Self::default()
        };
    }

    /// Whether a command must wait for commands in progress in its zone.
    fn is_closed(&self, zone: u32, is_of_zone: bool) -> bool {
        let under_way = self.zones.get(zone as usize);
        under_way.is_some_and(|zone| zone.is_managed || (is_of_zone && zone.writes > 0))
    }

    fn enter(&mut self, zone: u32, is_of_zone: bool) {
        if let Some(zone) = self.zones.get_mut(zone as usize) {
            zone.writes += u32::from(!is_of_zone);
            zone.is_managed |= is_of_zone;
        }
    }

    fn leave(&mut self, zone: u32, is_of_zone: bool) {
        if let Some(zone) = self.zones.get_mut(zone as usize) {
            zone.writes -= u32::from(!is_of_zone);
            zone.is_managed &= !is_of_zone;
        }
    }
}

impl<F: Firmware> Engine<F> {
    /// The zones as a host sees them, if there are any.
    pub(in crate::ssd) fn zones_at_host(&self) -> Option<ZonesFound> {
        let shape = self.firmware.zones()?;
        let bytes = |pages: u32| u64::from(pages) << self.page_shift;
        let written = |zone| bytes(self.firmware.zone_pointer(zone));
        Some(ZonesFound {
            zone_bytes: bytes(shape.zone_pages),
            capacity_bytes: bytes(shape.capacity_pages),
            written_bytes: (0..shape.zones).map(written).collect(),
        })
    }

    /// A command enters a drive with zones.
    #[inline(never)]
    pub(super) fn enter_zone(&mut self, slot: u32, run: PageRun, now: u64) {
        let command = self.front.slot(slot).command();
        let is_of_zone = command.zone.is_of_zone();
        match command.kind {
            CommandKind::Flush => return self.go_in(slot, run, now),
            CommandKind::Read => {}
            CommandKind::Write | CommandKind::Trim | CommandKind::WriteZeroes => {
                let zone = self.zone_of(slot);
                if self.gate.is_closed(zone, is_of_zone) || self.is_awaited(zone, usize::MAX) {
                    self.gate.held.push_back(slot);
                    return;
                }
            }
        }
        self.judge(slot, run, now);
    }

    fn zone_of(&self, slot: u32) -> u32 {
        let offset = self.front.slot(slot).command().offset_bytes;
        ((offset >> self.page_shift) / u64::from(self.gate.zone_pages)) as u32
    }

    /// Whether one of the first `among` waiting commands is for this zone.
    fn is_awaited(&self, zone: u32, among: usize) -> bool {
        let mut held = self.gate.held.iter().take(among);
        held.any(|&slot| self.zone_of(slot) == zone)
    }

    fn judge(&mut self, slot: u32, mut run: PageRun, now: u64) {
        let command = *self.front.slot(slot).command();
        let zone = self.zone_of(slot);
        match self.firmware.judge(&run, command.zone) {
            Err(_) => {
                self.front.slot_mut(slot).lose_data();
                run = self.run_of(slot);
            }
            Ok(judged) if command.zone.is_of_zone() => {
                self.gate.enter(zone, true);
                if command.zone == ZoneAction::Finish {
                    self.gate.unwritten.insert(slot, judged.unwritten);
                }
                self.front.slot_mut(slot).name_bytes(0);
            }
            Ok(judged) => {
                if command.kind == CommandKind::Write {
                    self.gate.enter(zone, false);
                    let offset = u64::from(judged.first.0) << self.page_shift;
                    self.front.slot_mut(slot).go_to(offset);
                    run.first = judged.first;
                }
            }
        }
        self.go_in(slot, run, now);
    }

    /// The command in `slot` completed: whatever waited for it continues.
    #[inline(never)]
    pub(super) fn leave_zone(&mut self, slot: u32, now: u64) {
        let command = self.front.slot(slot).command();
        let is_of_zone = command.zone.is_of_zone();
        if command.kind == CommandKind::Write || is_of_zone {
            let zone = self.zone_of(slot);
            self.gate.leave(zone, is_of_zone);
            self.admit_held(now);
        }
    }

    fn admit_held(&mut self, now: u64) {
        let mut place = 0;
        while let Some(&slot) = self.gate.held.get(place) {
            let is_of_zone = self.front.slot(slot).command().zone.is_of_zone();
            let zone = self.zone_of(slot);
            if self.gate.is_closed(zone, is_of_zone) || self.is_awaited(zone, place) {
                place += 1;
                continue;
            }
            self.gate.held.remove(place);
            self.judge(slot, self.run_of(slot), now);
        }
    }

    /// Carries out a command without data other than a flush.
    pub(super) fn begin_of_zone(&mut self, slot: u32, now: u64) {
        let times = self.gate.times;
        let time = match self.front.slot(slot).command().zone {
            ZoneAction::Reset => times.reset,
            ZoneAction::Finish => {
                let pages = self.gate.unwritten.remove(&slot).unwrap_or(0);
                times.finish + u64::from(pages) * times.finish_page
            }
            ZoneAction::None | ZoneAction::Append | ZoneAction::Open | ZoneAction::Close => 0,
        };
        if time == 0 {
            return self.end_of_zone(slot, now);
        }
        self.put_due(
            Due {
                at: now + time,
                asked: now,
                slot,
                what: What::Zone,
                ..Due::default()
            },
            now,
        );
    }

    /// The controller has finished the command. A reset erases what was written.
    pub(super) fn end_of_zone(&mut self, slot: u32, now: u64) {
        if self.front.slot(slot).command().zone != ZoneAction::Reset {
            return self.complete_at_host(slot, now);
        }
        let pages = self.gate.zone_pages;
        let first = self.zone_of(slot) * pages;
        self.buffer.trim_all(first..first + pages);
        self.out.clear();
        let run = PageRun::whole(Action::Trim, Lpn(first), pages);
        if let Err(error) = self.ask_firmware(run) {
            self.failure = Some(error.into());
            return;
        }
        if self.gate.times.reset_waits && !self.out.operations().is_empty() {
            if self.cores.is_on() {
                return self.hand_over(Some(slot), What::Write, (Done::default(), Vec::new()), now);
            }
            return self.emit_write(slot, now);
        }
        if self.cores.is_on() {
            self.hand_over(None, What::Trimmed, (Done::default(), Vec::new()), now);
        } else {
            self.emit(Account::NOBODY, Waits::Programs, now);
        }
        self.complete_at_host(slot, now);
    }
}
