//! Chooses which waiting access the mechanism serves next.
//!
//! Each rule has one file and gives every access a key. The access with the least key is next; on a
//! tie, the one that came first.

mod elevator;
mod fcfs;
mod sptf;
mod sstf;

use super::geometry::Place;
use super::mechanism::{Mechanism, Position};
use crate::preset::SeekOrder;

/// A waiting access to the platters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its first sector.
    pub sector: u64,
    /// Number of sectors.
    pub count: u32,
    /// Where its first sector lies.
    pub place: Place,
    /// Number of the access in order of arrival.
    pub number: u64,
    /// The slot of the command, or the extent of the write cache, that it belongs to.
    pub slot: u32,
    /// Whether it writes.
    pub writes: bool,
}

impl Waiting {
    /// One past its last sector.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.sector + self.count as u64
    }
}

/// What a rule may use in addition to the waiting accesses.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The disk.
    pub mechanism: &'a Mechanism,
    /// Where the heads are now.
    pub position: Position,
    /// The angle of the platters, ns.
    pub angle: u32,
    /// One past the last sector that was read or written.
    pub sector: u64,
    /// That sector is being read ahead, so a read of it needs no approach.
    pub reads_ahead: bool,
}

impl Situation<'_> {
    /// Whether an access wants just what the heads are already reading.
    #[inline(always)]
    #[must_use]
    pub const fn is_under_way(&self, access: &Waiting) -> bool {
        self.reads_ahead && access.sector == self.sector && !access.writes
    }
}

/// A rule and its memory.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    rule: SeekOrder,
    /// Whether the elevator is going inwards.
    inwards: bool,
}

impl Scheduler {
    /// The state at the beginning of a run.
    #[must_use]
    pub const fn new(rule: SeekOrder) -> Self {
        Self {
            rule,
            inwards: true,
        }
    }

    /// The index of the access to serve next; `None` if none waits.
    #[inline]
    pub fn pick(&mut self, now: &Situation<'_>, waiting: &[Waiting]) -> Option<usize> {
        if waiting.len() < 2 {
            return (!waiting.is_empty()).then_some(0);
        }
        match self.rule {
            SeekOrder::Fcfs => least(waiting, fcfs::key),
            SeekOrder::Sstf => least(waiting, |access| sstf::key(now, access)),
            SeekOrder::Sptf => least(waiting, |access| sptf::key(now, access)),
            SeekOrder::Elevator => {
                if !elevator::goes_on(now, waiting, self.inwards) {
                    self.inwards = !self.inwards;
                }
                least(waiting, |access| elevator::key(now, access, self.inwards))
            }
        }
    }
}

/// The index of the access with the least key; on a tie, the one with the least number.
#[inline(always)]
fn least<K: Ord>(waiting: &[Waiting], key: impl Fn(&Waiting) -> K) -> Option<usize> {
    let places = waiting.iter().enumerate();
    let first = places.min_by_key(|(_, access)| (key(access), access.number));
    first.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::super::geometry::Geometry;
    use super::super::rotation::Rotation;
    use super::super::seek::{SeekCurve, SeekTimes};
    use super::*;

    /// 100 cylinders of one track with 10 sectors. A revolution takes 1000 ns; a seek takes 100 ns
    /// plus 10 ns a cylinder. There is no skew.
    fn mechanism() -> Mechanism {
        let rotation = Rotation::new(1000);
        let times = SeekTimes {
            single_cylinder: 110,
            average: 443,
            full_stroke: 1110,
        };
        let curve = SeekCurve::new(times, 100, rotation, 1.0);
        let geometry = Geometry::new(&[(100, 10)], 1, rotation, (0, 0));
        Mechanism::new(geometry, rotation, curve, (50, 0))
    }

    /// The order in which waiting sectors are served. All wait at once, and the heads have just
    /// passed sector 500 on cylinder 50. The platters do not turn in between.
    fn served(rule: SeekOrder, sectors: &[u64]) -> Vec<u64> {
        let mechanism = mechanism();
        let numbered = (0..).zip(sectors);
        let mut waiting: Vec<Waiting> = numbered
            .map(|(number, &sector)| Waiting {
                sector,
                count: 1,
                place: mechanism.geometry.place(sector),
                number,
                slot: 0,
                writes: false,
            })
            .collect();
        let mut now = Situation {
            mechanism: &mechanism,
            position: Position {
                cylinder: 50,
                head: 0,
            },
            angle: 100,
            sector: 501,
            reads_ahead: false,
        };
        let mut scheduler = Scheduler::new(rule);
        let mut order = Vec::new();
        while let Some(place) = scheduler.pick(&now, &waiting) {
            let access = waiting.remove(place);
            order.push(access.sector);
            now.position.cylinder = access.place.cylinder;
            now.sector = access.end();
        }
        order
    }

    #[test]
    fn each_rule_has_its_order() {
        let sectors = [905, 520, 483, 508, 100];
        assert_eq!(served(SeekOrder::Fcfs, &sectors), sectors);
        // Distances 40, 2, 2, 0, 40: first 508, then 520 before 483 by number. From cylinder 52, 48
        // comes next; then 90 is 42 cylinders away and 10 is 38.
        assert_eq!(served(SeekOrder::Sstf, &sectors), [508, 520, 483, 100, 905]);
        // Inwards to the last access, then back.
        assert_eq!(
            served(SeekOrder::Elevator, &sectors),
            [508, 520, 905, 483, 100]
        );
    }

    /// The heads are at cylinder 50, angle 100. Sector 8 of that track comes in 700 ns. Sector 0 of
    /// cylinder 52 takes 120 ns of seek and then 780 ns: 900. Sector 3 of cylinder 48: 120 + 80.
    #[test]
    fn the_shortest_positioning_looks_at_seek_and_rotation() {
        let order = served(SeekOrder::Sptf, &[520, 508, 483]);
        assert_eq!(order[0], 483);
        let order = served(SeekOrder::Sptf, &[520, 508]);
        assert_eq!(order[0], 508);
        // 470 is 3 cylinders or 130 ns away and arrives 770 ns later. That makes 900 ns, as for
        // 520, so the first to arrive wins.
        assert_eq!(served(SeekOrder::Sptf, &[520, 470])[0], 520);
        assert_eq!(served(SeekOrder::Sptf, &[470, 520])[0], 470);
    }
}
