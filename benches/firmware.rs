//! Pages per second of the firmware alone, without simulated time: the cost of
//! preconditioning, and of collection under random overwrites.
//!
//! The bare loop does only what every page map must do: update the map, its
//! reverse and two bits of the bitmap. It has no blocks, collection or
//! operations.
//!
//! Run with `make bench`, or `cargo bench -p drivelab-ftl --bench firmware`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod stopwatch;

use std::hint::black_box;

use drivelab_ftl::{
    Action, BlockMap, BlockPolicies, BlockScheme, CachedMap, CachedPolicies, Firmware, FlashLayout,
    Lpn, OperationBuffer, Pace, PageMap, PageRun, Replacement, Restorable, SlcMap, SlcPolicies,
    StripingOrder, Undo,
};
use stopwatch::Stopwatch;

/// The planes, blocks and pages of the preset `bench-64gib`.
const LAYOUT: FlashLayout = FlashLayout {
    planes: 128,
    blocks_per_plane: 512,
    pages_per_block: 256,
    logical_pages: 12_157_402,
    reserve_blocks: 4,
};
const ROUNDS: u32 = 3;
const RANDOM_WRITES: u64 = 20_000_000;

/// Requests drawn ahead, and what is left of that when what a map entry points to is
/// prefetched: as in the simulator's `load.rs`.
const AHEAD: usize = 64;
const HALF: usize = AHEAD / 2;

/// Pages drawn at random, by xorshift64.
struct Pages(u64);

impl Pages {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u64::from(LAYOUT.logical_pages) * (self.0 >> 32)) >> 32) as u32
    }
}

fn write(first: u32, pages: u32) -> PageRun {
    PageRun::whole(Action::Write, Lpn(first), pages)
}

/// 128 KiB writes over the whole drive; seconds.
fn fill(firmware: &mut impl Firmware, out: &mut OperationBuffer) -> f64 {
    let watch = Stopwatch::start();
    let mut first = 0;
    while first < LAYOUT.logical_pages {
        let pages = 32.min(LAYOUT.logical_pages - first);
        out.clear();
        firmware.submit(&[write(first, pages)], out).unwrap();
        first += pages;
    }
    watch.seconds()
}

/// Single pages at random, prefetched as the simulator does; seconds, and flash operations.
fn overwrite(firmware: &mut impl Firmware, out: &mut OperationBuffer, writes: u64) -> (f64, u64) {
    let mut operations = 0;
    let mut pages = Pages(0x9E37_79B9_7F4A_7C15);
    let mut ring: [u32; AHEAD] = std::array::from_fn(|_| pages.next());
    let watch = Stopwatch::start();
    for step in 0..writes {
        let place = step as usize % AHEAD;
        let drawn = pages.next();
        let page = std::mem::replace(&mut ring[place], drawn);
        firmware.prefetch_map(Lpn(drawn));
        firmware.prefetch_overwrite(Lpn(ring[(place + 1 + HALF) % AHEAD]));
        out.clear();
        firmware.submit(&[write(page, 1)], out).unwrap();
        operations += out.operations().len() as u64;
    }
    (watch.seconds(), operations)
}

/// Map, owner and bitmap of a sequential fill and nothing else; seconds.
fn bare() -> f64 {
    let physical = LAYOUT.physical_pages() as usize;
    let mut map = vec![u32::MAX; LAYOUT.logical_pages as usize];
    let mut owner = vec![u32::MAX; physical];
    let mut valid = vec![0_u64; physical / 64];
    let watch = Stopwatch::start();
    let mut next = 0;
    for _ in 0..2 {
        for (page, place) in map.iter_mut().enumerate() {
            let old = *place as usize;
            if old < physical {
                valid[old / 64] &= !(1 << (old % 64));
            }
            valid[next / 64] |= 1 << (next % 64);
            owner[next] = page as u32;
            *place = next as u32;
            next = if next + 1 == physical { 0 } else { next + 1 };
        }
    }
    black_box((&map, &owner, &valid));
    watch.seconds() / 2.0
}

fn report(what: &str, pages: f64, seconds: f64, bare_rate: f64) {
    let rate = pages / seconds / 1e6;
    println!(
        "{what:<34} {rate:>7.2} M pages/s {:>6.1} ns   share of the bare loop {:>5.1} %",
        1e3 / rate,
        rate / bare_rate * 100.0
    );
}

