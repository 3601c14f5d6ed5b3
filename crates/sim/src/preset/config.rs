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
    WriteZeroes, allocation_word, order_word, pace_word, replacement_word, victim_word,
};
use super::compression::Compression;
use super::document::read_with_base;
use super::drive::fingerprint;
use super::error::PresetError;
use super::firmware::Firmware;
use super::namespaces::Namespaces;
use super::occupancy::Occupancy;
use super::placement::Placement;
use super::published::Published;
use super::refresh::Refresh;
use super::schema;
use super::slc::Slc;
use super::variability::Variability;
use super::zones::Zones;

/// One solid-state drive in one condition. All numbers have been checked against one another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SsdConfig {
    /// The preset's name.
    pub name: String,
    /// The kind of drive.
    pub kind: DriveKind,
    /// One line for lists of drives.
    pub summary: String,
    /// The state before the first measured request.
    pub condition: Condition,
    /// Bytes that the host may write over the drive's life, as its maker states; `None` if no
    /// source gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated_endurance_bytes: Option<u64>,
    /// Which pages hold data in that state; `None` if all do, written in order, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<Occupancy>,
    /// The flash array.
    pub geometry: Geometry,
    /// The duration of each step.
    pub timing: Timing,
    /// How operations reach the flash.
    pub scheduling: Scheduling,
    /// The energy of operations; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// Where pages are written.
    #[serde(skip_serializing_if = "Mapping::is_usual")]
    pub mapping: Mapping,
    /// Blocks used with one bit a cell; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc: Option<Slc>,
    /// How the controller compresses; `None` if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Placement handles of the host; `None` if the drive has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Zones that the host writes in order; `None` if it may write anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Zones>,
    /// When data is moved before it becomes hard to read; absent where it never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Refresh>,
    /// Parts that hosts address by themselves; absent where the drive is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Namespaces>,
    /// How long the firmware itself works; `None` if it takes no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<Firmware>,
    /// Garbage collection.
    pub collection: Collection,
    /// Wear levelling, and the wear of the drive.
    #[serde(skip_serializing_if = "Wear::is_usual")]
    pub wear: Wear,
    /// How erases change the flash; `None` if they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ageing: Option<Ageing>,
    /// The link to the host.
    pub host: Host,
    /// The write buffer.
    pub buffer: Buffer,
    /// Differences between runs.
    pub variability: Variability,
    /// Settings of the closed form.
    #[serde(skip_serializing_if = "ClosedFormSettings::is_empty")]
    pub closed_form: ClosedFormSettings,
    /// Figures published for the drive, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Published>,
    /// The drive was purged: it holds nothing whatever its condition, and reads of pages that were
    /// never written are answered.
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
    /// Bytes that the host sees; a multiple of the page size.
    pub user_capacity_bytes: u64,
    /// Whether the planes of a die work independently.
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
    /// R_reg: transfer of one page from the register over the channel.
    pub read_register_ns: u64,
    /// W_reg: transfer of one page over the channel into the register.
    pub write_register_ns: u64,
    /// R_cell: one page from the cells into the register.
    pub read_cell_ns: CellTimes,
    /// W_cell: one page from the register into the cells.
    pub program_cell_ns: CellTimes,
    /// Erase of one block.
    pub erase_cell_ns: u64,
    /// From the pause of a program or erase to the first read; `None` without suspends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_ns: Option<u64>,
    /// From the end of the pause to further progress; `None` without suspends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_ns: Option<u64>,
    /// Progress that must be made before a pause; `None` without suspends.
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
    /// After this many operations overtook it, the first waiting operation goes next; `None` if
    /// nothing overtakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starvation_limit: Option<u32>,
    /// How often one program or erase may pause for reads.
    #[serde(skip_serializing_if = "is_none_at_all")]
    pub suspends_per_operation: u32,
    /// Moves within a plane, by collection or wear levelling, do not cross the channel.
    #[serde(skip_serializing_if = "is_off")]
    pub copyback: bool,
    /// The cache register takes the data of the next program, or holds the data of the last read.
    #[serde(skip_serializing_if = "is_off")]
    pub cache_operations: bool,
    /// Which operations a die executes together on several planes.
    #[serde(skip_serializing_if = "is_single_plane")]
    pub multi_plane: MultiPlane,
    /// What executes one operation at a time.
    #[serde(skip_serializing_if = "is_die")]
    pub unit: WorkUnit,
    /// Reads of the map are among the reads that go first at a unit, whatever waits for them.
    #[serde(skip_serializing_if = "is_off")]
    pub map_reads_first: bool,
    /// What goes first on a channel.
    #[serde(skip_serializing_if = "is_commands_first")]
    pub channel: ChannelOrder,
}

