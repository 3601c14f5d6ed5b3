//! TOML text as a flat set of dotted keys, each with its value and line.

use std::collections::BTreeMap;
use std::fmt;

use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};

use super::choices::DriveKind;
use super::error::{Place, PresetError};
use super::schema::{is_one_line, wrong_value};

/// A scalar of a preset.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Text(String),
    /// An array of integers.
    Integers(Vec<i64>),
    /// An array of texts.
    Texts(Vec<String>),
    /// A table header without keys.
    EmptyTable,
    /// Anything that a preset never holds: another array, a date, a number beyond 64 bits.
    Other(String),
}

impl Value {
    /// A value of a document that is not a table.
    pub(crate) fn of(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::Integer(number) => integer(number)
                .map_or_else(|| Self::Other(number.as_str().to_owned()), Self::Integer),
            DeValue::Array(items) => integers(items)
                .map(Self::Integers)
                .or_else(|| texts(items).map(Self::Texts))
                .unwrap_or_else(|| Self::Other("(array)".to_owned())),
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .map_or_else(|_| Self::Other(number.as_str().to_owned()), Self::Float),
            DeValue::Boolean(value) => Self::Boolean(*value),
            DeValue::String(value) => Self::Text(value.to_string()),
            other => Self::Other(format!("({})", other.type_str())),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Float(value) => write!(formatter, "{value:?}"),
            Self::Boolean(value) => write!(formatter, "{value}"),
            Self::Text(value) => write!(formatter, "{value:?}"),
            Self::Integers(values) => write!(formatter, "{values:?}"),
            Self::Texts(values) => write!(formatter, "{values:?}"),
            Self::EmptyTable => formatter.write_str("(an empty table)"),
            Self::Other(what) => formatter.write_str(what),
        }
    }
}

/// One `key = value` line.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// Dotted key to entry. Ordered, so messages and output never depend on hashing.
pub(super) type Entries = BTreeMap<String, Entry>;

/// The two ways to give the capacity that the user sees.
pub(super) const CAPACITY_KEYS: [&str; 2] = [
    "geometry.user_capacity_bytes",
    "geometry.over_provisioning_ratio",
];

/// The three ways to give the rate of the host's link.
pub(super) const LINK_RATE_KEYS: [&[&str]; 3] = [
    &["host.link_bytes_per_second"],
    &["host.link_gigabits_per_second"],
    &["host.pcie_generation", "host.pcie_lanes"],
];

/// Beginnings of the keys that a preset does not inherit from its base.
const OF_ONE_DRIVE: [&str; 3] = ["name", "published", "rated_endurance_bytes"];

/// Whether a key is that word, or lies in the table of that name.
fn is_of(key: &str, word: &str) -> bool {
    let rest = key.strip_prefix(word);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Reads a text into dotted keys.
///
/// `label` names the preset in messages until its own name has been read.
pub(super) fn read(label: &str, text: &str) -> Result<Entries, PresetError> {
    let syntax = |preset: &str, offset: usize, message: &str| PresetError::Syntax {
        place: place_at(preset, text, offset),
        message: message.lines().collect::<Vec<_>>().join("; "),
    };
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        syntax(label, offset, error.message())
    })?;
    let table = document.get_ref();
    let preset = match table.get("name").map(Spanned::get_ref) {
        Some(DeValue::String(name)) if is_one_line(name) => name.to_string(),
        _ => label.to_owned(),
    };
    let mut entries = Entries::new();
    flatten("", table, &preset, text, &mut entries);
    Ok(entries)
}

fn flatten(prefix: &str, table: &DeTable<'_>, preset: &str, text: &str, entries: &mut Entries) {
    for (key, value) in table {
        let path = if prefix.is_empty() {
            key.get_ref().to_string()
        } else {
            format!("{prefix}.{}", key.get_ref())
        };
        let place = place_at(preset, text, key.span().start);
        let value = match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => {
                flatten(&path, inner, preset, text, entries);
                continue;
            }
            DeValue::Table(_) => Value::EmptyTable,
            scalar => Value::of(scalar),
        };
        entries.insert(path, Entry { value, place });
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn integers(items: &DeArray<'_>) -> Option<Vec<i64>> {
    let of_item = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::Integer(number) => integer(number),
        _ => None,
    };
    items.iter().map(of_item).collect()
}

