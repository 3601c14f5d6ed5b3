//! How the keys of a preset exclude each other: the meaning of a row of [`super::exclusions`].
//!
//! A row says: *with* this setting, that key can have *only* these values, for a *reason*. Parsing,
//! the words of errors and docs/preset-keys.md come from the rows.

use super::assemble::Keys;
use super::choices::DriveKind;
use super::document::Value;
use super::error::PresetError;
use super::exclusions::EXCLUSIONS;
use super::key::Usual;
use super::schema;

/// The setting that excludes something.
#[derive(Clone, Copy, Debug)]
pub(super) enum With {
    /// A table of which any key is given.
    Table(&'static str),
    /// A key that is given.
    Given(&'static str),
    /// A key with one of these words.
    Word(&'static str, &'static [&'static str]),
    /// A switch that is on or off.
    Switch(&'static str, bool),
    /// A key with one of these numbers.
    Number(&'static str, &'static [u64]),
    /// A key with any number above 0.
    AboveZero(&'static str),
    /// A key that is not given.
    Without(&'static str),
}

/// The values that remain possible.
#[derive(Clone, Copy, Debug)]
pub(super) enum Only {
    /// None: the key must not be given.
    Nothing,
    /// The default in the key's row.
    Usual,
    /// Some of the key's words.
    Words(&'static [&'static str]),
    /// No smaller number.
    AtLeast(u64),
    /// The preset itself gives neither the key nor another value than its default or 0. What a base
    /// says of it has no effect, so that a preset may leave out what its base needs.
    Unused,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exclusion {
    pub with: With,
    pub key: &'static str,
    pub only: Only,
    /// Goes on from the setting: "mapping.scheme = ... `has no log blocks`".
    pub reason: &'static str,
}

/// A row as documentation and Python see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExclusionRow {
    /// The setting that excludes something, in Markdown.
    pub with: String,
    /// The key whose values it limits.
    pub key: &'static str,
    /// The values that remain, in words.
    pub only: String,
    /// The reason, whose subject is the drive with that setting.
    pub reason: &'static str,
}

impl With {
    /// The setting as the preset has it, for an error; `None` if the preset does not have it.
    fn met(self, keys: &Keys<'_>) -> Option<String> {
        let (key, value) = match self {
            Self::Table(table) => {
                let is_in = |key: &String| {
                    let rest = key.strip_prefix(table);
                    rest.is_some_and(|rest| rest.starts_with('.'))
                };
                let is_there = keys.entries.keys().any(is_in);
                return is_there.then(|| format!("a drive with [{table}]"));
            }
            Self::Given(key) => return keys.entry(key).map(|_| key.to_owned()),
            Self::Word(key, words) => {
                let word = keys.word_or_usual(key, |word| Some(word.to_owned())).ok()?;
                let is_there = words.contains(&word.as_str());
                (key, is_there.then(|| format!("{word:?}"))?)
            }
            Self::Switch(key, state) => {
                let is_there = keys.switch(key) == Ok(state);
                (key, is_there.then(|| state.to_string())?)
            }
            Self::Number(key, numbers) => {
                let number = number(keys, key)?;
                let is_there = numbers.iter().any(|&other| other as f64 == number);
                (key, is_there.then(|| number.to_string())?)
            }
            Self::AboveZero(key) => {
                let number = number(keys, key).filter(|&number| number > 0.0)?;
                (key, number.to_string())
            }
            Self::Without(key) => {
                return keys
                    .entry(key)
                    .is_none()
                    .then(|| format!("a drive without {key}"));
            }
        };
        let default = if keys.entry(key).is_none() {
            " (the default)"
        } else {
            ""
        };
        Some(format!("{key} = {value}{default}"))
    }

    /// Whether such drives can have the setting.
    fn is_of(self, kind: DriveKind) -> bool {
        match self {
            Self::Table(table) => schema::is_table(table, kind),
            Self::Given(key)
            | Self::Word(key, _)
            | Self::Switch(key, _)
            | Self::Number(key, _)
            | Self::AboveZero(key)
            | Self::Without(key) => schema::row(key, kind).is_some(),
        }
    }

    /// The setting in Markdown.
    fn told(self) -> String {
        let either = |all: Vec<String>| all.join(" or ");
        match self {
            Self::Table(table) => format!("`[{table}]`"),
            Self::Given(key) => format!("`{key}`"),
            Self::Word(key, words) => {
                let words = words.iter().map(|word| format!("`{word:?}`")).collect();
                format!("`{key}` = {}", either(words))
            }
            Self::Switch(key, state) => format!("`{key}` = `{state}`"),
            Self::Number(key, numbers) => {
                let numbers = numbers.iter().map(|number| format!("`{number}`")).collect();
                format!("`{key}` = {}", either(numbers))
            }
            Self::AboveZero(key) => format!("`{key}` above 0"),
            Self::Without(key) => format!("no `{key}`"),
        }
    }
}

/// A number, or the default in its row.
fn number(keys: &Keys<'_>, key: &str) -> Option<f64> {
    keys.ratio_or_usual(key).ok().or_else(|| {
        let number: Result<u64, _> = keys.integer_or_usual(key);
        number.ok().map(|number| number as f64)
    })
}

impl Exclusion {
    /// The values that remain, in words.
    fn allowed(&self, usual: Option<Usual>) -> String {
        match (self.only, usual) {
            (Only::Words(words), _) => {
                let words: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
                words.join(" or ")
            }
            (Only::AtLeast(least), _) => format!("at least {least}"),
            (Only::Usual, Some(Usual::Word(word))) => format!("{word:?}"),
            (Only::Usual, Some(Usual::Integer(number))) => number.to_string(),
            (Only::Usual, Some(Usual::Ratio(number))) => number.to_string(),
            (Only::Usual, Some(Usual::Off)) => "false".to_owned(),
            (Only::Usual | Only::Nothing | Only::Unused, _) => "none".to_owned(),
        }
    }

    /// Whether a value remains possible.
    fn admits(&self, value: &Value, usual: Option<Usual>) -> bool {
        match (self.only, usual, value) {
            (Only::Words(words), _, Value::Text(word)) => words.contains(&word.as_str()),
            (Only::AtLeast(least), _, Value::Integer(number)) => {
                u64::try_from(*number).is_ok_and(|number| number >= least)
            }
            (Only::Usual, Some(Usual::Word(usual)), Value::Text(word)) => usual == word,
            (Only::Usual, Some(Usual::Integer(usual)), Value::Integer(number)) => {
                u64::try_from(*number) == Ok(usual)
            }
            (Only::Usual, Some(Usual::Ratio(usual)), Value::Float(number)) => usual == *number,
            (Only::Usual, Some(Usual::Ratio(usual)), Value::Integer(number)) => {
                usual == *number as f64
            }
            (Only::Usual, Some(Usual::Off), Value::Boolean(state)) => !state,
            // What the result of such a drive says, so that it can be read again.
            (Only::Unused, Some(Usual::Integer(usual)), Value::Integer(number)) => {
                *number == 0 || u64::try_from(*number) == Ok(usual)
            }
            (Only::Unused, _, Value::Integer(number)) => *number == 0,
            (Only::Unused, Some(Usual::Integers(usual)), Value::Integers(numbers)) => {
                (usual.iter().map(|&number| i64::from(number))).eq(numbers.iter().copied())
            }
            _ => false,
        }
    }
}

/// Refuses the first value that another setting excludes.
pub(super) fn check(keys: &Keys<'_>) -> Result<(), PresetError> {
    for row in EXCLUSIONS {
        let Some(entry) = keys.entry(row.key) else {
            continue;
        };
        let usual = keys.usual(row.key);
        let is_ignored = matches!(row.only, Only::Unused) && keys.is_inherited(entry);
        if is_ignored || row.admits(&entry.value, usual) {
            continue;
        }
        if let Some(with) = row.with.met(keys) {
            let mut allowed = format!("{}, as {with} {}", row.allowed(usual), row.reason);
            if keys.is_inherited(entry) {
                allowed += "; the base has it: start from another base, or change that setting";
            }
            return Err(schema::wrong_value(row.key, entry, allowed));
        }
    }
    Ok(())
}

/// The value of a key that a table leaves possible, and the reason; `None` if it limits nothing.
pub(super) fn of_table(table: &str, key: &str) -> Option<(String, &'static str)> {
    let is_it =
        |row: &&Exclusion| matches!(row.with, With::Table(name) if name == table) && row.key == key;
    let row = EXCLUSIONS.iter().find(is_it)?;
    let usual = schema::row(key, DriveKind::Ssd).map(|row| row.usual);
    Some((row.allowed(usual), row.reason))
}

/// Every row about the keys of a kind of drive.
pub(super) fn rows(kind: DriveKind) -> Vec<ExclusionRow> {
    let of_kind = |row: &Exclusion| {
        let usual = schema::row(row.key, kind)?.usual;
        row.with.is_of(kind).then(|| ExclusionRow {
            with: row.with.told(),
            key: row.key,
            only: row.allowed(Some(usual)),
            reason: row.reason,
        })
    };
    EXCLUSIONS.iter().filter_map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::{EXCLUSIONS, Exclusion, Only, With};
    use crate::preset::choices::DriveKind;
    use crate::preset::document::Value;
    use crate::preset::key::{Key, Usual};
    use crate::preset::schema::row;
    use crate::preset::{SsdConfig, text as text_of};

    const MINE: &str = "base = \"bench-64gib\"\nname = \"mine\"\ncondition = \"worn\"\n\
                        wear.worn_erase_count = 9\n\
                        collection.policy = \"d_choices\"\ncollection.victim_choices = 5\n\
                        host.interface = \"nvme\"\nhost.link_bytes_per_second = 1_000_000_000\n\
                        host.read_command_ns = 1\nhost.write_command_ns = 1\n\
                        host.write_acknowledge_ns = 1\nhost.queue_pair_weights = [2, 1]\n";

    fn kind_of(key: &str) -> DriveKind {
        let kinds = DriveKind::WORDS
            .iter()
            .map(|word| DriveKind::from_word(word).unwrap());
        let mut kinds = kinds.filter(|&kind| row(key, kind).is_some());
        kinds.next().unwrap_or_else(|| panic!("no drive has {key}"))
    }

    fn its_row(key: &str) -> &'static Key {
        row(key, kind_of(key)).unwrap()
    }

    fn has_words(key: &str, words: &[&str]) {
        for word in words {
            let value = Value::Text((*word).to_owned());
            assert!(its_row(key).rule.admits(&value), "{key} = {word:?}");
        }
    }

    fn names_what_exists(exclusion: &Exclusion) {
        let kind = kind_of(exclusion.key);
        assert!(exclusion.with.is_of(kind), "{exclusion:?}");
        match exclusion.with {
            With::Table(table) => {
                let inside = format!("{table}.");
                assert!(!exclusion.key.starts_with(&inside), "{table}");
            }
            With::Word(key, words) => has_words(key, words),
            With::Number(key, numbers) => {
                for &number in numbers {
                    let value = Value::Integer(i64::try_from(number).unwrap());
                    assert!(its_row(key).rule.admits(&value), "{key} = {number}");
                }
            }
            With::Switch(key, _) => assert!(its_row(key).rule.admits(&Value::Boolean(true))),
            With::Given(_) | With::AboveZero(_) | With::Without(_) => {}
        }
    }

    /// A word, key or default that does not exist would make a row without effect.
    #[test]
    fn rows_name_what_exists() {
        for exclusion in EXCLUSIONS {
            names_what_exists(exclusion);
            let usual = its_row(exclusion.key).usual;
            match exclusion.only {
                Only::Nothing | Only::Unused => {}
                Only::Words(words) => has_words(exclusion.key, words),
                Only::AtLeast(least) => {
                    let value = Value::Integer(i64::try_from(least).unwrap());
                    assert!(its_row(exclusion.key).rule.admits(&value));
                }
                Only::Usual => assert!(
                    matches!(
                        usual,
                        Usual::Word(_) | Usual::Integer(_) | Usual::Ratio(_) | Usual::Off
                    ),
                    "{} has no default that could remain",
                    exclusion.key
                ),
            }
        }
    }

    /// A preset that gives a key without effect is refused. One whose base gives it is not: it may
    /// have another link, rule or condition.
    #[test]
    fn a_key_without_effect_is_refused_where_it_is_given() {
        let of = |base: &str, lines: &str| {
            let text = format!("base = \"{base}\"\nname = \"other\"\n{lines}\n");
            SsdConfig::from_toml(&text, |name| match name {
                "mine" => Some(MINE.to_owned()),
                _ => text_of(name).map(str::to_owned),
            })
        };
        let plain = of("bench-64gib", "").unwrap();
        for (line, reason) in [
            (
                "host.queue_pair_weights = [2, 1]",
                "allowed: none, as host.interface = \"free\" has one queue; \"nvme\" has queue pairs",
            ),
            ("host.write_command_ns = 5", "commands take no time"),
            ("collection.victim_choices = 5", "draws no victims"),
            (
                "collection.background_idle_ns = 5_000",
                "as a drive without collection.background_blocks_per_plane does not collect in idle \
                 time",
            ),
            (
                "timing.suspend_ns = 5",
                "(the default) interrupts no operation",
            ),
            ("wear.worn_erase_count = 9", "begins without erases"),
        ] {
            let refusal = of("bench-64gib", line).unwrap_err().to_string();
            assert!(refusal.contains(reason), "{refusal}");
        }
        // What a result says of them can be read again.
        let as_shown = "host.write_command_ns = 0\nhost.queue_pair_weights = [1]";
        assert_eq!(of("bench-64gib", as_shown).unwrap().hash(), plain.hash());
        let mine = of("mine", "").unwrap();
        assert_eq!(mine.host.queue_pair_weights, [2, 1]);
        let free = of(
            "mine",
            "host.interface = \"free\"\ncondition = \"preconditioned\"\ncollection.policy = \"greedy\"",
        );
        assert_eq!(free.unwrap().hash(), plain.hash());
    }

    /// Defaults are never excluded: a preset that does not give a key is not refused because of it.
    #[test]
    fn a_default_remains_possible() {
        for exclusion in EXCLUSIONS {
            let value = match its_row(exclusion.key).usual {
                Usual::Word(word) => Value::Text(word.to_owned()),
                Usual::Integer(number) => Value::Integer(i64::try_from(number).unwrap()),
                _ => continue,
            };
            let usual = Some(its_row(exclusion.key).usual);
            let is_open = !matches!(exclusion.only, Only::Nothing | Only::Unused);
            assert!(!is_open || exclusion.admits(&value, usual), "{exclusion:?}");
        }
    }
}
