//! Characteristics of a trace compared with a second, simple way to compute them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use drivelab_trace::{
    BLOCK_BYTES, COLUMNS, Characterized, Characterizer, DISTANCES, HeatMap, MOST_STREAMS,
    MOST_STRIDE_BYTES, Operation, Orders, ROWS, Record, UNKNOWN, Window,
};
use proptest::prelude::*;

/// Characterizes requests that are in order.
pub fn characterized(records: &[Record], window_ns: Option<u64>) -> Characterized {
    let mut characterizer = Characterizer::new(window_ns).unwrap();
    // In batches, as a trace gives them.
    for batch in records.chunks(7) {
        characterizer.add(batch).unwrap();
    }
    characterizer.finish().unwrap()
}

pub fn read(at_ns: u64, offset: u64, size: u64) -> Record {
    Record::new(at_ns, 0, Operation::Read, offset, size)
}

/// A request; its arrival is the time after the previous one.
fn request() -> impl Strategy<Value = Record> {
    let gap_ns = prop_oneof![
        Just(0),
        1_u64..1_000,
        1_u64..300_000_000,
        1_u64..20_000_000_000
    ];
    // Few places, so that requests meet; sometimes one far away.
    let offset = prop_oneof![
        8 => (0_u64..64).prop_map(|slot| slot * 2048),
        1 => (0_u64..1 << 50).prop_map(|slot| slot * 512)
    ];
    let size = prop_oneof![
        Just(2048_u64),
        Just(4096),
        (1_u64..40).prop_map(|n| n * 512)
    ];
    let response = prop_oneof![Just(UNKNOWN), Just(0), 1_u64..2_000_000_000];
    let operation = prop_oneof![
        4 => Just(Operation::Read),
        4 => Just(Operation::Write),
        1 => Just(Operation::Trim),
        1 => Just(Operation::Flush)
    ];
    (gap_ns, 0_u32..3, operation, offset, size, response).prop_map(
        |(gap_ns, device, operation, offset, size, response_ns)| Record {
            response_ns,
            device_ns: response_ns / 2,
            ..Record::new(gap_ns, device, operation, offset, size)
        },
    )
}

fn requests() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec(request(), 1..150).prop_map(|mut records| {
        let mut at_ns = 0;
        for (place, record) in records.iter_mut().enumerate() {
            at_ns += if place == 0 { 0 } else { record.arrival_ns };
            record.arrival_ns = at_ns;
            if record.device_ns == UNKNOWN / 2 {
                record.device_ns = UNKNOWN;
            }
        }
        records
    })
}

fn moves(record: &&Record) -> bool {
    matches!(record.operation, Operation::Read | Operation::Write)
}

/// When it was last used, where it ends, and the expected distance.
type PlainStream = (usize, i128, Option<i128>);

/// The simple way: streams with the time of their last use, searched from the most recent.
fn plain_orders(records: &[Record]) -> [Orders; 2] {
    let mut orders = [Orders::default(); 2];
    let mut streams: BTreeMap<(u32, usize), Vec<PlainStream>> = BTreeMap::new();
    // Forward distances, and when each was last used.
    let mut distances: BTreeMap<(u32, usize), BTreeMap<i128, usize>> = BTreeMap::new();
    for (now, record) in records
        .iter()
        .enumerate()
        .filter(|(_, record)| moves(record))
    {
        let direction = record.operation.index();
        let known = streams.entry((record.device, direction)).or_default();
        let seen = distances.entry((record.device, direction)).or_default();
        let (offset, end) = (
            i128::from(record.offset_bytes),
            i128::from(record.offset_bytes + record.size_bytes),
        );
        known.sort_by_key(|&(used, ..)| std::cmp::Reverse(used));
        let counted = &mut orders[direction];
        counted.adjacent += u64::from(known.first().is_some_and(|&(_, last, _)| last == offset));
        let follows = known.iter().position(|&(_, last, _)| last == offset);
        let strided = known
            .iter()
            .position(|&(_, last, gap)| gap == Some(offset - last));
        let as_others = known
            .iter()
            .position(|&(_, last, _)| seen.contains_key(&(offset - last)));
        if let Some(place) = follows.or(strided).or(as_others) {
            let gap = offset - known[place].1;
            if gap > 0 {
                seen.insert(gap, now);
                if seen.len() > DISTANCES {
                    let oldest = *seen.iter().min_by_key(|&(_, used)| used).unwrap().0;
                    seen.remove(&oldest);
                }
            }
            match gap {
                0 => counted.sequential += 1,
                1.. => {
                    counted.strided += 1;
                    counted.stride_bytes += gap as u128;
                }
                _ => counted.backward += 1,
            }
            known[place] = (now, end, Some(gap));
            continue;
        }
        counted.random += 1;
        let nearest = known
            .iter()
            .map(|&(_, last, _)| offset - last)
            .min_by_key(|gap| gap.abs())
            .filter(|gap| gap.unsigned_abs() <= u128::from(MOST_STRIDE_BYTES));
        known.truncate(MOST_STREAMS - 1);
        known.push((now, end, nearest));
    }
    orders
}

