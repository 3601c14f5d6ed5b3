//! What a stream may ask of a drive, and what is refused before anything runs.

use drivelab_request::{CommandKind, ZoneAction};
use drivelab_workload::{Source, Stream, WriteMode, Zoned, ZonesFound};

use super::shares::SHARES;

/// What the streams of a run know about the drive.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Queue pairs of its interface.
    pub queue_pairs: usize,
    /// Whether it supports TRIM.
    pub takes_trims: bool,
    /// Whether it supports WRITE ZEROES.
    pub takes_zeroes: bool,
    /// Whether a TRIM may have several ranges.
    pub takes_ranges: bool,
    /// Its zones, if it has any.
    pub zones: Option<ZonesFound>,
    /// Name, first byte and length of its namespaces, if it has any.
    pub namespaces: Vec<(String, u64, u64)>,
}

/// The reason why a drive cannot serve a stream, if there is one.
pub(super) fn check(stream: &Stream, host: &Host) -> Result<(), String> {
    let (pair, pairs) = (stream.queue_pair, host.queue_pairs);
    if usize::from(pair) >= pairs {
        return Err(match pairs {
            1 => format!(
                "queue pair {pair} is not there: this drive has only pair 0; a solid-state drive \
                 with host.interface = \"nvme\" has more with host.queue_pair_weights"
            ),
            _ => format!(
                "queue pair {pair} is not there; allowed: 0 to {}, as host.queue_pair_weights has \
                 {pairs}",
                pairs - 1
            ),
        });
    }
    let is_closed = matches!(stream.source, Source::Closed(_));
    if let Some(share) = stream.share
        && (!is_closed || !SHARES.contains(&share))
    {
        return Err(format!(
            "a share of {share} is not possible; allowed: {:e} to {:e}, of a stream that keeps a \
             number of requests outstanding",
            SHARES.start(),
            SHARES.end()
        ));
    }
    let asks = |kind: CommandKind, mode: WriteMode| match &stream.source {
        Source::Timed(commands) => {
            (commands.iter()).any(|c| c.kind == kind && c.zone == ZoneAction::None)
        }
        Source::Paced(source) => source.0.commands()[kind.index()] > 0,
        Source::Closed(_) | Source::Open { .. } => stream.writes == mode,
        Source::Windows(_) => false,
    };
    if !host.takes_zeroes && asks(CommandKind::WriteZeroes, WriteMode::Zeroes) {
        return Err(
            "it writes zeroes without data, which this drive does not know: let it write, with \
             content = \"zero\""
                .to_owned(),
        );
    }
    if !host.takes_ranges && stream.ranges_per_trim > 1 {
        return Err(
            "it sends trims of several ranges, which single solid-state drives know, not arrays \
             and disks: leave ranges_per_trim out"
                .to_owned(),
        );
    }
    if !host.takes_trims && asks(CommandKind::Trim, WriteMode::Trim) {
        return Err(
            "it trims, and this drive knows no TRIM: let it write, or leave its trims out"
                .to_owned(),
        );
    }
    if let Source::Timed(commands) = &stream.source
        && host.zones.is_none()
        && let Some(asks) = commands.iter().find(|c| c.zone != ZoneAction::None)
    {
        return Err(format!(
            "it asks for the {} of a zone, and this drive has none; allowed on one with [zones]",
            asks.zone.name()
        ));
    }
    stream.lies_within(host.capacity_bytes)
}

/// Refuses a closed loop with several outstanding writes to one zone: a host cannot control in
/// which order the drive takes them.
pub(super) fn check_depth(pattern: &Zoned) -> Result<(), String> {
    let (depth, zones) = (pattern.requests.queue_depth, pattern.zones_at_once);
    if pattern.appends || depth <= zones || pattern.requests.write_ratio <= 0.0 {
        return Ok(());
    }
    Err(format!(
        "queue_depth is {depth}; allowed by writes: at most zones, {zones}, one on its way to each; \
         or writes_as = \"append\""
    ))
}

/// The drive as a stream sees it, and how many bytes lie before that: of one in a namespace that
/// namespace alone.
pub(super) fn seen_by(stream: &Stream, host: &Host) -> Result<(Host, u64), String> {
    let Some(wanted) = &stream.namespace else {
        return Ok((host.clone(), 0));
    };
    let mut namespaces = host.namespaces.iter();
    let Some(&(_, start, capacity_bytes)) = namespaces.find(|(name, ..)| name == wanted) else {
        let names: Vec<String> = host
            .namespaces
            .iter()
            .map(|(name, ..)| format!("{name:?}"))
            .collect();
        let allowed = match names.is_empty() {
            true => "none, as this drive has no [namespaces]".to_owned(),
            false => names.join(", "),
        };
        return Err(format!(
            "namespace {wanted:?} is not there; allowed: {allowed}"
        ));
    };
    let seen = Host {
        capacity_bytes,
        ..host.clone()
    };
    Ok((seen, start))
}

/// Refuses a stream whose requests reach beyond the end of its namespace.
pub(super) fn check_end(stream: &Stream, capacity_bytes: u64) -> Result<(), String> {
    let (Some(name), Source::Timed(commands)) = (&stream.namespace, &stream.source) else {
        return Ok(());
    };
    let end = |offset: u64, bytes: u32| offset.checked_add(bytes.into());
    let is_beyond = |end: Option<u64>| end.is_none_or(|end| end > capacity_bytes);
    let mut commands = commands.iter();
    match commands.find(|each| is_beyond(end(each.offset_bytes, each.size_bytes))) {
        None => Ok(()),
        Some(beyond) => Err(format!(
            "a request of {} bytes at {} reaches beyond the end of namespace {name:?} of \
             {capacity_bytes} bytes",
            beyond.size_bytes, beyond.offset_bytes
        )),
    }
}
