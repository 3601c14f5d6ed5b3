//! Writes in order into several zones at once; each zone is reset before it is written again.
//! Log-structured file systems and databases use a drive in this way.
//!
//! ```text
//!   zone     0      1      2      3      4      5   ..
//!          |####| |##> | |    | |####| |#>  | |    |
//!                  turn 0                turn 1        each write goes to the zone whose turn it is
//! ```
//!
//! When a zone is full, the next zone of the range that nobody writes to takes its place. After the
//! last zone the first comes again. Reads go to anything that was written, with equal probability.
//! On a drive without zones the pattern is the same in pieces of the range, with trims in place of
//! resets.

use std::collections::VecDeque;

use drivelab_request::{
    Command, CommandKind, Content, Direction, Nanos, Request, SECTOR_BYTES, ZoneAction,
};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Characteristics;
use crate::random::{Chance, Share, keyed_rng, uniform_below};

/// Separates the random numbers of these requests from others under a measurement's key.
const STREAM: u64 = u64::from_be_bytes(*b"zoned___");

/// Requests that write zones in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Zoned {
    /// How many requests write, their sizes, and whether reads are random. Writes are always in
    /// order.
    pub requests: Characteristics,
    /// The number of zones written to in turn.
    pub zones_at_once: u32,
    /// Whether writes are appends.
    pub appends: bool,
    /// The bytes written in a zone. On a drive with zones, their capacity. On other drives, the
    /// size of the pieces that are written and trimmed like zones.
    pub zone_bytes: Option<u64>,
}

/// The zones of a drive, as its host sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZonesFound {
    /// Distance from the beginning of one zone to the next.
    pub zone_bytes: u64,
    /// The part of it that can be written.
    pub capacity_bytes: u64,
    /// For each zone, how much was written.
    pub written_bytes: Vec<u64>,
}

/// One zone, as the host knows it.
#[derive(Clone, Debug)]
struct Zone {
    start: u64,
    /// Bytes sent to it since its reset.
    sent: u64,
    /// The part of them that can be read.
    readable: u64,
    /// Its index in the list of readable zones, if it is there.
    listed: Option<usize>,
}

/// The commands of [`Zoned`], endlessly.
#[derive(Clone, Debug)]
pub struct ZonedRequests {
    rng: Xoshiro256PlusPlus,
    write: Share,
    random: Chance,
    sizes: [u64; 2],
    appends: bool,
    is_zoned: bool,
    zones: Vec<Zone>,
    zone_bytes: u64,
    capacity: u64,
    /// The zones written to in turn; `None` before the first write.
    open: Vec<Option<usize>>,
    turn: usize,
    next_zone: usize,
    /// Writes that may still be in progress: the zone of each, and how much the zone has
    /// afterwards.
    on_their_way: VecDeque<(usize, u64)>,
    most_on_their_way: usize,
    /// Zones with enough readable data for a read.
    list: Vec<usize>,
    /// For reads in order, the next place: an index in the list, and an offset.
    cursor: (usize, u64),
}

impl Zoned {
    /// Mean bytes of a request.
    pub(crate) fn mean_bytes(&self) -> f64 {
        let requests = &self.requests;
        let (read, write) = (
            f64::from(requests.read_size),
            f64::from(requests.write_size),
        );
        read + (write - read) * requests.write_ratio
    }

    /// The zones, or pieces, in the `length` bytes from `start` on.
    fn zones_of(
        &self,
        (start, length): (u64, u64),
        drive: Option<&ZonesFound>,
    ) -> Result<Vec<Zone>, String> {
        let (size, capacity) = self.shape(drive)?;
        let end = start + length;
        if drive.is_some() && !(start.is_multiple_of(size) && end.is_multiple_of(size)) {
            return Err(format!(
                "its range of {length} bytes at offset {start} is not made of zones; allowed: \
                 multiples of {size}"
            ));
        }
        let (count, asked) = (length / size, u64::from(self.zones_at_once));
        if count < asked {
            return Err(format!(
                "zones is {asked}; allowed: at most the {count} zones of its range"
            ));
        }
        let zone = |number: u64| {
            let start = start + number * size;
            let found = |drive: &ZonesFound| {
                let place = usize::try_from(start / size).unwrap_or(usize::MAX);
                drive.written_bytes.get(place).copied().unwrap_or(0)
            };
            let sent = drive.map_or(0, found).min(capacity);
            Zone {
                start,
                sent,
                readable: sent,
                listed: None,
            }
        };
        Ok((0..count).map(zone).collect())
    }

