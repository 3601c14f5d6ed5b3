//! Random drives and workloads for the tests of the simulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod ledger;
pub mod story;
pub mod world;

use drivelab_request::{Command, CommandKind, Content, HalfWidth, Nanos, ZoneAction};
use drivelab_sim::preset::{
    Allocation, MultiPlane, Order, SsdConfig, StripingOrder, VictimPolicy, WriteZeroes,
};
use drivelab_sim::ssd::Plan;
use drivelab_workload::Characteristics;
use proptest::prelude::*;

/// A duration: zero, a round number (so that many events coincide), or any.
fn nanos(most: u64) -> impl Strategy<Value = u64> {
    let step = most / 4;
    prop_oneof![
        1 => Just(0),
        3 => (1..=4_u64).prop_map(move |steps| steps * step),
        3 => 1..=most,
    ]
}

/// Cell-array times, enough for every number of page types, and whether one time holds for all.
fn cell_times(most: u64) -> impl Strategy<Value = (Vec<u64>, bool)> {
    (
        prop::collection::vec(nanos(most), 4),
        prop::bool::weighted(0.6),
    )
}

/// The same as text of a preset.
fn by_type((times, is_one): &(Vec<u64>, bool), types: usize) -> String {
    if *is_one {
        times[0].to_string()
    } else {
        format!("{:?}", &times[..types])
    }
}

fn timing() -> impl Strategy<Value = String> {
    let dispatch = (nanos(2_000), nanos(2_000), nanos(800));
    let register = (nanos(12_000), nanos(12_000));
    let cell = (
        cell_times(20_000),
        cell_times(60_000),
        nanos(90_000),
        1..5_usize,
    );
    (dispatch, register, cell).prop_map(|(dispatch, register, cell)| {
        format!(
            "read_dispatch_ns = {}\nwrite_dispatch_ns = {}\nerase_dispatch_ns = {}\n\
             read_register_ns = {}\nwrite_register_ns = {}\nread_cell_ns = {}\n\
             program_cell_ns = {}\nerase_cell_ns = {}",
            dispatch.0,
            dispatch.1,
            dispatch.2,
            register.0,
            register.1,
            by_type(&cell.0, cell.3),
            by_type(&cell.1, cell.3),
            cell.2,
        )
    })
}

fn host() -> impl Strategy<Value = String> {
    let sata = (
        1_000_000..2_000_000_000_u64,
        1..9_u32,
        nanos(4_000),
        nanos(4_000),
        nanos(1_200),
    );
    let kind = prop_oneof![Just("sata"), Just("sas"), Just("nvme")];
    let kind = (kind, prop::sample::select(WriteZeroes::WORDS));
    prop_oneof![
        Just("interface = \"free\"".to_owned()),
        (kind, sata).prop_map(
            |((kind, zeroes), (rate, commands, read, write, acknowledge))| format!(
                "interface = \"{kind}\"\nlink_bytes_per_second = {rate}\ncommands = {commands}\n\
             read_command_ns = {read}\nwrite_command_ns = {write}\n\
             write_acknowledge_ns = {acknowledge}\nwrite_zeroes = \"{zeroes}\""
            )
        ),
    ]
}

/// Keys of wear levelling and of hot-data separation. Both are off in half of the drives.
fn wear() -> impl Strategy<Value = (String, bool)> {
    let on = (any::<bool>(), 0..4_u32).prop_map(|(first, spread)| {
        format!("[wear]\nleast_worn_first = {first}\nstatic_spread = {spread}\n")
    });
    (prop_oneof![Just(String::new()), on], any::<bool>())
}

/// Keys of the mapping (default in half of the drives), and a rule for victims.
fn choices() -> impl Strategy<Value = (String, &'static str)> {
    let word = prop::sample::select::<&'static str>;
    let mapping =
        (word(StripingOrder::WORDS), word(Allocation::WORDS)).prop_map(|(order, allocation)| {
            format!("order = \"{order}\"\nallocation = \"{allocation}\"")
        });
    let schemes = [
        "block\"",
        "bast\"\nlog_blocks_per_plane = 3",
        "fast\"\nlog_blocks_per_plane = 3",
        "page\"\n[slc]\nblocks_per_plane = 3\npages_per_block = HALF\nread_cell_ns = 1_000\n\
         program_cell_ns = 7_000\nidle_ns = 1_000_000_000",
        "demand_cached_page\"\ncached_entries = 5\ncache_replacement = \"lru\"",
        "demand_cached_page\"\ncached_entries = 60",
        "demand_cached_page\"\ncached_entries = 90000",
    ];
    let schemes = (
        prop::sample::select(schemes.to_vec()),
        word(StripingOrder::WORDS),
    );
    let schemes =
        schemes.prop_map(|(scheme, order)| format!("order = \"{order}\"\nscheme = \"{scheme}"));
    let mapping = prop_oneof![3 => Just(String::new()), 3 => mapping, 2 => schemes];
    (mapping, word(VictimPolicy::WORDS))
}

