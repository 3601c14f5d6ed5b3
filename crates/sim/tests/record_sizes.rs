//! How the bandwidth of an idle drive grows with the size of a record.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_request::Direction::{self, Read, Write};
use drivelab_sim::preset::SsdConfig;
use drivelab_sim::ssd::{Outcome, Plan, Prepared};
use drivelab_workload::Characteristics;
use proptest::prelude::*;

use crate::counted::flash;
use crate::small_drive::measured;

const PAGE: u32 = 4096;

/// The most pages of a record, in multiples of the number of units.
const MOST: u32 = 6;

fn drives() -> impl Strategy<Value = SsdConfig> {
    let shape = (1..=6_u32, 1..=4_u32, 1..=2_u32, 1..=2_u32, any::<bool>());
    let dispatch = (0..40_000_u64, 0..40_000_u64);
    let register = (0..90_000_u64, 0..90_000_u64);
    let cell = (0..200_000_u64, 0..1_000_000_u64);
    let rest = (any::<bool>(), any::<bool>());
    (shape, dispatch, register, cell, rest).prop_map(|(shape, dispatch, register, cell, rest)| {
        let (channels, ways, dies, planes, plane_mode) = shape;
        let mode = if rest.0 { "in_order" } else { "per_die" };
        // In half of the drives dispatch takes no time.
        let unless_free = |nanos: u64| if rest.1 { nanos } else { 0 };
        SsdConfig::from_text(&format!(
            "base = \"bench-64gib\"\nname = \"any\"\ncondition = \"filled\"\n\
             [geometry]\nchannels = {channels}\nways_per_channel = {ways}\ndies_per_way = {dies}\nplanes_per_die = {planes}\n\
             blocks_per_plane = 40\npages_per_block = 16\nplane_mode = {plane_mode}\n\
             over_provisioning_ratio = 1.0\n\
             [timing]\nread_dispatch_ns = {}\nwrite_dispatch_ns = {}\nread_register_ns = {}\n\
             write_register_ns = {}\nread_cell_ns = {}\nprogram_cell_ns = {}\n\
             [scheduling]\ndispatch = \"{mode}\"\n",
            unless_free(dispatch.0),
            unless_free(dispatch.1),
            register.0,
            register.1,
            cell.0 + 1,
            cell.1 + 1,
        ))
        .unwrap()
    })
}

/// The latency of a few records, one after another, for each number of pages.
fn record_ns(prepared: &Prepared, direction: Direction, sizes: &[u32]) -> Vec<u64> {
    let work: Vec<_> = sizes
        .iter()
        .map(|&pages| Characteristics {
            write_ratio: if direction == Write { 1.0 } else { 0.0 },
            queue_depth: 1,
            read_size: pages * PAGE,
            write_size: pages * PAGE,
            read_random: 1.0,
            write_random: 1.0,
            read_stride: 0,
            write_stride: 0,
        })
        .zip(0..)
        .map(|(workload, index)| (index, workload))
        .collect();
    // Few enough writes that collection does not start.
    let outcomes = measured(prepared, &work, 7, Plan::counting(0, 3), 1).unwrap();
    let record = |outcome: &Outcome| {
        assert_eq!(flash(outcome).collection_page_programs, 0);
        let latency = &outcome.of(direction).latency;
        assert_eq!(latency.min_ns(), latency.max_ns());
        latency.max_ns().unwrap()
    };
    outcomes.iter().map(record).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Records of a multiple of rho pages, the pages in flight at once (Yoo et al. 2014). Each unit
    /// has the same number of pages, so none idles while others finish, and the fixed cost of the
    /// first and last pages is spread over more. No tolerance.
    #[test]
    fn larger_records_of_whole_rounds_never_lose_bandwidth(config in drives()) {
        let rho = config.units();
        let sizes: Vec<u32> = (1..=MOST).map(|rounds| rounds * rho).collect();
        let prepared = Prepared::new(config).unwrap();
        for direction in [Read, Write] {
            let times = record_ns(&prepared, direction, &sizes);
            for fewer in 1..times.len() {
                let (shorter, longer) = (times[fewer - 1], times[fewer]);
                let more = fewer + 1;
                // Bandwidths are rounds / time, compared without division.
                prop_assert!(
                    more as u64 * shorter >= fewer as u64 * longer,
                    "{}: {} rounds of {} pages take {} ns, {} rounds {} ns",
                    direction, fewer, rho, shorter, more, longer
                );
            }
        }
    }
}
