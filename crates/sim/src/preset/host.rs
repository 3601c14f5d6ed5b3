//! The link to the host: its rate, computed from the figures printed on a drive's box.
//!
//! | interface | given as | bytes a second |
//! |---|---|---|
//! | SATA, SAS | Gb/s of the line | a tenth of the bits: 8b/10b |
//! | NVMe, PCIe 1 and 2 | 2.5 and 5 GT/s a lane | the same |
//! | NVMe, PCIe 3 to 5 | 8, 16 and 32 GT/s a lane | 128b/130b |
//! | NVMe, PCIe 6 | 64 GT/s a lane | 236 of the 256 bytes of a flit |
//!
//! Packet headers and acknowledgements are not subtracted. If you know the payload rate of a link,
//! give `link_bytes_per_second` instead.

use super::assemble::Keys;
use super::atomic;
use super::choices::{HostInterface, WriteZeroes};
use super::config::Host;
use super::document::LINK_RATE_KEYS;
use super::error::PresetError;
use super::schema;

const PAIR_CLASSES: &str = "host.queue_pair_classes";
const CLASS_WEIGHTS: &str = "host.class_weights";

/// Classes below urgent: high, medium and low.
const WEIGHED_CLASSES: usize = 3;

/// Commands accepted at once if the link is free.
const UNLIMITED_COMMANDS: u32 = 65_536;

/// Native command queueing of SATA has 5-bit tags.
const SATA_COMMANDS: u32 = 32;

/// A usual queue of SAS drives.
const SAS_COMMANDS: u32 = 256;

/// A usual number of commands that NVMe controllers accept at once.
const NVME_COMMANDS: u32 = 1024;

/// The same in words, for the links that disks have and for all links.
pub(super) const COMMANDS_OF_DISKS: &str =
    "`65536` with `\"free\"`, `32` with `\"sata\"`, `256` with `\"sas\"`";
pub(super) const COMMANDS_OF_LINKS: &str =
    "`65536` with `\"free\"`, `32` with `\"sata\"`, `256` with `\"sas\"`, `1024` with `\"nvme\"`";

const GIGA: u64 = 1_000_000_000;

/// The host's side of a solid-state drive: the link, its queue pairs and its interrupts.
pub(super) fn host(keys: &Keys<'_>) -> Result<Host, PresetError> {
    let link = Host {
        write_zeroes: keys.word_or_usual("host.write_zeroes", WriteZeroes::from_word)?,
        atomic_write_bytes: keys.integer_or_usual(atomic::WRITE)?,
        atomic_power_loss_bytes: keys.integer_or_usual(atomic::POWER_LOSS)?,
        ..link(keys)?
    };
    if link.interface == HostInterface::Free {
        return Ok(link);
    }
    let has_pairs = link.interface == HostInterface::Nvme;
    let weights = keys.integers_or_usual("host.queue_pair_weights")?;
    let depth: Option<u32> = keys.optional_integer("host.queue_pair_depth")?;
    let (queue_pair_classes, class_weights) = match has_pairs {
        true => classes(keys, weights.len())?,
        false => <(Vec<u32>, Vec<u32>)>::default(),
    };
    let interrupt_completions = keys.integer_or_usual("host.interrupt_completions")?;
    let wait: Option<u64> = keys.optional_integer("host.interrupt_wait_ns")?;
    let gathers = interrupt_completions > 1;
    if gathers && wait.is_none() {
        let allowed = "the most ns that a completion waits for others, as interrupt_completions \
                       is more than 1";
        return Err(keys.missing("host.interrupt_wait_ns", allowed.to_owned()));
    }
    Ok(Host {
        trim_command_ns: keys.optional_integer("host.trim_command_ns")?,
        trim_range_ns: keys.integer_or_usual("host.trim_range_ns")?,
        write_zeroes_command_ns: keys.optional_integer("host.write_zeroes_command_ns")?,
        queue_pair_weights: match has_pairs {
            true => weights,
            false => link.queue_pair_weights,
        },
        queue_pair_classes,
        class_weights,
        queue_pair_depth: depth.filter(|_| has_pairs),
        interrupt_ns: keys.integer_or_usual("host.interrupt_ns")?,
        interrupt_completions,
        interrupt_wait_ns: wait.filter(|_| gathers).unwrap_or_default(),
        ..link
    })
}

