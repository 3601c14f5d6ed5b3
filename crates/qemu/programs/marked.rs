//! A program that marks what happens in it and whose counts are calculated by hand.
//!
//! `marked CASE`: each case is one record or several.

use std::arch::asm;
use std::hint::black_box;

#[repr(C, align(4096))]
struct Places([u8; 4096]);

static mut DRIVELAB_MARKS: Places = Places([0; 4096]);

/// The store is volatile: nobody reads the array, so the compiler would remove any other store,
/// even an atomic one, and then the function.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn drivelab_mark(index: usize) {
    // Safety: the place is in the array, which nothing else touches.
    unsafe {
        (&raw mut DRIVELAB_MARKS.0)
            .cast::<u8>()
            .add(index & 4095)
            .write_volatile(1)
    }
}

const BEGIN: usize = 0;
const END: usize = 1;
const RECORD: usize = 2;
const WORKER: usize = 16;
const TAKEN: usize = 1024;
const RELEASED: usize = 2048;
const PUT: usize = 3072;
const GOT: usize = 3584;

/// A loop of two instructions per turn.
#[inline(always)]
fn turns(count: u64) {
    // Safety: counts a register down.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(".p2align 6", "2:", "sub {0}, 1", "jnz 2b", inout(reg) count => _);
    }
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!(".p2align 6", "2:", "subs {0}, {0}, #1", "b.ne 2b", inout(reg) count => _);
    }
}

/// Loads every `stride` bytes of `bytes`, `rounds` times: four instructions each, one of them a load.
#[inline(never)]
fn walk(memory: &[u8], stride: usize, rounds: usize) {
    for _ in 0..rounds {
        let end = memory.as_ptr() as usize + memory.len();
        let place = memory.as_ptr() as usize;
        // Safety: reads within `memory`.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!("2:", "mov {t}, qword ptr [{p}]", "add {p}, {s}", "cmp {p}, {e}", "jb 2b",
                p = inout(reg) place => _, s = in(reg) stride, e = in(reg) end, t = out(reg) _);
        }
        #[cfg(target_arch = "aarch64")]
        unsafe {
            asm!("2:", "ldr {t}, [{p}]", "add {p}, {p}, {s}", "cmp {p}, {e}", "b.lo 2b",
                p = inout(reg) place => _, s = in(reg) stride, e = in(reg) end, t = out(reg) _);
        }
    }
}

/// The same with stores.
#[inline(never)]
fn fill(memory: &mut [u8], stride: usize) {
    let end = memory.as_ptr() as usize + memory.len();
    let place = memory.as_mut_ptr() as usize;
    // Safety: writes within `memory`.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!("2:", "mov qword ptr [{p}], {s}", "add {p}, {s}", "cmp {p}, {e}", "jb 2b",
            p = inout(reg) place => _, s = in(reg) stride, e = in(reg) end);
    }
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!("2:", "str {s}, [{p}]", "add {p}, {p}, {s}", "cmp {p}, {e}", "b.lo 2b",
            p = inout(reg) place => _, s = in(reg) stride, e = in(reg) end);
    }
}

/// One conditional branch per byte, taken where it is not zero, and one for the loop.
#[inline(never)]
fn branches(ways: &[u8]) {
    let (place, end) = (ways.as_ptr() as usize, ways.as_ptr() as usize + ways.len());
    // Safety: reads within `ways`.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!("2:", "cmp byte ptr [{p}], 0", "je 3f", "nop", "3:", "add {p}, 1", "cmp {p}, {e}", "jb 2b",
            p = inout(reg) place => _, e = in(reg) end);
    }
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!("2:", "ldrb {t:w}, [{p}]", "cbz {t:w}, 3f", "nop", "3:", "add {p}, {p}, #1", "cmp {p}, {e}", "b.lo 2b",
            p = inout(reg) place => _, e = in(reg) end, t = out(reg) _);
    }
}

fn record(work: impl FnOnce()) {
    work();
    drivelab_mark(RECORD);
}

/// A single copy of the loop, so that the code around it is always the same.
#[inline(never)]
fn turned(count: u64) {
    turns(count);
    drivelab_mark(RECORD);
}