/// Keys of ageing, off in half of the drives. The rated count is so low that a few erases matter.
fn ageing() -> impl Strategy<Value = String> {
    let ratios = (0.3..3.0_f64, 0.3..3.0_f64);
    let retry = (0.01..1.0_f64, 1..5_u32, nanos(20_000), any::<bool>());
    let on = (1..12_u32, 0..4_u32, ratios, retry).prop_map(|(rated, seed, ratios, retry)| {
        let time = format!("read_retry_ns = {}\n", retry.2);
        format!(
            "[ageing]\nrated_erases = {rated}\nseed = {seed}\nprogram_time_ratio = {}\n\
             erase_time_ratio = {}\nread_retry_probability = {}\nread_retries = {}\n{}",
            ratios.0,
            ratios.1,
            retry.0,
            retry.1,
            if retry.3 { time } else { String::new() },
        )
    });
    prop_oneof![Just(String::new()), on]
}

/// How long the firmware works; zero in half of the drives.
fn firmware() -> impl Strategy<Value = String> {
    let fixed = nanos(8_000).prop_map(|nanos| format!("time = \"fixed\"\ncommand_ns = {nanos}"));
    let costs = prop::collection::vec(
        prop_oneof![2 => Just(0.0), 1 => Just(1000.0), 2 => 0.0..4_000.0_f64],
        16,
    );
    let counted = (costs, 100..2_000_u32).prop_map(|(costs, clock)| {
        let names = [
            "command",
            "read_page",
            "written_page",
            "copied_kib",
            "flash_read",
            "flash_program",
            "page_moved",
            "flash_erase",
        ];
        let lines = names.iter().zip(costs.chunks(2)).map(|(name, cost)| {
            format!(
                "cost.{name}_cycles = {}\ncost.{name}_memory_ns = {}",
                cost[0], cost[1]
            )
        });
        let lines: Vec<String> = lines.collect();
        format!(
            "time = \"counted\"\nclock_mhz = {clock}\n{}",
            lines.join("\n")
        )
    });
    let on = (1..5_u32, prop_oneof![fixed, counted])
        .prop_map(|(cores, time)| format!("[firmware]\ncores = {cores}\n{time}\n"));
    prop_oneof![Just(String::new()), on]
}

/// The order in which a die takes waiting operations, if it may choose, and the cost of pauses.
fn order() -> impl Strategy<Value = (String, String)> {
    let suspends = (0..4_u32, nanos(4_000), nanos(4_000), nanos(20_000));
    let order = prop::sample::select(Order::WORDS);
    let overtaking = (order, 1..5_u32, suspends, any::<bool>());
    let overtaking = overtaking.prop_map(|(order, limit, suspends, is_map_first)| {
        let (most, suspend, resume, progress) = suspends;
        let most = if order == Order::FirstCome.word() {
            0
        } else {
            most
        };
        (
            format!(
                "order = \"{order}\"\nstarvation_limit = {limit}\n\
                 suspends_per_operation = {most}\n\
                 map_reads_first = {}\n",
                is_map_first && order != Order::FirstCome.word()
            ),
            format!(
                "suspend_ns = {suspend}\nresume_ns = {resume}\nsuspend_progress_ns = {progress}\n"
            ),
        )
    });
    prop_oneof![Just((String::new(), String::new())), overtaking]
}

/// Copyback, cache and multi-plane operations where they are allowed, and the order of operations
/// with them. Dies that take more than one operation at a time do not pause.
fn with_registers(
    order: String,
    (copyback, has_cache, multi_plane, is_chip, data_first): (bool, bool, usize, bool, bool),
    in_order: bool,
    (may_combine, plane_mode): (bool, bool),
) -> (String, String) {
    let unit = if is_chip && !plane_mode {
        "chip"
    } else {
        "die"
    };
    let copyback = format!("copyback = {copyback}\nunit = \"{unit}\"\n");
    let words = MultiPlane::WORDS;
    let word = match words.get(multi_plane) {
        Some(word) if may_combine => word,
        _ => MultiPlane::Off.word(),
    };
    if in_order || (!has_cache && word == MultiPlane::Off.word() && !data_first) {
        return (order, copyback);
    }
    let no_pause = |line: &&str| !line.starts_with("suspends_per_operation");
    let order: Vec<&str> = order.lines().filter(no_pause).collect();
    let channel = if data_first {
        "data_out_first"
    } else {
        "commands_first"
    };
    let registers = format!(
        "cache_operations = {has_cache}\nmulti_plane = \"{word}\"\nchannel = \"{channel}\"\n"
    );
    (order.join("\n") + "\n", copyback + &registers)
}

