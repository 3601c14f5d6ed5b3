//! An example of a firmware for Drivelab in Rust: it emits the same operations as hot_cold.c.
//!
//!     rustc --edition 2024 -O --crate-type cdylib examples/firmware/hot_cold.rs -o hot_cold.so
//!     drivelab simulate sim:bench-64gib --firmware ./hot_cold.so --write-ratio 1
//!     drivelab firmware profile zipf.toml --firmware examples/firmware/hot_cold.rs --out run
//!
//! The lower half is crates/ftl/include/drivelab_firmware.h in Rust. Another firmware can copy it
//! unchanged; the upper half uses no pointers.

use std::collections::VecDeque;

/// Open blocks of a plane.
const HOT: usize = 0;
const COLD: usize = 1;
const MOVED: usize = 2;
const FRONTIERS: usize = 3;

#[derive(Clone, Copy, Default)]
struct Frontier {
    /// The page that is programmed next.
    next: u32,
    /// Pages left in its block.
    left: u32,
}

#[derive(Default)]
struct Plane {
    open: [Frontier; FRONTIERS],
    free: VecDeque<u32>,
    /// Pages that it holds.
    valid: u32,
}

const LOOKUPS: usize = 0;
const MOVES: usize = 1;
const HOT_WRITES: usize = 2;
const COLD_WRITES: usize = 3;
const VICTIMS_SEEN: usize = 4;
const COUNT_NAMES: [&std::ffi::CStr; 5] = [
    c"map_lookups",
    c"pages_moved",
    c"hot_writes",
    c"cold_writes",
    c"victims_looked_at",
];

/// No page could be programmed.
struct NoSpace;

struct Firmware {
    layout: Layout,
    planes: Vec<Plane>,
    /// Logical page to physical page, or `NOTHING`.
    map: Vec<u32>,
    /// Logical page to the host's writes when it was written last; 0 if never.
    written: Vec<u32>,
    /// Physical page to logical page, or `NOTHING`.
    owner: Vec<u32>,
    /// By block: valid pages.
    count: Vec<u32>,
    /// By block: the host's writes when it became full; 0 if it is not full.
    closed: Vec<u32>,
    erases: Vec<u32>,
    /// The plane that is tried first.
    turn: usize,
    /// Writes of the host so far.
    writes: u32,
    counts: [u64; COUNT_NAMES.len()],
}

impl Firmware {
    fn new(layout: Layout) -> Option<Self> {
        // Emptying a block needs another one for its pages.
        if layout.reserve_blocks < 1
            || layout.blocks_per_plane <= layout.reserve_blocks + FRONTIERS as u32
        {
            return None;
        }
        let blocks = layout.planes * layout.blocks_per_plane;
        let of_plane = |plane| Plane {
            free: (plane * layout.blocks_per_plane..(plane + 1) * layout.blocks_per_plane).collect(),
            ..Plane::default()
        };
        Some(Self {
            planes: (0..layout.planes).map(of_plane).collect(),
            map: vec![NOTHING; layout.logical_pages as usize],
            written: vec![0; layout.logical_pages as usize],
            owner: vec![NOTHING; (blocks * layout.pages_per_block) as usize],
            count: vec![0; blocks as usize],
            closed: vec![0; blocks as usize],
            erases: vec![0; blocks as usize],
            turn: 0,
            writes: 0,
            counts: [0; COUNT_NAMES.len()],
            layout,
        })
    }

    fn block_of(&self, page: u32) -> usize {
        (page / self.layout.pages_per_block) as usize
    }

    fn plane_of(&self, page: u32) -> usize {
        self.block_of(page) / self.layout.blocks_per_plane as usize
    }

    /// The next page of a frontier. Opens a block if needed.
    fn next_page(&mut self, plane: usize, which: usize) -> Result<u32, NoSpace> {
        let pages = self.layout.pages_per_block;
        let Plane { open, free, .. } = &mut self.planes[plane];
        let open = &mut open[which];
        if open.left == 0 {
            let block = free.pop_front().ok_or(NoSpace)?;
            *open = Frontier {
                next: block * pages,
                left: pages,
            };
        }
        let page = open.next;
        open.next += 1;
        open.left -= 1;
        if open.left == 0 {
            self.closed[(page / pages) as usize] = self.writes;
        }
        Ok(page)
    }

