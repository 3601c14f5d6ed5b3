//! The steps of a write between command and completion, and those of trim and flush.
//!
//! ```text
//!   buffer off     link: data ─> firmware ─> flash ─> complete
//!   write back     space ─> link: data ─> (memory) ─> buffer ─> acknowledged, complete
//!                                                       └> firmware ─> flash ─> space free
//!   forced, or     space ─> link: data ─> (memory) ─> buffer ─> firmware ─> flash ─> complete
//!   write through
//! ```
//!
//! Writes pass the controller's memory if the preset says so.
//!
//! A trim completes when the firmware has given up its pages. Pages that it covers only partly keep
//! their data. WRITE ZEROES is a trim, or a write without data on the link
//! ([`crate::ssd::engine::requests`]). A flush completes when every page whose write completed from
//! the buffer is in the flash ([`crate::ssd::buffer::flush`]).

use drivelab_ftl::{Action, Cause, Firmware, FirmwareError, Lpn, OperationKind, PageRun};
use drivelab_request::CommandKind;

use crate::ssd::account::split::{Part, Parts};
use crate::ssd::engine::Engine;
use crate::ssd::firmware::cores::{Done, What};
use crate::ssd::flash::Waits;
use crate::ssd::flash::{Account, STRETCHES};
use crate::ssd::front::Job;
use crate::ssd::timeline::{ACKNOWLEDGE, MEMORY};

impl<F: Firmware> Engine<F> {
    /// Gives free buffer space to waiting writes, in order.
    pub(in crate::ssd) fn admit_blocked(&mut self, now: u64) {
        while let Some(slot) = self.buffer.first_blocked() {
            let kind = self.front.slot(slot).command().kind;
            let own_command = self.front.times.command[kind.index()];
            let entry = self.front.slot_mut(slot);
            let missing = entry.without_space();
            let size = entry.command().size_bytes;
            let pages = self.buffer.reserve(missing, size);
            if pages == 0 {
                self.make_space(now);
                return;
            }
            let first = entry.reserve(pages);
            // The link carries the bytes of the request, page by page of its run.
            let bytes = entry.link_bytes_of(first, pages);
            let command = if first == 0 { own_command } else { 0 };
            let start = (entry.command().offset_bytes >> self.page_shift) as u32;
            self.buffer.prefetch(start + first);
            if pages == missing {
                entry.end_stage(Part::Buffer, now);
                if let Some(next) = self.buffer.admit() {
                    self.front.prefetch_slot(next);
                }
            }
            let time = command + self.front.times.link_transfer(bytes);
            self.put_on_link(slot, Job::WriteData { first, pages }, time, now);
        }
    }

    /// A write without a buffer completes when its pages are programmed.
    #[inline(never)]
    pub(in crate::ssd) fn start_write(&mut self, slot: u32, run: PageRun, now: u64) {
        self.forget_cached(run);
        if run.is_one_whole_page()
            && let Some(program) = self.ask_for_page(Action::Write, run.first)
        {
            let entry = self.front.slot_mut(slot);
            entry.await_all(1);
            entry.begin_stage(now);
            let account = Account::request(slot);
            if self.cores.is_on() {
                return self.hand_over_page(slot, (&program, account), false, now);
            }
            return self.enter_flash(&program, account, now);
        }
        self.out.clear();
        self.place_for(slot);
        if let Err(error) = self.ask_firmware(run) {
            self.failure = Some(error.into());
            return;
        }
        if self.cores.is_on() {
            let done = self.done_for(slot, run.pages, true);
            return self.hand_over(Some(slot), What::Write, (done, Vec::new()), now);
        }
        self.emit_write(slot, now);
    }

    /// What the firmware emitted for a write without a buffer enters the flash.
    pub(in crate::ssd) fn emit_write(&mut self, slot: u32, now: u64) {
        let pending = self.emit(Account::request(slot), Waits::Host, now);
        if self.firmware.packs_pages() && pending == 0 {
            // The data is in the controller, or all zeroes.
            self.acknowledge(slot, now);
        }
    }

    /// Pages of a write have crossed the link and now pass the controller's memory.
    #[inline(never)]
    pub(in crate::ssd) fn pass_memory(&mut self, slot: u32, pages: (u32, u32), now: u64) {
        let bytes = self.front.slot(slot).bytes_of(pages.0, pages.1);
        self.memory.write(slot, pages, bytes, now);
        (self.timeline.events).set_side(MEMORY, self.memory.next());
    }

    /// Pages that arrived at `since` have passed the memory. For a write in pieces, only the last
    /// piece's time counts; that of the others is part of the way to the drive.
    pub(in crate::ssd) fn passed_memory(
        &mut self,
        slot: u32,
        (first, pages): (u32, u32),
        since: u64,
        now: u64,
    ) {
        let entry = self.front.slot_mut(slot);
        if first + pages == entry.pages() {
            entry.add_part(Part::Buffer, now - since);
        }
        self.fill_buffer(slot, first, pages, now);
    }

