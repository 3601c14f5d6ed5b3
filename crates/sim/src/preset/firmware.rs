//! The keys of `[firmware]`: how long the firmware itself works, and on how many cores.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::assemble::Keys;
use super::choices::FirmwareTime;
use super::error::PresetError;
use super::key::{Key, key};
use super::schema::{LONGEST_NS, Rule, TIME, integer, wrong_value};

const TIME_OF: &str = "firmware.time";
const CORES: &str = "firmware.cores";
const CLOCK: &str = "firmware.clock_mhz";
const COMMAND: &str = "firmware.command_ns";
/// Cores of the processor on which the costs were measured. Used if the drive's own number is not
/// given.
const COST_CORES: &str = "firmware.cost.cores";
const COST_CLOCK: &str = "firmware.cost.clock_mhz";

/// The most cores of a controller.
const MOST_CORES: u64 = 64;

/// The most cycles, or nanoseconds of memory, for one unit of work.
const MOST: f64 = 1e6;

/// The units in which the firmware's work is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Work {
    /// A command of the host.
    Command,
    /// A page that a read of the host touches.
    ReadPage,
    /// A page that a write of the host touches.
    WrittenPage,
    /// 1024 bytes copied between the host's memory and buffers.
    CopiedKib,
    /// A page read from the flash: for a host read, to complete a partial write, or of the map.
    FlashRead,
    /// A page programmed for the host, or of the map.
    FlashProgram,
    /// A valid page moved by collection, wear levelling or folding: its read and its program.
    PageMoved,
    /// A block erased.
    FlashErase,
}

impl Work {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Command,
        Self::ReadPage,
        Self::WrittenPage,
        Self::CopiedKib,
        Self::FlashRead,
        Self::FlashProgram,
        Self::PageMoved,
        Self::FlashErase,
    ];
}

/// The two keys of each kind of work: cycles, and nanoseconds of memory.
const COST: [[&str; 2]; 8] = [
    [
        "firmware.cost.command_cycles",
        "firmware.cost.command_memory_ns",
    ],
    [
        "firmware.cost.read_page_cycles",
        "firmware.cost.read_page_memory_ns",
    ],
    [
        "firmware.cost.written_page_cycles",
        "firmware.cost.written_page_memory_ns",
    ],
    [
        "firmware.cost.copied_kib_cycles",
        "firmware.cost.copied_kib_memory_ns",
    ],
    [
        "firmware.cost.flash_read_cycles",
        "firmware.cost.flash_read_memory_ns",
    ],
    [
        "firmware.cost.flash_program_cycles",
        "firmware.cost.flash_program_memory_ns",
    ],
    [
        "firmware.cost.page_moved_cycles",
        "firmware.cost.page_moved_memory_ns",
    ],
    [
        "firmware.cost.flash_erase_cycles",
        "firmware.cost.flash_erase_memory_ns",
    ],
];

const PER_COUNT: Rule = Rule::Ratio {
    least: 0.0,
    most: MOST,
};

/// The keys of the section.
pub(super) const KEYS: &[Key] = &[
    key(TIME_OF, Rule::Word(FirmwareTime::WORDS))
        .usually_as("`\"free\"` where no other key of `firmware` is said"),
    key(CORES, integer(1, MOST_CORES)).usually_as("`firmware.cost.cores`"),
    key(CLOCK, integer(10, 100_000)).usually_as("`firmware.cost.clock_mhz`"),
    key(COMMAND, TIME),
    key(COST_CORES, integer(1, MOST_CORES)),
    key(COST_CLOCK, integer(10, 100_000)),
    key(COST[0][0], PER_COUNT),
    key(COST[0][1], PER_COUNT),
    key(COST[1][0], PER_COUNT),
    key(COST[1][1], PER_COUNT),
    key(COST[2][0], PER_COUNT),
    key(COST[2][1], PER_COUNT),
    key(COST[3][0], PER_COUNT),
    key(COST[3][1], PER_COUNT),
    key(COST[4][0], PER_COUNT),
    key(COST[4][1], PER_COUNT),
    key(COST[5][0], PER_COUNT),
    key(COST[5][1], PER_COUNT),
    key(COST[6][0], PER_COUNT),
    key(COST[6][1], PER_COUNT),
    key(COST[7][0], PER_COUNT),
    key(COST[7][1], PER_COUNT),
];

/// The controller's cores, and how long work takes on one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Firmware {
    /// Pieces of work done at once, each on its own core.
    pub cores: u32,
    /// How long a piece of work takes.
    pub time: Time,
}

/// How long a piece of work takes on a core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// This many nanoseconds for each command.
    Fixed(u64),
    /// The sum over all counted work.
    Counted {
        /// The clock in cycles per microsecond.
        clock_mhz: u64,
        /// By [`Work`]: cycles, and nanoseconds of memory.
        cost: [[f64; 2]; 8],
    },
}

