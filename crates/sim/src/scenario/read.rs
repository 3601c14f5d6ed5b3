//! From TOML to a [`Scenario`].

use drivelab_request::{Content, Nanos, PlacementId};
use drivelab_workload::{Characteristics, Requests, Source, Stream, WriteMode};
use toml::de::{DeTable, DeValue};

use super::Scenario;
use super::error::{ScenarioError, Spot};
use super::mixed::{self, mixture_of};
use super::table::{OCCUPANCY, RANGES_PER_TRIM, REQUEST, SCENARIO, STREAM, Table, array, single};
use super::timed::{command_of, commands_of_csv, out_of_order};
use super::windowed::{TABLES, windows_of};
use super::zoned::{self, zoned_of};
use crate::host::MOST_STREAMS;
use crate::preset::document::line_at;
use crate::preset::{FillOrder, Occupancy};

/// Keys that describe generated requests.
const GENERATED: [&str; 16] = [
    "write_ratio",
    "read_size_bytes",
    "write_size_bytes",
    "read_random",
    "write_random",
    "read_stride_bytes",
    "write_stride_bytes",
    "each_place_once",
    "writes_as",
    "writes_per_flush",
    RANGES_PER_TRIM,
    mixed::SIZES,
    mixed::HOT_RANGE,
    mixed::HOT_ACCESSES,
    zoned::ZONES,
    zoned::ZONE_BYTES,
];
/// The possible sources of a stream's requests.
const SOURCES: [&str; 5] = [
    "queue_depth",
    "rate_iops",
    "requests_csv",
    "request",
    "window",
];
/// Tables that may stand in a stream.
const NESTED: [&str; 6] = [
    "[[request]]",
    "[[kind]]",
    "[[gap]]",
    "[[region]]",
    "[[train]]",
    "[[window]]",
];

pub(super) fn files(text: &str) -> Vec<String> {
    let Ok(document) = DeTable::parse(text) else {
        return Vec::new();
    };
    let streams = array(document.get_ref(), "stream", text).unwrap_or_default();
    let mut files: Vec<String> = Vec::new();
    for (stream, _) in streams {
        if let Some(DeValue::String(name)) = stream.get("requests_csv").map(|v| v.get_ref())
            && !files.iter().any(|file| *file == **name)
        {
            files.push(name.to_string());
        }
    }
    files
}

pub(super) fn read(
    text: &str,
    file: &dyn Fn(&str) -> Option<String>,
) -> Result<Scenario, ScenarioError> {
    let document = DeTable::parse(text).map_err(|error| ScenarioError::Syntax {
        spot: Spot {
            file: None,
            line: line_at(text, error.span().map_or(0, |span| span.start)),
        },
        message: error.message().lines().collect::<Vec<_>>().join("; "),
    })?;
    let table = document.get_ref();
    let whole = Table::read(table, text, 1, SCENARIO, &["[occupancy]", "[[stream]]"])?;
    let occupancy = occupancy_of(table, text)?;
    let tables = array(table, "stream", text)?;
    if tables.is_empty() || tables.len() > MOST_STREAMS {
        let count = tables.len();
        return Err(ScenarioError::Incomplete(format!(
            "the scenario has {count} streams; allowed: 1 to {MOST_STREAMS} tables [[stream]]"
        )));
    }
    let mut streams: Vec<Stream> = Vec::new();
    for (stream, line) in tables {
        let read = stream_of(stream, line, text, file)?;
        if streams.iter().any(|other| other.name == read.name) {
            return Err(ScenarioError::Unfitting {
                spot: Spot { file: None, line },
                reason: format!("two streams are called {:?}; name each its own", read.name),
            });
        }
        streams.push(read);
    }
    let requests = whole.integer("requests");
    let duration = whole.integer("duration_ns").map(Nanos);
    Ok(Scenario {
        summary: whole.text("summary").map(str::to_owned),
        requests,
        duration,
        warmup_requests: whole.integer("warmup_requests").unwrap_or(0),
        warmup: Nanos(whole.integer("warmup_ns").unwrap_or(0)),
        interval: whole.integer("interval_ns").map(Nanos),
        occupancy,
        streams,
    })
}

