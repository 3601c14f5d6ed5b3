//! Run-to-run variability: one factor a measurement.

use drivelab_workload::keyed_rng;
use rand_xoshiro::rand_core::Rng;

/// Stream of the keyed random numbers that variability draws from.
const STREAM: u64 = 0x7661_7269;

/// The factor by which measurement `index` is slower than the preset says:
/// log-normal with mean 1 and parameter `sigma`; 1 when `sigma` is 0.
///
/// The pure-Rust `libm` computes it, so that it is the same on every machine.
pub(crate) fn factor(sigma: f64, seed: u64, index: u64) -> f64 {
    if sigma == 0.0 {
        return 1.0;
    }
    let mut rng = keyed_rng(seed, index, STREAM);
    // Uniform in (0, 1], so that the logarithm is finite; Box and Muller 1958.
    let mut uniform = || ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    let radius = libm::sqrt(-2.0 * libm::log(uniform()));
    let normal = radius * libm::cos(std::f64::consts::TAU * uniform());
    libm::exp(sigma * normal - sigma * sigma / 2.0)
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn its_mean_is_one_and_its_logarithm_spreads_by_sigma() {
        let (count, sigma) = (200_000_u32, 0.2);
        let factors: Vec<f64> = (0..count)
            .map(|index| factor(sigma, 7, index.into()))
            .collect();
        let mean = factors.iter().sum::<f64>() / f64::from(count);
        // Four standard errors of the mean: 4 x 0.2 / sqrt(200000).
        assert!((mean - 1.0).abs() < 0.0018, "{mean}");
        let logs: Vec<f64> = factors.iter().map(|f| libm::log(*f)).collect();
        let centre = logs.iter().sum::<f64>() / f64::from(count);
        let variance = logs.iter().map(|l| (l - centre).powi(2)).sum::<f64>() / f64::from(count);
        // Four standard errors of a standard deviation: 4 x 0.2 / sqrt(400000).
        assert!((libm::sqrt(variance) - sigma).abs() < 0.0013, "{variance}");
    }

    #[test]
    fn it_is_off_at_sigma_zero_and_keyed_by_seed_and_index() {
        assert_eq!(factor(0.0, 1, 2).to_bits(), 1.0_f64.to_bits());
        assert_eq!(factor(0.1, 1, 2).to_bits(), factor(0.1, 1, 2).to_bits());
        assert_ne!(factor(0.1, 1, 2).to_bits(), factor(0.1, 1, 3).to_bits());
        assert_ne!(factor(0.1, 2, 2).to_bits(), factor(0.1, 1, 2).to_bits());
    }
}