impl Time {
    /// Nanoseconds for one unit of work.
    #[must_use]
    pub fn nanos(&self, work: Work) -> f64 {
        match *self {
            Self::Fixed(nanos) if work == Work::Command => nanos as f64,
            Self::Fixed(_) => 0.0,
            Self::Counted { clock_mhz, cost } => {
                let [cycles, memory_ns] = cost[work as usize];
                cycles * 1_000.0 / clock_mhz as f64 + memory_ns
            }
        }
    }
}

/// Whether this kind of time uses a key of the section.
fn uses(time: FirmwareTime, key: &str) -> bool {
    match time {
        FirmwareTime::Free => false,
        FirmwareTime::Fixed => [CORES, COMMAND].contains(&key),
        FirmwareTime::Counted => key != COMMAND,
    }
}

/// Refuses keys that the chosen time does not use, if they are in the same text as the time or are
/// the drive's own. Unused keys from a base are accepted, because the base may use another kind of
/// time.
fn check_used(keys: &Keys<'_>, time: FirmwareTime) -> Result<(), PresetError> {
    let said = keys.need(TIME_OF)?;
    let used = match time {
        FirmwareTime::Free => "needs no other key",
        FirmwareTime::Fixed => "uses cores and command_ns",
        FirmwareTime::Counted => "uses cores, clock_mhz and the table cost",
    };
    for row in KEYS {
        let Some(entry) = keys.entry(row.name) else {
            continue;
        };
        let is_beside = entry.place.preset == said.place.preset || !keys.is_inherited(entry);
        if row.name != TIME_OF && is_beside && !uses(time, row.name) {
            let allowed = format!("none, as {TIME_OF} = {:?} {used}", time.word());
            return Err(wrong_value(row.name, entry, allowed));
        }
    }
    Ok(())
}

/// The section; `None` if the firmware takes no time.
pub(super) fn firmware(keys: &Keys<'_>) -> Result<Option<Firmware>, PresetError> {
    let own_or = |key, of_costs| {
        let is_brought = keys.entry(key).is_none() && keys.entry(of_costs).is_some();
        if is_brought { of_costs } else { key }
    };
    let time = keys.optional_word(TIME_OF, FirmwareTime::from_word)?;
    if let Some(time) = time {
        check_used(keys, time)?;
    }
    let time = match time {
        None => {
            let own = KEYS.iter().find(|row| keys.entry(row.name).is_some());
            return match own {
                Some(_) => Err(keys.missing(TIME_OF, Rule::Word(FirmwareTime::WORDS).allowed())),
                None => Ok(None),
            };
        }
        Some(FirmwareTime::Free) => return Ok(None),
        Some(FirmwareTime::Fixed) => Time::Fixed(keys.integer(COMMAND)?),
        Some(FirmwareTime::Counted) => {
            let mut cost = [[0.0; 2]; 8];
            for (of, names) in cost.iter_mut().zip(COST) {
                for (value, name) in of.iter_mut().zip(names) {
                    *value = keys.ratio(name)?;
                }
            }
            Time::Counted {
                clock_mhz: keys.integer(own_or(CLOCK, COST_CLOCK))?,
                cost,
            }
        }
    };
    Ok(Some(Firmware {
        cores: keys.integer(own_or(CORES, COST_CORES))?,
        time,
    }))
}

/// Written as in a preset.
impl Serialize for Firmware {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_struct("firmware", 4)?;
        match self.time {
            Time::Fixed(nanos) => {
                table.serialize_field("time", FirmwareTime::Fixed.word())?;
                table.serialize_field("cores", &self.cores)?;
                table.serialize_field("command_ns", &nanos)?;
            }
            Time::Counted { clock_mhz, cost } => {
                table.serialize_field("time", FirmwareTime::Counted.word())?;
                table.serialize_field("cores", &self.cores)?;
                table.serialize_field("clock_mhz", &clock_mhz)?;
                table.serialize_field("cost", &Cost(cost))?;
            }
        }
        table.end()
    }
}

struct Cost([[f64; 2]; 8]);

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = self.0.iter().flatten().zip(COST.iter().flatten());
        serializer.collect_map(pairs.map(|(value, name)| {
            let last = name.rsplit('.').next().unwrap_or(name);
            (last, value)
        }))
    }
}

