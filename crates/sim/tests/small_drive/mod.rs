//! A drive small enough to compute its times by hand, and commands for it.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use drivelab_request::{Command, CommandKind, Content, Nanos, ZoneAction};
use drivelab_sim::drive::{self, Measuring, States, Work};
use drivelab_sim::host::SimError;
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::{Characteristics, Stream};

pub const PAGE: u32 = 4096;

/// Two dies on two channels, with queues at the dies; dispatch, host and buffer take no time. A
/// read takes 50 + 10 us, a write 10 + 300 us. Even pages lie on die 0.
pub const BASE: &str = "
name = \"base\"
kind = \"ssd\"
summary = \"for tests\"
condition = \"filled\"
geometry.channels = 2
geometry.ways_per_channel = 1
geometry.dies_per_way = 1
geometry.planes_per_die = 1
geometry.blocks_per_plane = 64
geometry.pages_per_block = 16
geometry.page_size_bytes = 4096
geometry.user_capacity_bytes = 6291456
geometry.plane_mode = false
timing.read_dispatch_ns = 0
timing.write_dispatch_ns = 0
timing.erase_dispatch_ns = 0
timing.read_register_ns = 10_000
timing.write_register_ns = 10_000
timing.read_cell_ns = 50_000
timing.program_cell_ns = 300_000
timing.erase_cell_ns = 1_000_000
scheduling.dispatch = \"per_die\"
collection.policy = \"greedy\"
collection.pace = \"paced\"
collection.reserve_blocks_per_plane = 2
host.interface = \"free\"
buffer.write_buffer_bytes = 0
variability.sigma = 0.0
";

/// A link of 409.6 MB/s, which moves a page in 10 us. Commands and acknowledgements take no time.
pub const LINK: &str = "
host.link_bytes_per_second = 409_600_000
host.read_command_ns = 0
host.write_command_ns = 0
host.write_acknowledge_ns = 0
";

/// One die instead of two.
pub const ONE_DIE: &str = "
geometry.channels = 1
geometry.user_capacity_bytes = 2097152
";

/// The configuration of the drive with these lines in place of its own.
pub fn config(changes: &[&str]) -> SsdConfig {
    let text = format!("base = \"base\"\nname = \"small\"\n{}", changes.join("\n"));
    SsdConfig::from_toml(&text, |name| (name == "base").then(|| BASE.to_owned())).unwrap()
}

/// The error for a drive with these impossible lines.
pub fn refused(changes: &str) -> String {
    let text = format!("base = \"base\"\nname = \"small\"\n{changes}");
    let made = SsdConfig::from_toml(&text, |name| (name == "base").then(|| BASE.to_owned()));
    made.unwrap_err().to_string()
}

pub fn drive(changes: &[&str]) -> Prepared {
    Prepared::new(config(changes)).unwrap()
}

/// A command for whole pages.
pub fn command(kind: CommandKind, arrival_us: u64, page: u64, pages: u32) -> Command {
    Command {
        arrival: Nanos(arrival_us * 1000),
        offset_bytes: page * u64::from(PAGE),
        size_bytes: pages * PAGE,
        kind,
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    }
}

pub fn read(arrival_us: u64, page: u64) -> Command {
    command(CommandKind::Read, arrival_us, page, 1)
}

pub fn write(arrival_us: u64, page: u64) -> Command {
    command(CommandKind::Write, arrival_us, page, 1)
}

/// Runs all of them and counts all.
pub fn run<C: Into<Command>>(drive: &Prepared, commands: Vec<C>) -> Outcome {
    let plan = Plan::counting(0, commands.len() as u64);
    drive.worker().run(&timed(commands), plan, 0, 0).unwrap()
}

/// One stream of commands that arrive at their own times.
pub fn timed<C: Into<Command>>(commands: impl IntoIterator<Item = C>) -> [Stream; 1] {
    [Stream::timed("all", commands)]
}

/// One closed loop over the whole drive.
pub fn closed(workload: Characteristics) -> [Stream; 1] {
    [Stream::closed("all", workload)]
}

/// The drive behind the common interface.
pub fn worker(prepared: &Prepared) -> drive::Drive {
    drive::Drive::Ssd(Box::new(prepared.worker()))
}

/// Closed loops over the whole drive, each with the index of its measurement.
pub fn work(loops: &[(u64, Characteristics)], plan: Plan) -> Vec<Work> {
    let one = |&(index, workload): &(u64, Characteristics)| Work {
        index,
        streams: closed(workload).into(),
        plan,
        settling: None,
    };
    loops.iter().map(one).collect()
}

/// The states of a drive, to measure from.
pub fn states(prepared: &Prepared) -> Arc<States> {
    Arc::new(States::of(drive::Prepared::Ssd(prepared.clone())))
}

/// Measures each workload from the prepared state, in order. The error is the first one.
pub fn measured(
    prepared: &Prepared,
    loops: &[(u64, Characteristics)],
    seed: u64,
    plan: Plan,
    workers: usize,
) -> Result<Vec<Outcome>, SimError> {
    Measuring::start(&states(prepared), work(loops, plan), seed, workers).collect()
}
