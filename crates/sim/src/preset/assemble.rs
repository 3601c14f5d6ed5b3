//! Turns checked keys into an [`SsdConfig`]. Checks that need several keys are here.

use super::ageing::ageing;
use super::atomic;
use super::choices::{BufferPolicy, Condition, DriveKind, Pace, VictimPolicy, WorkUnit};
use super::compression;
use super::config::{Buffer, ClosedFormSettings, Collection, Geometry, SsdConfig, Wear};
use super::document::{CAPACITY_KEYS, Entries, Entry, Value};
use super::error::{PresetError, SpareShortage};
use super::exclusion;
use super::firmware;
use super::flash;
use super::host::host;
use super::key::Usual;
use super::mapping;
use super::namespaces;
use super::occupancy::occupancy;
use super::placement;
use super::published::published;
use super::refresh;
use super::schema::{self, MOST_OVER_PROVISIONING};
use super::slc;
use super::variability::variability;
use super::zones;

/// Builds the drive from its checked keys.
pub(super) fn assemble(entries: &Entries) -> Result<SsdConfig, PresetError> {
    let keys = Keys::new(entries, DriveKind::Ssd);
    exclusion::check(&keys)?;
    let mut config = SsdConfig {
        name: keys.text("name")?,
        kind: keys.word("kind", DriveKind::from_word)?,
        summary: keys.text("summary")?,
        condition: keys.word("condition", Condition::from_word)?,
        occupancy: occupancy(&keys)?,
        rated_endurance_bytes: keys.optional_integer("rated_endurance_bytes")?,
        geometry: geometry(&keys)?,
        timing: flash::timing(&keys)?,
        scheduling: flash::scheduling(&keys)?,
        energy: flash::energy(&keys)?,
        mapping: mapping::mapping(&keys)?,
        slc: slc::slc(&keys)?,
        compression: compression::compression(&keys)?,
        placement: placement::placement(&keys)?,
        zones: zones::zones(&keys)?,
        refresh: refresh::refresh(&keys)?,
        namespaces: None,
        firmware: firmware::firmware(&keys)?,
        collection: collection(&keys)?,
        wear: wear(&keys)?,
        ageing: ageing(&keys)?,
        host: host(&keys)?,
        buffer: buffer(&keys)?,
        variability: variability(&keys)?,
        closed_form: ClosedFormSettings {
            rho: keys.optional_integer("closed_form.rho")?,
        },
        published: published(&keys)?,
        is_purged: false,
    };
    config.namespaces = namespaces::namespaces(&keys, &config.geometry)?;
    compression::check(&config, &keys)?;
    zones::check(&config, &keys)?;
    check_thresholds(&config, &keys)?;
    atomic::check(&config, &keys)?;
    check_flash(&config, &keys)?;
    check_spare(&config, &keys)?;
    check_buffer(&config, &keys)?;
    check_rho(&config, &keys)?;
    Ok(config)
}

/// Typed access to keys whose types have been checked.
pub(super) struct Keys<'a> {
    pub(super) entries: &'a Entries,
    kind: DriveKind,
}

impl<'a> Keys<'a> {
    pub(super) const fn new(entries: &'a Entries, kind: DriveKind) -> Self {
        Self { entries, kind }
    }
}

