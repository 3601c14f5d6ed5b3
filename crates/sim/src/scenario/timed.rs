//! Requests with their times, as tables of a scenario or lines of a CSV file.
//!
//! ```text
//! at_ns,action,offset_bytes,size_bytes,forced
//! 0,write,0,4096,
//! 150000,read,0,4096,
//! 900000,flush,,,
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};

use super::error::{ScenarioError, Spot};
use super::table::{REQUEST, Table, check};
use crate::preset::document::Value;

/// Characters of a cell that a message repeats. No valid cell is this long.
const MOST_SHOWN: usize = 40;

/// The actions of a request.
pub(super) const ACTIONS: &[&str] = &[
    "read",
    "write",
    "trim",
    "flush",
    "write_zeroes",
    "append",
    "reset",
    "finish",
    "open",
    "close",
];

/// The request that a table describes.
pub(super) fn command_of(table: &Table<'_>) -> Result<Command, ScenarioError> {
    let at = table
        .integer("at_ns")
        .ok_or_else(|| table.missing("at_ns"))?;
    let action = table
        .text("action")
        .ok_or_else(|| table.missing("action"))?;
    let mut of_zone = ZoneAction::OF_ZONE.into_iter();
    if let Some(zone) = of_zone.find(|zone| zone.name() == action) {
        return command_of_zone(table, zone, Nanos(at));
    }
    let is_append = action == ZoneAction::Append.name();
    let kind = CommandKind::ALL
        .into_iter()
        .find(|kind| kind.name() == action)
        .or(is_append.then_some(CommandKind::Write))
        .ok_or_else(|| table.missing("action"))?;
    let is_forced = table.is_set("forced");
    if is_forced && kind != CommandKind::Write {
        let reason = format!("a {kind} cannot be forced: forced = true is for writes");
        return Err(table.unfitting("forced", reason));
    }
    if kind == CommandKind::Flush {
        for key in ["offset_bytes", "size_bytes"] {
            if table.has(key) {
                let reason = format!("a flush concerns the whole drive: remove {key}");
                return Err(table.unfitting(key, reason));
            }
        }
        return Ok(Command::flush(Nanos(at)));
    }
    let required = |key| table.integer(key).ok_or_else(|| table.missing(key));
    Ok(Command {
        arrival: Nanos(at),
        offset_bytes: required("offset_bytes")?,
        // Its rule keeps it within MAX_REQUEST_BYTES.
        size_bytes: required("size_bytes")? as u32,
        kind,
        is_forced,
        content: Content::Random,
        zone: match is_append {
            true => ZoneAction::Append,
            false => ZoneAction::None,
        },
    })
}

/// A command for a whole zone.
fn command_of_zone(
    table: &Table<'_>,
    zone: ZoneAction,
    at: Nanos,
) -> Result<Command, ScenarioError> {
    let name = zone.name();
    for key in ["size_bytes", "forced"] {
        if table.has(key) {
            let reason = format!("{key} has no effect on a zone's {name}; remove it");
            return Err(table.unfitting(key, reason));
        }
    }
    let offset = table
        .integer("offset_bytes")
        .ok_or_else(|| table.missing("offset_bytes"))?;
    Ok(Command::of_zone(zone, offset, at))
}

/// The requests of a CSV file. `file` is its name in messages.
pub(super) fn commands_of_csv(file: &str, text: &str) -> Result<Vec<Command>, ScenarioError> {
    let spot = |line: usize| Spot {
        file: Some(file.to_owned()),
        line,
    };
    let mut lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let filled = |(_, line): &(usize, &str)| !line.trim().is_empty();
    let Some((number, header)) = lines.find(filled) else {
        return Err(ScenarioError::Unfitting {
            spot: spot(1),
            reason: format!(
                "the file is empty; its first line names columns: {}",
                names()
            ),
        });
    };
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    check_columns(&columns, &spot(number))?;
    let mut commands: Vec<Command> = Vec::new();
    for (number, line) in lines.filter(filled) {
        let table = row_of(&columns, line, spot(number))?;
        let command = command_of(&table)?;
        if commands
            .last()
            .is_some_and(|last| last.arrival > command.arrival)
        {
            return Err(out_of_order(&table));
        }
        commands.push(command);
    }
    Ok(commands)
}

/// The error for a request that arrives before the one above it.
pub(super) fn out_of_order(table: &Table<'_>) -> ScenarioError {
    let reason = "this request arrives before the one above it; sort them by at_ns".to_owned();
    table.unfitting("at_ns", reason)
}

fn names() -> String {
    REQUEST
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn check_columns(columns: &[&str], spot: &Spot) -> Result<(), ScenarioError> {
    let unfitting = |reason: String| ScenarioError::Unfitting {
        spot: spot.clone(),
        reason,
    };
    let is_known = |column: &&str| REQUEST.iter().any(|(name, _)| name == column);
    // The file is something else altogether; an error about its first line would not help.
    if !columns.iter().any(is_known) {
        return Err(unfitting(format!(
            "this is no list of requests: its first line names none of the columns {}",
            names()
        )));
    }
    for (place, column) in columns.iter().enumerate() {
        if !is_known(column) {
            let (column, valid) = (shortened(column), names());
            return Err(unfitting(format!(
                "unknown column {column:?}; valid: {valid}"
            )));
        }
        if columns[..place].contains(column) {
            return Err(unfitting(format!(
                "column {column} is named twice; name it once"
            )));
        }
    }
    match ["at_ns", "action"]
        .into_iter()
        .find(|name| !columns.contains(name))
    {
        Some(missing) => Err(unfitting(format!("column {missing} is missing; name it"))),
        None => Ok(()),
    }
}

/// `cell`, cut off if it is longer than any valid one.
fn shortened(cell: &str) -> Cow<'_, str> {
    match cell.char_indices().nth(MOST_SHOWN) {
        None => Cow::Borrowed(cell),
        Some((end, _)) => Cow::Owned(format!("{}...", &cell[..end])),
    }
}

fn row_of<'a>(columns: &[&'a str], line: &str, spot: Spot) -> Result<Table<'a>, ScenarioError> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    if cells.len() != columns.len() {
        let (found, width) = (cells.len(), columns.len());
        return Err(ScenarioError::Unfitting {
            spot,
            reason: format!("{found} cells where {width} columns are named; write a cell for each"),
        });
    }
    let mut values = BTreeMap::new();
    for (&column, cell) in columns.iter().zip(cells) {
        if cell.is_empty() {
            continue;
        }
        let cell = shortened(cell);
        let value = match (column, cell.as_ref()) {
            ("action", word) => Value::Text(word.to_owned()),
            ("forced", "true" | "1") => Value::Boolean(true),
            ("forced", "false" | "0") => Value::Boolean(false),
            (_, cell) => cell.parse().map_or_else(
                |_| Value::Other(cell.escape_debug().to_string()),
                Value::Integer,
            ),
        };
        check(REQUEST, column, &value, &spot, &[])?;
        values.insert(column, (value, spot.line));
    }
    Ok(Table {
        keys: REQUEST,
        values,
        spot,
    })
}