/// The energy of operations.
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
    /// Power of the idle drive.
    pub idle_power_mw: u64,
}

/// Where pages are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mapping {
    /// The unit of mapping.
    #[serde(skip_serializing_if = "is_page")]
    pub scheme: MappingScheme,
    /// Map entries that fit in the controller's memory; `None` if all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_entries: Option<u32>,
    /// Which entry makes room for a new one; `None` if all entries fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "replacement_word::serialize")]
    pub cache_replacement: Option<Replacement>,
    /// Log blocks in each plane; `None` if the scheme has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_blocks_per_plane: Option<u32>,
    /// The order in which planes are used. The first letter varies fastest.
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
    /// Number of blocks that `d_choices` compares; `None` for other rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victim_choices: Option<u32>,
    /// How the work is spread over time.
    #[serde(serialize_with = "pace_word::serialize")]
    pub pace: Pace,
    /// Blocks of each plane kept free for collection. Collection starts when only this many are
    /// free.
    pub reserve_blocks_per_plane: u32,
    /// Free blocks of a plane at which collection stops; `None` means one more than it starts at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_blocks_per_plane: Option<u32>,
    /// Data are kept apart in this many classes of temperature; `None` means that only what
    /// collection moves is kept apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_classes: Option<u32>,
    /// While the drive is idle, each plane collects until this many of its blocks are free; `None`
    /// means collection waits for writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_blocks_per_plane: Option<u32>,
    /// How long after the completion of its last command the drive counts as idle; `None` means no
    /// work in idle time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_idle_ns: Option<u64>,
}

/// Wear levelling, and the wear of the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Wear {
    /// The free block with the fewest erases is filled first.
    pub least_worn_first: bool,
    /// A block is emptied, whatever it holds, if it is more than this many erases behind another
    /// block of its plane; `None` means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub static_spread: Option<u32>,
    /// Mean erases of the blocks of a worn drive; `None` for other conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worn_erase_count: Option<u32>,
    /// How far the erases of a block of a worn drive may lie from the mean; `None` means not at
    /// all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worn_erase_spread: Option<u32>,
}

impl Wear {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The link to the host. With a free interface all numbers but `commands` are zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    /// The kind of link.
    pub interface: HostInterface,
    /// Payload rate of the link.
    #[serde(skip_serializing_if = "is_zero")]
    pub link_bytes_per_second: u64,
    /// Commands that the drive accepts at once.
    pub commands: u32,
    /// The drive's own time for each read command.
    pub read_command_ns: u64,
    /// The drive's own time for each write command.
    pub write_command_ns: u64,
    /// From the arrival of the data to the completion that the host sees.
    pub write_acknowledge_ns: u64,
    /// The drive's own time for each trim; `None` means the time of a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_command_ns: Option<u64>,
    /// The same for each range of a trim after its first.
    #[serde(skip_serializing_if = "is_zero")]
    pub trim_range_ns: u64,
    /// A write up to this size is taken whole: no other write comes between its pages.
    #[serde(skip_serializing_if = "is_zero")]
    pub atomic_write_bytes: u64,
    /// A write up to this size is lost completely or not at all when the power fails.
    #[serde(skip_serializing_if = "is_zero")]
    pub atomic_power_loss_bytes: u64,
    /// The drive's own time for each flush; `None` means the time of a write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_command_ns: Option<u64>,
    /// The drive's own work for each command that writes zeroes without data; as for a write if
    /// not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_zeroes_command_ns: Option<u64>,
    /// What becomes of the pages of such a command.
    #[serde(skip_serializing_if = "gives_up_zeroes")]
    pub write_zeroes: WriteZeroes,
    /// Commands taken from each queue pair in one turn, one entry for each pair.
    #[serde(skip_serializing_if = "is_one_pair")]
    pub queue_pair_weights: Vec<u32>,
    /// The class of each queue pair: 0 urgent, 1 high, 2 medium, 3 low. Empty if pairs have no
    /// classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue_pair_classes: Vec<u32>,
    /// Commands taken from the classes high, medium and low in one turn. Empty if pairs have no
    /// classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_weights: Vec<u32>,
    /// Commands of one queue pair that may be in the drive at once; `None` means as many as the
    /// drive accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_pair_depth: Option<u32>,
    /// The host's time for each interrupt. Interrupts of one queue pair run one after another.
    #[serde(skip_serializing_if = "is_zero")]
    pub interrupt_ns: u64,
    /// Number of completions of a queue pair that one interrupt reports ...
    #[serde(skip_serializing_if = "is_one")]
    pub interrupt_completions: u32,
    /// ... and the longest time that the first of them waits for the others.
    #[serde(skip_serializing_if = "is_zero")]
    pub interrupt_wait_ns: u64,
}

