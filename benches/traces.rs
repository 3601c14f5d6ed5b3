//! How many requests of a trace are read a second, compared with finding the ends of the same
//! lines, and how many are read and characterized.
//!
//! Run with `cargo bench -p drivelab-trace`. `REQUESTS` sets the size of a trace (2,000,000).

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use drivelab_trace::{Characterizer, Compression, Given, Options, Trace, TraceError, TraceWriter};
use stopwatch::Stopwatch;

#[path = "stopwatch.rs"]
mod stopwatch;

const ROUNDS: usize = 5;
/// Fast work is repeated this often, because the system reports the core's time in milliseconds.
const REPEATED: u64 = 20;

/// Numbers that look like places, the same every time.
fn scattered(index: u64) -> u64 {
    index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 38
}

fn spc(requests: u64) -> Vec<u8> {
    let mut text = Vec::new();
    for index in 0..requests {
        let (place, unit) = (scattered(index), index % 22);
        let operation = if index % 3 == 0 { 'W' } else { 'R' };
        let (seconds, micros) = (index / 5_000, index % 5_000 * 200);
        let _ = writeln!(
            text,
            "{unit},{place},4096,{operation},{seconds}.{micros:06}"
        );
    }
    text
}

fn msr(requests: u64) -> Vec<u8> {
    let mut text = Vec::new();
    for index in 0..requests {
        let place = 512 * scattered(index);
        let time = 128_166_372_003_061_629 + 1_000 * index;
        let operation = if index % 3 == 0 { "Write" } else { "Read" };
        let _ = writeln!(
            text,
            "{time},hm,{},{operation},{place},4096,{}",
            index % 2,
            900 + index % 99
        );
    }
    text
}

fn vscsi(requests: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..requests {
        bytes.extend((index as u32).to_le_bytes());
        bytes.extend(4096_u32.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(if index % 3 == 0 { 0x2a_u16 } else { 0x28 }.to_le_bytes());
        bytes.extend(0x0100_u16.to_le_bytes());
        bytes.extend(scattered(index).to_le_bytes());
        bytes.extend((1_000 + 50 * index).to_le_bytes());
    }
    bytes
}

/// A record of blktrace.
fn event(bytes: &mut Vec<u8>, time: u64, action: u32, sector: u64) {
    bytes.extend(0x6561_7407_u32.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(time.to_le_bytes());
    bytes.extend(sector.to_le_bytes());
    bytes.extend(4096_u32.to_le_bytes());
    bytes.extend((1 << 16 | action).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend((8_u32 << 20).to_le_bytes());
    bytes.extend([0; 8]);
}

/// Requests of which 32 are in flight.
fn blktrace(requests: u64, with_ends: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..requests {
        event(&mut bytes, 1_000 * index, 1, 8 * index);
        if with_ends {
            event(&mut bytes, 1_000 * index + 200, 7, 8 * index);
            if let Some(done) = index.checked_sub(32) {
                event(&mut bytes, 1_000 * index + 500, 8, 8 * done);
            }
        }
    }
    bytes
}

/// What a writer wrote, in memory.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The requests of another trace.
fn parquet(other: &Bytes) -> Result<Vec<u8>, TraceError> {
    let given = Given::Memory("spc".to_owned(), other.clone());
    let mut trace = Trace::open(&[given], &Options::default())?;
    let written = Written::default();
    let output = Box::new(written.clone());
    let mut writer = TraceWriter::new(output, "parquet", Compression::None, false)?;
    let mut batch = Vec::new();
    loop {
        trace.next_batch(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        let devices = trace.devices().all().iter();
        let devices: Vec<_> = devices.map(|device| device.name.as_str()).collect();
        writer.write(&batch, &devices)?;
    }
    writer.finish()?;
    let mut kept = written.0.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *kept))
}

fn read(name: &str, bytes: &Bytes) -> Result<u64, TraceError> {
    let given = Given::Memory(name.to_owned(), bytes.clone());
    let mut trace = Trace::open(&[given], &Options::default())?;
    let mut batch = Vec::new();
    loop {
        trace.next_batch(&mut batch)?;
        if batch.is_empty() {
            return Ok(trace.checks().requests);
        }
        black_box(&batch);
    }
}

fn characterize(name: &str, bytes: &Bytes, window_ns: Option<u64>) -> Result<u64, TraceError> {
    let given = Given::Memory(name.to_owned(), bytes.clone());
    let mut trace = Trace::open(&[given], &Options::default())?;
    let mut characterizer = Characterizer::new(window_ns)?;
    let mut batch = Vec::new();
    loop {
        trace.next_batch(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        characterizer.add(&batch)?;
    }
    Ok(black_box(characterizer.finish()?).tally.all_requests())
}

/// The best of several rounds, in requests a second.
fn best(mut once: impl FnMut() -> Result<u64, TraceError>) -> Result<f64, TraceError> {
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let watch = Stopwatch::start();
        let requests = once()?;
        best = best.max(requests as f64 / watch.seconds());
    }
    Ok(best)
}

fn main() -> Result<(), TraceError> {
    let requests = std::env::var("REQUESTS")
        .ok()
        .and_then(|text| text.parse().ok());
    let requests = requests.unwrap_or(2_000_000);
    let text = spc(requests);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&text)?;
    let packed = zstd::encode_all(text.as_slice(), 3)?;
    let text = Bytes::from(text);
    let traces = [
        ("spc, gzip", gzip.finish()?),
        ("spc, zstd", packed),
        ("parquet", parquet(&text)?),
        ("spc", text.into()),
        ("msr", msr(requests)),
        ("vscsi", vscsi(requests)),
        ("blktrace, arrivals only", blktrace(requests, false)),
        ("blktrace, Q D C", blktrace(requests, true)),
    ];
    for (name, bytes) in traces {
        let bytes = Bytes::from(bytes);
        let rate = best(|| read(name, &bytes))?;
        let whole = best(|| characterize(name, &bytes, None))?;
        let by_window = best(|| characterize(name, &bytes, Some(60_000_000_000)))?;
        let ends = best(|| {
            for _ in 0..REPEATED {
                black_box(memchr::memchr_iter(b'\n', black_box(&bytes)).count());
            }
            Ok(REPEATED * requests)
        })?;
        println!(
            "{name:24} {:7.1} M requests/s, {:7.0} MB/s; ends of lines alone {:7.1} M requests/s; \
             characterized {:5.2} M, by minute too {:5.2} M requests/s",
            rate / 1e6,
            rate * bytes.len() as f64 / requests as f64 / 1e6,
            ends / 1e6,
            whole / 1e6,
            by_window / 1e6
        );
    }
    Ok(())
}
