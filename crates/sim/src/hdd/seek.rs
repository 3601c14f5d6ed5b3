//! How long a seek takes: the three-point curve of Lee and Katz 1993.
//!
//! ```text
//!   seek(d) = c + a sqrt(d - 1) + b (d - 1)      d >= 1 cylinders of N
//!   a = (15 mean - 10 least - 5 most) / (3 sqrt N)
//!   b = (7 least - 15 mean + 8 most) / (3 N)
//!   c = least
//! ```
//!
//! `least` is a seek to the next cylinder, `most` a seek over all of them, and `mean` the average
//! over two cylinders drawn at random. This `mean` is the integral of the curve over distances with
//! density 2 (1 - d/N) / N. With the square root alone the arm would always accelerate; with the
//! line alone it would always coast.

use super::rotation::Rotation;

/// Upper bound on a seek, whatever the factor: sums of a few seeks fit 32 bits.
const LONGEST_NS: f64 = (1 << 30) as f64;

/// Seek times as a data sheet gives them, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekTimes {
    /// To the next cylinder.
    pub single_cylinder: u64,
    /// Between two cylinders drawn at random.
    pub average: u64,
    /// From the outermost to the innermost.
    pub full_stroke: u64,
}

impl SeekTimes {
    /// The averages for which the curve rises everywhere and bends down, so that neither the root's
    /// nor the line's share is negative.
    #[must_use]
    pub const fn possible_averages(single_cylinder: u64, full_stroke: u64) -> (u64, u64) {
        (
            (2 * single_cylinder + full_stroke).div_ceil(3),
            (7 * single_cylinder + 8 * full_stroke) / 15,
        )
    }
}

/// A seek of some length: its time, and that time modulo a revolution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seek {
    /// ns.
    pub time: u32,
    /// How far the platters turn beyond whole revolutions, ns.
    pub turn: u32,
}

/// Seeks by distance in cylinders.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    seeks: Vec<Seek>,
}

impl SeekCurve {
    /// The curve for `cylinders` (at least 1), with every time multiplied by `factor`.
    #[must_use]
    pub fn new(times: SeekTimes, cylinders: u32, rotation: Rotation, factor: f64) -> Self {
        let [least, mean, most] =
            [times.single_cylinder, times.average, times.full_stroke].map(|ns| ns as f64);
        let count = f64::from(cylinders);
        let root = (15.0 * mean - 10.0 * least - 5.0 * most) / (3.0 * count.sqrt());
        let line = (7.0 * least - 15.0 * mean + 8.0 * most) / (3.0 * count);
        let seek = |distance: u32| {
            let beyond = f64::from(distance.saturating_sub(1));
            let nanos = (least + root * beyond.sqrt() + line * beyond) * factor;
            let time = match distance {
                0 => 0,
                _ => nanos.round().min(LONGEST_NS) as u32,
            };
            Seek {
                time,
                turn: time % rotation.revolution(),
            }
        };
        Self {
            seeks: (0..cylinders).map(seek).collect(),
        }
    }

    /// A seek over `distance` cylinders, fewer than the disk has.
    #[inline(always)]
    #[must_use]
    pub fn over(&self, distance: u32) -> Seek {
        self.seeks[distance as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: SeekTimes = SeekTimes {
        single_cylinder: 1_000_000,
        average: 9_000_000,
        full_stroke: 17_000_000,
    };

    /// By hand for N = 10,000: a = (135 - 10 - 85) / (3 x 100) = 0.13333 ms, b = (7 - 135 +
    /// 136) / 30,000 = 0.00026667 ms; at d = 2501: 1 + 0.13333 x 50 + 0.00026667 x 2500 = 8.3333 ms.
    #[test]
    fn it_goes_through_its_three_points() {
        let curve = SeekCurve::new(TIMES, 10_000, Rotation::new(8_333_333), 1.0);
        assert_eq!(curve.over(0).time, 0);
        assert_eq!(curve.over(1).time, 1_000_000);
        assert_eq!(curve.over(2501).time, 8_333_333);
        assert_eq!(curve.over(2501).turn, 0);
        // The full stroke covers N - 1 cylinders, so it is shorter by b and a / (2 sqrt N).
        let last = f64::from(curve.over(9_999).time);
        assert!((last - 17_000_000.0).abs() < 2_000.0, "{last}");
        let rises = |d: u32| curve.over(d).time < curve.over(d + 1).time;
        assert!((0..9_998).all(rises));
    }

    /// The mean over random pairs of cylinders, summed over every distance: 2 (N - d) of the N^2
    /// ordered pairs are d apart. The integral of the curve is exact; the sum differs from it by
    /// the order of a seek over N^-1/2.
    #[test]
    fn its_mean_over_random_pairs_is_the_average() {
        let count = 10_000_u32;
        let curve = SeekCurve::new(TIMES, count, Rotation::new(8_333_333), 1.0);
        let weight = |d: u32| 2.0 * f64::from(count - d) / f64::from(count).powi(2);
        let mean: f64 = (1..count)
            .map(|d| weight(d) * f64::from(curve.over(d).time))
            .sum();
        assert!((mean / 9_000_000.0 - 1.0).abs() < 0.001, "{mean}");
    }

    #[test]
    fn an_average_is_possible_while_neither_share_is_negative() {
        assert_eq!(
            SeekTimes::possible_averages(1_000_000, 17_000_000),
            (6_333_334, 9_533_333)
        );
    }
}