/// The write buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buffer {
    /// Bytes that may wait for the flash after their write completed; 0 for no buffer.
    pub write_buffer_bytes: u64,
    /// When a write completes.
    #[serde(skip_serializing_if = "is_write_back")]
    pub policy: BufferPolicy,
    /// The content of the buffer survives a power loss.
    #[serde(skip_serializing_if = "is_off")]
    pub survives_power_loss: bool,
    /// So flushes and forced writes are complete without a program.
    #[serde(skip_serializing_if = "is_off")]
    pub flush_at_once: bool,
    /// Bytes that gather in the buffer before any goes to the flash; 0 if all go at once.
    #[serde(skip_serializing_if = "is_zero")]
    pub flush_start_bytes: u64,
    /// Bytes that stay in the buffer then.
    #[serde(skip_serializing_if = "is_zero")]
    pub flush_stop_bytes: u64,
    /// Bytes of read pages kept for later reads; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_cache_bytes: u64,
    /// Bytes read ahead of a sequential reader; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_ahead_bytes: u64,
    /// Latency of the controller's memory, from finding a page to its data.
    #[serde(skip_serializing_if = "is_zero")]
    pub memory_ns: u64,
    /// Rate of that memory; `None` means unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes_per_second: Option<u64>,
    /// Writes into the buffer pass that memory too, before they are in the buffer.
    #[serde(skip_serializing_if = "is_off")]
    pub memory_takes_writes: bool,
}

/// Settings of the closed form.
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

fn gives_up_zeroes(choice: &WriteZeroes) -> bool {
    *choice == WriteZeroes::Deallocates
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
    /// `resolve_base` gives the text of the preset that `base` names.
    ///
    /// # Errors
    ///
    /// The first key that is unknown, missing or impossible, with the allowed values.
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
    pub fn from_text(text: &str) -> Result<Self, PresetError> {
        Self::from_toml(text, |name| super::text(name).map(str::to_owned))
    }

    /// The same drive without variability: every run takes the preset's own times.
    #[must_use]
    pub fn without_variability(mut self) -> Self {
        self.variability = Variability::default();
        self
    }

    /// The whole description as JSON, with keys in a fixed order.
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
    /// It ignores names, summary, endurance, published figures, closed-form settings and the effect
    /// of a power loss, because no result depends on them. It uses FNV-1a, so it is the same in
    /// every build.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut behaviour = self.clone();
        behaviour.name.clear();
        behaviour.summary.clear();
        behaviour.rated_endurance_bytes = None;
        behaviour.closed_form.rho = None;
        behaviour.buffer.survives_power_loss = false;
        behaviour.host.atomic_power_loss_bytes = 0;
        behaviour.published.clear();
        fingerprint(&behaviour.resolved_json())
    }
}
