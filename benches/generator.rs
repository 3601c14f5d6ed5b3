//! Time of one `Generator::next_request`, compared with one draw of its random numbers.
//!
//! Run with `cargo bench -p drivelab-workload`.

use std::hint::black_box;
use std::time::Instant;

use drivelab_workload::{
    Characteristics, CharacteristicsError, Generator, keyed_rng, uniform_below,
};

const REQUESTS: u64 = 50_000_000;
const RANGE_BYTES: u64 = 80_000_000_000 / 512 * 512;

fn nanoseconds_each(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..REQUESTS {
        work();
    }
    start.elapsed().as_nanos() as f64 / REQUESTS as f64
}

fn main() -> Result<(), CharacteristicsError> {
    let mut rng = keyed_rng(1, 2, 3);
    let draw = nanoseconds_each(|| {
        black_box(uniform_below(&mut rng, RANGE_BYTES / 4096));
    });
    println!("one uniform draw     {draw:6.2} ns");
    let random_reads = Characteristics::default();
    let sequential_reads = Characteristics {
        read_random: 0.0,
        ..random_reads
    };
    let mixed = Characteristics {
        write_ratio: 0.5,
        read_random: 0.5,
        write_random: 0.5,
        ..random_reads
    };
    let workloads = [
        ("random reads", random_reads),
        ("sequential reads", sequential_reads),
        ("half of everything", mixed),
    ];
    for (name, characteristics) in workloads {
        let mut generator = Generator::new(&characteristics, 0, RANGE_BYTES, 1, 2)?;
        let each = nanoseconds_each(|| {
            black_box(generator.next_request());
        });
        println!("{name:20} {each:6.2} ns a request");
    }
    Ok(())
}