/// Depth times time, and time with something outstanding, from `begin` to `end`.
fn plain_busy(records: &[Record], begin: u64, end: u64) -> (u128, u64) {
    let spans: Vec<(u64, u64)> = records
        .iter()
        .filter(|record| record.response_ns != UNKNOWN)
        .map(|record| (record.arrival_ns, record.arrival_ns + record.response_ns))
        .map(|(from, to)| (from.clamp(begin, end), to.clamp(begin, end)))
        .collect();
    let area = spans.iter().map(|(from, to)| u128::from(to - from)).sum();
    let times: BTreeSet<u64> = spans.iter().flat_map(|&(from, to)| [from, to]).collect();
    let times: Vec<u64> = times.into_iter().collect();
    let busy = times
        .windows(2)
        .filter(|pair| {
            let inside = |&(from, to): &(u64, u64)| from <= pair[0] && pair[1] <= to;
            spans.iter().any(inside)
        })
        .map(|pair| pair[1] - pair[0]);
    (area, busy.sum())
}

/// Every access to a block, in order: the device, the block, the direction.
fn accesses(records: &[Record]) -> Vec<(u32, u64, usize)> {
    let mut found = Vec::new();
    for record in records.iter().filter(moves) {
        let end = record.offset_bytes + record.size_bytes;
        let mut block = record.offset_bytes / BLOCK_BYTES;
        while block * BLOCK_BYTES < end {
            found.push((record.device, block, record.operation.index()));
            block += 1;
        }
    }
    found
}

fn filled(map: &HeatMap, direction: usize) -> Vec<(u32, u32, u32)> {
    let cells = map.cells(direction).iter().enumerate();
    cells
        .filter(|&(_, &count)| count > 0)
        .map(|(place, &count)| ((place / ROWS) as u32, (place % ROWS) as u32, count))
        .collect()
}

fn plain_cells(records: &[Record], map: &HeatMap, direction: usize) -> Vec<(u32, u32, u32)> {
    let mut cells: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for record in records
        .iter()
        .filter(|record| record.operation.index() == direction)
    {
        let column = record.arrival_ns / map.column_ns;
        let row = record.offset_bytes / map.row_bytes;
        *cells.entry((column as u32, row as u32)).or_default() += 1;
    }
    cells
        .into_iter()
        .map(|((column, row), count)| (column, row, count))
        .collect()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs().max(1.0)
}

