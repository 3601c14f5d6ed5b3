//! Runs libFuzzer on one reader, which `FUZZ_READER` names.
//!
//! Built with coverage counters (`--cfg fuzzing`, see `fuzz/rust.py`). Environment variables:
//!
//! - `FUZZ_READER`: the reader. Without it, the readers are listed, each with its sources, and the
//!   program ends.
//! - `FUZZ_SEEDS`: a folder into which the seeds of the reader are written first.
//! - `FUZZ_EDGES`: a file into which every edge is written at the end: where it lies in the
//!   program, and whether an input reached it.
#![no_main]

use std::sync::OnceLock;

use drivelab_fuzz::{READERS, Reader, reader};
use libfuzzer_sys::fuzz_target;

static CHOSEN: OnceLock<&'static Reader> = OnceLock::new();

fuzz_target!(
    init: {
        let chosen = std::env::var("FUZZ_READER").ok().and_then(|name| reader(&name));
        let Some(chosen) = chosen else {
            for reader in READERS {
                println!("{} {}", reader.name, reader.sources.join(" "));
            }
            std::process::exit(0);
        };
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            for (number, seed) in (chosen.seeds)().iter().enumerate() {
                let path = std::path::Path::new(&folder).join(format!("seed-{number}"));
                std::fs::write(path, seed).expect("a folder of seeds");
            }
        }
        let _ = CHOSEN.set(chosen);
        #[cfg(fuzzing)]
        edges::keep();
    },
    |data: &[u8]| {
        if let Some(chosen) = CHOSEN.get() {
            (chosen.check)(data);
        }
        #[cfg(fuzzing)]
        edges::add();
    }
);

/// Which edges any input reached. libFuzzer forgets them after each input.
#[cfg(fuzzing)]
mod edges {
    use std::ffi::OsString;
    use std::fmt::Write;
    use std::slice;
    use std::sync::{Mutex, OnceLock, PoisonError};

    // Where the linker puts the compiler's tables: a counter for each edge, and the place of each
    // with a flag word.
    unsafe extern "C" {
        static __start___sancov_cntrs: u8;
        static __stop___sancov_cntrs: u8;
        static __start___sancov_pcs: [usize; 2];
        static __executable_start: u8;
    }

    static TARGET: OnceLock<OsString> = OnceLock::new();
    static MET: Mutex<Vec<bool>> = Mutex::new(Vec::new());

    fn counters() -> &'static [u8] {
        // SAFETY: the linker provides both ends of one section of bytes, which lives as long as the
        // program. Nothing but this function counts while the slice is read.
        unsafe {
            let start = &raw const __start___sancov_cntrs;
            let end = &raw const __stop___sancov_cntrs;
            slice::from_raw_parts(start, end.addr() - start.addr())
        }
    }

    /// Writes the reached edges at the end, if requested.
    pub fn keep() {
        let Some(path) = std::env::var_os("FUZZ_EDGES") else {
            return;
        };
        if TARGET.set(path).is_ok() {
            // SAFETY: the function takes nothing and returns nothing.
            unsafe { libc::atexit(write) };
        }
    }

    pub fn add() {
        if TARGET.get().is_none() {
            return;
        }
        let mut met = MET.lock().unwrap_or_else(PoisonError::into_inner);
        let counters = counters();
        met.resize(counters.len(), false);
        for (met, &counter) in met.iter_mut().zip(counters) {
            *met |= counter > 0;
        }
    }

    extern "C" fn write() {
        let Some(path) = TARGET.get() else {
            return;
        };
        let met = MET.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the compiler makes as many places as counters, in the same order.
        let places =
            unsafe { slice::from_raw_parts(&raw const __start___sancov_pcs, counters().len()) };
        let base = (&raw const __executable_start).addr();
        let mut text = String::new();
        for (&[place, _], &met) in places.iter().zip(met.iter()) {
            // Code removed by the linker has no place.
            if let Some(place) = place.checked_sub(base) {
                let _ = writeln!(text, "{place:x} {}", u8::from(met));
            }
        }
        let _ = std::fs::write(path, text);
    }
}
