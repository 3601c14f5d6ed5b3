//! Where the requests of a workload go. They are spread evenly, in the same way for every drive.

/// The number of strata for random accesses.
const STRATA: u64 = 16;

/// One direction's requests.
#[derive(Clone, Debug)]
pub struct Accesses {
    key: u64,
    pub size: f64,
    stride: f64,
    random: f64,
    next: f64,
    count: u64,
    last_page: Option<u64>,
}

/// A request as a drive of pages sees it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub first: u64,
    pub last: u64,
    /// Whether it covers its first, and its last, page only partly.
    pub partial: (bool, bool),
    /// It begins in the page in which the previous one ended.
    pub again: bool,
    /// It continues where the previous one ended.
    pub follows: bool,
    pub is_random: bool,
}

impl Accesses {
    pub fn new(key: u64, size: f64, random: f64, stride: f64) -> Self {
        Self {
            key,
            size,
            stride,
            random,
            next: (mixed(key) % 100_003) as f64 * size,
            count: 0,
            last_page: None,
        }
    }

    pub fn next(&mut self, page: f64) -> Access {
        let is_random = self.dealt() < self.random;
        if is_random {
            let slot = mixed(self.count * 8 + self.key) >> 44;
            self.next = slot as f64 * self.size;
        }
        self.count += 1;
        let (begin, end) = (self.next, self.next + self.size);
        self.next = end + self.stride;
        // Never below zero, so these round down.
        let first = (begin / page) as u64;
        let last = ((end - 1.0) / page) as u64;
        let before = self.last_page.replace(last);
        let again = before == Some(first);
        let is_near = again || before.is_some_and(|before| before + 1 == first);
        let partial = (
            begin > first as f64 * page,
            end < (last as f64 + 1.0) * page,
        );
        Access {
            first,
            last,
            partial,
            again,
            follows: is_near && !is_random && self.stride < page,
            is_random,
        }
    }

    /// A number from 0 to 1. Of every 16 consecutive numbers, one falls into each sixteenth.
    fn dealt(&self) -> f64 {
        let (block, place) = (self.count / STRATA, self.count % STRATA);
        let order = mixed(block * 2 + self.key);
        // An odd multiple, a step and a mask permute sixteen numbers.
        let (multiple, step, mask) = ((order & 15) | 1, (order >> 8) & 15, (order >> 16) & 15);
        let stratum = ((place * multiple + step) ^ mask) & 15;
        let within = (mixed(self.count * 4 + self.key + 1) >> 11) as f64 / (1_u64 << 53) as f64;
        (stratum as f64 + within) / STRATA as f64
    }
}

/// A pseudo-random function of `number` (the finaliser of Steele et al. 2014, `SplitMix64`).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
