//! Power loss: the content of the drive's cache is gone, and flushed data is there.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use drivelab_live::data::{BegunFlush, BegunWrite, Loss, MemoryStore, Store, Volatile};
use drivelab_live::serve::{Door, Place, PowerCuts, Serving, Settings, Told};

use crate::server::{answer, client, path, settings};
use crate::small_drive::prepared;
use crate::spoken::{FLUSH, READ, WRITE, request, simple};

const IO: u32 = 5;
const PAGE: u32 = 16_384;

/// Pages gather in the buffer until there are many, or somebody flushes.
const GATHERING: &str = "buffer.write_buffer_bytes = 1048576\n\
    buffer.flush_start_bytes = 524288\nbuffer.flush_stop_bytes = 0\n";

const CUTS: PowerCuts = PowerCuts {
    every_ns: 1_000_000_000,
    off_ns: 50_000_000,
    loss: Loss::All,
};

fn ask(socket: &mut UnixStream, (flags, kind): (u16, u16), page: u64, data: &[u8]) -> u32 {
    let range = match kind {
        FLUSH => (0, 0),
        _ => (page * u64::from(PAGE), PAGE),
    };
    socket.write_all(&request(flags, kind, 1, range)).unwrap();
    socket.write_all(data).unwrap();
    let reply = answer(socket, 16);
    let error = u32::from_be_bytes(reply[4..8].try_into().unwrap());
    assert_eq!(reply, simple(1, error));
    error
}

fn read(socket: &mut UnixStream, page: u64) -> Vec<u8> {
    assert_eq!(ask(socket, (0, READ), page, &[]), 0);
    answer(socket, PAGE as usize)
}

/// Writes pages in three ways, waits for a power failure, and returns the content afterwards.
fn cut(name: &str, changes: &str) -> ([Vec<u8>; 3], Told) {
    let device = prepared(changes).device(None).unwrap();
    let size = device.capacity_bytes();
    let path = path(name);
    let door = Door::open(Place::Path(path.clone())).unwrap();
    let settings = Settings {
        power_cuts: Some(CUTS),
        ..settings(size)
    };
    let store = Store::Memory(MemoryStore::new(size, size));
    let mut serving = Serving::start(door, Some(device), store, settings).unwrap();
    let mut socket = client(&path);
    let data = |byte| vec![byte; PAGE as usize];
    // Page 0 was flushed and is written again, page 1 is new, page 2 is forced.
    assert_eq!(ask(&mut socket, (0, WRITE), 0, &data(1)), 0);
    assert_eq!(ask(&mut socket, (0, FLUSH), 0, &[]), 0);
    assert_eq!(ask(&mut socket, (0, WRITE), 0, &data(2)), 0);
    assert_eq!(ask(&mut socket, (0, WRITE), 0, &data(3)), 0);
    assert_eq!(ask(&mut socket, (0, WRITE), 1, &data(4)), 0);
    assert_eq!(ask(&mut socket, (1, WRITE), 2, &data(5)), 0);
    let until = Instant::now() + Duration::from_secs(20);
    while serving.told().power_cuts == 0 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    }
    let back = loop {
        let error = ask(&mut socket, (0, READ), 9, &[]);
        if error == 0 {
            answer(&mut socket, PAGE as usize);
            break [0, 1, 2].map(|page| read(&mut socket, page));
        }
        assert_eq!(error, IO);
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    };
    (back, serving.stop())
}

fn filled(byte: u8) -> Vec<u8> {
    vec![byte; PAGE as usize]
}

#[test]
fn what_was_neither_flushed_nor_forced_is_lost() {
    let (back, counts) = cut("cut", GATHERING);
    assert_eq!(back, [filled(1), filled(0), filled(5)]);
    assert_eq!(
        (counts.power_cuts, counts.lost_bytes),
        (1, 2 * u64::from(PAGE))
    );
    assert!(counts.failure.is_none());
}

#[test]
fn a_buffer_behind_capacitors_loses_nothing() {
    let kept = format!("{GATHERING}buffer.survives_power_loss = true\n");
    let (back, counts) = cut("kept", &kept);
    assert_eq!(back, [filled(3), filled(4), filled(5)]);
    assert_eq!(counts.lost_bytes, 0);
}

#[test]
fn a_drive_without_a_buffer_loses_nothing_that_it_acknowledged() {
    let (back, counts) = cut("none", "buffer.write_buffer_bytes = 0\n");
    assert_eq!(back, [filled(3), filled(4), filled(5)]);
    assert_eq!(counts.lost_bytes, 0);
}

const SECTOR: u64 = 512;

fn store() -> Store {
    Store::Memory(MemoryStore::new(1 << 20, 1 << 20))
}

