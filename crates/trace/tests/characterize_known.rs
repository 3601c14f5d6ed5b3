//! Characteristics of traces whose results are known in advance.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{
    BLOCK_BYTES, Characterizer, MOST_BLOCKS, MOST_STREAMS, MOST_WINDOWS, Operation, Record,
    TraceError,
};

use crate::characterize::{characterized, read};

#[test]
fn interleaved_streams_are_told_apart() {
    let interleaved = |streams: u64| {
        let records: Vec<Record> = (0..40 * streams)
            .map(|index| {
                let (step, stream) = (index / streams, index % streams);
                read(index, (stream << 30) + step * 65_536, 65_536)
            })
            .collect();
        characterized(&records, None)
    };
    for streams in [1, 2, 10, MOST_STREAMS as u64] {
        let found = interleaved(streams);
        let orders = found.tally.orders[0];
        assert_eq!((orders.random, orders.sequential), (streams, 39 * streams));
        assert_eq!(orders.adjacent, if streams == 1 { 39 } else { 0 });
        // All other streams came in between each time.
        assert_eq!(found.runs[0].ranks[streams as usize - 1], 39 * streams);
        // Each moved 40 x 64 KiB, between 2^21 and 2^22 bytes.
        assert_eq!(found.runs[0].streams[21], streams);
    }
    assert_eq!(
        interleaved(MOST_STREAMS as u64 + 1).tally.orders[0].sequential,
        0
    );
}

#[test]
fn the_third_request_of_a_stride_is_known() {
    let records: Vec<Record> = (0..100)
        .map(|index| read(index, index * 65_536, 4096))
        .collect();
    let orders = characterized(&records, None).tally.orders[0];
    assert_eq!((orders.random, orders.strided), (2, 98));
    assert_eq!(orders.mean_stride_bytes(), Some(61_440.0));
    assert_eq!(orders.random_ratio(), Some(0.02));
    // A distance seen twice is recognised from each random place on.
    let records: Vec<Record> = (0..300)
        .map(|index| {
            let (place, step) = (scattered(index / 2) >> 20 << 12, index % 2);
            read(index, place + step * 20_480, 4096)
        })
        .collect();
    let orders = characterized(&records, None).tally.orders[0];
    assert_eq!(orders.strided, 0);
    let mut records = records;
    records.insert(2, read(2, records[1].offset_bytes + 20_480, 4096));
    let orders = characterized(&records, None).tally.orders[0];
    assert_eq!((orders.strided, orders.random), (150, 151));
    let back: Vec<Record> = (0..100)
        .map(|index| read(index, (100 - index) * 4096, 4096))
        .collect();
    let orders = characterized(&back, None).tally.orders[0];
    assert_eq!((orders.random, orders.backward), (2, 98));
    let far: Vec<Record> = (0..100)
        .map(|index| read(index, index << 23, 4096))
        .collect();
    assert_eq!(characterized(&far, None).tally.orders[0].random, 100);
}