/// The class of each queue pair, and the weights of the classes below urgent. Empty if pairs have
/// no classes.
fn classes(keys: &Keys<'_>, pairs: usize) -> Result<(Vec<u32>, Vec<u32>), PresetError> {
    if keys.entry(PAIR_CLASSES).is_none() && keys.entry(CLASS_WEIGHTS).is_none() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (classes, weights) = (keys.integers(PAIR_CLASSES)?, keys.integers(CLASS_WEIGHTS)?);
    if classes.len() != pairs {
        let allowed = format!(
            "a class for each of the {pairs} queue pairs (host.queue_pair_weights), 0 urgent, 1 \
             high, 2 medium or 3 low"
        );
        return Err(schema::wrong_value(
            PAIR_CLASSES,
            keys.need(PAIR_CLASSES)?,
            allowed,
        ));
    }
    if weights.len() != WEIGHED_CLASSES {
        let allowed = "three weights: of the classes high, medium and low".to_owned();
        return Err(schema::wrong_value(
            CLASS_WEIGHTS,
            keys.need(CLASS_WEIGHTS)?,
            allowed,
        ));
    }
    Ok((classes, weights))
}

/// The part that a disk has: the link and its commands.
pub(super) fn link(keys: &Keys<'_>) -> Result<Host, PresetError> {
    let interface = keys.word("host.interface", HostInterface::from_word)?;
    if interface == HostInterface::Free {
        // Link settings from a base have no effect, so they are left out of the result.
        return Ok(free());
    }
    let commands = keys.optional_integer("host.commands")?;
    Ok(Host {
        interface,
        link_bytes_per_second: link_rate(keys, interface)?,
        commands: commands.unwrap_or(usual_commands(interface)),
        read_command_ns: keys.integer("host.read_command_ns")?,
        write_command_ns: keys.integer("host.write_command_ns")?,
        write_acknowledge_ns: keys.integer("host.write_acknowledge_ns")?,
        flush_command_ns: keys.optional_integer("host.flush_command_ns")?,
        ..free()
    })
}

/// Commands accepted at once if a preset does not give a number.
const fn usual_commands(interface: HostInterface) -> u32 {
    match interface {
        HostInterface::Free => UNLIMITED_COMMANDS,
        HostInterface::Sata => SATA_COMMANDS,
        HostInterface::Sas => SAS_COMMANDS,
        HostInterface::Nvme => NVME_COMMANDS,
    }
}

fn free() -> Host {
    Host {
        interface: HostInterface::Free,
        link_bytes_per_second: 0,
        commands: usual_commands(HostInterface::Free),
        read_command_ns: 0,
        write_command_ns: 0,
        write_acknowledge_ns: 0,
        trim_command_ns: None,
        atomic_write_bytes: 0,
        atomic_power_loss_bytes: 0,
        trim_range_ns: 0,
        flush_command_ns: None,
        write_zeroes_command_ns: None,
        write_zeroes: WriteZeroes::Deallocates,
        queue_pair_weights: vec![1],
        queue_pair_classes: Vec::new(),
        class_weights: Vec::new(),
        queue_pair_depth: None,
        interrupt_ns: 0,
        interrupt_completions: 1,
        interrupt_wait_ns: 0,
    }
}

