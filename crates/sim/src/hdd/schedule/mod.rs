//! Which of the waiting accesses the mechanism serves next.
//!
//! One file a rule, each a key of an access: the least goes first, and of equals the one
//! that came first.

mod elevator;
mod fcfs;
mod sptf;
mod sstf;

use super::geometry::Place;
use super::mechanism::{Mechanism, Position};
use crate::preset::SeekOrder;

/// An access to the platters that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its first sector.
    pub sector: u64,
    /// How many sectors.
    pub count: u32,
    /// Where the first lies.
    pub place: Place,
    /// Accesses are counted as they come.
    pub number: u64,
    /// Whose it is.
    pub slot: u32,
    /// Whether it writes.
    pub writes: bool,
}

impl Waiting {
    /// The sector behind its last.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.sector + self.count as u64
    }
}

/// What a rule may look at beside the accesses.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The disk.
    pub mechanism: &'a Mechanism,
    /// Where the heads are.
    pub position: Position,
    /// How far the platters have turned, ns.
    pub angle: u32,
    /// The sector behind the last that was read or written.
    pub sector: u64,
    /// That sector is being read ahead: a read of it needs no approach.
    pub reads_ahead: bool,
}

impl Situation<'_> {
    /// Whether an access is what the heads are reading anyway.
    #[inline(always)]
    #[must_use]
    pub const fn is_under_way(&self, access: &Waiting) -> bool {
        self.reads_ahead && access.sector == self.sector && !access.writes
    }
}

/// A rule, with what it remembers.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    rule: SeekOrder,
    /// The elevator goes inwards.
    inwards: bool,
}

impl Scheduler {
    /// At the beginning of a run.
    #[must_use]
    pub const fn new(rule: SeekOrder) -> Self {
        Self {
            rule,
            inwards: true,
        }
    }

    /// The place of the access that goes next; `None` if there is none.
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

/// The place of the first of those with the least key, and of the least number among them.
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

    /// 100 cylinders of one track with 10 sectors; a revolution of 1000 ns, seeks of 100 ns and
    /// 10 a cylinder; no skew.
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

    /// The order in which sectors are served when all wait at once, from cylinder 50 on, whose
    /// sector 500 the heads have just passed; nothing turns between.
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
        // Distances 40, 2, 2, 0, 40: 508, then 520 before 483 by number; from 52: 48, then
        // 90 is 42 and 10 is 38 away.
        assert_eq!(served(SeekOrder::Sstf, &sectors), [508, 520, 483, 100, 905]);
        // Inwards to the last, then back.
        assert_eq!(
            served(SeekOrder::Elevator, &sectors),
            [508, 520, 905, 483, 100]
        );
    }

    /// Heads at cylinder 50 and angle 100. Sector 8 of that track comes in 700 ns. Sector 0 of
    /// cylinder 52 is 120 ns away and then 780 on: 900. Sector 3 of cylinder 48: 120 + 80.
    #[test]
    fn the_shortest_positioning_looks_at_seek_and_rotation() {
        let order = served(SeekOrder::Sptf, &[520, 508, 483]);
        assert_eq!(order[0], 483);
        let order = served(SeekOrder::Sptf, &[520, 508]);
        assert_eq!(order[0], 508);
        // 470 is 3 cylinders and 130 ns away and comes 770 later: as 520 in 900 ns, so the
        // first come goes first.
        assert_eq!(served(SeekOrder::Sptf, &[520, 470])[0], 520);
        assert_eq!(served(SeekOrder::Sptf, &[470, 520])[0], 470);
    }
}
