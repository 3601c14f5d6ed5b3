//! What the keys of a preset exclude: the one list that parsing, errors and documents use.
//!
//! Not here are keys of which exactly one is given (the link's rate, the capacity), keys that a
//! chosen firmware time does not use, what members an array takes, and sizes that must fit each
//! other.

use super::ageing::{ERASE_FAILS, FACTORY_BAD, PROGRAM_FAILS, RETRIES, RETRY, RETRY_TIME};
use super::exclusion::{Exclusion, Only, With};
use super::namespaces::{SHARES, SIZES};
use super::occupancy;
use super::redundancy::{CACHE, CHUNK, DONE, FASTEST, GATHER, LEVEL, REBUILT, ROW, SLOWEST, SPEED};

const SCHEME: &str = "mapping.scheme";
const ALLOCATION: &str = "mapping.allocation";
const LOG_BLOCKS: &str = "mapping.log_blocks_per_plane";
const PACE: &str = "collection.pace";
const STOP: &str = "collection.stop_blocks_per_plane";
const CLASSES: &str = "collection.temperature_classes";
const BACKGROUND: &str = "collection.background_blocks_per_plane";
const LEAST_WORN: &str = "wear.least_worn_first";
const SPREAD: &str = "wear.static_spread";
const COPYBACK: &str = "scheduling.copyback";
const ORDER: &str = "scheduling.order";
const SUSPENDS: &str = "scheduling.suspends_per_operation";
const MULTI_PLANE: &str = "scheduling.multi_plane";
const PLANE_MODE: &str = "geometry.plane_mode";
const READ_CACHE: &str = "buffer.read_cache_bytes";
const SLC: &str = "slc.blocks_per_plane";
const SLOT: &str = "compression.slot_size_bytes";

