//! Where a sector lies: zones of tracks with the same number of sectors.
//!
//! ```text
//!   outer edge                                    inner edge
//!   cylinder 0 ... | zone 0: 1400 sectors a track | zone 1: 1300 | ...
//!   sectors go along a track, then to the next head, then to the next cylinder
//! ```
//!
//! Every track begins a skew later than the track before it, so the head arrives in time for its
//! first sector. Left out: spare sectors, defects and serpentine orders.

use super::rotation::Rotation;

/// A zone, with the values needed to find a sector.
#[derive(Clone, Copy, Debug)]
struct Zone {
    /// Its first sector.
    first: u64,
    /// One past its last sector.
    end: u64,
    first_cylinder: u32,
    sectors_per_track: u32,
    sectors_per_cylinder: u32,
}

/// Where a sector lies and when it passes the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Counted from the outer edge.
    pub cylinder: u32,
    /// The head that reads its track.
    pub head: u32,
    /// Number of the sector on its track.
    pub sector: u32,
    /// Sectors of that track.
    pub sectors_per_track: u32,
    /// Where its track begins, in ns of a revolution.
    pub track_angle: u32,
    /// Where the sector begins, in ns of a revolution.
    pub angle: u32,
}

/// The sectors of a disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    /// For each group of sectors (the sector number shifted right), the zone of its first sector.
    zone_of: Vec<u8>,
    shift: u32,
    cylinders: u32,
    rotation: Rotation,
    /// From the start of a track to the start of the next one in its cylinder.
    track_skew: u64,
    /// From the first track of a cylinder to the first of the next.
    cylinder_step: u64,
}

/// Zones from the outer edge in, each as (cylinders, sectors a track).
pub type ZoneList<'a> = &'a [(u32, u32)];

impl Geometry {
    /// A disk with `heads` tracks a cylinder. `skews`, ns, are the skew from one track to the next
    /// in its cylinder, and from the last track of a cylinder to the first of the next.
    #[must_use]
    pub fn new(list: ZoneList<'_>, heads: u32, rotation: Rotation, skews: (u64, u64)) -> Self {
        let mut zones = Vec::with_capacity(list.len());
        let (mut first, mut first_cylinder) = (0, 0);
        for &(cylinders, sectors_per_track) in list {
            let sectors_per_cylinder = sectors_per_track * heads;
            let end = first + u64::from(cylinders) * u64::from(sectors_per_cylinder);
            zones.push(Zone {
                first,
                end,
                first_cylinder,
                sectors_per_track,
                sectors_per_cylinder,
            });
            first = end;
            first_cylinder += cylinders;
        }
        let shift = (first >> 12).max(1).ilog2();
        let mut zone = 0;
        let zone_of = (0..=first >> shift).map(|place| {
            while place << shift >= zones[zone].end && zone + 1 < zones.len() {
                zone += 1;
            }
            zone as u8
        });
        let zone_of = zone_of.collect();
        // Only the angle matters. Whole revolutions times millions of cylinders might not fit.
        let [track_skew, cylinder_skew] =
            [skews.0, skews.1].map(|skew| u64::from(rotation.angle(skew)));
        let cylinder_step = u64::from(heads - 1) * track_skew + cylinder_skew;
        Self {
            zones,
            zone_of,
            shift,
            cylinders: first_cylinder,
            rotation,
            track_skew,
            cylinder_step: rotation.angle(cylinder_step).into(),
        }
    }

    /// The number of cylinders.
    #[must_use]
    pub const fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// The number of sectors.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.end)
    }

    /// Where `sector` lies. It must be a sector of the disk.
    #[inline]
    #[must_use]
    pub fn place(&self, sector: u64) -> Place {
        let mut number = usize::from(self.zone_of[(sector >> self.shift) as usize]);
        while sector >= self.zones[number].end {
            number += 1;
        }
        let zone = &self.zones[number];
        // A zone may have more than 2^32 sectors, but a cylinder never has.
        let inside = sector - zone.first;
        let cylinder = (inside / u64::from(zone.sectors_per_cylinder)) as u32;
        let rest = (inside % u64::from(zone.sectors_per_cylinder)) as u32;
        let (head, on_track) = (rest / zone.sectors_per_track, rest % zone.sectors_per_track);
        let cylinder = zone.first_cylinder + cylinder;
        let skew = u64::from(cylinder) * self.cylinder_step + u64::from(head) * self.track_skew;
        let track_angle = self.rotation.angle(skew);
        let begins = self.rotation.start_of(on_track, zone.sectors_per_track);
        Place {
            cylinder,
            head,
            sector: on_track,
            sectors_per_track: zone.sectors_per_track,
            track_angle,
            angle: self.rotation.wrap(track_angle + begins),
        }
    }
}