fn occupancy_of(table: &DeTable<'_>, text: &str) -> Result<Option<Occupancy>, ScenarioError> {
    let Some((table, line)) = single(table, "occupancy", text)? else {
        return Ok(None);
    };
    let table = Table::read(table, text, line, OCCUPANCY, &[])?;
    let usual = Occupancy::USUAL;
    Ok(Some(Occupancy {
        filled: table.number("filled").unwrap_or(usual.filled),
        order: (table.text("order").and_then(FillOrder::from_word)).unwrap_or(usual.order),
        steady: table.is_set("steady"),
    }))
}

fn stream_of(
    stream: &DeTable<'_>,
    line: usize,
    text: &str,
    file: &dyn Fn(&str) -> Option<String>,
) -> Result<Stream, ScenarioError> {
    let table = Table::read(stream, text, line, STREAM, &NESTED)?;
    let name = table.text("name").ok_or_else(|| table.missing("name"))?;
    let source = source_of(&table, stream, text, file)?;
    let range = range_of(&table)?;
    Ok(Stream {
        name: name.to_owned(),
        source,
        range,
        namespace: table.text("namespace").map(str::to_owned),
        writes: match table.text("writes_as") {
            Some("forced_write") => WriteMode::Forced,
            Some("trim") => WriteMode::Trim,
            Some("write_zeroes") => WriteMode::Zeroes,
            _ => WriteMode::Plain,
        },
        writes_per_flush: table.integer("writes_per_flush").unwrap_or(0) as u32,
        ranges_per_trim: ranges_of(&table)?,
        // Their rules keep them within these types.
        priority: table.integer("priority").unwrap_or(0) as u8,
        queue_pair: table.integer("queue_pair").unwrap_or(0) as u16,
        content: (table.text("content").and_then(Content::from_name)).unwrap_or_default(),
        placement: PlacementId {
            handle: table.integer("placement").map(|handle| handle as u8),
            group: table.integer("reclaim_group").map(|group| group as u8),
        },
        share: table.number("share"),
        burst: table.integer("burst_requests").unwrap_or(1) as u32,
    })
}

/// Ranges of each trim.
fn ranges_of(table: &Table<'_>) -> Result<u32, ScenarioError> {
    let Some(ranges) = table.integer(RANGES_PER_TRIM) else {
        return Ok(1);
    };
    if table.text("writes_as") != Some("trim") || table.number("write_ratio") != Some(1.0) {
        let reason = format!(
            "{RANGES_PER_TRIM} is for streams of trims alone: writes_as = \"trim\" and \
             write_ratio = 1.0"
        );
        return Err(table.unfitting(RANGES_PER_TRIM, reason));
    }
    let sizes = table.integers(mixed::SIZES);
    let largest = (sizes.and_then(|sizes| sizes.into_iter().max()))
        .or_else(|| table.integer("write_size_bytes"))
        .unwrap_or_else(|| Characteristics::default().write_size.into());
    let most = u64::from(u32::MAX) / largest;
    if ranges > most {
        let reason = format!(
            "{RANGES_PER_TRIM} is {ranges}; allowed with ranges of {largest} bytes: at most {most}, \
             4 GiB in all"
        );
        return Err(table.unfitting(RANGES_PER_TRIM, reason));
    }
    // At most MOST_RANGES, by its rule.
    Ok(ranges as u32)
}

fn range_of(table: &Table<'_>) -> Result<Option<(u64, u64)>, ScenarioError> {
    let offset = table.integer("range_offset_bytes");
    match table.integer("range_bytes") {
        Some(bytes) => Ok(Some((offset.unwrap_or(0), bytes))),
        None if offset.is_some() => Err(table.missing("range_bytes")),
        None => Ok(None),
    }
}