fn sector(store: &Store, number: u64) -> u8 {
    let mut out = Vec::new();
    store.read(number * SECTOR, 512, &mut out).unwrap();
    assert!(out.iter().all(|&byte| byte == out[0]));
    out[0]
}

fn write(
    volatile: &mut Volatile,
    store: &mut Store,
    number: u64,
    byte: u8,
    is_held: bool,
) -> BegunWrite {
    let range = (number * SECTOR, SECTOR);
    // No other sector is durable.
    let is_volatile = |offset| offset != range.0 || is_held;
    let begun = volatile.begin(store, range, is_volatile).unwrap();
    store.write(range.0, &[byte; 512]).unwrap();
    begun
}

#[test]
fn a_sector_goes_back_to_what_was_last_programmed() {
    let (mut volatile, mut store) = (Volatile::default(), store());
    let begun = write(&mut volatile, &mut store, 0, 1, false);
    volatile.end(begun, (0, SECTOR), false);
    // Programmed in the meantime, so this is what comes back. Later writes are in the cache.
    let begun = write(&mut volatile, &mut store, 0, 2, false);
    volatile.end(begun, (0, SECTOR), false);
    let begun = write(&mut volatile, &mut store, 0, 3, true);
    volatile.end(begun, (0, SECTOR), false);
    // Never complete, although the cache does not hold it.
    write(&mut volatile, &mut store, 1, 4, false);
    // Complete and programmed.
    let begun = write(&mut volatile, &mut store, 2, 5, false);
    volatile.end(begun, (2 * SECTOR, SECTOR), false);
    let lost = volatile.cut(&mut store, |offset| offset == 0, |_| true);
    assert_eq!(lost, Ok(2));
    assert_eq!([0, 1, 2].map(|number| sector(&store, number)), [1, 0, 5]);
    // Nothing of it is left for the next failure.
    assert_eq!(volatile.cut(&mut store, |_| true, |_| true), Ok(0));
}

#[test]
fn what_was_flushed_stays_when_more_of_its_page_is_written() {
    let (mut volatile, mut store) = (Volatile::default(), store());
    let mut write = |number: u64, byte, is_volatile: bool| {
        let range = (number * SECTOR, SECTOR);
        let begun = volatile.begin(&store, range, |_| is_volatile).unwrap();
        store.write(range.0, &[byte; 512]).unwrap();
        volatile.end(begun, (range.0, SECTOR), false);
    };
    // The drive reports on whole pages: it holds nothing, then it is flushed, then it holds the
    // second sector.
    write(0, 1, false);
    write(1, 2, false);
    assert_eq!(volatile.cut(&mut store, |_| true, |_| true), Ok(1));
    assert_eq!([0, 1].map(|number| sector(&store, number)), [1, 0]);
}

#[test]
fn what_was_flushed_stays_when_it_is_written_again_meanwhile() {
    for atomic in [0, 8 * SECTOR] {
        let (mut volatile, mut store) = (Volatile::with_units_of(atomic), store());
        let old = write(&mut volatile, &mut store, 0, 1, true);
        volatile.end(old, (0, SECTOR), false);
        let flush = volatile.begin_flush();
        // Begins and ends during the flush, which does not cover it.
        let new = write(&mut volatile, &mut store, 0, 2, true);
        volatile.end(new, (0, SECTOR), false);
        volatile.end_flush(flush, true);
        assert_eq!(volatile.cut(&mut store, |_| true, |_| true), Ok(1));
        assert_eq!(sector(&store, 0), 1);
    }
}

#[test]
fn a_flush_that_failed_keeps_nothing() {
    let (mut volatile, mut store) = (Volatile::default(), store());
    let old = write(&mut volatile, &mut store, 0, 1, true);
    volatile.end(old, (0, SECTOR), false);
    let flush = volatile.begin_flush();
    write(&mut volatile, &mut store, 0, 2, true);
    volatile.end_flush(flush, false);
    assert_eq!(volatile.cut(&mut store, |_| true, |_| true), Ok(1));
    assert_eq!(sector(&store, 0), 0);
}

#[test]
fn a_forced_write_stays_when_a_write_over_it_is_lost() {
    let (mut volatile, mut store) = (Volatile::default(), store());
    let forced = write(&mut volatile, &mut store, 0, 1, true);
    write(&mut volatile, &mut store, 0, 2, true);
    volatile.end(forced, (0, SECTOR), true);
    assert_eq!(volatile.cut(&mut store, |_| true, |_| true), Ok(1));
    assert_eq!(sector(&store, 0), 1);
}

/// A write of the test below: first sector, number of sectors, when it ended.
struct Sent {
    begun: BegunWrite,
    sectors: std::ops::Range<u64>,
    is_forced: bool,
    ended: Option<usize>,
}

