//! Content that shows that Drivelab wrote a file.
//!
//! Each file that Drivelab makes has a key. Every sector that Drivelab writes in it carries the
//! key, or can be derived from it:
//!
//! ```text
//! fill                    random words drawn of (key, number), the number among them:
//!                         the sector is known wherever a workload moved it
//! fio, filled anew        its last 16 bytes are the key's tag (`buffer_pattern`)
//! fio, buffers kept       what fio's buffers hold under the key's seed (`randseed`), which the same
//!                         fio fills alike whenever it is asked again: `learn`
//! ```
//!
//! fio stamps a kept buffer at each write (`scramble_buffers`). It puts the offset into the first
//! word of one of the sector's eight lines of 64 bytes, and the time into the last two words of the
//! first line. A mixed workload writes what it has read to another place, with such a stamp. So
//! these ten words do not show who wrote a sector; the other 54 do.

use rand_xoshiro::rand_core::Rng;

use crate::random::keyed_rng;

/// Bytes of a sector, the unit in which content is recognised.
pub const SECTOR_BYTES: usize = 512;
/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// Bytes of the tag at the end of a sector.
pub const TAG_BYTES: usize = 16;

const WORD_BYTES: usize = 8;
const WORDS: usize = SECTOR_BYTES / WORD_BYTES;
const WORDS_A_LINE: usize = 8;
/// Where a fill sector keeps its number.
const NUMBER_WORD: usize = 1;
/// An odd number that mixes well, so that consecutive numbers share no bytes that a drive could
/// save.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

type Sector = [u64; WORDS];

/// An error in content to be examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyedContentError {
    /// A key of another length.
    Key {
        /// The given number of bytes.
        bytes: usize,
    },
    /// Not a whole number of sectors, or not at the start of one.
    Sectors {
        /// The number that is not a multiple of the sector.
        bytes: u64,
    },
}

impl std::fmt::Display for KeyedContentError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key { bytes } => write!(
                formatter,
                "a key of {bytes} bytes; a file's key has {KEY_BYTES}"
            ),
            Self::Sectors { bytes } => write!(
                formatter,
                "{bytes} bytes are no whole number of sectors of {SECTOR_BYTES} bytes"
            ),
        }
    }
}

impl std::error::Error for KeyedContentError {}

/// How much of some content carries a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sectors that carry it.
    pub keyed: u64,
    /// Sectors of zeroes, which show no owner.
    pub zero: u64,
    /// All others.
    pub foreign: u64,
}

/// The content that belongs to one key.
#[derive(Clone, Debug)]
pub struct KeyedContent {
    seed: u64,
    index: u64,
    /// Turns a sector's number into the word stored in it.
    mask: u64,
    tag: [u64; TAG_BYTES / WORD_BYTES],
    randseed: u64,
    /// Fingerprints of the sectors of fio's buffers, in order.
    learned: Vec<u128>,
}

impl KeyedContent {
    /// The content of a key.
    ///
    /// # Errors
    ///
    /// If the length of the key is not [`KEY_BYTES`].
    pub fn new(key: &[u8]) -> Result<Self, KeyedContentError> {
        let wrong = KeyedContentError::Key { bytes: key.len() };
        let (words, []) = key.as_chunks::<WORD_BYTES>() else {
            return Err(wrong);
        };
        let &[first, second, third, fourth] = words else {
            return Err(wrong);
        };
        let (seed, index) = (u64::from_le_bytes(first), u64::from_le_bytes(second));
        let mut rng = keyed_rng(u64::from_le_bytes(third), u64::from_le_bytes(fourth), 0);
        Ok(Self {
            seed,
            index,
            mask: rng.next_u64(),
            tag: std::array::from_fn(|_| rng.next_u64()),
            // fio takes seeds below 2^63.
            randseed: rng.next_u64() >> 2,
            learned: Vec::new(),
        })
    }

    /// What fio writes at the end of each sector that it fills anew.
    #[must_use]
    pub fn tag(&self) -> [u8; TAG_BYTES] {
        let mut bytes = [0; TAG_BYTES];
        for (bytes, word) in bytes
            .as_chunks_mut::<WORD_BYTES>()
            .0
            .iter_mut()
            .zip(self.tag)
        {
            *bytes = word.to_le_bytes();
        }
        bytes
    }

    /// The seed of fio's buffers, below 2^62.
    #[must_use]
    pub const fn randseed(&self) -> u64 {
        self.randseed
    }