    /// Pages of a write have arrived in the buffer and go on to the flash.
    #[inline(never)]
    pub(in crate::ssd) fn fill_buffer(&mut self, slot: u32, first: u32, pages: u32, now: u64) {
        let run = self.run_of(slot);
        self.forget_cached(run);
        self.record_for(Some(slot));
        if run.is_one_whole_page()
            && self.buffer.passes_on()
            && (self.buffer.keeps_all() || !self.front.slot(slot).command().is_forced)
            && let Some(program) = self.ask_for_page(Action::Write, run.first)
        {
            self.buffer.insert(run.first.0);
            let stretch = self.buffer.hand_over_behind_flush(1);
            let account = Account::buffer(stretch);
            if self.cores.is_on() {
                return self.hand_over_page(slot, (&program, account), true, now);
            }
            self.enter_flash(&program, account, now);
            return self.acknowledge(slot, now);
        }
        self.fill_in_pieces(slot, (first, pages), now);
    }

    /// The same for anything but a single whole page that goes on at once.
    #[inline(never)]
    fn fill_in_pieces(&mut self, slot: u32, (first, pages): (u32, u32), now: u64) {
        let run = self.run_of(slot);
        let last = first + pages == run.pages;
        let mut piece = PageRun {
            first: Lpn(run.first.0 + first),
            pages,
            first_partial: run.first_partial && first == 0,
            last_partial: run.last_partial && last,
            ..run
        };
        let is_forced = self.is_forced(slot);
        if self.buffer.gathers() {
            if !is_forced {
                if self.cores.is_on() {
                    self.gather_at_cores(slot, (first, pages), last, now);
                }
                self.gather(slot, piece, now);
                if last && !self.cores.is_on() {
                    self.acknowledge(slot, now);
                }
                self.admit_blocked(now);
                return;
            }
            self.ungather(&mut piece);
        }
        for page in 0..pages {
            self.buffer.insert(piece.first.0 + page);
        }
        self.out.clear();
        self.place_for(slot);
        if let Err(error) = self.ask_firmware(piece) {
            self.failure = Some(error.into());
            return;
        }
        let packed = self.without_program(piece.first.0..piece.first.0 + pages);
        let stretch = if is_forced {
            self.buffer.hand_over(pages);
            self.await_piece(slot, (first, last), now);
            0
        } else {
            self.buffer.hand_over_behind_flush(pages)
        };
        if self.cores.is_on() {
            let done = self.done_for_piece(slot, first, pages);
            let what = What::Piece(first, pages, stretch);
            self.hand_over(Some(slot), what, (done, packed), now);
        } else {
            self.emit_piece(slot, (first, pages), (stretch, &packed), now);
        }
        if self.buffer.gathers() {
            // It may have replaced gathered pages.
            self.admit_blocked(now);
        }
    }

    /// What the firmware emitted for pages of a buffered write enters the flash. Pages in `packed`
    /// need no program.
    pub(in crate::ssd) fn emit_piece(
        &mut self,
        slot: u32,
        (first, pages): (u32, u32),
        (stretch, packed): (u32, &[u32]),
        now: u64,
    ) {
        let last = first + pages == self.front.slot(slot).pages();
        if self.is_forced(slot) {
            self.force(slot, now);
            self.force_packed(slot, packed, now);
            return;
        }
        self.emit(Account::buffer(stretch), Waits::Programs, now);
        if last {
            self.acknowledge(slot, now);
        }
        for &page in packed {
            self.page_flushed(page, stretch, now);
        }
    }

    /// Whether a write that goes through the buffer is complete only when it is programmed.
    fn is_forced(&self, slot: u32) -> bool {
        self.buffer.writes_through()
            || (self.front.slot(slot).command().is_forced && !self.buffer.keeps_all())
    }

    /// The firmware's work for pages of a write from `first` on.
    fn done_for_piece(&self, slot: u32, first: u32, pages: u32) -> Done {
        let bytes = self.front.slot(slot).bytes_of(first, pages);
        Done {
            bytes,
            ..self.done_for(slot, pages, first == 0)
        }
    }

    /// A core works on gathered pages. The command completes when the core has finished the last of
    /// them.
    #[inline(never)]
    fn gather_at_cores(&mut self, slot: u32, (first, pages): (u32, u32), last: bool, now: u64) {
        let done = self.done_for_piece(slot, first, pages);
        self.hand_over_gathered(slot, (first == 0, last), &done, now);
    }

