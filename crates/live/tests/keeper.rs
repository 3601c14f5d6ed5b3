//! The owner of the drive, with the time passed in.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use drivelab_live::clock::{Dilation, Due, Keeper};
use drivelab_live::serve::MediaTotal;
use drivelab_request::{Command, CommandKind, Content, Histogram, Nanos, ZoneAction};
use drivelab_sim::drive::{Drive, Prepared, State};
use drivelab_sim::host::{
    Completion, Device, FlashCounters, Outcome, PARTS, PartNames, Plan, SimError,
};
use drivelab_workload::Stream;

use crate::small_drive::prepared;

const SERVICE_NS: u64 = 100_000;

/// Serves every command in the same time, however many there are.
#[derive(Default)]
struct Constant {
    queue: BTreeMap<(u64, u32), ()>,
    next_tag: u32,
}

impl Device for Constant {
    fn capacity_bytes(&self) -> u64 {
        1 << 30
    }

    fn part_names(&self) -> PartNames {
        &[]
    }

    fn takes_trims(&self) -> bool {
        true
    }

    fn begin(&mut self, _: u64, _: u64) -> f64 {
        1.0
    }

    fn submit(&mut self, _: &Command, now: u64) -> Result<u32, SimError> {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.queue.insert((now + SERVICE_NS, tag), ());
        Ok(tag)
    }

    fn next_event(&self) -> Option<u64> {
        self.queue.keys().next().map(|&(at, _)| at)
    }

    fn serve_until(
        &mut self,
        limit: u64,
        completions: &mut Vec<Completion>,
    ) -> Result<Option<u64>, SimError> {
        if let Some(at) = self.next_event().filter(|&at| at <= limit) {
            while self.next_event() == Some(at) {
                let Some(((at, tag), ())) = self.queue.pop_first() else {
                    break;
                };
                completions.push(Completion {
                    tag,
                    at,
                    parts: [0; PARTS],
                });
            }
        }
        Ok(self.next_event())
    }

    fn drain(&mut self, _: u64) -> bool {
        false
    }

    fn open_window(&mut self, _: u64) {}

    fn close_window(&mut self, _: u64, _: &mut Outcome) {}
}

fn command(kind: CommandKind, offset_bytes: u64, size_bytes: u32) -> Command {
    Command {
        arrival: Nanos::ZERO,
        offset_bytes,
        size_bytes,
        kind,
        is_forced: false,
        content: Content::Random,
        zone: ZoneAction::None,
    }
}

fn constant(dilation: f64) -> Keeper {
    let dilation = Dilation::new(dilation).unwrap();
    Keeper::new(Box::new(Constant::default()), 0, dilation)
}

#[test]
fn a_reply_is_due_when_the_drive_says_and_not_before() {
    let mut due = Vec::new();
    let mut keeper = constant(1.0);
    let read = command(CommandKind::Read, 0, 4096);
    keeper.submit(1_000, (read, false), 7, &mut due).unwrap();
    let at = 1_000 + SERVICE_NS;
    assert_eq!(keeper.next_moment(), Some(at));
    keeper.come_to(at - 1, &mut due).unwrap();
    assert_eq!((due.len(), keeper.outstanding()), (0, 1));
    keeper.come_to(at, &mut due).unwrap();
    let expected = Due {
        ticket: 7,
        at,
        latency: SERVICE_NS,
    };
    assert_eq!((due, keeper.outstanding()), (vec![expected], 0));
}

#[test]
fn dilated_time_is_longer_outside_and_the_same_inside() {
    for (factor, wall) in [(10.0, 1_000_000), (1.5, 150_000), (3.333, 333_300)] {
        let mut due = Vec::new();
        let mut keeper = constant(factor);
        let read = command(CommandKind::Read, 0, 4096);
        keeper.submit(0, (read, false), 1, &mut due).unwrap();
        keeper.come_to(wall - 1, &mut due).unwrap();
        assert_eq!(due, []);
        keeper.come_to(wall, &mut due).unwrap();
        let expected = Due {
            ticket: 1,
            at: wall,
            latency: SERVICE_NS,
        };
        assert_eq!(due, [expected]);
    }
    for factor in [0.0, 0.99, f64::NAN, f64::INFINITY, 1e6, -1.0] {
        assert_eq!(Dilation::new(factor), None);
    }
}

/// A late check reports when things were due, not when it was made.
#[test]
fn what_was_due_before_keeps_its_time() {
    let mut due = Vec::new();
    let mut keeper = constant(1.0);
    for (place, at) in [0_u64, 10_000, 20_000].into_iter().enumerate() {
        let read = command(CommandKind::Read, 0, 512);
        keeper
            .submit(at, (read, false), place as u64, &mut due)
            .unwrap();
    }
    // The fourth arrives when two are already due.
    let write = command(CommandKind::Write, 0, 512);
    keeper.submit(115_000, (write, false), 3, &mut due).unwrap();
    keeper.come_to(1_000_000, &mut due).unwrap();
    let found: Vec<_> = due.iter().map(|due| (due.ticket, due.at)).collect();
    assert_eq!(
        found,
        [(0, 100_000), (1, 110_000), (2, 120_000), (3, 215_000)]
    );
}

