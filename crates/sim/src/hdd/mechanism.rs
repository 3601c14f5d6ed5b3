//! Arm, heads and platters: how long it takes to get to a sector and over a run of them.
//!
//! ```text
//!   command taken                                                        done
//!        |── seek or head switch ──|── rotation ──|── transfer ─────────────|
//!                                                  track, switch, track ...
//! ```
//!
//! A switch in the midst of a transfer counts as transfer: the skew is made for it. A
//! write that needed a seek or switch settles longer. What is left out: reading a track from
//! wherever the head arrives, retries, thermal recalibration.

use super::geometry::{Geometry, Place};
use super::rotation::Rotation;
use super::seek::{Seek, SeekCurve};

/// Where the heads are: on a track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Of the arm.
    pub cylinder: u32,
    /// The head in use.
    pub head: u32,
}

/// The heads at a moment, and the sector that is read or written next if they go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// The track.
    pub position: Position,
    /// When what came before was done.
    pub at: u64,
    /// The next sector.
    pub sector: u64,
}

/// How long getting to a sector takes, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approach {
    /// Seek or head switch, and settling.
    pub seek: u32,
    /// From then until the sector comes.
    pub rotation: u32,
}

impl Approach {
    /// Both.
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
    /// From its parts; a switch of heads takes `head_switch` ns, a write settles
    /// `write_settle` ns longer after a seek or switch.
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

    /// From a track to another: seek, switch, or nothing.
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

    /// From `from` to `place`, starting when the platters are at `angle`.
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

    /// When the next sector of a course, at `place`, begins for heads that go on.
    #[inline(always)]
    #[must_use]
    pub fn begins(&self, course: Course, place: &Place) -> u64 {
        let angle = self.rotation.angle(course.at);
        let way = self.approach(course.position, angle, place, false);
        course.at + u64::from(way.time())
    }

    /// Goes over `count` sectors from `sector` on, which lies at `place` and begins at
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

    /// ns of `count` sectors of one track.
    #[inline(always)]
    fn length(&self, place: &Place, count: u32) -> u64 {
        let start = |sector| self.rotation.start_of(sector, place.sectors_per_track);
        u64::from(start(place.sector + count) - start(place.sector))
    }

    /// How far a course comes until `until` with sectors that are wholly read, if it goes on to
    /// `end` at most.
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
            // Of longer times no more is read of this track.
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

    /// 2 zones of 10 and 5 cylinders with 10 and 5 sectors a track, 2 heads, 1000 ns a
    /// revolution: sectors of 100 and 200 ns; switches of 150 and 250 ns with that skew.
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
        let told = |sector| {
            let place = geometry.place(sector);
            (place.cylinder, place.head, place.sector, place.angle)
        };
        assert_eq!(told(0), (0, 0, 0, 0));
        assert_eq!(told(9), (0, 0, 9, 900));
        // One track skew, then one of a track and one of a cylinder, 400 a cylinder.
        assert_eq!(told(10), (0, 1, 0, 150));
        assert_eq!(told(20), (1, 0, 0, 400));
        assert_eq!(told(199), (9, 1, 9, (9 * 400 + 150 + 900) % 1000));
        assert_eq!(told(200), (10, 0, 0, 0));
        assert_eq!(told(249), (14, 1, 4, (14 * 400 + 150 + 800) % 1000));
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
        // On the track: 300 ns until its sector 3 is there, or a revolution less 1 ns.
        assert_eq!(way(3, 0, false), (0, 300));
        assert_eq!(way(3, 300, true), (0, 0));
        assert_eq!(way(3, 301, true), (0, 999));
        // The other head, whose track begins at 150: there at once, settled 70 ns too late.
        assert_eq!(way(10, 0, false), (150, 0));
        assert_eq!(way(10, 0, true), (220, 930));
        assert_eq!(way(20, 0, false), (250, 150));
    }

    /// 20 sectors from the outermost on: a track of 1000 ns, the switch of 150 that the skew
    /// hides, the other track. The next cylinder is there 250 ns later.
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
            // A nanosecond before, its last sector is not wholly read.
            let before = mechanism.progress(course, done.at - 1, 250);
            assert_eq!(before.sector, u64::from(count) - 1, "{count}");
            // In steps as at once.
            let half = mechanism.progress(course, done.at / 2, 250);
            assert_eq!(mechanism.progress(half, done.at, 250), done);
            assert_eq!(mechanism.progress(course, u64::MAX, count.into()), done);
        }
    }
}