    /// Fills `content`, which begins at byte `start` of the file.
    ///
    /// # Errors
    ///
    /// If it does not begin and end at a sector boundary; nothing is filled then.
    pub fn fill(&self, start: u64, content: &mut [u8]) -> Result<(), KeyedContentError> {
        let first = sectors(start)?;
        sectors(content.len() as u64)?;
        for (sector, number) in content.chunks_exact_mut(SECTOR_BYTES).zip(first..) {
            let words = self.sector(number);
            for (bytes, word) in sector.as_chunks_mut::<WORD_BYTES>().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
        }
        Ok(())
    }

    /// Learns the sectors of fio's buffers.
    ///
    /// # Errors
    ///
    /// If `buffers` is not a whole number of sectors.
    pub fn learn(&mut self, buffers: &[u8]) -> Result<(), KeyedContentError> {
        sectors(buffers.len() as u64)?;
        self.learned
            .extend(words_of(buffers).map(|words| fingerprint(&words)));
        self.learned.sort_unstable();
        self.learned.dedup();
        Ok(())
    }

    /// Counts how much of `content` carries the key.
    ///
    /// # Errors
    ///
    /// If it is not a whole number of sectors.
    pub fn tally(&self, content: &[u8]) -> Result<Tally, KeyedContentError> {
        sectors(content.len() as u64)?;
        let mut tally = Tally::default();
        for words in words_of(content) {
            if self.is_keyed(&words) {
                tally.keyed += 1;
            } else if words.iter().all(|&word| word == 0) {
                tally.zero += 1;
            } else {
                tally.foreign += 1;
            }
        }
        Ok(tally)
    }

    fn is_keyed(&self, words: &Sector) -> bool {
        words.ends_with(&self.tag)
            || same_but_for_stamps(words, &self.sector(self.number(words[NUMBER_WORD])))
            || (!self.learned.is_empty() && self.learned.binary_search(&fingerprint(words)).is_ok())
    }

    fn sector(&self, number: u64) -> Sector {
        let mut rng = keyed_rng(self.seed, self.index, number);
        let mut words: Sector = std::array::from_fn(|_| rng.next_u64());
        words[NUMBER_WORD] = number.wrapping_mul(SPREAD) ^ self.mask;
        words
    }

    /// The number that a fill sector stores as this word.
    const fn number(&self, word: u64) -> u64 {
        (word ^ self.mask).wrapping_mul(inverse(SPREAD))
    }
}

/// The multiplicative inverse of an odd `value` (each Newton iteration doubles the number of
/// correct bits).
const fn inverse(value: u64) -> u64 {
    let mut found = value;
    let mut bits = 3;
    while bits < 64 {
        found = found.wrapping_mul(2_u64.wrapping_sub(value.wrapping_mul(found)));
        bits *= 2;
    }
    found
}

fn sectors(bytes: u64) -> Result<u64, KeyedContentError> {
    let size = SECTOR_BYTES as u64;
    if bytes.is_multiple_of(size) {
        Ok(bytes / size)
    } else {
        Err(KeyedContentError::Sectors { bytes })
    }
}

fn words_of(content: &[u8]) -> impl Iterator<Item = Sector> {
    content.chunks_exact(SECTOR_BYTES).map(|sector| {
        let words = sector.as_chunks::<WORD_BYTES>().0;
        std::array::from_fn(|at| u64::from_le_bytes(words[at]))
    })
}

/// Whether fio stamps the word at this place in a sector.
const fn is_stamped(at: usize) -> bool {
    at.is_multiple_of(WORDS_A_LINE) || at == WORDS_A_LINE - 2 || at == WORDS_A_LINE - 1
}

fn same_but_for_stamps(one: &Sector, other: &Sector) -> bool {
    (0..WORDS).all(|at| is_stamped(at) || one[at] == other[at])
}