/// Drives small enough that collection is always at work.
pub fn small_drives() -> impl Strategy<Value = SsdConfig> {
    let shape = (1..4_u32, 1..3_u32, 1..3_u32, 1..3_u32, any::<bool>());
    let pages = (
        prop_oneof![Just(512_u32), Just(4096), Just(16384)],
        1..20_u32,
    );
    let buffer_pages = prop_oneof![Just(0), 1..24_u64];
    let buffer_pages = (
        buffer_pages,
        prop::bool::weighted(0.2),
        0..25_u64,
        any::<u64>(),
    );
    let rest = (
        any::<bool>(),
        any::<bool>(),
        prop_oneof![Just(0.0), Just(0.1)],
    );
    let chips = (prop::bool::weighted(0.3), prop::bool::weighted(0.3));
    let registers = (any::<bool>(), prop::bool::weighted(0.4), 0..5_usize);
    let registers = (registers, chips).prop_map(|(r, c)| (r.0, r.1, r.2, c.0, c.1));
    let rest = (
        rest,
        choices(),
        (wear(), ageing(), firmware()),
        order(),
        registers,
    );
    (shape, pages, timing(), host(), buffer_pages, rest).prop_map(
        |(shape, (page_bytes, pages), timing, host, buffer_pages, rest)| {
            let (channels, ways, dies, planes, plane_mode) = shape;
            let ((in_order, whole_block, sigma), (mapping, policy), ((wear, is_hot_apart), ageing, firmware), order, registers) =
                rest;
            // Firmware that maps blocks does no wear levelling, and only page maps know hot pages.
            let has_map = mapping.contains("demand_cached_page") || mapping.contains("slc");
            let maps_blocks = mapping.contains("scheme") && !has_map;
            let is_hot_apart = is_hot_apart && !maps_blocks && !has_map;
            let mapping = mapping.replace("HALF", &pages.div_ceil(2).to_string());
            let wear = if maps_blocks { String::new() } else { wear };
            let (order, suspends) = if in_order { Default::default() } else { order };
            let may_combine = (planes > 1 && !plane_mode, plane_mode);
            let (order, registers) = with_registers(order, registers, in_order, may_combine);
            let pauses = order.contains("suspends_per_operation")
                && !order.contains("suspends_per_operation = 0");
            let suspends = if pauses { suspends } else { String::new() };
            // One more open block needs more spare space.
            let (ratio, hot) = match (is_hot_apart, has_map) {
                (true, _) => ("0.72", "temperature_classes = 3\n"),
                // The map needs as much again, because every plane may hold pages of it.
                (false, true) => ("1.5", ""),
                (false, false) => ("0.61", ""),
            };
            let start = buffer_pages.2.min(buffer_pages.0);
            let stop = buffer_pages.3 % start.max(1);
            let is_safe = buffer_pages.3 >> 63 == 1;
            // The buffer takes it wherever it begins.
            let atomic = match buffer_pages.3 >> 61 & 3 {
                0 => buffer_pages.0.saturating_sub(1) * u64::from(page_bytes),
                1 => buffer_pages.0.saturating_sub(1) * u64::from(page_bytes) / 1024 * 512,
                _ => 0,
            };
            let text = format!(
                "name = \"random\"\nkind = \"ssd\"\nsummary = \"-\"\n\
                 condition = \"preconditioned\"\n\
                 [geometry]\nchannels = {channels}\nways_per_channel = {ways}\n\
                 dies_per_way = {dies}\nplanes_per_die = {planes}\nblocks_per_plane = 12\n\
                 pages_per_block = {pages}\npage_size_bytes = {page_bytes}\n\
                 over_provisioning_ratio = {ratio}\nplane_mode = {plane_mode}\n\
                 [timing]\n{timing}\n{suspends}\
                 [scheduling]\ndispatch = \"{}\"\n{registers}{order}\
                 [mapping]\n{mapping}\n[collection]\npolicy = \"{policy}\"\npace = \"{}\"\nreserve_blocks_per_plane = 2\n{hot}{wear}{ageing}{firmware}\
                 [host]\n{host}\natomic_write_bytes = {atomic}\n[buffer]\nwrite_buffer_bytes = {}\npolicy = \"{}\"\nflush_start_bytes = {}\nflush_stop_bytes = {}\n\
                 survives_power_loss = {is_safe}\nflush_at_once = {is_safe}\n\
                 [variability]\nsigma = {sigma}\n",
                if in_order { "in_order" } else { "per_die" },
                if whole_block { "whole_block" } else { "paced" },
                buffer_pages.0 * u64::from(page_bytes),
                if buffer_pages.1 { "write_through" } else { "write_back" },
                start * u64::from(page_bytes),
                stop * u64::from(page_bytes),
            );
            SsdConfig::from_text(&text).unwrap()
        },
    )
}