    fn give_up(&mut self, page: u32) {
        let (block, plane) = (self.block_of(page), self.plane_of(page));
        self.owner[page as usize] = NOTHING;
        self.count[block] -= 1;
        self.planes[plane].valid -= 1;
    }

    fn occupy(&mut self, page: u32, logical: u32) {
        let (block, plane) = (self.block_of(page), self.plane_of(page));
        self.owner[page as usize] = logical;
        self.count[block] += 1;
        self.planes[plane].valid += 1;
        self.map[logical as usize] = page;
    }

    /// The full block of `plane` with the greatest benefit per cost.
    fn choose_victim(&mut self, plane: usize) -> Result<usize, NoSpace> {
        let blocks = self.layout.blocks_per_plane as usize;
        let (mut victim, mut best) = (None, 0);
        for block in plane * blocks..(plane + 1) * blocks {
            if self.closed[block] == 0 {
                continue;
            }
            self.counts[VICTIMS_SEEN] += 1;
            let valid = u64::from(self.count[block]);
            let invalid = u64::from(self.layout.pages_per_block) - valid;
            let age = u64::from(self.writes.wrapping_sub(self.closed[block]).wrapping_add(1));
            let score = invalid * age / (2 * valid + 1);
            if score > best || (victim.is_none() && invalid > 0) {
                (victim, best) = (Some(block), score);
            }
        }
        victim.ok_or(NoSpace)
    }

    /// Empties a victim of `plane`.
    fn collect(&mut self, plane: usize, request: u32, out: &Sink) -> Result<(), NoSpace> {
        let victim = self.choose_victim(plane)?;
        self.closed[victim] = 0;
        let moving = Operation {
            cause: FOR_COLLECTION,
            plane: plane as u32,
            request,
            ..Operation::NONE
        };
        let pages = self.layout.pages_per_block;
        let first = victim as u32 * pages;
        let mut last = NOTHING;
        for page in first..first + pages {
            let logical = self.owner[page as usize];
            if logical == NOTHING {
                continue;
            }
            let read = out.emit(Operation {
                kind: PAGE_READ,
                page,
                logical,
                ..moving
            });
            let to = self.next_page(plane, MOVED)?;
            self.give_up(page);
            self.occupy(to, logical);
            self.counts[MOVES] += 1;
            last = out.emit(Operation {
                kind: PAGE_PROGRAM,
                page: to,
                logical,
                after: read,
                ..moving
            });
        }
        out.emit(Operation {
            kind: BLOCK_ERASE,
            page: first,
            after: last,
            ..moving
        });
        self.erases[victim] += 1;
        self.planes[plane].free.push_back(victim as u32);
        Ok(())
    }

    /// Of two neighbouring planes, the one that holds fewer pages; the pair moves on each time.
    fn choose_plane(&mut self) -> usize {
        let one = self.turn;
        let other = (one + 1) % self.planes.len();
        self.turn = other;
        if self.planes[other].valid < self.planes[one].valid {
            other
        } else {
            one
        }
    }

    fn write_page(
        &mut self,
        (logical, is_partial): (u32, bool),
        request: u32,
        out: &Sink,
    ) -> Result<(), NoSpace> {
        self.counts[LOOKUPS] += 1;
        let before = self.written[logical as usize];
        self.writes = self.writes.wrapping_add(1).max(1);
        self.written[logical as usize] = self.writes;
        let is_hot =
            before != 0 && self.writes.wrapping_sub(before) < self.layout.logical_pages / 2;
        self.counts[if is_hot { HOT_WRITES } else { COLD_WRITES }] += 1;
        let which = if is_hot { HOT } else { COLD };
        let plane = self.choose_plane();
        if self.planes[plane].open[which].left == 0 {
            while self.planes[plane].free.len() <= self.layout.reserve_blocks as usize {
                self.collect(plane, request, out)?;
            }
        }
        let old = self.map[logical as usize];
        let mut operation = Operation {
            cause: FOR_HOST,
            logical,
            request,
            ..Operation::NONE
        };
        if is_partial && old != NOTHING {
            operation.after = out.emit(Operation {
                kind: PAGE_READ,
                plane: self.plane_of(old) as u32,
                page: old,
                ..operation
            });
        }
        operation.kind = PAGE_PROGRAM;
        operation.plane = plane as u32;
        operation.page = self.next_page(plane, which)?;
        if old != NOTHING {
            self.give_up(old);
        }
        self.occupy(operation.page, logical);
        out.emit(operation);
        Ok(())
    }

