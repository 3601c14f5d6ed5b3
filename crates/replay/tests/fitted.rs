//! How the requests of a trace are placed on a drive.

use std::collections::BTreeSet;

use drivelab_replay::{Fit, REGION_BYTES};
use drivelab_request::CommandKind;
use drivelab_trace::{BadLines, Options};
use proptest::prelude::*;

use crate::written::{RECORDED, Row, origin, read, replay, spc, survey, with};

const SECTOR: u64 = 512;

/// Requests to three devices, some close together, some far apart.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let sector = prop_oneof![
        0_u64..20_000,
        1_000_000_u64..1_010_000,
        1_u64 << 40..1_u64 << 40 | 9000
    ];
    let one = (0_u32..3, sector, 1_u64..3_000, any::<bool>());
    proptest::collection::vec(one, 1..80).prop_map(|drawn| {
        let row = |(at, (device, sector, sectors, writes))| {
            (at, device, sector, sectors * SECTOR, writes)
        };
        (0..).zip(drawn).map(row).collect()
    })
}

/// Devices in the order in which they appear.
fn devices(rows: &[Row]) -> Vec<u32> {
    let mut devices = Vec::new();
    for &(_, device, ..) in rows {
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    devices
}

/// The beginning of each device when they are placed in a row.
fn bases(rows: &[Row]) -> Vec<(u32, u64)> {
    let mut next = 0;
    let mut bases = Vec::new();
    for device in devices(rows) {
        bases.push((device, next));
        let of_device = rows.iter().filter(|row| row.1 == device);
        let end = of_device.map(|row| row.2 * SECTOR + row.3).max().unwrap();
        next += end.next_multiple_of(REGION_BYTES);
    }
    bases
}

fn base(rows: &[Row], device: u32) -> u64 {
    bases(rows)
        .into_iter()
        .find(|each| each.0 == device)
        .unwrap()
        .1
}

proptest! {
    #[test]
    fn kept_addresses_are_the_recorded_ones_with_devices_in_a_row(rows in rows()) {
        let replay = replay(&origin(spc(&rows)), Fit::Keep, RECORDED);
        let end = replay.surveyed.layout.end_bytes();
        let read_on = read(&replay, end).unwrap();
        for (sent, row) in read_on.iter().zip(&rows) {
            prop_assert_eq!(sent.command.offset_bytes, base(&rows, row.1) + row.2 * SECTOR);
            prop_assert_eq!(u64::from(sent.command.size_bytes), row.3);
        }
        let ends = read_on.iter().map(|each| each.command.offset_bytes + u64::from(each.command.size_bytes));
        prop_assert_eq!(ends.max(), Some(end));
        // One sector less is not enough.
        let error = read(&replay, end - SECTOR).unwrap_err();
        prop_assert!(error.contains("wrap or scale"), "{}", error);
    }

    #[test]
    fn wrapped_addresses_begin_again_and_stay_on_the_drive(
        rows in rows(), sectors in 3_000_u64..100_000
    ) {
        let capacity = sectors * SECTOR;
        let replay = replay(&origin(spc(&rows)), Fit::Wrap, RECORDED);
        for (sent, row) in read(&replay, capacity).unwrap().iter().zip(&rows) {
            let at = (base(&rows, row.1) + row.2 * SECTOR) % capacity;
            prop_assert_eq!(sent.command.offset_bytes, at.min(capacity - row.3));
        }
    }

    #[test]
    fn scaled_addresses_keep_their_order_and_what_follows_each_other(rows in rows()) {
        let replay = replay(&origin(spc(&rows)), Fit::Scale, RECORDED);
        let end = replay.surveyed.layout.end_bytes();
        // Regions that requests touch, by device in order of appearance, sorted.
        let order = devices(&rows);
        let place = |device: u32| order.iter().position(|&each| each == device).unwrap();
        let touched: BTreeSet<(usize, u64)> = rows
            .iter()
            .flat_map(|&(_, device, sector, size, _)| {
                let (first, last) = (sector * SECTOR, sector * SECTOR + size - 1);
                (first / REGION_BYTES..=last / REGION_BYTES).map(move |region| (device, region))
            })
            .map(|(device, region)| (place(device), region))
            .collect();
        prop_assert_eq!(end, touched.len() as u64 * REGION_BYTES);
        for (sent, row) in read(&replay, end).unwrap().iter().zip(&rows) {
            let offset = row.2 * SECTOR;
            let region = (place(row.1), offset / REGION_BYTES);
            let before = touched.range(..region).count() as u64;
            prop_assert_eq!(sent.command.offset_bytes, before * REGION_BYTES + offset % REGION_BYTES);
        }
        prop_assert!(read(&replay, end - SECTOR).is_err());
    }
}

#[test]
fn what_is_no_whole_sectors_is_sent_as_the_sectors_that_hold_it() {
    let text = "0,1,1,R,0.0\n0,0,512,R,0.1\n0,0,513,W,0.2\n";
    let options = Options {
        sector_bytes: Some(1),
        ..Options::default()
    };
    let replay = replay(&with(text, options), Fit::Keep, RECORDED);
    let sent: Vec<_> = read(&replay, 1 << 20)
        .unwrap()
        .iter()
        .map(|each| (each.command.offset_bytes, each.command.size_bytes))
        .collect();
    assert_eq!(sent, [(0, 512), (0, 512), (0, 1024)]);
    assert_eq!(
        (replay.surveyed.facts.rounded, replay.surveyed.facts.bytes),
        (2, 2048)
    );
    assert_eq!(replay.surveyed.facts.alignment_bytes, 512);
}

#[test]
fn a_request_larger_than_a_command_is_sent_in_pieces() {
    let size = (2 << 26) + 4096_u64;
    let text = format!("0,8,{size},R,0.0\n0,0,4096,R,0.5\n");
    let replay = replay(&origin(text), Fit::Keep, RECORDED);
    let facts = &replay.surveyed.facts;
    assert_eq!(
        (facts.requests, facts.cut, facts.commands),
        (2, 1, [4, 0, 0, 0, 0])
    );
    assert_eq!((facts.largest_bytes, facts.bytes), (1 << 26, size + 4096));
    assert_eq!(facts.alignment_bytes, 4096);
    let read = read(&replay, 1 << 30).unwrap();
    let sent: Vec<_> = read
        .iter()
        .map(|each| (each.command.offset_bytes, each.command.size_bytes))
        .collect();
    let piece = 1 << 26;
    assert_eq!(
        sent,
        [
            (4096, piece),
            (4096 + (1 << 26), piece),
            (4096 + (2 << 26), 4096),
            (0, 4096)
        ]
    );
    assert!(read[..3].iter().all(|each| each.command.arrival.0 == 0));
}

#[test]
fn trims_and_flushes_are_sent_and_other_operations_left_out_and_counted() {
    let text = "fio version 3 iolog\n0 /dev/a add\n1 /dev/a open\n5 /dev/a read 0 4096\n\
                6 /dev/a trim 8192 4096\n7 /dev/a sync\n9 /dev/a write 4096 4096\n";
    let replay = replay(&origin(text), Fit::Keep, RECORDED);
    let facts = &replay.surveyed.facts;
    assert_eq!(facts.commands, [1, 1, 1, 1, 0]);
    let kinds: Vec<_> = read(&replay, 1 << 20)
        .unwrap()
        .iter()
        .map(|each| each.command.kind)
        .collect();
    use CommandKind::{Flush, Read, Trim, Write};
    assert_eq!(kinds, [Read, Trim, Flush, Write]);
}

#[test]
fn a_thousand_devices_and_far_offsets_take_as_much_as_they_touch() {
    let rows: Vec<Row> = (0..5_000)
        .map(|at| (at, (at % 1000) as u32, at << 30, 4096, false))
        .collect();
    let origin = origin(spc(&rows));
    let scaled = survey(&origin, Fit::Scale, false).unwrap();
    assert_eq!(scaled.layout.end_bytes(), 5_000 * REGION_BYTES);
    assert_eq!(scaled.facts.devices.len(), 1000);
    let kept = survey(&origin, Fit::Keep, false).unwrap();
    assert!(kept.layout.end_bytes() > 1_000_000_000_000_000);
}

#[test]
fn a_device_that_is_chosen_begins_at_0() {
    let text = "7,1000,4096,R,0\n3,16,4096,R,0.1\n7,8,4096,W,0.2\n";
    let options = Options {
        devices: Some(vec!["3".to_owned()]),
        bad_lines: BadLines::Refuse,
        ..Options::default()
    };
    let replay = replay(&with(text, options), Fit::Keep, RECORDED);
    assert_eq!(replay.surveyed.facts.requests, 1);
    assert_eq!(
        read(&replay, 1 << 20).unwrap()[0].command.offset_bytes,
        16 * SECTOR
    );
}