#[test]
fn a_long_range_is_sent_piece_by_piece() {
    let mut due = Vec::new();
    let mut keeper = constant(1.0);
    let zeroes = command(CommandKind::Write, 512, (3 << 20) + 512);
    keeper.submit(0, (zeroes, true), 1, &mut due).unwrap();
    keeper.come_to(4 * SERVICE_NS - 1, &mut due).unwrap();
    assert_eq!((due.len(), keeper.outstanding()), (0, 1));
    keeper.come_to(4 * SERVICE_NS, &mut due).unwrap();
    assert_eq!(due[0].latency, 4 * SERVICE_NS);
}

/// Timed reads, writes, trims and flushes, some at the same moment.
fn mixed(capacity: u64, count: u64) -> Vec<Command> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) % below
    };
    let mut at = 0;
    let next = |_| {
        at += draw(3) * draw(40_000);
        let kind = [CommandKind::Read, CommandKind::Write][draw(2) as usize];
        let kind = match draw(40) {
            0 => CommandKind::Trim,
            1 => CommandKind::Flush,
            _ => kind,
        };
        let pages = 1 + draw(8);
        let is_flush = kind == CommandKind::Flush;
        let offset = draw(capacity / 4096 - pages) * 4096;
        Command {
            arrival: Nanos(at),
            is_forced: kind == CommandKind::Write && draw(10) == 0,
            ..command(
                kind,
                if is_flush { 0 } else { offset },
                if is_flush { 0 } else { pages as u32 * 4096 },
            )
        }
    };
    (0..count).map(next).collect()
}

/// Sends timed commands to the simulator, and to a device in the same previous state. Every latency
/// is equal.
fn send_to_both(prepared: &Prepared, drive: &mut Drive, commands: &[Command]) {
    let saved = drive.save();
    let count = commands.len() as u64;
    let streams = [Stream::timed("all", commands.to_vec())];
    let plan = Plan::counting(0, count);
    let outcome = drive.run(&streams, plan, (5, 0), State::Kept).unwrap();

    let device = prepared.device(Some(&saved)).unwrap();
    let mut keeper = Keeper::new(device, 5, Dilation::default());
    let (mut due, mut media) = (Vec::new(), MediaTotal::default());
    for (ticket, command) in (0..).zip(commands) {
        let now = command.arrival.0;
        // Checked from time to time in between, as in real use.
        let before = now.saturating_sub(1 + ticket % 3 * 5_000);
        keeper.come_to(before, &mut due).unwrap();
        if ticket % 50 == 49 {
            // Watching changes nothing.
            media.add(&keeper.end_stretch(before));
        }
        keeper
            .submit(now, (*command, false), ticket, &mut due)
            .unwrap();
    }
    while keeper.outstanding() > 0 {
        let now = keeper.next_moment().unwrap();
        keeper.come_to(now, &mut due).unwrap();
    }
    assert_eq!(due.len() as u64, count);
    let last = due.iter().map(|due| due.at).max().unwrap();
    media.add(&keeper.end_stretch(last));
    same_media(&media, &outcome);
    let mut live = [const { Vec::new() }; CommandKind::ALL.len()];
    for one in &due {
        let command = &commands[one.ticket as usize];
        assert!(one.at >= command.arrival.0);
        live[command.kind.index()].push(one.latency);
    }
    for kind in CommandKind::ALL {
        let mut latency = Histogram::new();
        live[kind.index()].iter().for_each(|&ns| latency.record(ns));
        let counted = &outcome.streams[0].commands[kind.index()].counted;
        assert_eq!(latency.mean_ns(), counted.latency.mean_ns(), "{kind}");
        assert!(latency == counted.latency, "{kind}");
    }
}

/// The intervals add up to the counts of one run.
fn same_media(live: &MediaTotal, run: &Outcome) {
    let (live_flash, run_flash) = (live.flash.as_ref().unwrap(), run.media.flash().unwrap());
    let counts = |of: &FlashCounters| {
        let operations = (of.page_reads, of.host_page_programs, of.block_erases);
        (operations, of.collection_moves, of.buffer_hit_pages)
    };
    assert_eq!(counts(live_flash), counts(&run_flash));
    // The run's window is in the host's time, which may differ.
    let shares = &run_flash.unit_utilisation_ratio;
    for (busy, share) in live.unit_busy_seconds.iter().zip(shares) {
        assert!(
            (busy - share * live.seconds).abs() < 1e-6 * live.seconds,
            "{busy} {share}"
        );
    }
}