/// Numbers that look random and are always the same.
fn scattered(index: u64) -> u64 {
    let bits = index.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ (bits >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    bits ^ (bits >> 32)
}

#[test]
fn a_sample_stands_for_blocks_that_are_many() {
    // Uniform accesses to n blocks: a cache of c blocks holds c / n of them.
    let blocks = 8 * MOST_BLOCKS as u64;
    let records: Vec<Record> = (0..4_000_000)
        .map(|index| read(index, scattered(index) % blocks * BLOCK_BYTES, BLOCK_BYTES))
        .collect();
    let found = characterized(&records, None);
    assert!(found.reuse.rate() < 0.14);
    // All but e^-7.6 of the blocks were requested. Tolerance: three standard errors of 0.39 %.
    let footprint = found.reuse.footprint();
    assert!((footprint.blocks / blocks as f64 - 1.0).abs() < 0.012);
    assert_eq!(footprint.written, 0.0);
    let (curve, all) = found.reuse.held(0);
    // The weights of the sampled accesses add up to all accesses, with the standard error of the
    // sample of blocks.
    assert!((all / 4e6 - 1.0).abs() < 0.02);
    for share in [0.125, 0.25, 0.5] {
        let cache = (share * blocks as f64) as u64;
        let (_, held) = curve
            .iter()
            .rev()
            .find(|&&(size, _)| size <= cache)
            .unwrap();
        // While the cache fills, it holds fewer.
        let filling = share + (1.0 - share) * f64::ln(1.0 - share);
        let expected = share - filling * blocks as f64 / 4e6;
        assert!(
            (held / all - expected).abs() < 0.01,
            "{share}: {}",
            held / all
        );
    }
    let hot = found.reuse.hottest(&[0.5, 1.0]);
    assert_eq!(hot[1], Some(1.0));
    assert!(hot[0].is_some_and(|share| share > 0.5 && share < 0.7));
}

#[test]
fn what_comes_round_again_is_as_far_as_the_whole() {
    let blocks = 3 * MOST_BLOCKS as u64;
    let records: Vec<Record> = (0..4 * blocks)
        .map(|index| read(index, index % blocks * BLOCK_BYTES, BLOCK_BYTES))
        .collect();
    let (curve, all) = characterized(&records, None).reuse.held(0);
    let held = |share: f64| {
        let cache = (share * blocks as f64) as u64;
        let below = curve.iter().rev().find(|&&(size, _)| size <= cache);
        below.map_or(0.0, |&(_, held)| held / all)
    };
    assert_eq!(held(0.75), 0.0);
    assert!((held(1.4) - 0.75).abs() < 0.01, "{}", held(1.4));
}

#[test]
fn the_ends_of_numbers_are_no_trouble() {
    let last = u64::MAX - 1;
    let mut far = read(last, last - 4096, 4096);
    far.response_ns = last;
    let records = [read(0, 0, 1), far, read(last, 0, u64::MAX)];
    let found = characterized(&records, Some(u64::MAX));
    assert_eq!(found.tally.requests[0], 3);
    assert_eq!(found.cut_for_reuse, 1);
    assert_eq!(found.windows.len(), 1);
    let none = characterized(&[], Some(1));
    assert_eq!(none.windows, []);
    assert_eq!(none.depth.whole(), None);
    assert_eq!(none.arrivals.counted[0].dispersion(), None);
    let one = characterized(&[read(0, 0, 512)], Some(1));
    assert_eq!(one.windows.len(), 1);
    assert_eq!(one.arrivals.gaps.coefficient_of_variation(), None);
    let ties: Vec<Record> = (0..500).map(|_| read(0, 512, 512)).collect();
    let found = characterized(&ties, Some(1_000));
    assert_eq!(found.arrivals.gaps.coefficient_of_variation(), None);
    assert_eq!(found.arrivals.counted[0].dispersion(), Some(0.0));
}

#[test]
fn windows_without_end_are_refused() {
    let mut characterizer = Characterizer::new(Some(1)).unwrap();
    let most = MOST_WINDOWS as u64;
    let records: Vec<Record> = (0..=most).map(|index| read(index, 0, 512)).collect();
    characterizer.add(&records).unwrap();
    let error = characterizer.finish().unwrap_err();
    assert!(
        matches!(error, TraceError::TooManyWindows { most, width_ns: 1 } if most == MOST_WINDOWS)
    );
    assert!(
        error
            .to_string()
            .contains("windows of 0.000000001 s hold requests")
    );
    let error = Characterizer::new(Some(0)).unwrap_err();
    assert_eq!(error.to_string(), "--window is 0; allowed: 1 ns or more");
}

#[test]
fn more_devices_than_tables_are_counted_each() {
    let devices = 3_000_u32;
    let records: Vec<Record> = (0..4 * u64::from(devices))
        .map(|index| {
            let device = (index % u64::from(devices)) as u32;
            let step = index / u64::from(devices);
            Record::new(index, device, Operation::Write, step * 4096, 4096)
        })
        .collect();
    let found = characterized(&records, None);
    assert_eq!(found.devices.len(), devices as usize);
    assert!(
        found
            .devices
            .iter()
            .all(|device| device.tally.requests[1] == 4)
    );
    let sequential = |device: usize| found.devices[device].tally.orders[1].sequential;
    let (busiest, others) = found.busiest(5);
    assert_eq!(busiest, [0, 1, 2, 3, 4]);
    assert_eq!(others.requests[1], 4 * u64::from(devices - 5));
    assert_eq!(others.orders[1].random, 4 * u64::from(devices - 5));
    // Every table has two or three owners, which take it from one another.
    assert_eq!((0..devices as usize).map(sequential).sum::<u64>(), 0);
    assert_eq!(found.reuse.footprint().written, 4.0 * f64::from(devices));
}

#[test]
fn outstanding_without_end_is_no_depth() {
    let records: Vec<Record> = (0..(1 << 20) + 5)
        .map(|index| {
            let mut record = read(index, 0, 512);
            record.response_ns = 1 << 60;
            record
        })
        .collect();
    let found = characterized(&records, None);
    assert!(found.depth.is_beyond());
    assert_eq!(found.depth.whole(), None);
}

#[test]
fn sizes_are_exact_while_they_are_few() {
    let mut records: Vec<Record> = (0..10).map(|index| read(index, 0, 4096)).collect();
    records.extend((0..5_000).map(|index| read(100 + index, 0, 512 * (index + 1))));
    let found = characterized(&records, None);
    let sizes = &found.sizes[0];
    assert_eq!(sizes.exact().len(), 4096);
    assert_eq!(sizes.exact()[7], (4096, 11));
    assert_eq!(sizes.others(), 5_000 - 4096);
    assert_eq!(sizes.histogram().count(), 5_010);
}
