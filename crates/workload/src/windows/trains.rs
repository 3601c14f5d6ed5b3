//! How the requests of a window form trains.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::bag::{Bag, uniform};
use super::{Train, Window};
use crate::random::uniform_below;

/// For each request of a window, whether a train begins with it; `None` if the window counts no
/// trains. Lengths are drawn by class, put in random order, and stretched until they add up to
/// `requests`.
pub(super) fn beginnings(
    trains: &[Train],
    window: &Window,
    requests: u64,
    bags: &mut [Bag],
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<bool> {
    let mut lengths: Vec<u64> = Vec::new();
    for (class, count) in window.trains.iter() {
        let class = class as usize;
        let table = &trains[class].lengths;
        lengths.extend((0..count).map(|_| u64::from(table[bags[class].draw(rng)])));
    }
    if lengths.is_empty() {
        return Vec::new();
    }
    for last in (1..lengths.len()).rev() {
        lengths.swap(last, uniform_below(rng, last as u64 + 1) as usize);
    }
    stretch(&mut lengths, requests, rng);
    let mut begins = vec![false; requests as usize];
    let mut at = 0;
    for length in lengths {
        if let Some(begin) = begins.get_mut(at as usize) {
            *begin = true;
        }
        at += length;
    }
    begins
}

/// Stretches lengths, of which there are no more than `goal`, until they add up to it.
fn stretch(lengths: &mut [u64], goal: u64, rng: &mut Xoshiro256PlusPlus) {
    let sum: u64 = lengths.iter().sum();
    let factor = goal as f64 / sum.max(1) as f64;
    if sum != goal {
        for length in lengths.iter_mut() {
            // Round up or down at random, so that short lengths keep their mean.
            *length = ((*length as f64 * factor + uniform(rng)) as u64).max(1);
        }
    }
    let mut sum: u64 = lengths.iter().sum();
    while sum != goal {
        let one = &mut lengths[uniform_below(rng, lengths.len() as u64) as usize];
        if sum < goal {
            *one += 1;
            sum += 1;
        } else if *one > 1 {
            *one -= 1;
            sum -= 1;
        }
    }
}
