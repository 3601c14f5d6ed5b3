//! The angle of the platters: a function of time alone.
//!
//! Angles are ns since the index mark passed the heads, from 0 to one revolution. A sector begins
//! at `sector x revolution / sectors`, rounded down. So a track takes exactly one revolution, and
//! each sector ends where the next begins.

/// How long a revolution takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    revolution: u32,
}

impl Rotation {
    /// A disk with `revolution` ns a revolution, 1 to 2^30.
    #[must_use]
    pub const fn new(revolution: u32) -> Self {
        Self { revolution }
    }

    /// A disk with `rpm` revolutions a minute, to the nearest ns.
    #[must_use]
    pub const fn of_rpm(rpm: u32) -> Self {
        const MINUTE_NS: u64 = 60_000_000_000;
        Self::new(((MINUTE_NS + rpm as u64 / 2) / rpm as u64) as u32)
    }

    /// One revolution, ns.
    #[must_use]
    pub const fn revolution(self) -> u32 {
        self.revolution
    }

    /// The angle at time `at`, ns.
    #[inline(always)]
    #[must_use]
    pub const fn angle(self, at: u64) -> u32 {
        (at % self.revolution as u64) as u32
    }

    /// Reduces an angle of less than two revolutions to less than one.
    #[inline(always)]
    #[must_use]
    pub const fn wrap(self, angle: u32) -> u32 {
        if angle >= self.revolution {
            angle - self.revolution
        } else {
            angle
        }
    }

    /// The time from `angle` until `target` next passes, ns; 0 if it passes just then.
    #[inline(always)]
    #[must_use]
    pub const fn wait(self, angle: u32, target: u32) -> u32 {
        self.wrap(target + self.revolution - angle)
    }

    /// Where a sector begins, counted from the beginning of its track. One past the last sector
    /// gives one revolution.
    #[inline(always)]
    #[must_use]
    pub const fn start_of(self, sector: u32, sectors_per_track: u32) -> u32 {
        (sector as u64 * self.revolution as u64 / sectors_per_track as u64) as u32
    }

    /// The last sector of a track that begins at or before `angle`, counted from the beginning of
    /// the track.
    #[inline(always)]
    #[must_use]
    pub const fn sector_at(self, angle: u64, sectors_per_track: u32) -> u64 {
        // start_of(k) <= angle  <=>  k x revolution < (angle + 1) x sectors
        ((angle + 1) * sectors_per_track as u64 - 1) / self.revolution as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Rotation;

    #[test]
    fn half_a_revolution_is_the_mean_wait() {
        // 60 s / 5400 / 2 = 5.5556 ms, 60 s / 7200 / 2 = 4.1667 ms.
        assert_eq!(Rotation::of_rpm(5400).revolution(), 11_111_111);
        assert_eq!(Rotation::of_rpm(7200).revolution(), 8_333_333);
        let rotation = Rotation::new(1000);
        let sum: u32 = (0..1000).map(|angle| rotation.wait(angle, 250)).sum();
        assert_eq!(sum, 1000 * 999 / 2);
    }

    #[test]
    fn a_sector_is_met_when_it_comes_and_a_nanosecond_later_a_revolution_on() {
        let rotation = Rotation::new(1000);
        assert_eq!(rotation.wait(250, 250), 0);
        assert_eq!(rotation.wait(249, 250), 1);
        assert_eq!(rotation.wait(251, 250), 999);
    }

    #[test]
    fn the_sector_at_an_angle_is_the_last_that_has_begun() {
        for (revolution, sectors) in [(1000, 7), (11_111_111, 1400), (100, 100), (64, 8)] {
            let rotation = Rotation::new(revolution);
            for sector in 0..sectors {
                let start = u64::from(rotation.start_of(sector, sectors));
                assert_eq!(rotation.sector_at(start, sectors), u64::from(sector));
                if sector > 0 {
                    assert_eq!(
                        rotation.sector_at(start - 1, sectors),
                        u64::from(sector) - 1
                    );
                }
            }
            assert_eq!(rotation.start_of(sectors, sectors), revolution);
        }
    }
}