/// Memory that begins at a line, away from everything else.
fn memory(bytes: usize) -> &'static mut [u8] {
    let all = Box::leak(vec![1_u8; bytes + 65536].into_boxed_slice());
    let start = all.as_ptr().align_offset(65536);
    &mut all[start..start + bytes]
}

/// One bit per call, from a shift register.
fn drawn(state: &mut u64) -> u8 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 33) as u8 & 1
}

fn hand_over() {
    // Worker 0 works, puts an item, works on; worker 1 takes it at once.
    turns(100_000);
    drivelab_mark(PUT);
    turns(100_000);
    drivelab_mark(WORKER + 1);
    drivelab_mark(GOT);
    turns(50_000);
    drivelab_mark(RECORD);
}

fn contend() {
    // Both want the lock at the same time: the second waits as long as the first holds it.
    drivelab_mark(WORKER);
    drivelab_mark(TAKEN + 7);
    turns(100_000);
    drivelab_mark(RELEASED + 7);
    turns(200_000);
    drivelab_mark(WORKER + 1);
    drivelab_mark(TAKEN + 7);
    turns(10_000);
    drivelab_mark(RELEASED + 7);
    drivelab_mark(RECORD);
    // Worker 1 is at 110,000 turns and worker 0 at 300,000, and nobody holds the lock there.
    turns(50_000);
    drivelab_mark(TAKEN + 7);
    turns(10_000);
    drivelab_mark(RELEASED + 7);
    drivelab_mark(WORKER);
    drivelab_mark(RECORD);
}

fn main() {
    let case = std::env::args().nth(1).unwrap_or_default();
    let data = memory(1 << 20);
    let ways: Vec<u8> = match case.as_str() {
        "random" => {
            let mut state = 0x1234_5678_9abc_def1;
            (0..100_000).map(|_| drawn(&mut state)).collect()
        }
        _ => (0..100_000).map(|number| number as u8 & 1).collect(),
    };
    drivelab_mark(BEGIN);
    match case.as_str() {
        "turns" => {
            for count in black_box([1_000_000, 2_000_000, 3_000_000]) {
                turned(count);
            }
        }
        "walk" => {
            let kib = |kib: usize| kib << 10;
            // The first round loads the lines, the others find them if they fit.
            record(|| walk(&data[..kib(16)], 64, 1));
            record(|| walk(&data[..kib(16)], 64, 10));
            record(|| walk(&data[..kib(16)], 8, 10));
            record(|| walk(&data[..kib(128)], 64, 1));
            record(|| walk(&data[..kib(128)], 64, 10));
            record(|| walk(&data[..kib(1024)], 64, 4));
        }
        "fill" => {
            record(|| fill(&mut data[..16 << 10], 64));
            record(|| fill(&mut data[..16 << 10], 64));
        }
        "alternating" | "random" => record(|| branches(&ways)),
        "hand-over" => hand_over(),
        "contend" => contend(),
        "share" => {
            // Worker 1 reads what worker 0 wrote, then worker 0 writes it again.
            drivelab_mark(WORKER);
            fill(&mut data[..8 << 10], 64);
            drivelab_mark(RECORD);
            drivelab_mark(WORKER + 1);
            walk(&data[..8 << 10], 64, 1);
            drivelab_mark(RECORD);
            drivelab_mark(WORKER);
            fill(&mut data[..8 << 10], 64);
            drivelab_mark(RECORD);
        }
        "copy" => {
            let (from, to) = data.split_at_mut(512 << 10);
            record(|| {
                for _ in 0..100 {
                    black_box(&mut *to)[..16 << 10].copy_from_slice(&black_box(&*from)[..16 << 10]);
                }
            });
        }
        "long" => {
            // Three accesses in about ten instructions, in caches and beyond.
            for _ in 0..200 {
                record(|| {
                    walk(&data[..16 << 10], 64, 50);
                    walk(data, 64, 1);
                    fill(&mut data[..64 << 10], 64);
                    branches(&ways[..50_000]);
                });
            }
        }
        "no-end" => {
            record(|| turns(10));
            return;
        }
        "thread" => {
            let _ = std::thread::spawn(|| turns(10)).join();
        }
        _ => {
            eprintln!("unknown case {case}");
            std::process::exit(3);
        }
    }
    drivelab_mark(END);
}