/// Compares a window with the requests in it. `before` are all requests up to its end.
fn check_window(window: &Window, inside: &[Record], before: &[Record], end_ns: u64) {
    let count = |operation| {
        let found = inside.iter().filter(|record| record.operation == operation);
        found.count() as u64
    };
    assert_eq!(window.tally.requests, Operation::ALL.map(count));
    let blocks: BTreeSet<_> = accesses(inside)
        .into_iter()
        .map(|(device, block, _)| (device, block))
        .collect();
    assert_eq!(window.blocks, blocks.len() as f64);
    let so_far: BTreeSet<_> = accesses(before)
        .into_iter()
        .map(|(device, block, _)| (device, block))
        .collect();
    assert_eq!(window.blocks_so_far, so_far.len() as f64);
    let responses: Vec<u64> = inside
        .iter()
        .filter(moves)
        .map(|record| record.response_ns)
        .filter(|&ns| ns != UNKNOWN)
        .collect();
    let mean = responses.iter().sum::<u64>() as f64 / responses.len() as f64;
    assert_eq!(window.response.is_some(), !responses.is_empty());
    if let Some(times) = window.response {
        assert!(near(times.mean_ns, mean));
        assert_eq!(Some(times.most_ns), responses.iter().copied().max());
    }
    if let Some(busy) = window.busy {
        let plain = plain_busy(before, window.begin_ns, end_ns);
        assert_eq!((busy.area_ns, busy.busy_ns), plain);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn orders_are_those_of_a_plain_table(records in requests()) {
        let found = characterized(&records, None);
        let plain = plain_orders(&records);
        prop_assert_eq!(&found.tally.orders, &plain);
        for (runs, orders) in found.runs.iter().zip(&plain) {
            prop_assert_eq!(runs.streams.iter().sum::<u64>(), orders.random);
            prop_assert_eq!(runs.requests.iter().sum::<u64>(), orders.requests());
            let ranked: u64 = runs.ranks.iter().sum();
            prop_assert_eq!(ranked, orders.requests() - orders.random);
        }
    }

    #[test]
    fn arrivals_are_those_of_plain_lists(records in requests()) {
        let found = characterized(&records, None);
        let gaps: Vec<f64> = records
            .windows(2)
            .map(|pair| (pair[1].arrival_ns - pair[0].arrival_ns) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let squares: f64 = gaps.iter().map(|gap| (gap - mean).powi(2)).sum();
        let plain = (squares / gaps.len() as f64).sqrt() / mean;
        match found.arrivals.gaps.coefficient_of_variation() {
            Some(found) => prop_assert!((found - plain).abs() < 1e-6 * plain.max(1.0)),
            None => prop_assert!(gaps.len() < 2 || mean == 0.0),
        }
        for counted in &found.arrivals.counted {
            let last = records[records.len() - 1].arrival_ns / counted.width_ns;
            let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
            for record in &records {
                *bins.entry(record.arrival_ns / counted.width_ns).or_default() += 1;
            }
            let intervals = (last + 1) as f64;
            let mean = records.len() as f64 / intervals;
            let squares: f64 = bins.values().map(|&count| (count as f64).powi(2)).sum();
            let dispersion = (squares / intervals - mean * mean) / mean;
            prop_assert_eq!(counted.intervals(), last + 1);
            prop_assert_eq!(Some(counted.most), bins.values().copied().max());
            prop_assert_eq!(bins[&counted.most_at], counted.most);
            prop_assert!(near(counted.dispersion().unwrap(), dispersion.max(0.0)));
        }
    }

    #[test]
    fn depth_is_that_of_all_times_gone_through(records in requests()) {
        let found = characterized(&records, None);
        let end = records.iter().map(|record| record.arrival_ns).max().unwrap() + 3_000_000_000;
        let known = records.iter().any(|record| record.response_ns != UNKNOWN);
        let plain = plain_busy(&records, 0, end);
        prop_assert_eq!(found.depth.whole().map(|busy| (busy.area_ns, busy.busy_ns)),
            known.then_some(plain));
        for device in 0..3 {
            let own: Vec<Record> = records
                .iter()
                .filter(|record| record.device == device)
                .copied()
                .collect();
            let (area, busy) = plain_busy(&own, 0, end);
            let found = found.depth.device(device as usize);
            prop_assert_eq!(found.map_or((0, 0), |busy| (busy.area_ns, busy.busy_ns)), (area, busy));
        }
    }

    #[test]
    fn reuse_is_that_of_a_plain_list(records in requests()) {
        let found = characterized(&records, None);
        let accesses = accesses(&records);
        let mut distances: [Vec<u64>; 2] = Default::default();
        let mut first = [0.0; 2];
        for (place, &(device, block, direction)) in accesses.iter().enumerate() {
            let before = &accesses[..place];
            let same = |&(other, at, _): &(u32, u64, usize)| (other, at) == (device, block);
            match before.iter().rposition(same) {
                None => first[direction] += 1.0,
                Some(last) => {
                    let between: BTreeSet<_> = before[last + 1..]
                        .iter()
                        .map(|&(device, block, _)| (device, block))
                        .collect();
                    distances[direction].push(between.len() as u64);
                }
            }
        }
        let has = |wanted: &dyn Fn(usize) -> bool| -> BTreeSet<(u32, u64)> {
            accesses
                .iter()
                .filter(|access| wanted(access.2))
                .map(|&(device, block, _)| (device, block))
                .collect()
        };
        let (read, written) = (has(&|by| by == 0), has(&|by| by == 1));
        let footprint = found.reuse.footprint();
        prop_assert_eq!(found.reuse.rate(), 1.0);
        prop_assert_eq!(footprint.blocks, has(&|_| true).len() as f64);
        prop_assert_eq!(footprint.read, read.len() as f64);
        prop_assert_eq!(footprint.written, written.len() as f64);
        prop_assert_eq!(footprint.both, read.intersection(&written).count() as f64);
        for direction in 0..2 {
            let (curve, all) = found.reuse.held(direction);
            prop_assert_eq!(all, first[direction] + distances[direction].len() as f64);
            for (blocks, held) in curve {
                let fit = distances[direction].iter().filter(|&&far| far < blocks);
                prop_assert_eq!(held, fit.count() as f64);
            }
        }
    }

    #[test]
    fn the_grid_holds_every_request_and_is_more_than_half_full(records in requests()) {
        let found = characterized(&records, None);
        let moved: Vec<Record> = records.iter().filter(moves).copied().collect();
        for direction in 0..2 {
            prop_assert_eq!(filled(&found.heat, direction), plain_cells(&moved, &found.heat, direction));
        }
        for (device, map) in found.device_heat.iter().enumerate() {
            let own: Vec<Record> = moved
                .iter()
                .filter(|record| record.device as usize == device)
                .copied()
                .collect();
            prop_assert_eq!(filled(map, 0), plain_cells(&own, map, 0));
        }
        let last = moved.last().map_or(0, |record| record.arrival_ns);
        let columns = last / found.heat.column_ns;
        prop_assert!(columns < COLUMNS as u64);
        prop_assert!(found.heat.column_ns == 1_000 || columns >= COLUMNS as u64 / 2);
        let most = moved.iter().map(|record| record.offset_bytes).max().unwrap_or(0);
        let rows = most / found.heat.row_bytes;
        prop_assert!(rows < ROWS as u64);
        prop_assert!(found.heat.row_bytes == 4096 || rows >= ROWS as u64 / 2);
    }

    #[test]
    fn windows_hold_what_lies_in_them(
        records in requests(),
        width_ns in prop_oneof![Just(1_u64 << 40), 1_000_u64..5_000_000_000],
    ) {
        let found = characterized(&records, Some(width_ns));
        let last_ns = records[records.len() - 1].arrival_ns;
        let begins: BTreeSet<u64> = records
            .iter()
            .map(|record| record.arrival_ns - record.arrival_ns % width_ns)
            .collect();
        let rows: Vec<u64> = found.windows.iter().map(|window| window.begin_ns).collect();
        prop_assert_eq!(rows, begins.into_iter().collect::<Vec<_>>());
        for window in &found.windows {
            let end_ns = (window.begin_ns + width_ns).min(last_ns);
            prop_assert_eq!(window.duration_ns, end_ns - window.begin_ns);
            let before: Vec<Record> = records
                .iter()
                .filter(|record| record.arrival_ns < window.begin_ns + width_ns)
                .copied()
                .collect();
            let inside: Vec<Record> = before
                .iter()
                .filter(|record| record.arrival_ns >= window.begin_ns)
                .copied()
                .collect();
            check_window(window, &inside, &before, end_ns);
        }
        let sum: u64 = found.windows.iter().map(|window| window.tally.all_requests()).sum();
        prop_assert_eq!(sum, records.len() as u64);
        let orders: u64 = found.windows.iter().map(|window| window.tally.orders[0].random).sum();
        prop_assert_eq!(orders, found.tally.orders[0].random);
    }
}
