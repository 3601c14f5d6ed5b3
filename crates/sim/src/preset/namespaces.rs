//! The keys of `[namespaces]`: parts of one drive that its hosts address by themselves.

use serde::Serialize;

use super::assemble::Keys;
use super::config::Geometry;
use super::document::Value;
use super::error::PresetError;
use super::key::{Key, key};
use super::schema::{self, Rule};

const NAMES: &str = "namespaces.names";
pub(super) const SIZES: &str = "namespaces.sizes_bytes";
pub(super) const SHARES: &str = "namespaces.shares";

pub(super) const KEYS: &[Key] = &[
    key(NAMES, Rule::Texts),
    key(
        SIZES,
        Rule::Integers {
            least: 512,
            most: 1 << 50,
        },
    ),
    key(
        SHARES,
        Rule::Integers {
            least: 1,
            most: 1_000_000,
        },
    ),
];

/// Parts of a drive, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Namespaces {
    /// What streams call them.
    pub names: Vec<String>,
    /// How much each holds: whole pages.
    pub sizes_bytes: Vec<u64>,
}

impl Namespaces {
    /// The name, first byte and length of each.
    pub fn each(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        let mut start = 0;
        let sizes = self.names.iter().zip(&self.sizes_bytes);
        sizes.map(move |(name, &bytes)| {
            start += bytes;
            (name.as_str(), start - bytes, bytes)
        })
    }
}

/// The section, if any of its keys is given; then the names must be, and how large each is.
pub(super) fn namespaces(
    keys: &Keys<'_>,
    geometry: &Geometry,
) -> Result<Option<Namespaces>, PresetError> {
    let capacity_bytes = geometry.user_capacity_bytes;
    let page_bytes = u64::from(geometry.page_size_bytes);
    if KEYS.iter().all(|row| keys.entry(row.name).is_none()) {
        return Ok(None);
    }
    let names = match &keys.need(NAMES)?.value {
        Value::Texts(names) => names.clone(),
        _ => vec![keys.text(NAMES)?],
    };
    let wrong =
        |key: &str, allowed: String| Err(schema::wrong_value(key, keys.need(key)?, allowed));
    if let Some(twice) = twice(&names) {
        return wrong(NAMES, format!("each name once: {twice:?} is there twice"));
    }
    let (key, sizes_bytes) = match (keys.entry(SIZES), keys.entry(SHARES)) {
        (Some(_), _) => (SIZES, sizes(keys)?),
        (None, Some(_)) => (SHARES, shared(keys, (capacity_bytes, page_bytes))?),
        (None, None) => {
            let allowed = format!("the bytes of each namespace, or {SHARES}");
            return Err(keys.missing(SIZES, allowed));
        }
    };
    let count = names.len();
    if sizes_bytes.len() != count {
        let allowed = format!("an entry for each of the {count} names ({NAMES})");
        return wrong(key, allowed);
    }
    let is_whole = |bytes: &u64| *bytes > 0 && bytes.is_multiple_of(page_bytes);
    if !sizes_bytes.iter().all(is_whole) {
        let allowed = format!("whole pages of {page_bytes} bytes for each, at least one");
        return wrong(key, allowed);
    }
    let all = sizes_bytes
        .iter()
        .try_fold(0_u64, |all, &bytes| all.checked_add(bytes));
    if all.is_none_or(|all| all > capacity_bytes) {
        let allowed = format!("at most {capacity_bytes} bytes together, what the drive holds");
        return wrong(key, allowed);
    }
    Ok(Some(Namespaces { names, sizes_bytes }))
}

fn twice(names: &[String]) -> Option<&String> {
    let mut places = names.iter().enumerate();
    places.find_map(|(place, name)| names[..place].contains(name).then_some(name))
}

fn sizes(keys: &Keys<'_>) -> Result<Vec<u64>, PresetError> {
    Ok(match &keys.need(SIZES)?.value {
        // None is below 512, by the rule.
        Value::Integers(sizes) => sizes.iter().map(|&bytes| bytes as u64).collect(),
        _ => Vec::new(),
    })
}

/// All of the drive in these proportions, in whole pages: what is left of one is nobody's.
fn shared(keys: &Keys<'_>, (capacity, page): (u64, u64)) -> Result<Vec<u64>, PresetError> {
    let shares = keys.integers(SHARES)?;
    let all: u64 = shares.iter().map(|&share| u64::from(share)).sum();
    let pages = u128::from(capacity / page);
    let of = |&share: &u32| (pages * u128::from(share) / u128::from(all)) as u64 * page;
    Ok(shares.iter().map(of).collect())
}
