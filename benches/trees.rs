//! Fitting boosted trees with linear leaves and asking them, compared with one pass over the same numbers.
//!
//! Run with `cargo bench -p drivelab-tree`.

use std::hint::black_box;
use std::time::Instant;

use drivelab_tree::{BoostParameters, Matrix, fit};

const COLUMNS: usize = 9;
const TRAINED: usize = 1600;
const ASKED: usize = 200_000;

/// Values of a hash between 0 and 1, one in ten missing.
fn values(rows: usize, seed: u64) -> Vec<f64> {
    (0..(rows * COLUMNS) as u64)
        .map(|number| {
            let hashed = (number + 1 + seed).wrapping_mul(0xD134_2543_DE82_EF95);
            let hashed = (hashed ^ (hashed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
            let value = (hashed >> 11) as f64 / (1u64 << 53) as f64;
            if value < 0.1 { f64::NAN } else { value }
        })
        .collect()
}

/// The shortest of some repetitions, in seconds.
fn seconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut shortest = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        black_box(work());
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    shortest
}

fn main() -> Result<(), drivelab_tree::TreeError> {
    let rows = values(TRAINED, 0);
    let features = Matrix::new(&rows, TRAINED, COLUMNS)?;
    let targets: Vec<f64> = features
        .iter()
        .map(|row| {
            row.iter()
                .filter(|x| !x.is_nan())
                .map(|x| (7.0 * x).sin())
                .sum()
        })
        .collect();
    let parameters = BoostParameters::default();
    let fitted = fit(&features, &targets, &parameters)?;
    let asked = values(ASKED, 1 << 32);
    let questions = Matrix::new(&asked, ASKED, COLUMNS)?;
    let million = 1e6 / ASKED as f64;
    let pass = seconds(|| asked.iter().filter(|x| !x.is_nan()).sum::<f64>());
    let predicted = seconds(|| fitted.predict(&questions, 1));
    let trained = seconds(|| fit(&features, &targets, &parameters));
    println!("one pass over a million rows    {:8.3} s", pass * million);
    println!(
        "predict a million rows          {:8.3} s",
        predicted * million
    );
    println!(
        "fit {} trees to {TRAINED} rows     {trained:8.3} s",
        fitted.trees()
    );
    Ok(())
}