    fn read_page(&mut self, logical: u32, request: u32, out: &Sink) {
        self.counts[LOOKUPS] += 1;
        let page = self.map[logical as usize];
        if page != NOTHING {
            out.emit(Operation {
                kind: PAGE_READ,
                cause: FOR_HOST,
                plane: self.plane_of(page) as u32,
                page,
                logical,
                request,
                ..Operation::NONE
            });
        }
    }

    fn trim_page(&mut self, logical: u32) {
        self.counts[LOOKUPS] += 1;
        let page = self.map[logical as usize];
        if page != NOTHING {
            self.give_up(page);
            self.map[logical as usize] = NOTHING;
            self.written[logical as usize] = 0;
        }
    }

    fn submit(&mut self, runs: &[Run], out: &Sink) -> Result<(), NoSpace> {
        for (request, run) in (0..).zip(runs) {
            for page in 0..run.pages {
                let logical = run.first + page;
                let is_partial = (page == 0 && run.first_partial != 0)
                    || (page + 1 == run.pages && run.last_partial != 0);
                match run.action {
                    READ => self.read_page(logical, request, out),
                    WRITE => self.write_page((logical, is_partial), request, out)?,
                    _ if is_partial => {}
                    _ => self.trim_page(logical),
                }
            }
        }
        Ok(())
    }
}

// drivelab_firmware.h, version 3.

use std::ffi::{c_char, c_int, c_void};

const VERSION: u32 = 3;
/// No operation, no logical page.
const NOTHING: u32 = u32::MAX;
const READ: u32 = 0;
const WRITE: u32 = 1;
const PAGE_READ: u32 = 0;
const PAGE_PROGRAM: u32 = 1;
const BLOCK_ERASE: u32 = 2;
const FOR_HOST: u32 = 0;
const FOR_COLLECTION: u32 = 1;
const OK: c_int = 0;
const NO_SPACE: c_int = 1;

#[derive(Clone, Copy)]
#[repr(C)]
struct Layout {
    planes: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    logical_pages: u32,
    reserve_blocks: u32,
    background_blocks: u32,
}

#[repr(C)]
struct Run {
    action: u32,
    first: u32,
    pages: u32,
    first_partial: u32,
    last_partial: u32,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Operation {
    kind: u32,
    cause: u32,
    plane: u32,
    page: u32,
    logical: u32,
    after: u32,
    request: u32,
}

impl Operation {
    const NONE: Self = Self {
        kind: 0,
        cause: 0,
        plane: 0,
        page: 0,
        logical: NOTHING,
        after: NOTHING,
        request: 0,
    };
}

#[repr(C)]
struct Sink {
    sink: *mut c_void,
    emit: extern "C" fn(*mut c_void, *const Operation) -> u32,
}

impl Sink {
    /// Emits an operation and returns its index.
    fn emit(&self, operation: Operation) -> u32 {
        (self.emit)(self.sink, &operation)
    }
}

#[unsafe(no_mangle)]
extern "C" fn drivelab_firmware_version() -> u32 {
    VERSION
}

/// # Safety
/// The caller keeps the rules of drivelab_firmware.h. The same holds for all functions below.
#[unsafe(no_mangle)]
unsafe extern "C" fn drivelab_firmware_create(layout: *const Layout) -> *mut Firmware {
    let firmware = Firmware::new(unsafe { *layout }).map(Box::new);
    firmware.map_or(std::ptr::null_mut(), Box::into_raw)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drivelab_firmware_destroy(firmware: *mut Firmware) {
    if !firmware.is_null() {
        drop(unsafe { Box::from_raw(firmware) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drivelab_firmware_submit(
    firmware: *mut Firmware,
    runs: *const Run,
    count: u32,
    out: *const Sink,
) -> c_int {
    let runs = unsafe { std::slice::from_raw_parts(runs, count as usize) };
    match unsafe { (*firmware).submit(runs, &*out) } {
        Ok(()) => OK,
        Err(NoSpace) => NO_SPACE,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drivelab_firmware_erase_count(firmware: *const Firmware, block: u32) -> u32 {
    unsafe { (&(*firmware).erases)[block as usize] }
}

#[unsafe(no_mangle)]
extern "C" fn drivelab_firmware_count_name(index: u32) -> *const c_char {
    let name = COUNT_NAMES.get(index as usize);
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn drivelab_firmware_count(firmware: *const Firmware, index: u32) -> u64 {
    unsafe { (&(*firmware).counts)[index as usize] }
}
