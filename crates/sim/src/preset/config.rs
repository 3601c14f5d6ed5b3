//! The resolved description of one solid-state drive.

use std::collections::BTreeMap;

use drivelab_ftl::Policies;
use serde::Serialize;

use super::ageing::Ageing;
use super::assemble::assemble;
use super::cell_times::CellTimes;
use super::choices::{
    Allocation, BufferPolicy, ChannelOrder, Condition, Dispatch, DriveKind, HostInterface,
    MappingScheme, MultiPlane, Order, Pace, Replacement, StripingOrder, VictimPolicy, WorkUnit,
    allocation_word, order_word, pace_word, replacement_word, victim_word,
};
use super::compression::Compression;
use super::document::read_with_base;
use super::drive::fingerprint;
use super::error::PresetError;
use super::firmware::Firmware;
use super::occupancy::Occupancy;
use super::placement::Placement;
use super::published::Published;
use super::schema;
use super::slc::Slc;
use super::variability::Variability;
use super::zones::Zones;

/// One solid-state drive in one condition, checked: every number is possible with the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SsdConfig {
    /// The preset's name.
    pub name: String,
    /// What kind of drive this is.
    pub kind: DriveKind,
    /// One line for lists of drives.
    pub summary: String,
    /// The state before the first measured request.
    pub condition: Condition,
    /// Bytes that the host may write over the drive's life, as its maker says; absent where no
    /// source says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated_endurance_bytes: Option<u64>,
    /// Which pages hold data in that state; absent where all do, written in order, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Occupancy>,
    /// The flash array.
    pub geometry: Geometry,
    /// The duration of each step.
    pub timing: Timing,
    /// How operations reach the flash.
    pub scheduling: Scheduling,
    /// What operations take of the power supply; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// Where pages are written.
    #[serde(skip_serializing_if = "Mapping::is_usual")]
    pub mapping: Mapping,
    /// Blocks used with one bit a cell; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc: Option<Slc>,
    /// What the controller makes smaller; absent where it stores what it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Handles under which the host writes; absent where it cannot say what belongs together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Zones that the host writes in order; absent where it may write anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Zones>,
    /// How long the firmware itself works; absent where it takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<Firmware>,
    /// Garbage collection.
    pub collection: Collection,
    /// Wear levelling, and how worn the drive is.
    #[serde(skip_serializing_if = "Wear::is_usual")]
    pub wear: Wear,
    /// What erases do to the flash; absent where nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ageing: Option<Ageing>,
    /// The link to the host.
    pub host: Host,
    /// The write buffer.
    pub buffer: Buffer,
    /// Differences between one run and the next.
    pub variability: Variability,
    /// What the closed form is told about the drive.
    #[serde(skip_serializing_if = "ClosedFormSettings::is_empty")]
    pub closed_form: ClosedFormSettings,
    /// Figures published for the drive, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Published>,
    /// Holds nothing whatever its condition says, and answers for what was never written.
    #[serde(skip)]
    pub is_purged: bool,
}

/// The flash array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Geometry {
    /// Channels, each with its own bus.
    pub channels: u32,
    /// Chip positions on a channel.
    pub ways_per_channel: u32,
    /// Dies at a chip position.
    pub dies_per_way: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Erase blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// User bytes of a page.
    pub page_size_bytes: u32,
    /// What the host sees; a multiple of the page size.
    pub user_capacity_bytes: u64,
    /// Whether the planes of a die work on their own.
    pub plane_mode: bool,
}

/// The duration of each step of a flash operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// R_ch of Yoo et al. 2014.
    pub read_dispatch_ns: u64,
    /// W_ch of Yoo et al. 2014.
    pub write_dispatch_ns: u64,
    /// The same for an erase.
    pub erase_dispatch_ns: u64,
    /// R_reg: one page from the register over the channel.
    pub read_register_ns: u64,
    /// W_reg: one page over the channel into the register.
    pub write_register_ns: u64,
    /// R_cell: one page from the cells into the register.
    pub read_cell_ns: CellTimes,
    /// W_cell: one page from the register into the cells.
    pub program_cell_ns: CellTimes,
    /// One block erased.
    pub erase_cell_ns: u64,
    /// From a program's or an erase's pause to the first read in it; absent without suspends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_ns: Option<u64>,
    /// From the pause's end to further progress; absent without suspends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_ns: Option<u64>,
    /// Progress that is made before a pause; absent without suspends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_progress_ns: Option<u64>,
}