    /// Those of `pages` that need no program of their own: packed with others in the controller, or
    /// all zeroes. The firmware has just taken `pages` in this order.
    #[inline]
    fn without_program(&self, pages: impl Iterator<Item = u32>) -> Vec<u32> {
        if !self.firmware.packs_pages() {
            return Vec::new();
        }
        let operations = self.out.operations().iter();
        let of_host = operations.filter(|operation| {
            operation.kind == OperationKind::Program && operation.cause == Cause::Host
        });
        let mut programmed = of_host.map(|operation| operation.lpn).peekable();
        pages
            .filter(|page| programmed.next_if_eq(page).is_none())
            .collect()
    }

    /// Removes written or trimmed pages from the read cache.
    #[inline(always)]
    fn forget_cached(&mut self, run: PageRun) {
        if self.cache.is_on() {
            for page in run.first.0..run.first.0 + run.pages {
                self.cache.forget(page);
            }
        }
    }

    /// The last data of a write is in the buffer.
    #[inline(always)]
    pub(in crate::ssd) fn acknowledge(&mut self, slot: u32, now: u64) {
        if let Some(at) = self.front.acknowledge(slot, now) {
            self.timeline.events.set_side(ACKNOWLEDGE, Some(at));
        }
    }

    /// Arrived pages wait for others, unless there are enough of them now.
    #[inline(never)]
    fn gather(&mut self, slot: u32, piece: PageRun, now: u64) {
        let whole = piece.whole_pages();
        let data = (piece.content, self.placement_of(slot));
        for page in piece.first.0..piece.first.0 + piece.pages {
            let is_whole = whole.contains(&page);
            let replaces = self.buffer.gather(page, is_whole, data);
            self.counters.coalesced_pages += u64::from(replaces);
        }
        if let Some(left) = self.buffer.must_push() {
            self.push_gathered(left, now);
        }
    }

    /// Sends the oldest gathered pages to the flash until `left` are left.
    pub(in crate::ssd) fn push_gathered(&mut self, left: u32, now: u64) {
        self.record_for(None);
        self.out.clear();
        let (mut pages, mut packed) = (0, Vec::new());
        while let Some((page, is_whole, (content, placement))) = self.buffer.next_gathered(left) {
            self.firmware.place(placement);
            let run = PageRun {
                action: Action::Write,
                first: Lpn(page),
                pages: 1,
                first_partial: !is_whole,
                last_partial: !is_whole,
                content,
            };
            if let Err(error) = self.ask_firmware(run) {
                self.failure = Some(error.into());
                return;
            }
            pages += 1;
            if self.firmware.packs_pages() {
                packed.push(page);
            }
        }
        let packed = self.without_program(packed.into_iter());
        let stretch = self.buffer.hand_over_behind_flush(pages);
        if self.cores.is_on() {
            let what = What::Pushed(stretch);
            let done = Done {
                other_pages: pages.into(),
                ..Done::default()
            };
            return self.hand_over(None, what, (done, packed), now);
        }
        self.emit_pushed(stretch, &packed, now);
    }

    /// What the firmware emitted for gathered pages enters the flash. Pages in `packed` need no
    /// program.
    pub(in crate::ssd) fn emit_pushed(&mut self, stretch: u32, packed: &[u32], now: u64) {
        self.emit(Account::buffer(stretch), Waits::Programs, now);
        for &page in packed {
            self.page_flushed(page, stretch, now);
        }
    }

    /// A forced write replaces gathered data of its pages.
    fn ungather(&mut self, piece: &mut PageRun) {
        let (first, last) = (piece.first.0, piece.first.0 + piece.pages - 1);
        for page in first..=last {
            if let Some(was_whole) = self.buffer.ungather(page) {
                self.counters.coalesced_pages += 1;
                piece.first_partial &= !(was_whole && page == first);
                piece.last_partial &= !(was_whole && page == last);
            }
        }
    }

    /// A write finds no space: gathered pages go to the flash. All of them go if nothing else could
    /// ever free space.
    fn make_space(&mut self, now: u64) {
        if let Some(left) = self.buffer.may_push() {
            self.push_gathered(left, now);
        }
        if self.buffer.is_stuck() {
            self.push_gathered(0, now);
        }
    }

    pub(in crate::ssd) fn acknowledge_event(&mut self, now: u64) {
        let Some((slot, next)) = self.front.take_acknowledged() else {
            return;
        };
        self.timeline.events.set_side(ACKNOWLEDGE, next);
        self.complete_at_host(slot, now);
    }

    /// A page of a buffered write was programmed.
    pub(in crate::ssd) fn page_flushed(&mut self, page: u32, stretch: u32, now: u64) {
        self.buffer.flushed(page, stretch, STRETCHES);
        self.admit_blocked(now);
        while let Some(flush) = self.buffer.next_flushed() {
            let entry = self.front.slot_mut(flush);
            entry.end_stage(Part::Buffer, now);
            self.complete_at_host(flush, now);
        }
    }

