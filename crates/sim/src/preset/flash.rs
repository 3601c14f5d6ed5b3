//! The keys of `[timing]`, `[scheduling]` and `[energy]`: how long flash operations take, in what
//! order they run, and how much energy they need.

use super::assemble::Keys;
use super::cell_times::CellTimes;
use super::choices::{ChannelOrder, Dispatch, MultiPlane, Order, WorkUnit};
use super::config::{Energy, Scheduling, Timing};
use super::document::Value;
use super::error::PresetError;
use super::schema;

pub(super) fn timing(keys: &Keys<'_>) -> Result<Timing, PresetError> {
    let suspends = keys.optional_integer::<u32>("scheduling.suspends_per_operation")?;
    let of_suspends = |key: &str| match suspends {
        Some(1..) => keys.integer(key).map(Some),
        // Without suspends their cost has no effect, so it is left out of the result.
        _ => Ok(None),
    };
    let read_cell_ns = cell_times(keys, "timing.read_cell_ns")?;
    let key = "timing.program_cell_ns";
    let program_cell_ns = cell_times(keys, key)?;
    let of_reads = read_cell_ns.types();
    if of_reads > 1 && ![1, of_reads].contains(&program_cell_ns.types()) {
        let allowed = format!(
            "one integer, or an array of {of_reads} as timing.read_cell_ns has: one for each bit of a cell"
        );
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    Ok(Timing {
        read_dispatch_ns: keys.integer("timing.read_dispatch_ns")?,
        write_dispatch_ns: keys.integer("timing.write_dispatch_ns")?,
        erase_dispatch_ns: keys.integer("timing.erase_dispatch_ns")?,
        read_register_ns: keys.integer("timing.read_register_ns")?,
        write_register_ns: keys.integer("timing.write_register_ns")?,
        read_cell_ns,
        program_cell_ns,
        erase_cell_ns: keys.integer("timing.erase_cell_ns")?,
        suspend_ns: of_suspends("timing.suspend_ns")?,
        resume_ns: of_suspends("timing.resume_ns")?,
        suspend_progress_ns: of_suspends("timing.suspend_progress_ns")?,
    })
}

/// One time for all pages, or one for each type of page.
fn cell_times(keys: &Keys<'_>, key: &str) -> Result<CellTimes, PresetError> {
    let entry = keys.need(key)?;
    let nanos = match &entry.value {
        Value::Integer(nanos) => vec![*nanos],
        Value::Integers(nanos) => nanos.clone(),
        _ => Vec::new(),
    };
    let nanos: Vec<u64> = nanos
        .iter()
        .filter_map(|&nanos| nanos.try_into().ok())
        .collect();
    CellTimes::new(&nanos)
        .ok_or_else(|| schema::wrong_value(key, entry, schema::CELL_TIMES.allowed()))
}

pub(super) fn scheduling(keys: &Keys<'_>) -> Result<Scheduling, PresetError> {
    let dispatch = keys.word("scheduling.dispatch", Dispatch::from_word)?;
    let order = keys.word_or_usual("scheduling.order", Order::from_word)?;
    let limit = keys.integer_or_usual("scheduling.starvation_limit")?;
    Ok(Scheduling {
        dispatch,
        order,
        starvation_limit: match order {
            Order::FirstCome => None,
            _ => Some(limit),
        },
        suspends_per_operation: keys.integer_or_usual("scheduling.suspends_per_operation")?,
        copyback: keys.switch("scheduling.copyback")?,
        cache_operations: keys.switch("scheduling.cache_operations")?,
        multi_plane: keys.word_or_usual("scheduling.multi_plane", MultiPlane::from_word)?,
        unit: keys.word_or_usual("scheduling.unit", WorkUnit::from_word)?,
        map_reads_first: keys.switch("scheduling.map_reads_first")?,
        channel: keys.word_or_usual("scheduling.channel", ChannelOrder::from_word)?,
    })
}

/// All energies, or none. With only some of them known, a drive would seem to use less energy than
/// it does.
pub(super) fn energy(keys: &Keys<'_>) -> Result<Option<Energy>, PresetError> {
    let names = [
        "energy.read_page_nj",
        "energy.program_page_nj",
        "energy.erase_block_nj",
        "energy.transfer_byte_pj",
        "energy.idle_power_mw",
    ];
    if names.iter().all(|name| keys.entry(name).is_none()) {
        return Ok(None);
    }
    Ok(Some(Energy {
        read_page_nj: keys.integer(names[0])?,
        program_page_nj: keys.integer(names[1])?,
        erase_block_nj: keys.integer(names[2])?,
        transfer_byte_pj: keys.integer(names[3])?,
        idle_power_mw: keys.integer(names[4])?,
    }))
}