/// Bytes a second of the link, from the one way in which the preset gives it.
fn link_rate(keys: &Keys<'_>, interface: HostInterface) -> Result<u64, PresetError> {
    let [bytes, gigabits, pcie] = LINK_RATE_KEYS;
    let (bytes, gigabits, generation, lanes) = (bytes[0], gigabits[0], pcie[0], pcie[1]);
    let said = |key: &str| keys.entry(key).is_some();
    let ways = LINK_RATE_KEYS.map(|way| way.iter().any(|key| said(key)));
    let other = match interface {
        HostInterface::Nvme => format!("{generation} and {lanes}"),
        _ => gigabits.to_owned(),
    };
    match (ways, interface) {
        ([true, false, false], _) => keys.integer(bytes),
        ([false, true, false], HostInterface::Sata) => line_rate(keys, gigabits, &[1.5, 3.0, 6.0]),
        ([false, true, false], HostInterface::Sas) => line_rate(keys, gigabits, &[3.0, 6.0, 12.0]),
        ([false, false, true], HostInterface::Nvme) => {
            let generation: u64 = keys.integer(generation)?;
            Ok(pcie_bytes_per_second(generation, lanes_of(keys, lanes)?))
        }
        ([false, false, false], _) => {
            let allowed = format!("it in bytes a second, or {other}");
            Err(keys.missing(bytes, allowed))
        }
        _ => {
            let all = [bytes, gigabits, generation, lanes];
            let first = all.into_iter().rev().find(|key| said(key)).unwrap_or(bytes);
            let allowed = format!(
                "with interface {:?} either {bytes} or {other}: remove this",
                interface.word()
            );
            Err(schema::wrong_value(first, keys.need(first)?, allowed))
        }
    }
}

/// 8b/10b coding: ten bits on the line for each byte.
fn line_rate(keys: &Keys<'_>, key: &str, rates: &[f64]) -> Result<u64, PresetError> {
    let gigabits = keys.ratio(key)?;
    if rates.contains(&gigabits) {
        return Ok((gigabits * GIGA as f64 / 10.0) as u64);
    }
    let allowed = rates.iter().map(f64::to_string).collect::<Vec<_>>();
    Err(schema::wrong_value(
        key,
        keys.need(key)?,
        allowed.join(" or "),
    ))
}

fn lanes_of(keys: &Keys<'_>, key: &str) -> Result<u64, PresetError> {
    let lanes: u64 = keys.integer(key)?;
    if lanes.is_power_of_two() {
        return Ok(lanes);
    }
    let allowed = "1, 2, 4, 8 or 16".to_owned();
    Err(schema::wrong_value(key, keys.need(key)?, allowed))
}

/// Bytes a second of `lanes` lanes, after coding (PCI Express Base, revisions 1.0 to 6.0).
fn pcie_bytes_per_second(generation: u64, lanes: u64) -> u64 {
    // Transfers a second of a lane in units of 100 M, then data bytes and the line bits that carry
    // them.
    let (transfers, data, line) = match generation {
        1 => (25, 1, 10),
        2 => (50, 1, 10),
        3 => (80, 16, 130),
        4 => (160, 16, 130),
        5 => (320, 16, 130),
        _ => (640, 236, 256 * 8),
    };
    lanes * transfers * (GIGA / 10) * data / line
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS_OF_DISKS, COMMANDS_OF_LINKS, pcie_bytes_per_second, usual_commands};
    use crate::preset::HostInterface;

    #[test]
    fn the_rows_of_commands_say_what_links_have() {
        let said = |interface: &&str| {
            let commands = HostInterface::from_word(interface).map(usual_commands);
            commands.map(|commands| format!("`{commands}` with `{interface:?}`"))
        };
        let all: Vec<String> = HostInterface::WORDS.iter().filter_map(said).collect();
        assert_eq!(all.join(", "), COMMANDS_OF_LINKS);
        let of_disks = all.iter().filter(|said| !said.contains("nvme"));
        let of_disks: Vec<&str> = of_disks.map(String::as_str).collect();
        assert_eq!(of_disks.join(", "), COMMANDS_OF_DISKS);
    }

    /// A lane in MB/s: 2500 / 10, 5000 / 10, then 8000 / 8 x 128 / 130 and two and four times that,
    /// then 64000 / 8 x 236 / 256.
    #[test]
    fn a_lane_carries_what_its_coding_leaves() {
        let megabytes = [1, 2, 3, 4, 5, 6].map(|g| pcie_bytes_per_second(g, 1) / 1_000_000);
        assert_eq!(megabytes, [250, 500, 984, 1969, 3938, 7375]);
        assert_eq!(pcie_bytes_per_second(3, 4), 3_938_461_538);
    }
}
