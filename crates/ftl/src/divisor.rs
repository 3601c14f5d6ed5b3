//! Division by a number that is known in advance, as a multiplication.
//!
//! Page numbers become blocks and planes several times for each page. A division takes several
//! times as long as everything else that is done with the number.

/// A divisor of 32-bit numbers.
///
/// With m = floor((2^64 - 1) / d), floor((n + 1) m / 2^64) = floor(n / d) for all n and d of 32
/// bits: m is less than 2^64 / d by at most 1, which costs less than 1 / d (Robison 2005,
/// round-down with an increment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    value: u32,
    reciprocal: u64,
}

impl Divisor {
    /// Division by `value`, which is not 0.
    #[must_use]
    pub fn new(value: u32) -> Self {
        Self {
            value,
            reciprocal: u64::MAX / u64::from(value.max(1)),
        }
    }

    /// floor(`number` / divisor).
    #[inline(always)]
    #[must_use]
    pub fn quotient(self, number: u32) -> u32 {
        let product = (u128::from(number) + 1) * u128::from(self.reciprocal);
        (product >> 64) as u32
    }

    /// `number` modulo the divisor.
    #[inline(always)]
    #[must_use]
    pub fn remainder(self, number: u32) -> u32 {
        number - self.quotient(number) * self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_divides_as_division_does() {
        let edges = |value: u32| [value.wrapping_sub(1), value, value.wrapping_add(1)];
        let mut values: Vec<u32> = (1..400).collect();
        for shift in 9..32 {
            values.extend(edges(1 << shift));
        }
        values.extend([32_767, 641, 6_700_417, u32::MAX - 2, u32::MAX - 1, u32::MAX]);
        for &value in &values {
            let divisor = Divisor::new(value);
            let multiples = values.iter().map(|&factor| value.wrapping_mul(factor));
            for number in multiples.flat_map(edges).chain(values.iter().copied()) {
                assert_eq!(
                    divisor.quotient(number),
                    number / value,
                    "{number} / {value}"
                );
                assert_eq!(divisor.remainder(number), number % value);
            }
        }
    }
}
