//! A number that identifies the requests of a trace, in order.
//!
//! It distinguishes two readings of a file, or two files with one name. It does not protect against
//! somebody who makes two traces with the same number.

use drivelab_trace::Record;

// Odd numbers without a pattern in their bits.
const FACTORS: [u64; 4] = [
    0x9E37_79B9_7F4A_7C15,
    0xBF58_476D_1CE4_E5B9,
    0x94D0_49BB_1331_11EB,
    0xD6E8_FEB8_6659_FD93,
];

/// The fingerprint of the requests so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Adds the next request.
    #[inline(always)]
    pub const fn take(&mut self, record: &Record) {
        // Only one multiplication depends on another, so a request costs no more than that.
        let kind = (record.device as u64) << 8 | record.operation as u64;
        let mixed = record.arrival_ns.wrapping_mul(FACTORS[0])
            ^ record.offset_bytes.wrapping_mul(FACTORS[1]).rotate_left(21)
            ^ record.size_bytes.wrapping_mul(FACTORS[2]).rotate_left(42)
            ^ kind;
        self.0 = (self.0.rotate_left(5) ^ mixed).wrapping_mul(FACTORS[3]);
    }
}