    /// Distance between zones, and the bytes written in each.
    fn shape(&self, drive: Option<&ZonesFound>) -> Result<(u64, u64), String> {
        match (drive, self.zone_bytes) {
            (Some(drive), None) => Ok((drive.zone_bytes, drive.capacity_bytes)),
            (Some(drive), Some(bytes)) if bytes == drive.capacity_bytes => {
                Ok((drive.zone_bytes, bytes))
            }
            (Some(drive), Some(bytes)) => Err(format!(
                "zone_bytes is {bytes}; allowed: {}, what a zone of this drive holds, or nothing",
                drive.capacity_bytes
            )),
            (None, Some(bytes)) if self.appends => Err(format!(
                "it appends, and this drive has no zones of {bytes} bytes or others; allowed: \
                 writes_as = \"write\""
            )),
            (None, Some(bytes)) => Ok((bytes, bytes)),
            (None, None) => Err(
                "it writes zones, and this drive has none: give zone_bytes, and pieces of that \
                 size are written and trimmed instead"
                    .to_owned(),
            ),
        }
    }
}

impl ZonedRequests {
    /// Requests in the `length` bytes from `start` on; a seed and an index are the key. In a closed
    /// loop the pattern says how many are outstanding.
    ///
    /// # Errors
    /// Why such requests are impossible, and what is allowed.
    pub fn new(
        pattern: &Zoned,
        range: (u64, u64),
        drive: Option<&ZonesFound>,
        (seed, index): (u64, u64),
    ) -> Result<Self, String> {
        let requests = &pattern.requests;
        let zones = pattern.zones_of(range, drive)?;
        let (zone_bytes, capacity) = pattern.shape(drive)?;
        let sizes = Direction::ALL.map(|direction| u64::from(requests.size(direction)));
        if let Some(size) = sizes.into_iter().find(|&size| size > capacity) {
            return Err(format!(
                "a request has {size} bytes; allowed: at most the {capacity} that a zone holds"
            ));
        }
        let mut rng = keyed_rng(seed, index, STREAM);
        let mut made = Self {
            write: Share::new(requests.write_ratio, &mut rng),
            random: Chance::new(requests.read_random),
            rng,
            sizes,
            appends: pattern.appends,
            is_zoned: drive.is_some(),
            zones,
            zone_bytes,
            capacity,
            open: vec![None; pattern.zones_at_once as usize],
            turn: 0,
            next_zone: 0,
            on_their_way: VecDeque::new(),
            most_on_their_way: requests.queue_depth as usize,
            list: Vec::new(),
            cursor: (0, 0),
        };
        for zone in 0..made.zones.len() {
            made.relist(zone);
        }
        if made.list.is_empty() && requests.write_ratio <= 0.0 {
            return Err(
                "it only reads, and no zone of its range holds anything: write first, or take a \
                 drive with zones whose condition is filled"
                    .to_owned(),
            );
        }
        Ok(made)
    }

    /// The next command.
    pub fn next_command(&mut self) -> Command {
        if self.write.happens(&mut self.rng) || self.list.is_empty() {
            return self.next_write();
        }
        let (offset_bytes, size) = self.next_read();
        Command::from(Request {
            arrival: Nanos::ZERO,
            offset_bytes,
            size_bytes: size as u32,
            direction: Direction::Read,
        })
    }

