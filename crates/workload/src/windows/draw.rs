//! Draws the requests of windows, one window after another, endlessly.

use std::sync::Arc;

use drivelab_request::{Command, Direction, Nanos, Request, SECTOR_BYTES};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bag::{Bag, Urn, uniform};
use super::lift::Lift;
use super::places::Places;
use super::trains::beginnings;
use super::{Kind, Pairs, Place, Windows, WindowsError};
use crate::random::{keyed_rng, uniform_below};

/// Separates these random numbers from others under a measurement's key.
const STREAM: u64 = 0x7769_6e64;

/// A request to be sent: its kind, and the gap before it.
#[derive(Clone, Copy, Debug)]
struct Planned {
    kind: u32,
    gap: u32,
    /// The gap as drawn, before it is fitted into the window.
    gap_ns: f64,
}

/// The bags for the tables of a kind.
#[derive(Clone, Debug)]
struct Drawn {
    size: Bag,
    rank: Bag,
    distance: Bag,
    group: usize,
}

/// Commands with their times, window by window. After the last window the first comes again.
#[derive(Clone, Debug)]
pub struct WindowedRequests {
    windows: Arc<Windows>,
    rng: Xoshiro256PlusPlus,
    kinds_after: Lift,
    gaps_before: Lift,
    gaps_after: Lift,
    /// For each kind: how likely it continues or begins a train.
    begins: Lift,
    drawn: Vec<Drawn>,
    gap_bags: Vec<Bag>,
    train_bags: Vec<Bag>,
    /// By [`Direction::index`].
    places: [Places; 2],
    regions: Urn,
    /// The last kind, gap and region.
    last: (usize, usize, usize),
    plan: Vec<Planned>,
    next: usize,
    /// The next window, and when it begins.
    window: usize,
    begin_ns: f64,
    /// When the planned window ends, and when the last request was sent.
    end_ns: f64,
    now_ns: f64,
    /// The byte range of the drive: start and length.
    range: (u64, u64),
}

