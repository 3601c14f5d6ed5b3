//! What written data looks like to a drive that compresses or deduplicates.
//!
//! | content | all-zero pages | what compression leaves of the others | fio |
//! |---|---|---|---|
//! | zero | all | nothing | `zero_buffers` |
//! | database | 1 in 10 | one half | `buffer_compress_percentage=50`, `dedupe_percentage=10` |
//! | random | none | everything | `refill_buffers` |
//!
//! Coughlin et al. 2010 name the three kinds (figure 3) but describe none. That database pages
//! shrink to one half is recalled from fast compression of tables. That one page in ten was never
//! filled is assumed. The page number decides which pages are empty, so a rewritten page stays what
//! it was.

use std::fmt;

/// What the data of a write looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Content {
    /// Nothing but zeroes.
    Zero,
    /// Records of a database.
    Database,
    /// Random bytes, which cannot be compressed.
    #[default]
    Random,
}

/// What remains of a page with some content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageData {
    /// It is all zeroes, like any other such page.
    pub is_zero: bool,
    /// Bytes that compression leaves.
    pub compressed_bytes: u32,
}

/// One in this many database pages is all zeroes.
const DATABASE_PAGES_PER_ZERO_PAGE: u64 = 10;

impl Content {
    /// Every content, in numerical order.
    pub const ALL: [Self; 3] = [Self::Zero, Self::Database, Self::Random];

    /// Their names.
    pub const NAMES: &'static [&'static str] = &["zero", "database", "random"];

    /// `zero`, `database` or `random`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The content with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|content| content.name() == name)
    }

    /// What remains of logical page `page`, of `page_bytes`, if it is written with this content.
    #[must_use]
    pub fn of_page(self, page: u32, page_bytes: u32) -> PageData {
        match self {
            Self::Zero => PageData {
                is_zero: true,
                compressed_bytes: 0,
            },
            Self::Database => {
                let is_zero = is_empty_in_database(page);
                PageData {
                    is_zero,
                    compressed_bytes: if is_zero { 0 } else { page_bytes / 2 },
                }
            }
            Self::Random => PageData {
                is_zero: false,
                compressed_bytes: page_bytes,
            },
        }
    }
}

/// One page in ten, scattered by multiplicative hashing (Knuth).
fn is_empty_in_database(page: u32) -> bool {
    let mixed = (u64::from(page) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    mixed * DATABASE_PAGES_PER_ZERO_PAGE < 1 << 32
}

impl fmt::Display for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Content;

    #[test]
    fn names_are_read_back() {
        for (number, content) in Content::ALL.into_iter().enumerate() {
            assert_eq!(content as usize, number);
            assert_eq!(Content::from_name(&content.to_string()), Some(content));
        }
        assert_eq!(Content::from_name("text"), None);
        assert_eq!(Content::default(), Content::Random);
    }

    #[test]
    fn a_page_has_the_size_that_its_content_says() {
        let sizes = |content: Content| content.of_page(7, 4096).compressed_bytes;
        assert_eq!(sizes(Content::Zero), 0);
        assert_eq!(sizes(Content::Random), 4096);
        let pages = 0..1_000_000_u32;
        let (mut zero, mut bytes) = (0_u32, 0_u64);
        for page in pages {
            let data = Content::Database.of_page(page, 4096);
            zero += u32::from(data.is_zero);
            bytes += u64::from(data.compressed_bytes);
        }
        // One in ten, as evenly as multiplicative hashing gives.
        assert!((99_900..=100_100).contains(&zero), "{zero}");
        assert_eq!(bytes, u64::from(1_000_000 - zero) * 2048);
    }
}