const fn is(key: &'static str, words: &'static [&'static str]) -> With {
    With::Word(key, words)
}

/// The firmware that maps whole blocks.
const BLOCKS: With = is(SCHEME, &["block", "bast", "fast"]);
const CACHED: With = is(SCHEME, &["demand_cached_page"]);
const SLC_REGION: With = With::Table("slc");
const COMPRESSION: With = With::Table("compression");
const PLACEMENT: With = With::Table("placement");
const ZONES: With = With::Table("zones");
const NAMESPACES: With = With::Table("namespaces");
const REFRESH: With = With::Table("refresh");
const NO_PAIRS: With = is("host.interface", &["free", "sata", "sas"]);
const NO_LINK: With = is("host.interface", &["free"]);
const NO_DRAW: With = is(
    "collection.policy",
    &["greedy", "random", "fifo", "cost_benefit"],
);
const NOT_WORN: With = is("condition", &["fresh", "filled", "preconditioned"]);
const NO_SUSPENDS: With = With::Number(SUSPENDS, &[0]);
const IN_ORDER: With = is("scheduling.dispatch", &["in_order"]);
const FIRST_COME: With = is(ORDER, &["first_come"]);
const OWN_PLANES: With = With::Switch(PLANE_MODE, true);

/// Collection that does not follow the free blocks of a plane.
const SIMPLE_PACE: Only = Only::Words(&["paced", "whole_block"]);

const fn row(with: With, key: &'static str, only: Only, reason: &'static str) -> Exclusion {
    Exclusion {
        with,
        key,
        only,
        reason,
    }
}

/// The key must not be given.
const fn none(with: With, key: &'static str, reason: &'static str) -> Exclusion {
    row(with, key, Only::Nothing, reason)
}

/// The key keeps its default.
const fn usual(with: With, key: &'static str, reason: &'static str) -> Exclusion {
    row(with, key, Only::Usual, reason)
}

/// The preset itself must not give the key.
const fn unused(with: With, key: &'static str, reason: &'static str) -> Exclusion {
    row(with, key, Only::Unused, reason)
}

const NO_LOGS: &str = "has no log blocks; \"bast\" and \"fast\" have";
const ONE_PAIR: &str = "has one queue; \"nvme\" has queue pairs";
const NO_COMMANDS: &str = "has no link, and commands take no time";
const NO_PAUSE: &str = "interrupts no operation";
const NO_FLASH_MAP: &str = "has no map on the flash; \"demand_cached_page\" has";
const MERGES: &str = "merges blocks and collects no pages";
const NO_SPARE: &str = "replaces no bad blocks, only \"page\" does";
const FULL_OF_MAP: &str = "has its memory full of the map";
const RECLAIM_UNITS: &str = "fills its reclaim units channel by channel";
const NOTHING_READ: &str = "keeps nothing that was read in memory";
const WHOLE_UNITS: &str = "has no blocks to replace those of a reclaim unit";
const BY_PLANE: &str = "writes a zone plane by plane";
const COLLECTS_NOTHING: &str = "collects nothing";
const WHOLE_ZONES: &str = "has no blocks to replace those of a zone";
const PLAIN: &str = "moves the pages of single, plain blocks that do not fail";
const SLC_FAILS: &str = "replaces no bad blocks of its region";
const PACKS: &str = "packs its pages into blocks that do not fail";
const NO_REBUILD: &str = "has nothing to rebuild from";
const OWN: &str = "lets planes work on their own";
const ONE_AT_A_TIME: &str = "gives a die one operation at a time";
const PAUSES: &str = "needs dies that take one operation at a time and do not wait for their \
                      channel to begin";
const NO_RETRY: &str = "never reads a page again; or give a probability above 0";
const EMPTY: &str = "leaves every page empty; for data there write condition = \"filled\"";

/// Earlier rows are reported first.
pub(super) const EXCLUSIONS: &[Exclusion] = &[
    // What a map of pages, of blocks, or on the flash has.
    none(
        is(SCHEME, &["page", "demand_cached_page", "block"]),
        LOG_BLOCKS,
        NO_LOGS,
    ),
    none(
        is(SCHEME, &["page", "block", "bast", "fast"]),
        "mapping.cached_entries",
        NO_FLASH_MAP,
    ),
    none(
        is(SCHEME, &["page", "block", "bast", "fast"]),
        "mapping.cache_replacement",
        NO_FLASH_MAP,
    ),
    usual(BLOCKS, ALLOCATION, "ties pages to their block"),
    row(
        is(SCHEME, &["fast"]),
        LOG_BLOCKS,
        Only::AtLeast(2),
        "needs one for what is written in order and one for the rest",
    ),
    row(BLOCKS, PACE, SIMPLE_PACE, MERGES),
    none(BLOCKS, STOP, MERGES),
    none(BLOCKS, CLASSES, MERGES),
    none(BLOCKS, BACKGROUND, MERGES),
    none(BLOCKS, SPREAD, MERGES),
    usual(BLOCKS, LEAST_WORN, "takes free blocks in turn"),
    usual(BLOCKS, FACTORY_BAD, NO_SPARE),
    usual(BLOCKS, PROGRAM_FAILS, NO_SPARE),
    usual(BLOCKS, ERASE_FAILS, NO_SPARE),
    usual(CACHED, ALLOCATION, "stripes the pages of the map"),
    none(
        CACHED,
        CLASSES,
        "keeps a block of each plane for its map instead",
    ),
    none(
        CACHED,
        BACKGROUND,
        "writes its map when it collects, which idle time has no room for",
    ),
    usual(CACHED, READ_CACHE, FULL_OF_MAP),
    usual(CACHED, FACTORY_BAD, NO_SPARE),
    usual(CACHED, PROGRAM_FAILS, NO_SPARE),
    usual(CACHED, ERASE_FAILS, NO_SPARE),
    // A pseudo-SLC region.
    usual(SLC_REGION, SCHEME, "folds into mapped pages"),
    usual(SLC_REGION, ALLOCATION, "folds within a plane"),
    row(SLC_REGION, PACE, SIMPLE_PACE, "folds while it collects"),
    none(SLC_REGION, CLASSES, "has its hot data there"),
    none(
        SLC_REGION,
        BACKGROUND,
        "folds in idle time, and collects what it needs for that",
    ),
    usual(SLC_REGION, FACTORY_BAD, SLC_FAILS),
    usual(SLC_REGION, PROGRAM_FAILS, SLC_FAILS),
    usual(SLC_REGION, ERASE_FAILS, SLC_FAILS),
    // Compression.
    usual(COMPRESSION, SCHEME, "maps compressed pages"),
    usual(COMPRESSION, ALLOCATION, "packs the pages of a plane"),
    usual(COMPRESSION, COPYBACK, "packs again what it moves"),
    row(
        COMPRESSION,
        PACE,
        SIMPLE_PACE,
        "has pages that take more or less of a block",
    ),
    none(COMPRESSION, SLC, "has dense blocks alone"),
    none(COMPRESSION, CLASSES, "packs all of a plane together"),
    none(COMPRESSION, BACKGROUND, "collects when space is needed"),
    usual(COMPRESSION, FACTORY_BAD, PACKS),
    usual(COMPRESSION, PROGRAM_FAILS, PACKS),
    usual(COMPRESSION, ERASE_FAILS, PACKS),
    // Placement handles.
    usual(PLACEMENT, SCHEME, "maps pages"),
    usual(PLACEMENT, ALLOCATION, RECLAIM_UNITS),
    none(PLACEMENT, "mapping.order", RECLAIM_UNITS),
    row(
        PLACEMENT,
        "collection.policy",
        Only::Words(&["greedy"]),
        "collects the reclaim unit with the fewest valid pages",
    ),
    row(PLACEMENT, PACE, SIMPLE_PACE, "collects whole reclaim units"),
    usual(PLACEMENT, COPYBACK, "moves pages to other planes"),
    usual(PLACEMENT, LEAST_WORN, "does so anyway, by reclaim unit"),
    usual(PLACEMENT, READ_CACHE, NOTHING_READ),
    none(PLACEMENT, SLC, "has dense blocks alone"),
    none(PLACEMENT, SLOT, "stores what it is given"),
    none(PLACEMENT, CLASSES, "learns from its host what is hot"),
    none(PLACEMENT, BACKGROUND, "collects when space is needed"),
    none(PLACEMENT, SPREAD, "levels no wear"),
    usual(PLACEMENT, FACTORY_BAD, WHOLE_UNITS),
    usual(PLACEMENT, PROGRAM_FAILS, WHOLE_UNITS),
    usual(PLACEMENT, ERASE_FAILS, WHOLE_UNITS),
    // Zones.
    none(
        ZONES,
        "geometry.over_provisioning_ratio",
        "has what they hold: give geometry.user_capacity_bytes, the zones times zones.size_bytes",
    ),
    usual(ZONES, SCHEME, "maps zones"),
    usual(ZONES, ALLOCATION, BY_PLANE),
    none(ZONES, "mapping.order", BY_PLANE),
    row(ZONES, PACE, SIMPLE_PACE, COLLECTS_NOTHING),
    usual(ZONES, LEAST_WORN, "does so anyway, by zone"),
    usual(ZONES, READ_CACHE, "keeps nothing of what a reset gives up"),
    usual(
        ZONES,
        "buffer.flush_start_bytes",
        "programs what is written in order, as it comes",
    ),
    usual(ZONES, occupancy::ORDER, "is written in order"),
    usual(
        ZONES,
        occupancy::STEADY,
        "overwrites nothing: every state is steady",
    ),
    none(
        ZONES,
        "placement.handles",
        "learns from its zones where data goes",
    ),
    none(ZONES, SLC, "has dense blocks alone"),
    none(ZONES, SLOT, "stores what it is given"),
    none(ZONES, STOP, COLLECTS_NOTHING),
    none(ZONES, CLASSES, COLLECTS_NOTHING),
    none(ZONES, BACKGROUND, COLLECTS_NOTHING),
    none(ZONES, SPREAD, "moves nothing"),
    usual(ZONES, FACTORY_BAD, WHOLE_ZONES),
    usual(ZONES, PROGRAM_FAILS, WHOLE_ZONES),
    usual(ZONES, ERASE_FAILS, WHOLE_ZONES),
    // Namespaces.
    none(With::Given(SIZES), SHARES, "says how large each is"),
    none(
        NAMESPACES,
        "zones.size_bytes",
        "is one of pages that are written anywhere",
    ),
    none(
        NAMESPACES,
        SLOT,
        "tells whose each programmed page is, and compressed ones may lie in one",
    ),
    // Refreshed blocks.
    usual(REFRESH, SCHEME, "moves pages of one block at a time"),
    none(REFRESH, SLC, PLAIN),
    none(REFRESH, SLOT, PLAIN),
    none(REFRESH, "placement.handles", PLAIN),
    none(REFRESH, "zones.size_bytes", PLAIN),
    usual(REFRESH, FACTORY_BAD, PLAIN),
    usual(REFRESH, PROGRAM_FAILS, PLAIN),
    usual(REFRESH, ERASE_FAILS, PLAIN),
    // Blocks that age.
    usual(
        is(ALLOCATION, &["round_robin", "least_loaded"]),
        FACTORY_BAD,
        "shares no spare blocks out",
    ),
    usual(
        is(ALLOCATION, &["round_robin", "least_loaded"]),
        PROGRAM_FAILS,
        "shares no spare blocks out",
    ),
    usual(
        is(ALLOCATION, &["round_robin", "least_loaded"]),
        ERASE_FAILS,
        "shares no spare blocks out",
    ),
    none(With::Number(RETRY, &[0]), RETRIES, NO_RETRY),
    none(With::Number(RETRY, &[0]), RETRY_TIME, NO_RETRY),
    // The order of flash operations.
    usual(IN_ORDER, ORDER, "lets nothing overtake"),
    usual(
        FIRST_COME,
        "scheduling.map_reads_first",
        "lets nothing overtake",
    ),
    usual(FIRST_COME, SUSPENDS, "has no use for a pause"),
    usual(OWN_PLANES, MULTI_PLANE, OWN),
    usual(
        With::Number("geometry.planes_per_die", &[1]),
        MULTI_PLANE,
        "has no second plane to work with",
    ),
    usual(OWN_PLANES, "scheduling.unit", OWN),
    usual(IN_ORDER, "scheduling.cache_operations", ONE_AT_A_TIME),
    usual(IN_ORDER, MULTI_PLANE, ONE_AT_A_TIME),
    usual(IN_ORDER, "scheduling.channel", ONE_AT_A_TIME),
    usual(
        With::AboveZero(SUSPENDS),
        "scheduling.cache_operations",
        PAUSES,
    ),
    usual(With::AboveZero(SUSPENDS), MULTI_PLANE, PAUSES),
    usual(With::AboveZero(SUSPENDS), "scheduling.channel", PAUSES),
    // What only some links, rules and conditions use.
    unused(NO_PAIRS, "host.queue_pair_weights", ONE_PAIR),
    unused(NO_PAIRS, "host.queue_pair_classes", ONE_PAIR),
    unused(NO_PAIRS, "host.class_weights", ONE_PAIR),
    unused(NO_PAIRS, "host.queue_pair_depth", ONE_PAIR),
    unused(NO_LINK, "host.read_command_ns", NO_COMMANDS),
    unused(NO_LINK, "host.write_command_ns", NO_COMMANDS),
    unused(NO_LINK, "host.write_acknowledge_ns", NO_COMMANDS),
    unused(NO_LINK, "host.flush_command_ns", NO_COMMANDS),
    unused(NO_LINK, "host.trim_command_ns", NO_COMMANDS),
    unused(NO_LINK, "host.trim_range_ns", NO_COMMANDS),
    unused(NO_LINK, "host.write_zeroes_command_ns", NO_COMMANDS),
    unused(
        NO_LINK,
        "host.interrupt_ns",
        "has no interrupts, completions are seen at once",
    ),
    unused(
        NO_DRAW,
        "collection.victim_choices",
        "draws no victims; \"d_choices\" does",
    ),
    unused(
        With::Without(BACKGROUND),
        "collection.background_idle_ns",
        "does not collect in idle time",
    ),
    unused(NO_SUSPENDS, "timing.suspend_ns", NO_PAUSE),
    unused(NO_SUSPENDS, "timing.resume_ns", NO_PAUSE),
    unused(NO_SUSPENDS, "timing.suspend_progress_ns", NO_PAUSE),
    unused(
        NOT_WORN,
        "wear.worn_erase_count",
        "begins without erases; \"worn\" begins with them",
    ),
    unused(
        NOT_WORN,
        "wear.worn_erase_spread",
        "begins without erases; \"worn\" begins with them",
    ),
    // What is there before the first request, and what a loss of power leaves.
    usual(is("condition", &["fresh"]), occupancy::FILLED, EMPTY),
    usual(is("condition", &["fresh"]), occupancy::ORDER, EMPTY),
    usual(is("condition", &["fresh"]), occupancy::STEADY, EMPTY),
    usual(
        With::Switch("buffer.survives_power_loss", false),
        "buffer.flush_at_once",
        "loses what a flush left in the buffer; or set that to true",
    ),
    // Arrays.
    none(
        With::Number(LEVEL, &[1]),
        CHUNK,
        "has no chunks, every member has everything",
    ),
    none(With::Number(LEVEL, &[0]), REBUILT, NO_REBUILD),
    none(With::Number(LEVEL, &[0]), DONE, NO_REBUILD),
    none(With::Number(LEVEL, &[0]), SLOWEST, NO_REBUILD),
    none(With::Number(LEVEL, &[0]), FASTEST, NO_REBUILD),
    none(With::Number(LEVEL, &[0, 1, 10]), ROW, "has no parity"),
    none(With::Number(LEVEL, &[0, 1, 10]), SPEED, "has no parity"),
    none(With::Number(LEVEL, &[0, 1, 10]), GATHER, "has no parity"),
    none(With::Number(LEVEL, &[0, 1, 10]), CACHE, "has no parity"),
];