    fn next_write(&mut self) -> Command {
        let zone = match self.open[self.turn] {
            Some(zone) if self.zones[zone].sent < self.capacity => zone,
            _ => {
                let zone = self.take_zone();
                self.open[self.turn] = Some(zone);
                if self.zones[zone].sent > 0 {
                    return self.reset(zone);
                }
                zone
            }
        };
        self.turn = (self.turn + 1) % self.open.len();
        let place = &mut self.zones[zone];
        let size = self.sizes[Direction::Write.index()].min(self.capacity - place.sent);
        let offset = match self.appends {
            true => place.start,
            false => place.start + place.sent,
        };
        place.sent += size;
        self.on_their_way.push_back((zone, place.sent));
        if self.on_their_way.len() > self.most_on_their_way
            && let Some((zone, sent)) = self.on_their_way.pop_front()
        {
            self.zones[zone].readable = sent;
            self.relist(zone);
        }
        Command {
            arrival: Nanos::ZERO,
            offset_bytes: offset,
            size_bytes: size as u32,
            kind: CommandKind::Write,
            is_forced: false,
            content: Content::Random,
            zone: match self.appends {
                true => ZoneAction::Append,
                false => ZoneAction::None,
            },
        }
    }

    /// The next zone in order that nobody else writes to.
    fn take_zone(&mut self) -> usize {
        let count = self.zones.len();
        let turn = self.turn;
        let is_taken = |zone: usize| {
            let mut others = self.open.iter().enumerate();
            others.any(|(place, &open)| place != turn && open == Some(zone))
        };
        // There are at least as many zones as are written to at once.
        let zones = (self.next_zone..count).chain(0..self.next_zone);
        let zone = zones.into_iter().find(|&zone| !is_taken(zone)).unwrap_or(0);
        self.next_zone = (zone + 1) % count;
        zone
    }

    fn reset(&mut self, zone: usize) -> Command {
        self.on_their_way.retain(|&(of, _)| of != zone);
        let place = &mut self.zones[zone];
        let (start, sent) = (place.start, place.sent);
        (place.sent, place.readable) = (0, 0);
        self.relist(zone);
        let command = Command::of_zone(ZoneAction::Reset, start, Nanos::ZERO);
        if self.is_zoned {
            return command;
        }
        Command {
            size_bytes: sent.next_multiple_of(SECTOR_BYTES.into()) as u32,
            zone: ZoneAction::None,
            ..command
        }
    }

    /// Checks again whether a read fits into a zone.
    fn relist(&mut self, zone: usize) {
        let fits = self.zones[zone].readable >= self.sizes[Direction::Read.index()];
        match (fits, self.zones[zone].listed) {
            (true, None) => {
                self.zones[zone].listed = Some(self.list.len());
                self.list.push(zone);
            }
            (false, Some(place)) => {
                self.zones[zone].listed = None;
                self.list.swap_remove(place);
                if let Some(&moved) = self.list.get(place) {
                    self.zones[moved].listed = Some(place);
                }
            }
            _ => {}
        }
    }

    /// Place and size of the next read. Some zone must be readable.
    fn next_read(&mut self) -> (u64, u64) {
        let size = self.sizes[Direction::Read.index()];
        if self.random.happens(&mut self.rng) {
            let place = uniform_below(&mut self.rng, self.list.len() as u64) as usize;
            let zone = &self.zones[self.list[place]];
            let slots = zone.readable / size;
            return (
                zone.start + uniform_below(&mut self.rng, slots) * size,
                size,
            );
        }
        let (mut place, mut offset) = self.cursor;
        place %= self.list.len();
        if offset + size > self.zones[self.list[place]].readable {
            (place, offset) = ((place + 1) % self.list.len(), 0);
        }
        self.cursor = (place, offset + size);
        (self.zones[self.list[place]].start + offset, size)
    }

    /// The byte range of its requests: the first byte and one past the last.
    #[must_use]
    pub fn range(&self) -> (u64, u64) {
        let first = self.zones.first().map_or(0, |zone| zone.start);
        (first, first + self.zones.len() as u64 * self.zone_bytes)
    }
}