    /// A piece of a write that waits for its programs has arrived. It begins at page `first` of the
    /// request and may be its last piece.
    fn await_piece(&mut self, slot: u32, (first, is_last): (u32, bool), now: u64) {
        let entry = self.front.slot_mut(slot);
        // Count one more while pieces are missing, and one until its programs are counted, so that
        // the write cannot complete early.
        entry.await_more(1 + u32::from(first == 0) - u32::from(is_last));
        if is_last {
            entry.begin_stage(now);
        }
    }

    /// The firmware's operations for such a piece.
    fn force(&mut self, slot: u32, now: u64) {
        let programs = self.emit(Account::forced(slot), Waits::Programs, now);
        let entry = self.front.slot_mut(slot);
        entry.await_more(programs);
        // All its programs are counted now.
        entry.has_all();
    }

    /// Pages of a forced write are packed in the controller, which survives a power loss. The write
    /// completes if nothing else of it is in progress.
    fn force_packed(&mut self, slot: u32, packed: &[u32], now: u64) {
        if packed.is_empty() {
            return;
        }
        for &page in packed {
            self.buffer.remove(page);
        }
        // While pieces are missing, the write waits for one more.
        if !self.front.slot(slot).is_waiting() {
            self.acknowledge(slot, now);
        }
        self.admit_blocked(now);
    }

    /// A page of a forced write was programmed.
    #[inline(never)]
    pub(in crate::ssd) fn forced_page_done(
        &mut self,
        slot: u32,
        page: u32,
        parts: Parts,
        now: u64,
    ) {
        self.buffer.remove(page);
        self.admit_blocked(now);
        let entry = self.front.slot_mut(slot);
        if entry.has_all() {
            entry.add_flash(&parts, now);
            self.complete_at_host(slot, now);
        }
    }

    /// A command without data has arrived.
    #[inline(never)]
    pub(in crate::ssd) fn start_command(&mut self, slot: u32, now: u64) {
        self.front.slot_mut(slot).begin_stage(now);
        if self.cores.is_on() {
            let done = self.done_for(slot, 0, true);
            return self.hand_over_command(slot, &done, now);
        }
        self.begin_command(slot, now);
    }

    /// Carries out a command without data.
    pub(in crate::ssd) fn begin_command(&mut self, slot: u32, now: u64) {
        if self.front.slot(slot).command().kind == CommandKind::Flush {
            if self.buffer.keeps_all() {
                return self.complete_at_host(slot, now);
            }
            if self.buffer.has_gathered() {
                self.push_gathered(0, now);
            }
            if self.buffer.flush(slot) {
                self.complete_at_host(slot, now);
            }
            return;
        }
        if self.firmware.zones().is_some() {
            return self.begin_of_zone(slot, now);
        }
        self.out.clear();
        if let Err(error) = self.give_up(self.run_of(slot)) {
            self.failure = Some(error.into());
            return;
        }
        if let Err(error) = self.give_up_ranges(slot) {
            self.failure = Some(error.into());
            return;
        }
        if !self.out.operations().is_empty() {
            // The operations concern a map on the flash.
            if self.cores.is_on() {
                self.hand_over(None, What::Trimmed, (Done::default(), Vec::new()), now);
            } else {
                self.emit(Account::NOBODY, Waits::Programs, now);
            }
        }
        self.complete_at_host(slot, now);
        self.admit_blocked(now);
    }

    /// The whole pages of a run hold nothing any more, wherever they are.
    fn give_up(&mut self, run: PageRun) -> Result<(), FirmwareError> {
        self.forget_cached(run);
        if self.buffer.is_on() {
            for page in run.whole_pages() {
                self.buffer.ungather(page);
                self.buffer.trim(page);
            }
        }
        self.ask_firmware(run)
    }

    /// The same of the ranges that a trim has after its first.
    fn give_up_ranges(&mut self, slot: u32) -> Result<(), FirmwareError> {
        let entry = self.front.slot(slot);
        let (stream, mut bytes) = (entry.stream(), entry.command().size_bytes);
        if entry.command().kind != CommandKind::Trim {
            return Ok(());
        }
        let Some(ranges) = self.users.streams[stream as usize].next_ranges() else {
            return Ok(());
        };
        for &(offset, size) in &ranges {
            let page_bytes = 1 << self.page_shift;
            self.give_up(PageRun::covering(Action::Trim, offset, size, page_bytes))?;
            bytes += size;
        }
        self.front.slot_mut(slot).name_bytes(bytes);
        Ok(())
    }

    /// Time on the link for the ranges of a trim, besides its command: they are its data.
    pub(super) fn time_of_ranges(&self, slot: u32) -> u64 {
        let stream = self.front.slot(slot).stream();
        match self.users.streams[stream as usize].ranges_per_trim {
            1 => 0,
            ranges => self.front.times.ranges(ranges.into()),
        }
    }
}