#[test]
fn nothing_that_was_flushed_is_ever_lost() {
    const SECTORS: u64 = 8;
    let mut state = 7;
    let mut lost = 0;
    for round in 0..20_000 {
        let (mut volatile, mut store) = (Volatile::with_units_of(round % 4 * SECTOR), store());
        let mut sent: Vec<Sent> = Vec::new();
        let mut flushes: Vec<(BegunFlush, usize)> = Vec::new();
        let mut ended = 0;
        // Of each sector, the last write that is durable; 0 before the first.
        let mut floor = [0; SECTORS as usize];
        for _ in 0..drawn(&mut state, 24) {
            match drawn(&mut state, 7) {
                0..3 => {
                    let size = drawn(&mut state, 4) + 1;
                    let first = drawn(&mut state, SECTORS - size + 1);
                    let sectors = first..first + size;
                    let last_to = |sector: u64| {
                        let covers = |each: &Sent| each.sectors.contains(&sector);
                        sent.iter().rposition(covers).map_or(0, |place| place + 1)
                    };
                    // The newest data of a sector is in the cache unless it was flushed.
                    let is_volatile = |offset: u64| {
                        let sector = offset / SECTOR;
                        sector < SECTORS && last_to(sector) > floor[sector as usize]
                    };
                    let range = (first * SECTOR, size * SECTOR);
                    let begun = volatile.begin(&store, range, is_volatile).unwrap();
                    let data = vec![sent.len() as u8 + 1; (size * SECTOR) as usize];
                    store.write(range.0, &data).unwrap();
                    sent.push(Sent {
                        begun,
                        sectors,
                        is_forced: drawn(&mut state, 4) == 0,
                        ended: None,
                    });
                }
                3..5 if !sent.is_empty() => {
                    let place = drawn(&mut state, sent.len() as u64) as usize;
                    let one = &mut sent[place];
                    if one.ended.is_none() {
                        ended += 1;
                        one.ended = Some(ended);
                        let size = one.sectors.end - one.sectors.start;
                        let range = (one.sectors.start * SECTOR, size * SECTOR);
                        volatile.end(one.begun, range, one.is_forced);
                        if one.is_forced {
                            for sector in one.sectors.clone() {
                                let floor = &mut floor[sector as usize];
                                *floor = place.saturating_add(1).max(*floor);
                            }
                        }
                    }
                }
                5 => flushes.push((volatile.begin_flush(), ended)),
                _ if !flushes.is_empty() => {
                    let place = drawn(&mut state, flushes.len() as u64) as usize;
                    let (flush, covered) = flushes.swap_remove(place);
                    volatile.end_flush(flush, true);
                    for (sector, floor) in (0..).zip(&mut floor) {
                        let is_covered = |each: &Sent| {
                            each.sectors.contains(&sector)
                                && each.ended.is_some_and(|ended| ended <= covered)
                        };
                        let last = sent.iter().rposition(is_covered);
                        *floor = last.map_or(0, |place| place + 1).max(*floor);
                    }
                }
                _ => {}
            }
        }
        let last_to = |sector: u64| {
            let covers = |each: &Sent| each.sectors.contains(&sector);
            sent.iter().rposition(covers).map_or(0, |place| place + 1)
        };
        let is_volatile = |offset: u64| {
            let number = offset / SECTOR;
            last_to(number) > floor[number as usize]
        };
        lost += volatile.cut(&mut store, is_volatile, |_| true).unwrap();
        for (number, &least) in (0..).zip(&floor) {
            let found = usize::from(sector(&store, number));
            assert!(
                found >= least,
                "round {round}: sector {number} has write {found}, and {least} was durable"
            );
        }
    }
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn some_pages_are_lost_and_others_not() {
    let (mut volatile, mut store) = (Volatile::default(), store());
    for number in 0..64 {
        write(&mut volatile, &mut store, number, 9, true);
    }
    let lost = volatile.cut(&mut store, |_| true, |page| page % 2 == 0);
    assert_eq!(lost, Ok(32));
    for number in 0..64 {
        let is_lost = number / 8 % 2 == 0;
        assert_eq!(sector(&store, number), if is_lost { 0 } else { 9 });
    }
}

#[test]
fn a_trim_is_for_good() {
    let (mut volatile, mut store) = (Volatile::default(), store());
    write(&mut volatile, &mut store, 3, 9, true);
    store.forget(0, 8 * SECTOR).unwrap();
    volatile.forget(0, 8 * SECTOR);
    assert_eq!(volatile.cut(&mut store, |_| true, |_| true), Ok(0));
}

/// A store of 64 KiB of which a write of 16 KiB, from 2 KiB on, was lost or not, and what may be
/// lost of it.
fn torn(atomic: u64, is_complete: bool, is_volatile: impl Fn(u64) -> bool) -> [Vec<u8>; 2] {
    [0, 1].map(|parity| {
        let (mut volatile, mut store) = (Volatile::with_units_of(atomic), store());
        let begun = volatile.begin(&store, (2048, 16_384), |_| false).unwrap();
        store.write(2048, &[9; 16_384]).unwrap();
        if is_complete {
            volatile.end(begun, (2048, 16_384), false);
        }
        let lost = volatile.cut(&mut store, &is_volatile, |page| page % 2 == parity);
        assert!(lost.is_ok());
        (4..36).map(|number| sector(&store, number)).collect()
    })
}

#[test]
fn of_a_write_that_is_atomic_all_is_lost_or_nothing() {
    // It begins in page 0: that is drawn for all of it.
    for is_complete in [false, true] {
        let [even, odd] = torn(16_384, is_complete, |_| true);
        assert_eq!((even, odd), (vec![0; 32], vec![9; 32]));
    }
    // Its last page was not programmed: the others are not committed either.
    let [even, odd] = torn(16_384, true, |offset| offset >= 16_384);
    assert_eq!((even, odd), (vec![0; 32], vec![9; 32]));
    // All were.
    assert_eq!(torn(16_384, true, |_| false), [vec![9; 32], vec![9; 32]]);
    // A larger one is torn.
    let [even, odd] = torn(16_384 - 512, true, |_| true);
    assert_eq!((even[0], even[4], odd[0], odd[4]), (0, 9, 9, 0));
}

#[test]
fn what_is_trimmed_of_an_atomic_write_is_no_part_of_it_any_more() {
    // One write to the last page of the first 256 KiB and to the next page, programmed.
    const HALF: u64 = 4096;
    let (begin, middle) = ((256 << 10) - HALF, 256 << 10);
    let (mut volatile, mut store) = (Volatile::with_units_of(2 * HALF), store());
    let whole = (begin, 2 * HALF);
    let begun = volatile.begin(&store, whole, |_| false).unwrap();
    store.write(begin, &[9; 2 * HALF as usize]).unwrap();
    volatile.end(begun, (begin, 2 * HALF), false);
    // Its first half is trimmed and written again, and that is lost.
    store.forget(begin, HALF).unwrap();
    volatile.forget(begin, HALF);
    let begun = volatile.begin(&store, (begin, HALF), |_| false).unwrap();
    store.write(begin, &[7; HALF as usize]).unwrap();
    volatile.end(begun, (begin, HALF), false);
    let lost = volatile.cut(&mut store, |offset| offset < middle, |_| true);
    assert_eq!(lost, Ok(8));
    let found = [begin, middle].map(|offset| sector(&store, offset / SECTOR));
    assert_eq!(found, [0, 9]);
}

/// The next number below `limit` of a sequence.
fn drawn(state: &mut u64, limit: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 33) % limit
}

