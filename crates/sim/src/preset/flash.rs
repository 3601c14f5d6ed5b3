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
    let scheduling = Scheduling {
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
    };
    let overtakes = order != Order::FirstCome;
    if overtakes && dispatch == Dispatch::InOrder {
        let allowed = "\"first_come\", as scheduling.dispatch is \"in_order\"".to_owned();
        let key = "scheduling.order";
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    if scheduling.map_reads_first && !overtakes {
        let allowed = "false, as scheduling.order is \"first_come\"".to_owned();
        let key = "scheduling.map_reads_first";
        return Err(schema::wrong_value(key, keys.need(key)?, allowed));
    }
    if scheduling.suspends_per_operation > 0 && !overtakes {
        let allowed = "0, as scheduling.order is \"first_come\": nothing would use the pause";
        let key = "scheduling.suspends_per_operation";
        return Err(schema::wrong_value(
            key,
            keys.need(key)?,
            allowed.to_owned(),
        ));
    }
    check_registers(&scheduling, keys)?;
    Ok(scheduling)
}

/// Refuses cache operations, multi-plane operations, chips and data-out-first if they would have no
/// effect, or are not modelled together.
fn check_registers(scheduling: &Scheduling, keys: &Keys<'_>) -> Result<(), PresetError> {
    let refuse = |key: &str, allowed: &str| {
        Err(schema::wrong_value(
            key,
            keys.need(key)?,
            allowed.to_owned(),
        ))
    };
    let key = "scheduling.multi_plane";
    if scheduling.multi_plane != MultiPlane::Off {
        if keys.boolean("geometry.plane_mode")? {
            return refuse(
                key,
                "\"off\", as geometry.plane_mode lets planes work on their own",
            );
        }
        if keys.integer::<u32>("geometry.planes_per_die")? == 1 {
            return refuse(key, "\"off\", as geometry.planes_per_die is 1");
        }
    }
    if scheduling.unit == WorkUnit::Chip && keys.boolean("geometry.plane_mode")? {
        let reason = "as geometry.plane_mode lets planes work on their own";
        return refuse("scheduling.unit", &format!("\"die\", {reason}"));
    }
    let data_first = scheduling.channel == ChannelOrder::DataOutFirst;
    let (key, off) = match (scheduling.cache_operations, scheduling.multi_plane) {
        (true, _) => ("scheduling.cache_operations", "false"),
        (false, MultiPlane::Off) if data_first => ("scheduling.channel", "\"commands_first\""),
        (false, MultiPlane::Off) => return Ok(()),
        (false, _) => (key, "\"off\""),
    };
    if scheduling.dispatch == Dispatch::InOrder {
        let reason = "as scheduling.dispatch = \"in_order\" gives a die one operation at a time";
        return refuse(key, &format!("{off}, {reason}"));
    }
    if scheduling.suspends_per_operation > 0 {
        let reason = "or scheduling.suspends_per_operation = 0: a die pauses for reads only where \
                      it takes one operation at a time and need not wait for its channel to begin";
        return refuse(key, &format!("{off}, {reason}"));
    }
    Ok(())
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
