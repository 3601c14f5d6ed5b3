//! What the members of an array did, together.

use drivelab_ftl::EraseCounts;

use crate::hdd::DiskWork;
use crate::host::Outcome;
use crate::ssd::Energy;

/// Adds what the members did to the outcome of their array.
pub(super) fn join(outcome: &mut Outcome) {
    let members = std::mem::take(&mut outcome.members);
    for member in &members {
        outcome.host_programs += member.host_programs;
        outcome.collection_programs += member.collection_programs;
        outcome.wear_programs += member.wear_programs;
        outcome.map_programs += member.map_programs;
        outcome.fold_programs += member.fold_programs;
        outcome.map_reads += member.map_reads;
        outcome.map_hits += member.map_hits;
        outcome.map_misses += member.map_misses;
        outcome.packed_pages += member.packed_pages;
        outcome.zero_pages += member.zero_pages;
        outcome.all_programs += member.all_programs;
        outcome.copyback_programs += member.copyback_programs;
        outcome.copyback_reads += member.copyback_reads;
        outcome.page_reads += member.page_reads;
        outcome.erases += member.erases;
        outcome.read_retries = sum(outcome.read_retries, member.read_retries);
        outcome.retired_blocks = sum(outcome.retired_blocks, member.retired_blocks);
        outcome.bad_blocks = sum(outcome.bad_blocks, member.bad_blocks);
        outcome.collections += member.collections;
        outcome.collection_moves += member.collection_moves;
        outcome.wear_moves += member.wear_moves;
        outcome.switch_merges += member.switch_merges;
        outcome.partial_merges += member.partial_merges;
        outcome.full_merges += member.full_merges;
        outcome.buffer_hits += member.buffer_hits;
        outcome.coalesced_pages += member.coalesced_pages;
        outcome.cache_hits += member.cache_hits;
        outcome.cache_misses += member.cache_misses;
        outcome.read_ahead_pages += member.read_ahead_pages;
        let (channels, units) = (&member.channel_utilisation, &member.unit_utilisation);
        outcome.channel_utilisation.extend_from_slice(channels);
        outcome.unit_utilisation.extend_from_slice(units);
    }
    outcome.disk = disk(members.iter().filter_map(|member| member.disk));
    let requests = outcome.measured_requests;
    outcome.energy = energy(members.iter().filter_map(|member| member.energy), requests);
    outcome.erase_counts = erase_counts(members.iter().filter_map(|member| member.erase_counts));
    outcome.members = members;
}

/// Of what one of two drives may not tell.
fn sum<T: Copy + std::ops::Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        _ => one.or(other),
    }
}

fn energy(members: impl Iterator<Item = Energy>, requests: u64) -> Option<Energy> {
    let mut sum = members.reduce(|sum, member| Energy {
        cell_joules: sum.cell_joules + member.cell_joules,
        channel_joules: sum.channel_joules + member.channel_joules,
        idle_joules: sum.idle_joules + member.idle_joules,
        mean_watts: sum.mean_watts + member.mean_watts,
        iops_per_watt: 0.0,
    })?;
    if sum.joules() > 0.0 {
        sum.iops_per_watt = requests as f64 / sum.joules();
    }
    Some(sum)
}

/// Sums, and the mean utilisation.
fn disk(members: impl Iterator<Item = DiskWork> + Clone) -> Option<DiskWork> {
    let count = members.clone().count() as f64;
    let mut sum = members.reduce(|sum, member| DiskWork {
        media_reads: sum.media_reads + member.media_reads,
        media_writes: sum.media_writes + member.media_writes,
        media_bytes: sum.media_bytes + member.media_bytes,
        cache_hits: sum.cache_hits + member.cache_hits,
        read_ahead_bytes: sum.read_ahead_bytes + member.read_ahead_bytes,
        replaced_bytes: sum.replaced_bytes + member.replaced_bytes,
        utilisation: sum.utilisation + member.utilisation,
    })?;
    sum.utilisation /= count;
    Some(sum)
}

/// Of the blocks of all members, which have as many each.
fn erase_counts(members: impl Iterator<Item = EraseCounts> + Clone) -> Option<EraseCounts> {
    let count = members.clone().count() as f64;
    let mean = members.clone().map(|member| member.mean).sum::<f64>() / count;
    // The mean of the squares, less the square of the mean.
    let squares = |member: &EraseCounts| {
        member.standard_deviation * member.standard_deviation + member.mean * member.mean
    };
    let square = members.clone().map(|member| squares(&member)).sum::<f64>() / count;
    Some(EraseCounts {
        least: members.clone().map(|member| member.least).min()?,
        most: members.map(|member| member.most).max()?,
        mean,
        standard_deviation: (square - mean * mean).max(0.0).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erase_counts_of_members_are_those_of_all_their_blocks() {
        let blocks = [[1, 3, 5, 7], [2, 2, 2, 10]];
        let members = blocks.map(|counts| EraseCounts::of(counts.into_iter()));
        let all = EraseCounts::of(blocks.concat().into_iter());
        let joined = erase_counts(members.into_iter()).unwrap_or(members[0]);
        assert_eq!((joined.least, joined.most), (all.least, all.most));
        assert!((joined.mean - all.mean).abs() < 1e-12);
        assert!((joined.standard_deviation - all.standard_deviation).abs() < 1e-12);
        assert!(erase_counts([].into_iter()).is_none());
    }
}