#[test]
fn no_atomic_write_is_torn_whatever_overlaps_and_is_programmed() {
    const MOST: u64 = 4 * SECTOR;
    let mut state = 1;
    for round in 0..2_000 {
        let (mut volatile, mut store) = (Volatile::with_units_of(MOST), store());
        // Sectors are the drive's pages here, each durable or not.
        let mut is_held = [false; 32];
        let mut writes: Vec<(u64, u64, u8)> = Vec::new();
        for number in 1..=drawn(&mut state, 8) as u8 + 1 {
            let size = drawn(&mut state, 6) + 1;
            let first = drawn(&mut state, 32 - size);
            let range = (first * SECTOR, size * SECTOR);
            let would_lose = |offset: u64| is_held.get((offset / SECTOR) as usize) == Some(&true);
            let begun = volatile.begin(&store, range, would_lose).unwrap();
            let data = vec![number; (size * SECTOR) as usize];
            store.write(range.0, &data).unwrap();
            if drawn(&mut state, 4) > 0 {
                volatile.end(begun, range, false);
            }
            for sector in first..first + size {
                is_held[sector as usize] = true;
            }
            writes.push((first, size, number));
            for held in &mut is_held {
                *held &= drawn(&mut state, 4) > 0;
            }
        }
        let would_lose = |offset: u64| is_held[(offset / SECTOR) as usize];
        let bits = drawn(&mut state, 1 << 8);
        let is_lost = |page: u64| bits >> (page % 8) & 1 == 1;
        volatile.cut(&mut store, would_lose, is_lost).unwrap();
        for (place, &(first, size, number)) in writes.iter().enumerate() {
            let later = &writes[place + 1..];
            let is_last = |sector: &u64| {
                let covers =
                    |&(first, size, _): &(u64, u64, u8)| (first..first + size).contains(sector);
                !later.iter().any(covers)
            };
            let mut own = (first..first + size).filter(is_last);
            let is_there = |at: u64| sector(&store, at) == number;
            if size * SECTOR <= MOST
                && let Some(one) = own.next()
            {
                assert!(
                    own.all(|other| is_there(other) == is_there(one)),
                    "round {round}"
                );
            }
        }
    }
}