fn ratio() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..=1.0]
}

/// Workloads whose sizes and strides fit the smallest of [`small_drives`] after [`fitted`].
pub fn workloads() -> impl Strategy<Value = Characteristics> {
    let sizes = (1..40_u32, 1..40_u32, 0..20_u64, 0..20_u64);
    (ratio(), 1..40_u32, sizes, ratio(), ratio()).prop_map(
        |(write_ratio, queue_depth, sizes, read_random, write_random)| Characteristics {
            write_ratio,
            queue_depth,
            read_size: sizes.0 * 512,
            write_size: sizes.1 * 512,
            read_random,
            write_random,
            read_stride: sizes.2 * 512,
            write_stride: sizes.3 * 512,
        },
    )
}

/// `workload` with sizes and strides reduced to the size of `config`.
pub fn fitted(workload: Characteristics, config: &SsdConfig) -> Characteristics {
    let capacity = config.geometry.user_capacity_bytes;
    let size = |bytes: u32| bytes.min(capacity as u32);
    let (read_size, write_size) = (size(workload.read_size), size(workload.write_size));
    Characteristics {
        read_size,
        write_size,
        read_stride: workload.read_stride.min(capacity - u64::from(read_size)),
        write_stride: workload.write_stride.min(capacity - u64::from(write_size)),
        ..workload
    }
}

/// How long a run lasts: a number of requests, a time, or until the mean is accurate enough.
pub fn plans() -> impl Strategy<Value = Plan> {
    let warmup = (0..60_u64, prop_oneof![2 => Just(0), 1 => 0..2_000_000_u64]);
    let requests = 1..200_u64;
    let duration = prop_oneof![2 => Just(None), 1 => (1..3_000_000_u64).prop_map(Some)];
    let half_width = prop_oneof![
        2 => Just(None),
        1 => (0.01..1.0_f64, 0..300_u64).prop_map(Some),
    ];
    (warmup, requests, duration, half_width, any::<bool>()).prop_map(
        |(warmup, requests, duration, half_width, by_time_alone)| {
            let by_time_alone = by_time_alone && (duration.is_some() || half_width.is_some());
            let mut plan = Plan::counting(warmup.0, requests);
            plan.window.warmup = Nanos(warmup.1);
            plan.window.duration = duration.map(Nanos);
            plan.window.half_width = half_width.map(|(ratio, more)| HalfWidth {
                ratio,
                max_requests: requests + more,
            });
            if by_time_alone {
                plan.window.requests = None;
            }
            plan
        },
    )
}

/// One command of an open loop before it gets its place: the gap to the previous command, the
/// place, the number of sectors, the kind of command, and whether a write is forced.
pub type Draw = (u64, u32, u32, (CommandKind, bool));

/// Up to `most` commands of an open loop.
pub fn draws(most: usize) -> impl Strategy<Value = Vec<Draw>> {
    let gap = prop_oneof![1 => Just(0), 2 => 0..30_000_u64];
    let kind = prop_oneof![
        4 => Just((CommandKind::Read, false)),
        4 => Just((CommandKind::Write, false)),
        2 => Just((CommandKind::Write, true)),
        1 => Just((CommandKind::Trim, false)),
        1 => Just((CommandKind::Flush, false)),
        1 => Just((CommandKind::WriteZeroes, false)),
    ];
    prop::collection::vec((gap, any::<u32>(), 1..60_u32, kind), 1..most)
}

/// The commands that `draws` stand for on a drive of `capacity_bytes`.
pub fn placed(draws: &[Draw], capacity_bytes: u64) -> Vec<Command> {
    let sectors = capacity_bytes / 512;
    let mut now = 0;
    let place = |&(gap, place, size, (kind, is_forced)): &Draw| {
        now += gap;
        let size = u64::from(size).min(sectors);
        if kind == CommandKind::Flush {
            return Command::flush(Nanos(now));
        }
        Command {
            arrival: Nanos(now),
            offset_bytes: u64::from(place) % (sectors - size + 1) * 512,
            size_bytes: size as u32 * 512,
            kind,
            is_forced,
            content: Content::Random,
            zone: ZoneAction::None,
        }
    };
    draws.iter().map(place).collect()
}