impl WindowedRequests {
    /// `seed` and the measurement's `index` are the key. Requests are fitted to a range of the
    /// drive: offsets beyond its length wrap around to its start.
    ///
    /// # Errors
    /// [`WindowsError`] if such windows are impossible, or the range is too small.
    pub fn new(
        windows: &Arc<Windows>,
        range: (u64, u64),
        (seed, index): (u64, u64),
    ) -> Result<Self, WindowsError> {
        windows.validate()?;
        let (size, length) = (windows.largest(), range.1);
        if u64::from(size) > length {
            return Err(WindowsError::DoesNotFit { size, length });
        }
        let mut groups: Vec<u32> = windows.kinds.iter().map(|kind| kind.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let drawn = |kind: &Kind| Drawn {
            size: Bag::new(kind.sizes.len()),
            rank: Bag::new(kind.ranks.len()),
            distance: Bag::new(kind.distances.len().saturating_sub(1)),
            group: groups.binary_search(&kind.group).unwrap_or_default(),
        };
        let (kinds, gaps) = (windows.kinds.len(), windows.gaps.len());
        let places = Places::new(groups.len());
        Ok(Self {
            rng: keyed_rng(seed, index, STREAM),
            kinds_after: Lift::new(windows.kinds.iter().map(|k| &k.kinds_after), kinds),
            gaps_before: Lift::new(windows.kinds.iter().map(|k| &k.gaps_before), gaps),
            gaps_after: Lift::new(windows.gaps.iter().map(|g| &g.gaps_after), gaps),
            drawn: windows.kinds.iter().map(drawn).collect(),
            gap_bags: (windows.gaps.iter())
                .map(|gap| Bag::new(gap.gaps_ns.len() - 1))
                .collect(),
            train_bags: (windows.trains.iter())
                .map(|train| Bag::new(train.lengths.len()))
                .collect(),
            begins: Lift::new(beginning(windows).iter(), 2),
            places: [places.clone(), places],
            regions: Urn::default(),
            last: (0, 0, 0),
            plan: Vec::new(),
            next: 0,
            window: 0,
            begin_ns: 0.0,
            end_ns: 0.0,
            now_ns: 0.0,
            range,
            windows: Arc::clone(windows),
        })
    }

    /// The next request. The sequence never ends.
    pub fn next_command(&mut self) -> Command {
        while self.next == self.plan.len() {
            self.plan_window();
        }
        let planned = self.plan[self.next];
        self.next += 1;
        // A ns before the end is still inside.
        self.now_ns = (self.now_ns + planned.gap_ns).min(self.end_ns - 1.0);
        let (offset, size, direction) = self.placed(planned.kind as usize);
        let mut command = Command::from(Request {
            arrival: Nanos(self.now_ns as u64),
            offset_bytes: offset,
            size_bytes: size,
            direction,
        });
        command.arrival = Nanos(self.now_ns as u64);
        command
    }

    /// Draws the order and the gaps of the next window.
    fn plan_window(&mut self) {
        let windows = Arc::clone(&self.windows);
        let window = &windows.windows[self.window];
        self.window = (self.window + 1) % windows.windows.len();
        self.now_ns = self.begin_ns;
        self.begin_ns += window.duration_ns as f64;
        self.end_ns = self.begin_ns;
        self.plan.clear();
        self.next = 0;
        self.regions.fill(window.regions.iter());
        let (mut kinds, mut gaps) = (Urn::default(), Urn::default());
        kinds.fill(window.kinds.iter());
        gaps.fill(window.gaps.iter());
        let count = window.kinds.sum();
        let (trains, bags) = (&windows.trains, &mut self.train_bags);
        let begins = beginnings(trains, window, count, bags, &mut self.rng);
        for place in 0..count as usize {
            let begin = begins.get(place).copied();
            let after = self.kinds_after.row(self.last.0);
            let likelier = |kind| begin.map_or(1.0, |b| self.begins.row(kind)[usize::from(b)]);
            let weight = |kind| after[kind] * likelier(kind);
            let Some(kind) = kinds.draw(&mut self.rng, weight) else {
                break;
            };
            let (before, after) = (self.gaps_before.row(kind), self.gaps_after.row(self.last.1));
            let weight = |gap: usize| before[gap] * after[gap];
            let fits = |gap: usize| begin.is_none_or(|b| windows.gaps[gap].begins_train == b);
            let fitting = |gap| if fits(gap) { weight(gap) } else { 0.0 };
            let drawn = gaps.draw(&mut self.rng, fitting);
            let Some(gap) = drawn.or_else(|| gaps.draw(&mut self.rng, weight)) else {
                break;
            };
            (self.last.0, self.last.1) = (kind, gap);
            let cell = self.gap_bags[gap].draw(&mut self.rng);
            let table = &windows.gaps[gap].gaps_ns;
            let (from, to) = (table[cell] as f64 + 1.0, table[cell + 1] as f64 + 1.0);
            // Uniform on a logarithmic scale. The pure-Rust `libm` is the same on every machine.
            let gap_ns = from * libm::exp(libm::log(to / from) * uniform(&mut self.rng)) - 1.0;
            self.plan.push(Planned {
                kind: kind as u32,
                gap: gap as u32,
                gap_ns,
            });
        }
        self.fit_gaps(window.duration_ns as f64);
    }

    /// Adjusts the gaps of the longest class so that the window has its length, with a mean gap
    /// after the last request. If the other gaps alone are too long, all gaps are adjusted.
    fn fit_gaps(&mut self, duration_ns: f64) {
        let count = self.plan.len() as f64;
        let goal = duration_ns * count / (count + 1.0);
        let longest = self.plan.iter().map(|each| each.gap).max();
        let sum = |of_longest: bool| -> f64 {
            let chosen = self.plan.iter();
            let chosen = chosen.filter(|each| (Some(each.gap) == longest) == of_longest);
            chosen.map(|each| each.gap_ns).sum()
        };
        let (long, short) = (sum(true), sum(false));
        if short < goal {
            let factor = (goal - short) / f64::max(long, 1.0);
            let chosen = self.plan.iter_mut();
            for each in chosen.filter(|each| Some(each.gap) == longest) {
                each.gap_ns *= factor;
            }
        } else {
            let factor = goal / f64::max(long + short, 1.0);
            self.plan.iter_mut().for_each(|each| each.gap_ns *= factor);
        }
    }

    /// Place and size of the next request of a kind.
    fn placed(&mut self, number: usize) -> (u64, u32, Direction) {
        let windows = Arc::clone(&self.windows);
        let kind = &windows.kinds[number];
        let drawn = &mut self.drawn[number];
        let group = drawn.group;
        let mut size = kind.sizes[drawn.size.draw(&mut self.rng)];
        let rank = kind.ranks[drawn.rank.draw(&mut self.rng)];
        let here = kind.direction.index();
        let places = &self.places[here];
        let found = match kind.place {
            Place::Next => places.end(group, rank),
            Place::NextOfAny => places.end_of_any(rank),
            Place::Again | Place::AgainOther => {
                let other = usize::from(kind.place == Place::AgainOther);
                let earlier = self.places[here ^ other].earlier(group, rank);
                earlier.map(|(offset, of_earlier)| {
                    size = of_earlier;
                    offset
                })
            }
            Place::Ahead | Place::Behind => {
                let cell = drawn.distance.draw(&mut self.rng);
                let (from, to) = (kind.distances[cell], kind.distances[cell + 1]);
                let distance = from + uniform_below(&mut self.rng, to - from + 1);
                let distance = distance / kind.grid.0 * kind.grid.0;
                places.end(group, rank).and_then(|end| match kind.place {
                    Place::Ahead => end.checked_add(distance),
                    _ => end.checked_sub(distance),
                })
            }
            Place::Region => None,
        };
        let bytes = u64::from(size);
        let span = windows.regions.last().map_or(0, |r| r.offset + r.bytes);
        let offset = match found.filter(|offset| offset + bytes <= span) {
            Some(offset) => {
                if matches!(kind.place, Place::Next | Place::NextOfAny) {
                    self.places[here].go_on(group, offset);
                }
                offset
            }
            None => self.in_region(kind),
        };
        self.places[here].went(group, offset, size);
        (self.within(offset, bytes), size, kind.direction)
    }

    /// A random place in the next region, on the kind's grid.
    fn in_region(&mut self, kind: &Kind) -> u64 {
        if kind.place == Place::Region {
            let drawn = self.regions.draw(&mut self.rng, |_| 1.0);
            self.last.2 = drawn.unwrap_or(self.last.2);
        }
        let region = &self.windows.regions[self.last.2];
        let place = region.offset + uniform_below(&mut self.rng, region.bytes);
        place / kind.grid.0 * kind.grid.0 + kind.grid.1
    }

    /// Wraps an offset into the range, and moves it back if the request would cross the end.
    fn within(&self, offset: u64, bytes: u64) -> u64 {
        let (start, length) = self.range;
        let folded = offset % length;
        let sector = u64::from(SECTOR_BYTES);
        let last = (length - bytes) / sector * sector;
        start + folded.min(last)
    }
}

/// How often each kind continues or begins a train, from the gaps before it.
fn beginning(windows: &Windows) -> Vec<Pairs> {
    let of_kind = |kind: &Kind| {
        let mut counts = [0_u32; 2];
        for (gap, count) in kind.gaps_before.iter() {
            let begins = windows
                .gaps
                .get(gap as usize)
                .is_some_and(|g| g.begins_train);
            let sum = &mut counts[usize::from(begins)];
            *sum = sum.saturating_add(count);
        }
        Pairs::of_flat(&[0, counts[0], 1, counts[1]]).unwrap_or_default()
    };
    windows.kinds.iter().map(of_kind).collect()
}