/// How operations reach the flash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scheduling {
    /// One stage for the drive, or a queue at each unit.
    pub dispatch: Dispatch,
    /// What goes first at a unit.
    #[serde(skip_serializing_if = "is_first_come")]
    pub order: Order,
    /// After so many that overtook it the first of those waiting goes; absent where
    /// nothing overtakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starvation_limit: Option<u32>,
    /// How often a program or an erase pauses for reads.
    #[serde(skip_serializing_if = "is_none_at_all")]
    pub suspends_per_operation: u32,
    /// What collection and wear levelling move within a plane does not cross the channel.
    #[serde(skip_serializing_if = "is_off")]
    pub copyback: bool,
    /// The cache register takes the data of the next program, or holds that of the last read.
    #[serde(skip_serializing_if = "is_off")]
    pub cache_operations: bool,
    /// Which operations are executed together on several planes of a die.
    #[serde(skip_serializing_if = "is_single_plane")]
    pub multi_plane: MultiPlane,
    /// What takes one operation at a time.
    #[serde(skip_serializing_if = "is_die")]
    pub unit: WorkUnit,
    /// Reads of the map go with the reads that go first at a unit, whatever waits for them.
    #[serde(skip_serializing_if = "is_off")]
    pub map_reads_first: bool,
    /// What goes first on a channel.
    #[serde(skip_serializing_if = "is_commands_first")]
    pub channel: ChannelOrder,
}

/// What operations take of the power supply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Energy {
    /// One page from the cells into the register.
    pub read_page_nj: u64,
    /// One page from the register into the cells.
    pub program_page_nj: u64,
    /// One block erased.
    pub erase_block_nj: u64,
    /// One byte over the channel.
    pub transfer_byte_pj: u64,
    /// The drive without work.
    pub idle_power_mw: u64,
}

/// Where pages are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mapping {
    /// What is mapped.
    #[serde(skip_serializing_if = "is_page")]
    pub scheme: MappingScheme,
    /// Map entries that the controller's memory holds; absent where it holds them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_entries: Option<u32>,
    /// Which of them make room; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "replacement_word::serialize")]
    pub cache_replacement: Option<Replacement>,
    /// Log blocks of each plane; absent of a scheme without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_blocks_per_plane: Option<u32>,
    /// The order in which planes are taken, the letter that varies fastest first.
    #[serde(serialize_with = "order_word::serialize")]
    pub order: StripingOrder,
    /// What decides on which plane a page is written.
    #[serde(serialize_with = "allocation_word::serialize")]
    pub allocation: Allocation,
}

impl Mapping {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Mapping {
    fn default() -> Self {
        let Policies {
            order, allocation, ..
        } = Policies::default();
        Self {
            scheme: MappingScheme::Page,
            cached_entries: None,
            cache_replacement: None,
            log_blocks_per_plane: None,
            order,
            allocation,
        }
    }
}

/// Garbage collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Collection {
    /// How a victim is chosen.
    #[serde(serialize_with = "victim_word::serialize")]
    pub policy: VictimPolicy,
    /// Blocks that `d_choices` compares; absent for another rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victim_choices: Option<u32>,
    /// How the work is spread over time.
    #[serde(serialize_with = "pace_word::serialize")]
    pub pace: Pace,
    /// Blocks of each plane that are kept free for collection: at so many it starts.
    pub reserve_blocks_per_plane: u32,
    /// Free blocks of a plane at which collection stops; absent where that is one
    /// more than it starts at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_blocks_per_plane: Option<u32>,
    /// Overwrites of what the host wrote into the last so many blocks of a plane go to
    /// a block of their own; absent where hot data is not kept apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_blocks_per_plane: Option<u32>,
    /// While the drive is idle each plane collects until so many of its blocks are
    /// free; absent where collection waits for writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_blocks_per_plane: Option<u32>,
    /// From when on the drive counts as idle, after its last command is complete; absent
    /// where nothing is done then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_idle_ns: Option<u64>,
}

/// Wear levelling, and how worn the drive is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wear {
    /// The free block with the fewest erases is filled first.
    pub least_worn_first: bool,
    /// A block that lags more than so many erases behind another of its plane is
    /// emptied, whatever it holds; absent for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_spread: Option<u32>,
    /// Of a worn drive, the mean erases of its blocks; absent for another condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worn_erase_count: Option<u32>,
    /// Of a worn drive, how far a block's erases may lie from the mean; absent for not
    /// at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worn_erase_spread: Option<u32>,
}

impl Wear {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The link to the host; with a free interface the numbers are zero, except `commands`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    /// The kind of link.
    pub interface: HostInterface,
    /// Payload rate of the link.
    #[serde(skip_serializing_if = "is_zero")]
    pub link_bytes_per_second: u64,
    /// Commands that the drive takes at once.
    pub commands: u32,
    /// The drive's own work for each read command.
    pub read_command_ns: u64,
    /// The drive's own work for each write command.
    pub write_command_ns: u64,
    /// From the data's arrival to the completion that the host sees.
    pub write_acknowledge_ns: u64,
    /// The drive's own work for each trim; as for a write if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_command_ns: Option<u64>,
    /// The drive's own work for each flush; as for a write if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_command_ns: Option<u64>,
    /// Commands that the drive takes from each queue pair in its turn, one entry a pair.
    #[serde(skip_serializing_if = "is_one_pair")]
    pub queue_pair_weights: Vec<u32>,
    /// By queue pair its class: 0 urgent, 1 high, 2 medium, 3 low; absent where they have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue_pair_classes: Vec<u32>,
    /// Commands that are taken of the classes high, medium and low in their turn; likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<u32>,
    /// Commands of one queue pair that are in the drive at once; as many as the drive takes if
    /// not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_pair_depth: Option<u32>,
    /// The host's work for each interrupt; those of a queue pair follow each other.
    #[serde(skip_serializing_if = "is_zero")]
    pub interrupt_ns: u64,
    /// Completions of a queue pair that one interrupt tells ...
    #[serde(skip_serializing_if = "is_one")]
    pub interrupt_completions: u32,
    /// ... and for how long the first of them waits at most for the others.
    #[serde(skip_serializing_if = "is_zero")]
    pub interrupt_wait_ns: u64,
}

