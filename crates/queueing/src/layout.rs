//! The parts of a drive.

use crate::QueueingError;

/// Consecutive bytes on one member of an array.
pub const MEMBER_STRIPE_BYTES: u64 = 65_536;

const MOST_UNITS: usize = 4096;
const MOST_PAGES: usize = 1 << 16;
const MOST_LOGS: usize = 64;

/// Counts and switches that describe a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Units that work at the same time, over all members.
    pub units: usize,
    /// Consecutive bytes on one unit, read and written as a whole.
    pub page_bytes: usize,
    /// Members of an array. Each has its own link and buffer. A divisor of the units.
    pub members: usize,
    /// Pages that may wait in a member for their program. With 0, a write waits for its own
    /// program.
    pub buffer_pages: usize,
    /// Units share this many paths to the link; 0 means that none is shared.
    pub channels: usize,
    /// A written page goes to the unit whose turn it is, not to that of its address.
    pub writes_in_turn: bool,
    /// Reads do not wait for programs of their unit, except for a while for one in progress.
    pub reads_first: bool,
    /// Rewriting a page replaces it in the buffer.
    pub merges: bool,
    /// A page that is read again at once needs no unit.
    pub caches_reads: bool,
    /// Sequential reads begin at their unit when the previous read arrives.
    pub reads_ahead: bool,
    /// Data crosses the link in both directions at the same time.
    pub duplex: bool,
    /// Log blocks of a unit; 0 if pages are mapped one by one.
    pub log_blocks: usize,
    /// Pages of a block.
    pub block_pages: usize,
}

impl Layout {
    /// The simplest drive: one unit behind a link, without a buffer or read-ahead.
    pub const PLAIN: Self = Self {
        units: 1,
        page_bytes: 4096,
        members: 1,
        buffer_pages: 0,
        channels: 0,
        writes_in_turn: false,
        reads_first: false,
        merges: false,
        caches_reads: false,
        reads_ahead: false,
        duplex: false,
        log_blocks: 0,
        block_pages: 64,
    };

    /// Refuses invalid layouts.
    ///
    /// # Errors
    ///
    /// [`QueueingError::Layout`] names the number.
    pub fn validate(&self) -> Result<(), QueueingError> {
        let refused = |name, value, allowed| {
            Err(QueueingError::Layout {
                name,
                value,
                allowed,
            })
        };
        if !(1..=MOST_UNITS).contains(&self.units) {
            return refused("units", self.units, "1 to 4096");
        }
        if !(512..=1 << 20).contains(&self.page_bytes) {
            return refused("page_bytes", self.page_bytes, "512 to 1048576");
        }
        if self.members == 0 || !self.units.is_multiple_of(self.members) {
            return refused("members", self.members, "a divisor of the units");
        }
        if self.buffer_pages > MOST_PAGES {
            return refused("buffer_pages", self.buffer_pages, "0 to 65536");
        }
        if self.channels > MOST_UNITS {
            return refused("channels", self.channels, "0 to 4096");
        }
        if self.log_blocks > MOST_LOGS {
            return refused("log_blocks", self.log_blocks, "0 to 64");
        }
        if !(1..=MOST_PAGES).contains(&self.block_pages) {
            return refused("block_pages", self.block_pages, "1 to 65536");
        }
        Ok(())
    }

    /// The number of a page among those of its unit.
    #[inline]
    pub(crate) fn page_in_unit(&self, page: u64) -> u64 {
        let (units, members) = (self.units as u64, self.members as u64);
        let stripe = if members == 1 {
            1
        } else {
            self.member_stripe()
        };
        (page / (stripe * members) * stripe + page % stripe) / (units / members)
    }

    /// The member and unit of the page with this number. The page before it went to `before`; each
    /// member has this many units.
    #[inline(always)]
    pub(crate) fn next_place(
        &self,
        before: (usize, usize),
        page: u64,
        each: usize,
    ) -> (usize, usize) {
        if self.members > 1 && page.is_multiple_of(self.member_stripe()) {
            return self.place(page);
        }
        let (member, unit) = (before.0, before.1 + 1);
        let is_last = unit == (member + 1) * each;
        (member, if is_last { member * each } else { unit })
    }

    /// The member of a page, and the number of pages from it on, before `end`, on the same member.
    #[inline]
    pub(crate) fn on_one_member(&self, page: u64, end: u64) -> (usize, u64) {
        let stripe = self.member_stripe();
        let row = page / stripe;
        let next = (row + 1) * stripe;
        ((row % self.members as u64) as usize, next.min(end) - page)
    }

    /// Consecutive pages on one member of an array.
    #[inline(always)]
    fn member_stripe(&self) -> u64 {
        (MEMBER_STRIPE_BYTES / self.page_bytes as u64).max(1)
    }

    /// The member and the unit of the page with this number.
    #[inline]
    pub(crate) fn place(&self, page: u64) -> (usize, usize) {
        if self.members == 1 {
            return (0, (page % self.units as u64) as usize);
        }
        let stripe = self.member_stripe();
        let members = self.members as u64;
        let row = page / stripe;
        let member = row % members;
        let inside = row / members * stripe + page % stripe;
        let each = self.units as u64 / members;
        (member as usize, (member * each + inside % each) as usize)
    }
}