impl Keys<'_> {
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key)
    }

    pub(super) fn need(&self, key: &str) -> Result<&Entry, PresetError> {
        self.entry(key).ok_or_else(|| {
            self.missing(
                key,
                self.rule(key)
                    .map_or_else(String::new, schema::Rule::allowed),
            )
        })
    }

    /// Whether an entry comes from a preset that this one starts from.
    pub(super) fn is_inherited(&self, entry: &Entry) -> bool {
        let own = self.entry("name");
        own.is_some_and(|name| name.place.preset != entry.place.preset)
    }

    pub(super) fn rule(&self, key: &str) -> Option<schema::Rule> {
        schema::rule(key, self.kind)
    }

    pub(super) fn missing(&self, key: &str, allowed: String) -> PresetError {
        let preset = match self.entry("name").map(|entry| &entry.value) {
            Some(Value::Text(name)) => name.clone(),
            _ => "(unnamed)".to_owned(),
        };
        PresetError::MissingKey {
            key: key.to_owned(),
            preset,
            allowed,
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<String, PresetError> {
        let entry = self.need(key)?;
        match &entry.value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(schema::wrong_value(
                key,
                entry,
                schema::Rule::Text.allowed(),
            )),
        }
    }

    pub(super) fn word<T>(
        &self,
        key: &str,
        choose: impl Fn(&str) -> Option<T>,
    ) -> Result<T, PresetError> {
        let word = self.text(key)?;
        choose(&word).ok_or_else(|| self.missing(key, "one of its words".to_owned()))
    }

    pub(super) fn optional_word<T>(
        &self,
        key: &str,
        choose: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, PresetError> {
        self.entry(key).map(|_| self.word(key, choose)).transpose()
    }

    pub(super) fn boolean(&self, key: &str) -> Result<bool, PresetError> {
        Ok(self.need(key)?.value == Value::Boolean(true))
    }

    /// The integer of a key, or the default in its row.
    pub(super) fn integer_or_usual<T: TryFrom<i64> + TryFrom<u64>>(
        &self,
        key: &str,
    ) -> Result<T, PresetError> {
        if let (None, Some(Usual::Integer(usual))) = (self.entry(key), self.usual(key)) {
            return T::try_from(usual).or_else(|_| self.integer(key));
        }
        self.integer(key)
    }

    /// The same for a number that need not be whole.
    pub(super) fn ratio_or_usual(&self, key: &str) -> Result<f64, PresetError> {
        match (self.entry(key), self.usual(key)) {
            (None, Some(Usual::Ratio(usual))) => Ok(usual),
            _ => self.ratio(key),
        }
    }

    /// The same for a word.
    pub(super) fn word_or_usual<T>(
        &self,
        key: &str,
        choose: impl Fn(&str) -> Option<T>,
    ) -> Result<T, PresetError> {
        if let (None, Some(Usual::Word(usual))) = (self.entry(key), self.usual(key))
            && let Some(choice) = choose(usual)
        {
            return Ok(choice);
        }
        self.word(key, choose)
    }

    pub(super) fn usual(&self, key: &str) -> Option<Usual> {
        schema::row(key, self.kind).map(|row| row.usual)
    }

    /// The same for a switch, whose default is off.
    pub(super) fn switch(&self, key: &str) -> Result<bool, PresetError> {
        match (self.entry(key), self.usual(key)) {
            (None, Some(Usual::Off)) => Ok(false),
            _ => self.boolean(key),
        }
    }

    pub(super) fn integer<T: TryFrom<i64>>(&self, key: &str) -> Result<T, PresetError> {
        let entry = self.need(key)?;
        let number = match entry.value {
            Value::Integer(number) => T::try_from(number).ok(),
            _ => None,
        };
        number.ok_or_else(|| schema::wrong_value(key, entry, "a smaller integer".to_owned()))
    }

    pub(super) fn optional_integer<T: TryFrom<i64>>(
        &self,
        key: &str,
    ) -> Result<Option<T>, PresetError> {
        self.entry(key).map(|_| self.integer(key)).transpose()
    }

    pub(super) fn integers(&self, key: &str) -> Result<Vec<u32>, PresetError> {
        let entry = self.need(key)?;
        let numbers = match &entry.value {
            Value::Integers(numbers) => numbers.iter().map(|&n| u32::try_from(n).ok()).collect(),
            _ => None,
        };
        numbers.ok_or_else(|| schema::wrong_value(key, entry, "an array of integers".to_owned()))
    }

    /// The array of a key, or the default in its row.
    pub(super) fn integers_or_usual(&self, key: &str) -> Result<Vec<u32>, PresetError> {
        match (self.entry(key), self.usual(key)) {
            (None, Some(Usual::Integers(usual))) => Ok(usual.to_vec()),
            _ => self.integers(key),
        }
    }

    pub(super) fn ratio(&self, key: &str) -> Result<f64, PresetError> {
        let entry = self.need(key)?;
        match entry.value {
            Value::Float(number) => Ok(number),
            Value::Integer(number) => Ok(number as f64),
            _ => Err(schema::wrong_value(key, entry, "a number".to_owned())),
        }
    }
}

fn geometry(keys: &Keys<'_>) -> Result<Geometry, PresetError> {
    let mut geometry = Geometry {
        channels: keys.integer("geometry.channels")?,
        ways_per_channel: keys.integer("geometry.ways_per_channel")?,
        dies_per_way: keys.integer("geometry.dies_per_way")?,
        planes_per_die: keys.integer("geometry.planes_per_die")?,
        blocks_per_plane: keys.integer("geometry.blocks_per_plane")?,
        pages_per_block: keys.integer("geometry.pages_per_block")?,
        page_size_bytes: keys.integer("geometry.page_size_bytes")?,
        user_capacity_bytes: 0,
        plane_mode: keys.boolean("geometry.plane_mode")?,
    };
    let page_bytes = u64::from(geometry.page_size_bytes);
    let [bytes_key, ratio_key] = CAPACITY_KEYS;
    geometry.user_capacity_bytes = match (keys.entry(bytes_key), keys.entry(ratio_key)) {
        (Some(entry), None) => {
            let bytes: u64 = keys.integer(bytes_key)?;
            if !bytes.is_multiple_of(page_bytes) {
                let allowed = format!("a multiple of the page size, {page_bytes}");
                return Err(schema::wrong_value(bytes_key, entry, allowed));
            }
            bytes
        }
        (None, Some(_)) => {
            let pages = physical_pages(&geometry) as f64 / (1.0 + keys.ratio(ratio_key)?);
            (pages.floor() as u64).saturating_mul(page_bytes)
        }
        (Some(_), Some(entry)) => {
            let allowed = format!("only one of {bytes_key} and {ratio_key}: remove one");
            return Err(schema::wrong_value(ratio_key, entry, allowed));
        }
        (None, None) => {
            let allowed = format!("it, or {ratio_key} as a number above 0");
            return Err(keys.missing(bytes_key, allowed));
        }
    };
    Ok(geometry)
}

fn physical_pages(geometry: &Geometry) -> u64 {
    [
        geometry.channels,
        geometry.ways_per_channel,
        geometry.dies_per_way,
        geometry.planes_per_die,
        geometry.blocks_per_plane,
        geometry.pages_per_block,
    ]
    .iter()
    .fold(1_u64, |pages, &factor| {
        pages.saturating_mul(u64::from(factor))
    })
}

fn collection(keys: &Keys<'_>) -> Result<Collection, PresetError> {
    let policy = keys.word("collection.policy", VictimPolicy::from_word)?;
    let reserve_blocks_per_plane: u32 =
        keys.integer_or_usual("collection.reserve_blocks_per_plane")?;
    // A setting without effect, or equal to the default, is left out of the result.
    let draws = policy == VictimPolicy::DChoices;
    let choices = keys.integer_or_usual("collection.victim_choices")?;
    let stop = keys.optional_integer("collection.stop_blocks_per_plane")?;
    let background = keys.optional_integer("collection.background_blocks_per_plane")?;
    Ok(Collection {
        policy,
        victim_choices: draws.then_some(choices),
        pace: keys.word("collection.pace", Pace::from_word)?,
        reserve_blocks_per_plane,
        stop_blocks_per_plane: stop.filter(|&stop: &u32| stop != reserve_blocks_per_plane + 1),
        temperature_classes: keys.optional_integer("collection.temperature_classes")?,
        background_blocks_per_plane: background,
        background_idle_ns: background
            .map(|_| keys.integer_or_usual("collection.background_idle_ns"))
            .transpose()?,
    })
}

fn wear(keys: &Keys<'_>) -> Result<Wear, PresetError> {
    let mut wear = Wear {
        least_worn_first: keys.switch("wear.least_worn_first")?,
        static_spread: keys.optional_integer("wear.static_spread")?,
        ..Wear::default()
    };
    if keys.word("condition", Condition::from_word)? == Condition::Worn {
        let mean: u32 = keys.integer("wear.worn_erase_count")?;
        let key = "wear.worn_erase_spread";
        let spread: u32 = keys.integer_or_usual(key)?;
        if spread > mean {
            let allowed = format!("at most worn_erase_count, {mean}");
            return Err(schema::wrong_value(key, keys.need(key)?, allowed));
        }
        wear.worn_erase_count = Some(mean);
        wear.worn_erase_spread = (spread > 0).then_some(spread);
    }
    Ok(wear)
}

fn buffer(keys: &Keys<'_>) -> Result<Buffer, PresetError> {
    let write_buffer_bytes = keys.integer("buffer.write_buffer_bytes")?;
    // Without a buffer the policy has no effect.
    let policy = keys.word_or_usual("buffer.policy", BufferPolicy::from_word)?;
    let policy = match write_buffer_bytes {
        0 => BufferPolicy::WriteBack,
        _ => policy,
    };
    let gathers = write_buffer_bytes > 0 && policy == BufferPolicy::WriteBack;
    let mark = |key: &str| -> Result<u64, PresetError> {
        let bytes = keys.integer_or_usual(key)?;
        Ok(if gathers { bytes } else { 0 })
    };
    let memory_ns: u64 = keys.integer_or_usual("buffer.memory_ns")?;
    let memory_bytes_per_second = keys.optional_integer("buffer.memory_bytes_per_second")?;
    // Passing a memory that takes no time changes nothing.
    let takes_time = memory_ns > 0 || memory_bytes_per_second.is_some();
    let takes_writes = keys.switch("buffer.memory_takes_writes")?;
    let survives = write_buffer_bytes > 0 && keys.switch("buffer.survives_power_loss")?;
    let flush_at_once = write_buffer_bytes > 0 && keys.switch("buffer.flush_at_once")?;
    Ok(Buffer {
        write_buffer_bytes,
        policy,
        survives_power_loss: survives,
        flush_at_once,
        flush_start_bytes: mark("buffer.flush_start_bytes")?,
        flush_stop_bytes: mark("buffer.flush_stop_bytes")?,
        read_cache_bytes: keys.integer_or_usual("buffer.read_cache_bytes")?,
        read_ahead_bytes: keys.integer_or_usual("buffer.read_ahead_bytes")?,
        memory_ns,
        memory_bytes_per_second,
        memory_takes_writes: write_buffer_bytes > 0 && takes_time && takes_writes,
    })
}

fn check_thresholds(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let start = config.collection.reserve_blocks_per_plane;
    if config
        .collection
        .background_blocks_per_plane
        .is_some_and(|blocks| blocks <= start)
    {
        let key = "collection.background_blocks_per_plane";
        let allowed = format!(
            "more than the {start} free blocks at which collection starts without idle time \
             (reserve_blocks_per_plane)"
        );
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    match config.collection.stop_blocks_per_plane {
        Some(stop) if stop <= start => {
            let key = "collection.stop_blocks_per_plane";
            let allowed = format!(
                "more than the {start} free blocks at which collection starts \
                 (reserve_blocks_per_plane)"
            );
            Err(schema::wrong_value(key, keys.need(key)?, allowed))
        }
        _ => Ok(()),
    }
}

fn check_flash(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let pages = physical_pages(&config.geometry);
    if pages >= u64::from(u32::MAX) {
        let key = "geometry.blocks_per_plane";
        let allowed = format!(
            "channels x ways x dies x planes x blocks x pages below {}, here {pages}: take larger \
             pages (geometry.page_size_bytes) or fewer blocks, a drive scaled down",
            u32::MAX
        );
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    if config.zones.is_some() {
        return zones::check_fit(config, keys);
    }
    let least = config.blocks_held_back() + 1;
    if u64::from(config.geometry.blocks_per_plane) < least {
        let key = "geometry.blocks_per_plane";
        let has_map = u64::from(config.cached_policies().is_some());
        let open = match config.reclaim_policies() {
            Some(policies) => policies.lanes().into(),
            None => u64::from(config.policies().open_blocks()) + has_map,
        };
        let allowed = match config.block_policies() {
            None => format!(
                "at least {least}: {} kept free by collection \
                 (collection.reserve_blocks_per_plane), {open} open and one of data",
                least - 1 - open
            ),
            Some(policies) => format!(
                "at least {least}: {} for what is overwritten, one to merge into and one of data",
                policies.logs()
            ),
        };
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    Ok(())
}

fn check_spare(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    if config.zones.is_some() {
        return Ok(());
    }
    let physical = u64::from(config.physical_pages());
    let page_bytes = u64::from(config.geometry.page_size_bytes);
    let logical = config.geometry.user_capacity_bytes / page_bytes;
    let needed = u64::from(config.planes())
        * u64::from(config.geometry.pages_per_block)
        * config.blocks_held_back();
    let largest = config.most_logical_pages(physical - needed);
    let key = CAPACITY_KEYS
        .into_iter()
        .find(|key| keys.entry(key).is_some())
        .unwrap_or(CAPACITY_KEYS[0]);
    if logical > largest {
        let entry = keys.need(key)?;
        let bytes = format!("user_capacity_bytes of at most {}", largest * page_bytes);
        // Rounded up.
        let ratio = (needed as f64 / largest as f64 * 1e4).ceil() / 1e4;
        let allowed = if ratio > MOST_OVER_PROVISIONING {
            bytes
        } else {
            format!("over_provisioning_ratio of at least {ratio:.4}, or {bytes}")
        };
        return Err(PresetError::TooLittleSpare(Box::new(SpareShortage {
            key: key.to_owned(),
            value: entry.value.to_string(),
            place: entry.place.clone(),
            spare_pages: physical.saturating_sub(logical),
            needed_pages: needed,
            allowed,
        })));
    }
    if logical == 0 {
        let allowed = "a capacity of at least one page".to_owned();
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    Ok(())
}

fn check_buffer(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let page_bytes = u64::from(config.geometry.page_size_bytes);
    let buffer = &config.buffer;
    let size = buffer.write_buffer_bytes;
    if !size.is_multiple_of(page_bytes) {
        let key = "buffer.write_buffer_bytes";
        let allowed = format!("0 for no buffer, or a multiple of the page size, {page_bytes}");
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    let (cache, ahead) = (buffer.read_cache_bytes, buffer.read_ahead_bytes);
    if !cache.is_multiple_of(page_bytes) {
        let key = "buffer.read_cache_bytes";
        let allowed = format!("0 for no read cache, or a multiple of the page size, {page_bytes}");
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    if !ahead.is_multiple_of(page_bytes) || ahead > cache {
        let key = "buffer.read_ahead_bytes";
        let allowed =
            format!("a multiple of the page size, {page_bytes}, up to read_cache_bytes, {cache}");
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    let (start, stop) = (buffer.flush_start_bytes, buffer.flush_stop_bytes);
    if !start.is_multiple_of(page_bytes) || start > size {
        let key = "buffer.flush_start_bytes";
        let allowed =
            format!("a multiple of the page size, {page_bytes}, up to the buffer's {size}");
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    if !stop.is_multiple_of(page_bytes) || (stop > 0 && stop >= start) {
        let key = "buffer.flush_stop_bytes";
        let allowed =
            format!("a multiple of the page size, {page_bytes}, below flush_start_bytes, {start}");
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    Ok(())
}

fn check_rho(config: &SsdConfig, keys: &Keys<'_>) -> Result<(), PresetError> {
    let units = u64::from(config.units());
    match config.closed_form.rho {
        Some(rho) if rho != units => {
            let key = "closed_form.rho";
            let factors = if config.geometry.plane_mode {
                "channels x ways x dies x planes, as plane_mode is on"
            } else if config.scheduling.unit == WorkUnit::Chip {
                "channels x ways, as scheduling.unit is \"chip\""
            } else {
                "channels x ways x dies, as plane_mode is off"
            };
            let allowed = format!("{units} ({factors})");
            Err(schema::wrong_value(key, keys.need(key)?, allowed))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::preset::SsdConfig;

    /// 1,700 blocks that collection keeps free and 2 open ones of 2,048 would take a ratio of 4.9.
    #[test]
    fn a_ratio_beyond_the_largest_is_not_proposed() {
        let text =
            "base = \"x25m-yoo2014\"\nname = \"-\"\ncollection.reserve_blocks_per_plane = 1700\n";
        let of = |capacity: &str| SsdConfig::from_text(&format!("{text}geometry.{capacity}\n"));
        let error = of("over_provisioning_ratio = 4.0").unwrap_err().to_string();
        let (_, allowed) = error.split_once("allowed: ").unwrap();
        assert_eq!(allowed, "user_capacity_bytes of at most 14512291840");
        assert!(of("user_capacity_bytes = 14512291840").is_ok());
    }
}
