//! The values that a rule allows, and the words for them.

use drivelab_request::SECTOR_BYTES;

use super::document::Value;
use super::schema::{MOST_ENTRIES, Rule, integer, is_one_line};

impl Rule {
    /// The allowed values of the key, in words.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Integer { least, most } => format!("an integer from {least} to {most}"),
            Self::Ratio { least, most } => format!("a number from {least} to {most}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Text => "text in quotes, one line, not empty".to_owned(),
            Self::Word(words) => words
                .iter()
                .map(|word| format!("{word:?}"))
                .collect::<Vec<_>>()
                .join(" or "),
            Self::PageSize => "a power of two from 512 to 1048576".to_owned(),
            Self::Integers { least, most } => {
                format!("an array of 1 to {MOST_ENTRIES} integers from {least} to {most}")
            }
            Self::OneOrSeveral {
                most_entries,
                least,
                most,
            } => format!(
                "an integer from {least} to {most}, or an array of 1 to {most_entries} of them"
            ),
            Self::Several {
                most_entries,
                least,
                most,
            } => format!("an array of at most {most_entries} integers from {least} to {most}"),
            Self::Sectors { least, most } => {
                format!("a multiple of {SECTOR_BYTES} from {least} to {most}")
            }
            Self::PowerOfTwo { least, most } => format!("a power of two from {least} to {most}"),
            Self::OneOf(numbers) => {
                let words: Vec<_> = numbers.iter().map(u64::to_string).collect();
                words.join(" or ")
            }
            Self::Texts => format!(
                "text in quotes, one line, not empty, or an array of 1 to {MOST_ENTRIES} such texts"
            ),
        }
    }

    pub(crate) fn admits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Integer { least, most }, Value::Integer(value)) => {
                u64::try_from(*value).is_ok_and(|value| (least..=most).contains(&value))
            }
            (Self::Ratio { least, most }, Value::Float(value)) => (least..=most).contains(value),
            (Self::Ratio { least, most }, Value::Integer(value)) => {
                (least..=most).contains(&(*value as f64))
            }
            (Self::Boolean, Value::Boolean(_)) => true,
            (Self::Text, Value::Text(value)) => is_one_line(value) && !value.trim().is_empty(),
            (Self::Word(words), Value::Text(value)) => words.contains(&value.as_str()),
            (Self::PageSize, Value::Integer(value)) => u64::try_from(*value)
                .is_ok_and(|value| value.is_power_of_two() && (512..=1 << 20).contains(&value)),
            (Self::Integers { least, most }, Value::Integers(values)) => {
                let fits = |&value: &i64| {
                    u64::try_from(value).is_ok_and(|value| (least..=most).contains(&value))
                };
                (1..=MOST_ENTRIES).contains(&values.len()) && values.iter().all(fits)
            }
            (Self::OneOrSeveral { least, most, .. }, Value::Integer(_)) => {
                integer(least, most).admits(value)
            }
            (
                Self::OneOrSeveral {
                    most_entries,
                    least,
                    most,
                },
                Value::Integers(values),
            ) => values.len() <= most_entries && Self::Integers { least, most }.admits(value),
            (
                Self::Several {
                    most_entries,
                    least,
                    most,
                },
                Value::Integers(values),
            ) => {
                let fits = |&value: &i64| {
                    u64::try_from(value).is_ok_and(|value| (least..=most).contains(&value))
                };
                values.len() <= most_entries && values.iter().all(fits)
            }
            (Self::Sectors { least, most }, Value::Integer(value)) => u64::try_from(*value)
                .is_ok_and(|value| {
                    value.is_multiple_of(SECTOR_BYTES.into()) && (least..=most).contains(&value)
                }),
            (Self::PowerOfTwo { least, most }, Value::Integer(value)) => u64::try_from(*value)
                .is_ok_and(|value| value.is_power_of_two() && (least..=most).contains(&value)),
            (Self::OneOf(numbers), Value::Integer(value)) => {
                u64::try_from(*value).is_ok_and(|value| numbers.contains(&value))
            }
            (Self::Texts, Value::Text(_)) => Self::Text.admits(value),
            (Self::Texts, Value::Texts(texts)) => {
                let fits = |text: &String| is_one_line(text) && !text.trim().is_empty();
                (1..=MOST_ENTRIES).contains(&texts.len()) && texts.iter().all(fits)
            }
            _ => false,
        }
    }
}