/// Flash operations of a firmware of another generation, filled and overwritten at random.
fn other_generation(what: &str, firmware: &mut impl Firmware, writes: u64, page_map: f64) {
    let mut out = OperationBuffer::with_capacity(1024);
    let fills = [(); 2].map(|()| fill(firmware, &mut out));
    overwrite(firmware, &mut out, writes / 4);
    let (seconds, operations) = overwrite(firmware, &mut out, writes);
    let rate = operations as f64 / seconds / 1e6;
    let fill_rate = f64::from(LAYOUT.logical_pages) / fills[1] / 1e6;
    println!(
        "{what:<34} {rate:>7.2} M operations/s, share of the page map {:>5.1} %; {:.1} operations \
         a write; fill again {fill_rate:.1} M pages/s",
        rate / page_map * 100.0,
        operations as f64 / writes as f64,
    );
}

fn block_map(scheme: BlockScheme) -> BlockMap<Undo> {
    let policies = BlockPolicies {
        scheme,
        log_blocks: 32,
        order: StripingOrder::Cwdp,
        axes: [1; 4],
    };
    BlockMap::erased(LAYOUT, policies).unwrap()
}

fn cached_map(cached_entries: u32) -> CachedMap<Undo> {
    let policies = CachedPolicies {
        pages: Pace::WholeBlock.into(),
        cached_entries,
        replacement: Replacement::SegmentedLru,
        entries_per_page: 1024,
    };
    CachedMap::erased(LAYOUT, policies).unwrap()
}

fn main() {
    let pages = f64::from(LAYOUT.logical_pages);
    let best = |seconds: Vec<f64>| seconds.into_iter().fold(f64::INFINITY, f64::min);
    let bare_rate = pages / best((0..ROUNDS).map(|_| bare()).collect()) / 1e6;
    println!("128 planes x 512 blocks x 256 pages, 38 % over-provisioning, best of {ROUNDS}");
    println!("{:<34} {bare_rate:>7.2} M pages/s", "bare loop");
    let mut out = OperationBuffer::with_capacity(1024);
    let mut firmware = PageMap::<Undo>::erased(LAYOUT, Pace::WholeBlock).unwrap();
    report(
        "first fill",
        pages,
        fill(&mut firmware, &mut out),
        bare_rate,
    );
    let seconds = best((0..ROUNDS).map(|_| fill(&mut firmware, &mut out)).collect());
    report("fill again, with collection", pages, seconds, bare_rate);

    overwrite(&mut firmware, &mut out, 4 * u64::from(LAYOUT.logical_pages));
    let before = out.counts.moves;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(overwrite(&mut firmware, &mut out, RANDOM_WRITES).0);
    }
    let writes = RANDOM_WRITES as f64;
    let moves = (out.counts.moves - before) as f64 / f64::from(ROUNDS);
    let seconds = best(rounds);
    report(
        "random overwrites, programs",
        writes + moves,
        seconds,
        bare_rate,
    );
    println!("WAF {:.2}", 1.0 + moves / writes);
    let page_map = (writes + 2.0 * moves) / seconds / 1e6;
    println!(
        "{:<34} {page_map:>7.2} M operations/s",
        "page map, random overwrites"
    );
    for (share, entries) in [("1 %", 121_574), ("10 %", 1_215_740)] {
        let what = format!("cached map, {share} of it");
        other_generation(&what, &mut cached_map(entries), 24_000_000, page_map);
    }
    let policies = SlcPolicies {
        pages: Pace::WholeBlock.into(),
        slc_blocks: 32,
        slc_pages: 85,
    };
    let mut slc = SlcMap::<Undo>::erased(LAYOUT, policies).unwrap();
    other_generation("pseudo-SLC region", &mut slc, 24_000_000, page_map);
    for scheme in BlockScheme::ALL {
        let requests = if *scheme == BlockScheme::Fast {
            4_000_000
        } else {
            400_000
        };
        other_generation(scheme.word(), &mut block_map(*scheme), requests, page_map);
    }

    // The cost of a worker's reset: 22,000 writes from the checkpoint, and back.
    firmware.checkpoint();
    let then = firmware.clone();
    let watch = Stopwatch::start();
    for _ in 0..20 {
        overwrite(&mut firmware, &mut out, 22_000);
        firmware.rollback(&then);
    }
    let milliseconds = watch.seconds() * 1e3 / 20.0;
    println!("22,000 overwrites and back to the checkpoint: {milliseconds:.2} ms");
}