/// A drive in real time answers exactly like the simulator, also from a saved state.
#[test]
fn a_drive_in_real_time_is_the_simulators() {
    for changes in [
        "",
        "variability.correlated_sigma = 0.4\nvariability.correlation_time_ns = 100_000_000",
    ] {
        let prepared = prepared(changes);
        let capacity = prepared.device(None).unwrap().capacity_bytes();
        // No trims: a separate run refuses to read trimmed pages.
        let commands: Vec<_> = mixed(capacity, 6_000)
            .into_iter()
            .filter(|command| command.kind != CommandKind::Trim)
            .collect();
        let (first, rest) = commands.split_at(3_000);
        let begin = rest[0].arrival.0;
        let later = |command: &Command| Command {
            arrival: Nanos(command.arrival.0 - begin),
            ..*command
        };
        let second: Vec<_> = rest.iter().map(later).collect();
        let mut drive = prepared.worker(&std::sync::Arc::default());
        send_to_both(&prepared, &mut drive, first);
        send_to_both(&prepared, &mut drive, &second);
    }
}

/// Number of events in a drive after its last request completed, which nobody requested.
fn moments_of_rest(changes: &str) -> usize {
    let device = prepared(changes).device(None).unwrap();
    let capacity = device.capacity_bytes();
    let mut keeper = Keeper::new(device, 0, Dilation::default());
    let mut due = Vec::new();
    let read = command(CommandKind::Read, 0, 4096);
    keeper.submit(0, (read, false), 0, &mut due).unwrap();
    let mut now = 1_000_000_u64;
    for ticket in 1..4_000 {
        let page = ticket * 0x9E37_79B9 % (capacity / 4096);
        let write = command(CommandKind::Write, page * 4096, 4096);
        keeper
            .submit(now, (write, false), ticket, &mut due)
            .unwrap();
        now += 300_000;
    }
    while keeper.outstanding() > 0 {
        now = keeper.next_moment().unwrap();
        keeper.come_to(now, &mut due).unwrap();
    }
    assert_eq!(due.len(), 4_000);
    let mut moments = 0;
    while let Some(at) = keeper.next_moment() {
        assert!(at < now + 1_000_000_000, "it never rests");
        keeper.come_to(at, &mut due).unwrap();
        moments += 1;
    }
    moments
}

#[test]
fn a_drive_without_data_may_be_read_and_idle_time_is_used() {
    let fresh = "condition = \"fresh\"";
    let idle = "collection.background_blocks_per_plane = 8\n\
                collection.background_idle_ns = 500_000";
    let (without, with) = (
        moments_of_rest(fresh),
        moments_of_rest(&format!("{fresh}\n{idle}")),
    );
    assert!(with > without + 4, "{with} moments, {without} without");
}

/// A second of a drive that serves one request after another, and one in which it rests.
#[test]
fn a_stretch_tells_what_the_drive_did_in_it_and_holds() {
    let device = prepared("").device(None).unwrap();
    let pages = device.capacity_bytes() / 4096;
    let mut keeper = Keeper::new(device, 0, Dilation::default());
    let mut due = Vec::new();
    for ticket in 0..1_000_u64 {
        let now = ticket * 1_000_000;
        // 64 bits of a hash: all planes, in no particular order.
        let page = ticket.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let write = command(CommandKind::Write, page % pages * 4096, 4096);
        keeper
            .submit(now, (write, false), ticket, &mut due)
            .unwrap();
    }
    keeper.come_to(1_000_000_000, &mut due).unwrap();
    let busy = keeper.end_stretch(1_000_000_000);
    assert_eq!((busy.length_ns, busy.outstanding), (1_000_000_000, 0));
    let flash = busy.media.flash().unwrap().into_owned();
    assert!(
        flash.host_page_programs > 900 && flash.collection_moves > 0,
        "{flash:?}"
    );
    assert!(
        flash
            .unit_utilisation_ratio
            .iter()
            .all(|&share| share > 0.0 && share < 1.0)
    );
    let room = busy.fullness.room.unwrap();
    assert_eq!((room.blocks, room.planes), (128, 4));
    assert!(room.free_blocks > 0 && room.free_blocks < 64, "{room:?}");
    assert!(busy.fullness.buffer_bytes >= busy.fullness.buffered_bytes);

    keeper.come_to(3_000_000_000, &mut due).unwrap();
    let rest = keeper.end_stretch(3_000_000_000);
    assert_eq!(rest.length_ns, 2_000_000_000);
    let flash = rest.media.flash().unwrap().into_owned();
    assert_eq!(flash.host_page_programs + flash.page_reads, 0);
    assert_eq!(flash.unit_utilisation_ratio, [0.0; 4]);
}