const _: () = assert!(LONGEST_NS >= MOST as u64);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::{Time, Work};
    use crate::preset::{DriveConfig, PresetError, SsdConfig};

    fn derived(lines: &str) -> Result<SsdConfig, PresetError> {
        SsdConfig::from_text(&format!(
            "base = \"x25m-yoo2014\"\nname = \"mine\"\n{lines}\n"
        ))
    }

    fn counted() -> String {
        let costs = super::COST.iter().flatten().zip(1..);
        let costs: Vec<String> = costs.map(|(key, n)| format!("{key} = {n}.5")).collect();
        format!(
            "firmware.time = \"counted\"\nfirmware.cores = 4\nfirmware.clock_mhz = 500\n{}",
            costs.join("\n")
        )
    }

    #[test]
    fn a_time_is_part_of_the_drive_and_reads_back() {
        let fixed =
            "firmware.time = \"fixed\"\nfirmware.cores = 2\nfirmware.command_ns = 3000".to_owned();
        for lines in [fixed, counted()] {
            let drive = derived(&lines).unwrap();
            assert_eq!(SsdConfig::from_text(&drive.resolved_toml()).unwrap(), drive);
            assert_ne!(drive.hash(), derived("").unwrap().hash());
        }
        let firmware = derived(&counted()).unwrap().firmware.unwrap();
        assert_eq!(firmware.cores, 4);
        // 3.5 cycles at 500 MHz, and 4.5 ns.
        assert!((firmware.time.nanos(Work::ReadPage) - 11.5).abs() < 1e-9);
        assert!((Time::Fixed(7).nanos(Work::Command) - 7.0).abs() < 1e-9);
    }

    #[test]
    fn costs_bring_the_processor_that_they_are_of() {
        let counted = counted();
        let own = derived(&counted).unwrap();
        let brought = counted
            .replace("firmware.cores = 4", "firmware.cost.cores = 4")
            .replace("firmware.clock_mhz", "firmware.cost.clock_mhz");
        assert_eq!(derived(&brought).unwrap().hash(), own.hash());
        let both = derived(&format!("{brought}\nfirmware.cores = 7")).unwrap();
        assert_eq!(both.firmware.unwrap().cores, 7);
    }

    #[test]
    fn a_free_firmware_leaves_no_trace() {
        let free = derived("firmware.time = \"free\"").unwrap();
        assert_eq!(free, derived("").unwrap());
        assert_eq!(free.hash(), derived("").unwrap().hash());
    }

    #[test]
    fn keys_that_a_time_does_not_use_are_refused_unless_a_base_has_them() {
        let fixed =
            "firmware.time = \"fixed\"\nfirmware.cores = 2\nfirmware.command_ns = 3000".to_owned();
        let all = counted();
        for (lines, expected) in [
            (
                "firmware.time = \"free\"\nfirmware.cores = 3".to_owned(),
                "line 4: firmware.cores = 3 is not possible; allowed: none, as firmware.time = \
                 \"free\" needs no other key",
            ),
            (
                format!("{fixed}\nfirmware.clock_mhz = 600"),
                "firmware.clock_mhz = 600 is not possible; allowed: none, as firmware.time = \
                 \"fixed\" uses cores and command_ns",
            ),
            (
                format!("{fixed}\nfirmware.cost.command_cycles = 1"),
                "firmware.cost.command_cycles = 1 is not",
            ),
            (
                format!("{all}\nfirmware.command_ns = 5"),
                "uses cores, clock_mhz and the table cost",
            ),
        ] {
            let message = derived(&lines).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        let base = format!("base = \"x25m-yoo2014\"\nname = \"timed\"\n{all}\n");
        let on_timed = |lines: &str| {
            let text = format!("base = \"timed\"\nname = \"mine\"\n{lines}\n");
            DriveConfig::from_toml(&text, |name| match name {
                "timed" => Some(base.clone()),
                name => crate::preset::text(name).map(str::to_owned),
            })
        };
        on_timed("firmware.time = \"free\"").unwrap();
        on_timed("firmware.time = \"fixed\"\nfirmware.command_ns = 3000").unwrap();
        on_timed("firmware.clock_mhz = 600").unwrap();
        let message = on_timed("firmware.command_ns = 3000").unwrap_err();
        assert!(
            message
                .to_string()
                .contains("as firmware.time = \"counted\" uses")
        );
    }

    #[test]
    fn an_array_is_told_that_its_members_have_the_table() {
        let text =
            "base = \"array-x25m\"\nname = \"mine\"\n[firmware]\ntime = \"free\"\ncores = 2\n";
        let message = DriveConfig::from_text(text).unwrap_err().to_string();
        let expected = "preset mine, line 4: an array has no table [firmware], its members have it";
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("base = \"x25m\""), "{message}");
    }

    #[test]
    fn what_is_missing_or_impossible_is_told_with_what_would_be_right() {
        let counted = counted();
        let without = |key: &str| {
            let kept = counted.lines().filter(|line| !line.starts_with(key));
            kept.collect::<Vec<_>>().join("\n")
        };
        for (lines, expected) in [
            ("firmware.cores = 2".to_owned(), "firmware.time is missing"),
            (
                "firmware.time = \"slow\"".to_owned(),
                "\"free\" or \"fixed\" or \"counted\"",
            ),
            (
                "firmware.time = \"fixed\"\nfirmware.cores = 2".to_owned(),
                "firmware.command_ns is missing",
            ),
            (without("firmware.cores"), "firmware.cores is missing"),
            (
                without("firmware.clock_mhz"),
                "firmware.clock_mhz is missing",
            ),
            (
                without("firmware.cost.page_moved_memory_ns"),
                "firmware.cost.page_moved_memory_ns is missing",
            ),
            (
                counted.replace("cores = 4", "cores = 65"),
                "an integer from 1 to 64",
            ),
            (
                counted.replace("command_cycles = 1.5", "command_cycles = -1.5"),
                "a number from 0 to 1000000",
            ),
            (
                counted.replace("command_cycles", "comand_cycles"),
                "cost.command_cycles",
            ),
        ] {
            let message = derived(&lines).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