/// The write buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buffer {
    /// Bytes that may wait for the flash after their write was completed; 0 for no buffer.
    pub write_buffer_bytes: u64,
    /// When a write is complete.
    #[serde(skip_serializing_if = "is_write_back")]
    pub policy: BufferPolicy,
    /// What is in it is programmed though the power is gone.
    #[serde(skip_serializing_if = "is_off")]
    pub survives_power_loss: bool,
    /// Bytes that wait in it before any goes to the flash; 0 if all go at once.
    #[serde(skip_serializing_if = "is_zero")]
    pub flush_start_bytes: u64,
    /// Bytes that then are left.
    #[serde(skip_serializing_if = "is_zero")]
    pub flush_stop_bytes: u64,
    /// Bytes of pages read that are kept for the next reads; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_cache_bytes: u64,
    /// Bytes read ahead of a reader in order; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_ahead_bytes: u64,
    /// From finding a page in the controller's memory to its data.
    #[serde(skip_serializing_if = "is_zero")]
    pub memory_ns: u64,
    /// Rate of that memory; without end if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes_per_second: Option<u64>,
    /// What is written into the buffer passes that memory too, before it is there.
    #[serde(skip_serializing_if = "is_off")]
    pub memory_takes_writes: bool,
}

/// What the closed form is told about the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClosedFormSettings {
    /// Pages in flight at once (rho of Yoo et al. 2014, table 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<u64>,
}

fn is_page(scheme: &MappingScheme) -> bool {
    *scheme == MappingScheme::Page
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

fn is_write_back(policy: &BufferPolicy) -> bool {
    *policy == BufferPolicy::WriteBack
}

fn is_off(value: &bool) -> bool {
    !*value
}

fn is_single_plane(multi_plane: &MultiPlane) -> bool {
    *multi_plane == MultiPlane::Off
}

fn is_die(unit: &WorkUnit) -> bool {
    *unit == WorkUnit::Die
}

fn is_commands_first(channel: &ChannelOrder) -> bool {
    *channel == ChannelOrder::CommandsFirst
}

fn is_none_at_all(value: &u32) -> bool {
    *value == 0
}

fn is_first_come(order: &Order) -> bool {
    *order == Order::FirstCome
}

fn is_one(value: &u32) -> bool {
    *value == 1
}

fn is_one_pair(weights: &[u32]) -> bool {
    weights == [1]
}

impl ClosedFormSettings {
    fn is_empty(&self) -> bool {
        self.rho.is_none()
    }
}

impl SsdConfig {
    /// Reads a preset and the presets that it starts from.
    ///
    /// `resolve_base` gives the text of a preset named by `base`.
    ///
    /// # Errors
    ///
    /// The first key that is unknown, missing or impossible, with what is allowed.
    pub fn from_toml(
        text: &str,
        resolve_base: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, PresetError> {
        let entries = read_with_base(text, &resolve_base)?;
        let kind = schema::kind(&entries)?;
        if let Some(entry) = entries.get("kind").filter(|_| kind != DriveKind::Ssd) {
            let allowed = format!("{:?}, a drive of flash", DriveKind::Ssd.word());
            return Err(schema::wrong_value("kind", entry, allowed));
        }
        schema::check(&entries, kind)?;
        assemble(&entries)
    }

    /// Reads a preset whose bases are presets of the package.
    ///
    /// # Errors
    ///
    /// As [`SsdConfig::from_toml`].
    pub fn from_text(text: &str) -> Result<Self, PresetError> {
        Self::from_toml(text, |name| super::text(name).map(str::to_owned))
    }

    /// The same drive with the preset's own times in every run.
    #[must_use]
    pub fn without_variability(mut self) -> Self {
        self.variability = Variability::default();
        self
    }

    /// The whole description as JSON in a fixed order of keys.
    #[must_use]
    pub fn resolved_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The whole description as TOML that reads back as the same drive.
    #[must_use]
    pub fn resolved_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// A fingerprint of everything that decides how the drive behaves, 16 hexadecimal digits.
    ///
    /// Names, summary, endurance, published figures, closed-form settings and what a loss
    /// of power does do not count: no result changes with them.  FNV-1a, so that it is the same in every build.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut behaviour = self.clone();
        behaviour.name.clear();
        behaviour.summary.clear();
        behaviour.rated_endurance_bytes = None;
        behaviour.closed_form.rho = None;
        behaviour.buffer.survives_power_loss = false;
        behaviour.published.clear();
        fingerprint(&behaviour.resolved_json())
    }
}
