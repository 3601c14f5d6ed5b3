//! Arm, heads and platters: how long it takes to reach a sector and to pass over a run of sectors.
//!
//! ```text
//!   command taken                                                        done
//!        |── seek or head switch ──|── rotation ──|── transfer ─────────────|
//!                                                  track, switch, track ...
//! ```
//!
//! A switch in the middle of a transfer counts as transfer, because the skew is made for it. A
//! write after a seek or switch settles longer. Left out: reading a track from wherever the head
//! arrives, retries, and thermal recalibration.

use super::geometry::{Geometry, Place};
use super::rotation::Rotation;
use super::seek::{Seek, SeekCurve};

/// The track where the heads are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The cylinder of the arm.
    pub cylinder: u32,
    /// The head in use.
    pub head: u32,
}

/// The heads at one moment, and the next sector if they continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// The track.
    pub position: Position,
    /// The time at which the previous work was done.
    pub at: u64,
    /// The next sector.
    pub sector: u64,
}

/// How long it takes to reach a sector, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approach {
    /// Seek or head switch, and settling.
    pub seek: u32,
    /// From the end of the seek until the sector arrives.
    pub rotation: u32,
}

impl Approach {
    /// The sum of both.
    #[inline(always)]
    #[must_use]
    pub const fn time(self) -> u32 {
        self.seek + self.rotation
    }
}

/// The moving parts of a disk.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Where sectors lie.
    pub geometry: Geometry,
    /// How the platters turn.
    pub rotation: Rotation,
    curve: SeekCurve,
    head_switch: Seek,
    write_settle: Seek,
}

impl Mechanism {
    /// Builds the mechanism from its parts. A head switch takes `head_switch` ns. A write after a
    /// seek or switch settles `write_settle` ns longer.
    #[must_use]
    pub fn new(
        geometry: Geometry,
        rotation: Rotation,
        curve: SeekCurve,
        (head_switch, write_settle): (u32, u32),
    ) -> Self {
        let seek = |time| Seek {
            time,
            turn: time % rotation.revolution(),
        };
        Self {
            geometry,
            rotation,
            curve,
            head_switch: seek(head_switch),
            write_settle: seek(write_settle),
        }
    }

    /// The move from one track to another: a seek, a head switch, or nothing.
    #[inline(always)]
    fn switch(&self, from: Position, place: &Place) -> Seek {
        if from.cylinder != place.cylinder {
            self.curve.over(from.cylinder.abs_diff(place.cylinder))
        } else if from.head != place.head {
            self.head_switch
        } else {
            Seek::default()
        }
    }

    /// The approach from `from` to `place`, starting when the platters are at `angle`.
    #[inline(always)]
    #[must_use]
    pub fn approach(&self, from: Position, angle: u32, place: &Place, writes: bool) -> Approach {
        let mut seek = self.switch(from, place);
        if writes && seek.time > 0 {
            seek.time += self.write_settle.time;
            seek.turn = self.rotation.wrap(seek.turn + self.write_settle.turn);
        }
        let arrives = self.rotation.wrap(angle + seek.turn);
        Approach {
            seek: seek.time,
            rotation: self.rotation.wait(arrives, place.angle),
        }
    }

    /// When the next sector of a course, at `place`, begins if the heads continue.
    #[inline(always)]
    #[must_use]
    pub fn begins(&self, course: Course, place: &Place) -> u64 {
        let angle = self.rotation.angle(course.at);
        let way = self.approach(course.position, angle, place, false);
        course.at + u64::from(way.time())
    }

    /// Passes over `count` sectors starting with `sector`, which lies at `place` and begins at
    /// `begins`.
    #[must_use]
    pub fn transfer(&self, sector: u64, count: u32, place: Place, begins: u64) -> Course {
        let (mut place, mut begins, mut sector, mut left) = (place, begins, sector, count);
        loop {
            let on_track = left.min(place.sectors_per_track - place.sector);
            let course = Course {
                position: Position {
                    cylinder: place.cylinder,
                    head: place.head,
                },
                at: begins + self.length(&place, on_track),
                sector: sector + u64::from(on_track),
            };
            left -= on_track;
            sector = course.sector;
            if left == 0 {
                return course;
            }
            place = self.geometry.place(sector);
            begins = self.begins(course, &place);
        }
    }

    /// The time of `count` sectors of one track, ns.
    #[inline(always)]
    fn length(&self, place: &Place, count: u32) -> u64 {
        let start = |sector| self.rotation.start_of(sector, place.sectors_per_track);
        u64::from(start(place.sector + count) - start(place.sector))
    }