/// 128 bits of the words that no stamp changes.
fn fingerprint(words: &Sector) -> u128 {
    let (mut low, mut high) = (1_u64, 2_u64);
    for (_, &word) in words.iter().enumerate().filter(|&(at, _)| !is_stamped(at)) {
        low = (low ^ word).wrapping_mul(SPREAD).rotate_left(29);
        high = (high.rotate_left(17) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (u128::from(high) << 64) | u128::from(low)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    fn keyed(first: u8) -> KeyedContent {
        KeyedContent::new(&std::array::from_fn::<u8, KEY_BYTES, _>(|at| {
            first.wrapping_add(at as u8)
        }))
        .unwrap()
    }

    fn filled(content: &KeyedContent, start: u64, bytes: usize) -> Vec<u8> {
        let mut filled = vec![0; bytes];
        content.fill(start, &mut filled).unwrap();
        filled
    }

    fn tally(keyed: u64, zero: u64, foreign: u64) -> Tally {
        Tally {
            keyed,
            zero,
            foreign,
        }
    }

    #[test]
    fn a_fill_is_the_same_however_it_is_cut_and_carries_the_key() {
        let one = keyed(1);
        let whole = filled(&one, 0, 8 * SECTOR_BYTES);
        assert_eq!(filled(&one, 1536, 1024), whole[1536..2560]);
        assert_eq!(one.tally(&whole), Ok(tally(8, 0, 0)));
        assert_eq!(keyed(2).tally(&whole), Ok(tally(0, 0, 8)));
        assert_eq!(one.tally(&[0; 2 * SECTOR_BYTES]), Ok(tally(0, 2, 0)));
    }

    #[test]
    fn sectors_of_a_fill_differ_and_no_byte_is_the_same_in_all() {
        let whole = filled(&keyed(1), 0, 4096 * SECTOR_BYTES);
        let mut sectors: Vec<&[u8]> = whole.chunks(SECTOR_BYTES).collect();
        for at in 0..SECTOR_BYTES {
            let first = sectors[0][at];
            assert!(sectors.iter().any(|sector| sector[at] != first), "{at}");
        }
        sectors.sort_unstable();
        sectors.dedup();
        assert_eq!(sectors.len(), 4096);
    }

    #[test]
    fn a_stamp_at_another_place_hides_nothing_and_any_other_change_shows() {
        let one = keyed(1);
        let sector = filled(&one, 40 * SECTOR_BYTES as u64, SECTOR_BYTES);
        for line in 0..8 {
            let mut stamped = sector.clone();
            stamped[line * 64..line * 64 + 8].copy_from_slice(&12345_u64.to_le_bytes());
            stamped[48..64].copy_from_slice(&[7; 16]);
            assert_eq!(one.tally(&stamped), Ok(tally(1, 0, 0)));
        }
        for at in 0..SECTOR_BYTES {
            let mut changed = sector.clone();
            changed[at] ^= 1;
            let foreign = u64::from(!is_stamped(at / WORD_BYTES));
            assert_eq!(
                one.tally(&changed),
                Ok(tally(1 - foreign, 0, foreign)),
                "{at}"
            );
        }
    }

    #[test]
    fn a_tag_shows_the_key_and_what_is_learned_does() {
        let mut one = keyed(1);
        let mut sector = vec![9; SECTOR_BYTES];
        assert_eq!(one.tally(&sector), Ok(tally(0, 0, 1)));
        sector[SECTOR_BYTES - TAG_BYTES..].copy_from_slice(&one.tag());
        assert_eq!(one.tally(&sector), Ok(tally(1, 0, 0)));
        assert_eq!(keyed(2).tally(&sector), Ok(tally(0, 0, 1)));

        let mut buffers = filled(&keyed(3), 0, 64 * SECTOR_BYTES);
        one.learn(&buffers).unwrap();
        for sector in buffers.chunks_mut(SECTOR_BYTES) {
            sector[448..456].fill(1);
        }
        assert_eq!(one.tally(&buffers), Ok(tally(64, 0, 0)));
        buffers[9] ^= 1;
        assert_eq!(one.tally(&buffers), Ok(tally(63, 0, 1)));
    }

    #[test]
    fn what_is_no_sector_and_no_key_is_refused() {
        let one = keyed(1);
        assert_eq!(
            KeyedContent::new(&[0; 31]).unwrap_err(),
            KeyedContentError::Key { bytes: 31 }
        );
        let refused = Err(KeyedContentError::Sectors { bytes: 513 });
        assert_eq!(one.fill(513, &mut [0; 512]), refused);
        assert_eq!(one.fill(0, &mut [0; 513]), refused);
        assert_eq!(one.clone().learn(&[0; 513]), refused);
        assert_eq!(
            one.tally(&[0; 513]),
            Err(KeyedContentError::Sectors { bytes: 513 })
        );
    }

    #[test]
    fn every_number_is_found_again() {
        let one = keyed(1);
        for number in [0, 1, 2, 1 << 40, u64::MAX] {
            assert_eq!(one.number(one.sector(number)[NUMBER_WORD]), number);
        }
    }
}
