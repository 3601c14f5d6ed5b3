//! How the counters of an array's members combine into those of the array.

use drivelab_ftl::EraseCounts;

/// A way to combine, with its description.
pub trait Rule {
    /// The description in the table.
    const WORDS: &'static str;
}

/// A way to combine counters of one type.
pub trait Join<T>: Rule {
    /// The array's counter.
    fn join<'a>(members: impl Iterator<Item = &'a T> + Clone) -> T
    where
        T: 'a;
}

/// The sum over all members that have the counter.
pub struct Sum;

/// The mean of the members.
pub struct Mean;

/// The members' lists, concatenated.
pub struct Listed;

/// The members' lists, added entry by entry.
pub struct Added;

/// Statistics over the blocks of all members, which have the same number of blocks each.
pub struct OverBlocks;

/// Computed from other counters, which are combined first.
pub struct Derived;

impl Rule for Sum {
    const WORDS: &'static str = "sum";
}

impl Rule for Mean {
    const WORDS: &'static str = "mean";
}

impl Rule for Listed {
    const WORDS: &'static str = "lists one behind the other";
}

impl Rule for Added {
    const WORDS: &'static str = "sum, entry by entry";
}

impl Rule for OverBlocks {
    const WORDS: &'static str = "over all blocks";
}

impl Rule for Derived {
    const WORDS: &'static str = "computed of the others";
}

impl Join<u64> for Sum {
    fn join<'a>(members: impl Iterator<Item = &'a u64> + Clone) -> u64 {
        members.sum()
    }
}

impl Join<Option<u64>> for Sum {
    fn join<'a>(members: impl Iterator<Item = &'a Option<u64>> + Clone) -> Option<u64> {
        members
            .copied()
            .flatten()
            .reduce(|sum, member| sum + member)
    }
}

impl Join<f64> for Sum {
    fn join<'a>(members: impl Iterator<Item = &'a f64> + Clone) -> f64 {
        members.sum()
    }
}

impl Join<f64> for Mean {
    fn join<'a>(members: impl Iterator<Item = &'a f64> + Clone) -> f64 {
        let count = members.clone().count() as f64;
        members.sum::<f64>() / count
    }
}

impl Join<Vec<f64>> for Listed {
    fn join<'a>(members: impl Iterator<Item = &'a Vec<f64>> + Clone) -> Vec<f64> {
        members.flatten().copied().collect()
    }
}

impl Join<Vec<u64>> for Added {
    fn join<'a>(members: impl Iterator<Item = &'a Vec<u64>> + Clone) -> Vec<u64> {
        let longest = members.clone().map(Vec::len).max().unwrap_or(0);
        let entry = |place: usize| members.clone().filter_map(|list| list.get(place)).sum();
        (0..longest).map(entry).collect()
    }
}

impl Join<Option<EraseCounts>> for OverBlocks {
    fn join<'a>(
        members: impl Iterator<Item = &'a Option<EraseCounts>> + Clone,
    ) -> Option<EraseCounts> {
        let members = members.copied().flatten();
        let count = members.clone().count() as f64;
        let mean = members.clone().map(|member| member.mean).sum::<f64>() / count;
        // The variance: the mean of the squares less the square of the mean.
        let squares = |member: EraseCounts| {
            member.standard_deviation * member.standard_deviation + member.mean * member.mean
        };
        let square = members.clone().map(squares).sum::<f64>() / count;
        Some(EraseCounts {
            least: members.clone().map(|member| member.least).min()?,
            most: members.map(|member| member.most).max()?,
            mean,
            standard_deviation: (square - mean * mean).max(0.0).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erase_counts_of_members_are_those_of_all_their_blocks() {
        let blocks = [[1, 3, 5, 7], [2, 2, 2, 10]];
        let members = blocks.map(|counts| Some(EraseCounts::of(counts.into_iter())));
        let all = EraseCounts::of(blocks.concat().into_iter());
        let joined = OverBlocks::join(members.iter()).unwrap_or_default();
        assert_eq!((joined.least, joined.most), (all.least, all.most));
        assert!((joined.mean - all.mean).abs() < 1e-12);
        assert!((joined.standard_deviation - all.standard_deviation).abs() < 1e-12);
        assert!(OverBlocks::join([].iter()).is_none());
    }

    #[test]
    fn what_not_every_member_has_is_summed_over_those_that_have_it() {
        assert_eq!(Sum::join([Some(2), None, Some(3)].iter()), Some(5));
        assert_eq!(Sum::join([None::<u64>, None].iter()), None);
    }

    #[test]
    fn shares_are_averaged_or_listed() {
        assert!((Mean::join([0.25, 0.75].iter()) - 0.5).abs() < 1e-12);
        let lists = [vec![0.1, 0.2], vec![0.3]];
        assert_eq!(Listed::join(lists.iter()), [0.1, 0.2, 0.3]);
        let lists = [vec![1, 2], vec![3_u64]];
        assert_eq!(Added::join(lists.iter()), [4, 2]);
    }
}
