//! Tails of the chi-squared distribution, as logarithms, because a table may be more certain than
//! an f64 can express.

/// ln P(chi-squared with `freedom` degrees > `value`); 0 if nothing is tested.
pub(crate) fn ln_tail(value: f64, freedom: f64) -> f64 {
    let (a, x) = (freedom / 2.0, value / 2.0);
    // Also if either is missing.
    if !(a > 0.0 && x > 0.0) {
        return 0.0;
    }
    let ln_factor = a * x.ln() - x - libm::lgamma(a);
    if x < a + 1.0 {
        // The lower tail as a series (Abramowitz and Stegun 6.5.29).
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        let lower = (ln_factor + sum.ln()).exp().min(1.0);
        (-lower).ln_1p()
    } else {
        ln_factor + continued_fraction(a, x).ln()
    }
}

/// The upper tail without its factor (Abramowitz and Stegun 6.5.31), from its front on (Lentz).
fn continued_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b.max(TINY);
    let mut value = d;
    for step in 1..500 {
        let step = f64::from(step);
        let numerator = -step * (step - a);
        b += 2.0;
        d = numerator * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + numerator / c;
        c = if c.abs() < TINY { TINY } else { c };
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_degrees_have_a_closed_form() {
        // exp(-x/2) times the first terms of the exponential series.
        for value in [0.01, 0.7, 1.0, 4.0, 11.0, 80.0, 3000.0] {
            let x: f64 = value / 2.0;
            assert!((ln_tail(value, 2.0) + x).abs() < 1e-12 * x.max(1.0));
            let four = -x + x.ln_1p();
            assert!((ln_tail(value, 4.0) - four).abs() < 1e-12 * x.max(1.0));
        }
    }

    #[test]
    fn odd_degrees_are_those_of_tables() {
        for (value, freedom, tail) in [
            (3.841_458_820_694_124, 1.0, 0.05),
            (7.814_727_903_251_179, 3.0, 0.05),
            (0.351_846_317_749_272, 3.0, 0.95),
            (16.266_236_196_238_13, 3.0, 0.001),
        ] {
            assert!(
                (ln_tail(value, freedom).exp() - tail).abs() < 1e-12,
                "{value}"
            );
        }
    }

    #[test]
    fn nothing_tested_is_certain_of_nothing() {
        for (value, freedom) in [(0.0, 3.0), (5.0, 0.0), (f64::NAN, 2.0), (2.0, f64::NAN)] {
            assert_eq!(ln_tail(value, freedom), 0.0);
        }
    }
}