    /// How far a course gets by `until`, in sectors read completely. It goes no further than `end`.
    #[must_use]
    pub fn progress(&self, mut course: Course, until: u64, end: u64) -> Course {
        while course.at < until && course.sector < end {
            let place = self.geometry.place(course.sector);
            let begins = self.begins(course, &place);
            if begins >= until {
                break;
            }
            let start = self
                .rotation
                .start_of(place.sector, place.sectors_per_track);
            // More time would not read more of this track.
            let passed = (until - begins).min(self.rotation.revolution().into());
            let reached = self
                .rotation
                .sector_at(passed + u64::from(start), place.sectors_per_track);
            let last = reached.min(place.sectors_per_track.into()) as u32;
            let count = u64::from(last - place.sector).min(end - course.sector) as u32;
            if count == 0 {
                break;
            }
            course = Course {
                position: Position {
                    cylinder: place.cylinder,
                    head: place.head,
                },
                at: begins + self.length(&place, count),
                sector: course.sector + u64::from(count),
            };
            if place.sector + count < place.sectors_per_track {
                break;
            }
        }
        course
    }
}

#[cfg(test)]
mod tests {
    use super::super::seek::SeekTimes;
    use super::*;

    /// 2 zones of 10 and 5 cylinders with 10 and 5 sectors a track, 2 heads, 1000 ns a revolution.
    /// So sectors take 100 and 200 ns. Switches take 150 and 250 ns, and the skews match them.
    fn mechanism() -> Mechanism {
        let rotation = Rotation::new(1000);
        let times = SeekTimes {
            single_cylinder: 250,
            average: 500,
            full_stroke: 900,
        };
        let curve = SeekCurve::new(times, 15, rotation, 1.0);
        let geometry = Geometry::new(&[(10, 10), (5, 5)], 2, rotation, (150, 250));
        Mechanism::new(geometry, rotation, curve, (150, 70))
    }

    #[test]
    fn sectors_lie_along_tracks_heads_cylinders_and_zones() {
        let geometry = mechanism().geometry;
        assert_eq!(geometry.sectors(), 10 * 2 * 10 + 5 * 2 * 5);
        let place_of = |sector| {
            let place = geometry.place(sector);
            (place.cylinder, place.head, place.sector, place.angle)
        };
        assert_eq!(place_of(0), (0, 0, 0, 0));
        assert_eq!(place_of(9), (0, 0, 9, 900));
        // One track skew first, then one track skew plus one cylinder skew: 400 a cylinder.
        assert_eq!(place_of(10), (0, 1, 0, 150));
        assert_eq!(place_of(20), (1, 0, 0, 400));
        assert_eq!(place_of(199), (9, 1, 9, (9 * 400 + 150 + 900) % 1000));
        assert_eq!(place_of(200), (10, 0, 0, 0));
        assert_eq!(place_of(249), (14, 1, 4, (14 * 400 + 150 + 800) % 1000));
    }

    #[test]
    fn an_approach_is_a_seek_and_what_the_platters_still_have_to_turn() {
        let mechanism = mechanism();
        let outer = Position::default();
        let way = |sector, angle, writes| {
            let place = mechanism.geometry.place(sector);
            let way = mechanism.approach(outer, angle, &place, writes);
            (way.seek, way.rotation)
        };
        // On the same track: 300 ns until sector 3 arrives, or a revolution less 1 ns.
        assert_eq!(way(3, 0, false), (0, 300));
        assert_eq!(way(3, 300, true), (0, 0));
        assert_eq!(way(3, 301, true), (0, 999));
        // The other head, whose track begins at 150: it is there at once, but settles 70 ns too
        // late.
        assert_eq!(way(10, 0, false), (150, 0));
        assert_eq!(way(10, 0, true), (220, 930));
        assert_eq!(way(20, 0, false), (250, 150));
    }

    /// 20 sectors from the outermost one: a track of 1000 ns, the switch of 150 ns that the skew
    /// hides, then the other track. The next cylinder arrives 250 ns later.
    #[test]
    fn a_long_transfer_loses_the_switches_and_nothing_else() {
        let mechanism = mechanism();
        let over = |count| {
            let place = mechanism.geometry.place(0);
            mechanism.transfer(0, count, place, 5000).at - 5000
        };
        assert_eq!((over(1), over(10), over(11)), (100, 1000, 1250));
        assert_eq!((over(20), over(21)), (2150, 2500));
    }

    #[test]
    fn progress_is_the_transfer_seen_from_its_end() {
        let mechanism = mechanism();
        let course = Course {
            position: Position::default(),
            at: 0,
            sector: 0,
        };
        let place = mechanism.geometry.place(0);
        for count in 1..=250 {
            let done = mechanism.transfer(0, count, place, 0);
            assert_eq!(mechanism.progress(course, done.at, 250), done);
            // One nanosecond earlier, its last sector is not read completely.
            let before = mechanism.progress(course, done.at - 1, 250);
            assert_eq!(before.sector, u64::from(count) - 1, "{count}");
            // Two steps give the same result as one.
            let half = mechanism.progress(course, done.at / 2, 250);
            assert_eq!(mechanism.progress(half, done.at, 250), done);
            assert_eq!(mechanism.progress(course, u64::MAX, count.into()), done);
        }
    }
}