fn texts(items: &DeArray<'_>) -> Option<Vec<String>> {
    let of_item = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    items.iter().map(of_item).collect()
}

fn place_at(preset: &str, text: &str, offset: usize) -> Place {
    Place {
        preset: preset.to_owned(),
        line: line_at(text, offset),
    }
}

/// The line of a text, from 1, that contains the byte at `offset`.
pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

/// Refuses a preset whose kind differs from that of its base, and names the line with the kind.
/// Otherwise the inherited keys would be reported as unknown, because they belong to the other
/// kind.
fn check_kinds(layers: &[Entries], bases: &[(String, String)]) -> Result<(), PresetError> {
    let mut of_base: Option<DriveKind> = None;
    for (position, layer) in layers.iter().enumerate().rev() {
        let Some(entry) = layer.get("kind") else {
            continue;
        };
        let kind = match &entry.value {
            Value::Text(word) => DriveKind::from_word(word),
            _ => None,
        };
        if let (Some(wanted), Some((base, _))) = (of_base, bases.get(position))
            && kind != of_base
        {
            let allowed = format!("{:?}, the kind of its base {base:?}", wanted.word());
            return Err(wrong_value("kind", entry, allowed));
        }
        of_base = kind.or(of_base);
    }
    Ok(())
}

/// Reads a text and the presets that it starts from. Its own keys win.
///
/// Published figures and the rated endurance belong to the drive that they were published for, so
/// they are not inherited. Neither are `name` and `base`.
pub(super) fn read_with_base(
    text: &str,
    resolve_base: &dyn Fn(&str) -> Option<String>,
) -> Result<Entries, PresetError> {
    let mut layers = vec![read("(unnamed)", text)?];
    let mut bases: Vec<(String, String)> = Vec::new();
    while let Some(entry) = layers.last().and_then(|layer| layer.get("base")) {
        let Value::Text(base) = &entry.value else {
            return Err(PresetError::WrongValue {
                key: "base".to_owned(),
                value: entry.value.to_string(),
                place: entry.place.clone(),
                allowed: "the name of a preset, in quotes".to_owned(),
            });
        };
        let base_text = resolve_base(base).ok_or_else(|| PresetError::UnknownBase {
            base: base.clone(),
            place: entry.place.clone(),
            known: super::names().join(", "),
        })?;
        // Texts are compared, because a file may extend the package's preset of the same name.
        let met_before = bases.iter().position(|(_, text)| *text == base_text);
        bases.push((base.clone(), base_text.clone()));
        if let Some(first) = met_before {
            let chain = bases.into_iter().skip(first);
            return Err(PresetError::BaseCycle {
                chain: chain.map(|(name, _)| name).collect(),
            });
        }
        layers.push(read(base, &base_text)?);
    }
    check_kinds(&layers, &bases)?;
    let mut merged = Entries::new();
    for (position, layer) in layers.into_iter().enumerate().rev() {
        let own = position == 0;
        // If a preset gives the capacity in one way, its base's value in the other way is dropped.
        if CAPACITY_KEYS.iter().any(|&key| layer.contains_key(key)) {
            merged.retain(|key, _| !CAPACITY_KEYS.contains(&key.as_str()));
        }
        // The same for the rate of the link.
        let states = |way: &&[&str]| way.iter().any(|&key| layer.contains_key(key));
        if LINK_RATE_KEYS.iter().any(states) {
            let replaced = LINK_RATE_KEYS.iter().filter(|way| !states(way));
            let replaced: Vec<&str> = replaced.copied().flatten().copied().collect();
            merged.retain(|key, _| !replaced.contains(&key.as_str()));
        }
        merged.extend(layer.into_iter().filter(|(key, _)| {
            key != "base" && (own || !OF_ONE_DRIVE.iter().any(|word| is_of(key, word)))
        }));
    }
    Ok(merged)
}