fn source_of(
    table: &Table<'_>,
    stream: &DeTable<'_>,
    text: &str,
    file: &dyn Fn(&str) -> Option<String>,
) -> Result<Source, ScenarioError> {
    let named = |key: &&str| stream.contains_key(*key);
    let sources: Vec<&str> = SOURCES.into_iter().filter(|key| named(key)).collect();
    let &[source] = sources.as_slice() else {
        let found = match sources.as_slice() {
            [] => "nothing says".to_owned(),
            several => format!("{} say", several.join(" and ")),
        };
        let reason = format!(
            "{found} where the stream's requests come from; give one of queue_depth (a \
             closed loop), rate_iops (an open loop), requests_csv, [[stream.request]] or [[stream.window]] \
             tables"
        );
        return Err(table.unfitting("name", reason));
    };
    let refuse = |keys: &[&'static str], why: &str| {
        let found = keys.iter().find(|key| table.has(key));
        found.map_or(Ok(()), |key| {
            Err(table.unfitting(key, format!("{key} {why}; remove it")))
        })
    };
    if source != "rate_iops" {
        refuse(&["arrivals"], "is for streams with rate_iops")?;
    }
    if source != "queue_depth" {
        refuse(&["share"], "is for streams with queue_depth")?;
    }
    if !table.has("share") {
        refuse(&["burst_requests"], "is for streams with a share")?;
    }
    if source != "window"
        && let Some(found) = TABLES.iter().find(|key| named(key))
    {
        let reason = format!("[[stream.{found}]] is for streams with [[stream.window]]; remove it");
        return Err(table.unfitting("name", reason));
    }
    match source {
        "window" => {
            refuse(
                &GENERATED,
                "has no effect on requests that are drawn by windows",
            )?;
            Ok(Source::Windows(windows_of(
                stream,
                (text, table.spot.line),
            )?))
        }
        "queue_depth" => Ok(Source::Closed(requests_of(table)?)),
        "rate_iops" => Ok(Source::Open {
            requests: requests_of(table)?,
            rate_iops: table
                .number("rate_iops")
                .ok_or_else(|| table.missing("rate_iops"))?,
            is_poisson: table.text("arrivals").unwrap_or("poisson") == "poisson",
        }),
        _ => {
            refuse(&GENERATED, "has no effect on requests that are listed")?;
            timed(table, stream, text, file).map(|commands| Source::Timed(commands.into()))
        }
    }
}

/// Requests by their characteristics. Random requests visit each place once if the stream says so.
fn requests_of(table: &Table<'_>) -> Result<Requests, ScenarioError> {
    let characteristics = characteristics_of(table);
    if let Some(zoned) = zoned_of(table, &characteristics)? {
        return Ok(zoned.into());
    }
    if let Some(mixture) = mixture_of(table, &characteristics)? {
        return Ok(mixture.into());
    }
    if !table.is_set("each_place_once") {
        return Ok(characteristics.into());
    }
    let in_part = |random: f64| random > 0.0 && random < 1.0;
    for (key, random) in [
        ("read_random", characteristics.read_random),
        ("write_random", characteristics.write_random),
    ] {
        if in_part(random) {
            let reason = format!(
                "{key} is {random}; allowed where each_place_once is true: 0 (in order) or 1 (random)"
            );
            return Err(table.unfitting(key, reason));
        }
    }
    Ok(Requests::EachOnce(characteristics))
}

fn characteristics_of(table: &Table<'_>) -> Characteristics {
    let usual = Characteristics::default();
    // Their rules keep sizes and queue depths within 32 bits.
    let narrow = |key, usual: u32| table.integer(key).map_or(usual, |value| value as u32);
    Characteristics {
        write_ratio: table.number("write_ratio").unwrap_or(usual.write_ratio),
        queue_depth: narrow("queue_depth", usual.queue_depth),
        read_size: narrow("read_size_bytes", usual.read_size),
        write_size: narrow("write_size_bytes", usual.write_size),
        read_random: table.number("read_random").unwrap_or(usual.read_random),
        write_random: table.number("write_random").unwrap_or(usual.write_random),
        read_stride: table.integer("read_stride_bytes").unwrap_or(0),
        write_stride: table.integer("write_stride_bytes").unwrap_or(0),
    }
}

fn timed(
    table: &Table<'_>,
    stream: &DeTable<'_>,
    text: &str,
    file: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<drivelab_request::Command>, ScenarioError> {
    if let Some(name) = table.text("requests_csv") {
        let unread = || {
            let reason = format!("there is no file {name:?} beside the scenario");
            table.unfitting("requests_csv", reason)
        };
        let commands = commands_of_csv(name, &file(name).ok_or_else(unread)?)?;
        if commands.is_empty() {
            let reason = format!("{name} holds no requests; write a line for each");
            return Err(table.unfitting("requests_csv", reason));
        }
        return Ok(commands);
    }
    let mut commands = Vec::new();
    let mut last = Nanos::ZERO;
    for (request, line) in array(stream, "request", text)? {
        let request = Table::read(request, text, line, REQUEST, &[])?;
        let command = command_of(&request)?;
        if command.arrival < last {
            return Err(out_of_order(&request));
        }
        last = command.arrival;
        commands.push(command);
    }
    if commands.is_empty() {
        let reason = "the stream lists no requests; give [[stream.request]] tables".to_owned();
        return Err(table.unfitting("name", reason));
    }
    Ok(commands)
}
