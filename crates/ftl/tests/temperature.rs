//! Data kept apart by temperature, against a brute-force simulation of the same rule, and what it
//! gains.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::VecDeque;

use drivelab_ftl::{
    Action, Checked, Exclusive, Firmware, FlashLayout, Lpn, OperationBuffer, Pace, PageMap,
    PageRun, Policies, VictimPolicy,
};

/// One plane with 24 % to spare beyond its reserve and its open blocks.
const LAYOUT: FlashLayout = FlashLayout {
    planes: 1,
    blocks_per_plane: 256,
    pages_per_block: 64,
    logical_pages: 200 * 64,
    reserve_blocks: 4,
};

/// How often pages are overwritten.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// Four of five writes go to a fifth of the pages.
    EightyTwenty,
    /// Page n has a share of 1 / n.
    Zipf,
}

/// Pages at random.
struct Draws {
    state: u64,
    /// Sums of 1 / n.
    sums: Vec<f64>,
}

impl Draws {
    fn new() -> Self {
        let mut sum = 0.0;
        let sums = (1..=LAYOUT.logical_pages).map(|place| {
            sum += 1.0 / f64::from(place);
            sum
        });
        Self {
            state: 0x9E37_79B9_7F4A_7C15,
            sums: sums.collect(),
        }
    }

    /// A number below `limit`, by xorshift64.
    fn below(&mut self, limit: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (((self.state >> 32) * u64::from(limit)) >> 32) as u32
    }

    fn page(&mut self, load: Load) -> u32 {
        let all = LAYOUT.logical_pages;
        match load {
            Load::EightyTwenty if self.below(5) < 4 => self.below(all / 5),
            Load::EightyTwenty => all / 5 + self.below(all - all / 5),
            Load::Zipf => {
                let sum = f64::from(self.below(1 << 30)) / f64::from(1 << 30);
                let sum = sum * self.sums.last().unwrap();
                let place = self.sums.partition_point(|&other| other < sum) as u32;
                // Pages of like share do not follow each other.
                (u64::from(place.min(all - 1)) * 7_919 % u64::from(all)) as u32
            }
        }
    }
}

/// Programs for each write in the steady state.
fn amplification(victim: VictimPolicy, temperature_classes: Option<u32>, load: Load) -> f64 {
    let policies = Policies {
        victim,
        temperature_classes,
        ..Policies::from(Pace::WholeBlock)
    };
    let mut map = PageMap::<Exclusive>::erased(LAYOUT, policies).unwrap();
    let mut out = OperationBuffer::default();
    let mut draws = Draws::new();
    let mut write = |page| {
        out.clear();
        let run = PageRun::whole(Action::Write, Lpn(page), 1);
        map.submit(&[run], &mut out).unwrap();
        out.counts.moves
    };
    (0..LAYOUT.logical_pages).for_each(|page| {
        write(page);
    });
    let writes = 8 * LAYOUT.logical_pages;
    let before = (0..writes).map(|_| write(draws.page(load))).last().unwrap();
    let after = (0..writes).map(|_| write(draws.page(load))).last().unwrap();
    1.0 + (after - before) as f64 / f64::from(writes)
}

/// A block of the brute force: its pages in the order in which they were written, and whether each
/// is still the newest.
#[derive(Default)]
struct Block {
    pages: Vec<(u32, bool)>,
    class: usize,
    is_closed: bool,
    closed_at: u64,
}

impl Block {
    fn valid(&self) -> usize {
        self.pages.iter().filter(|page| page.1).count()
    }
}

/// The same rule with lists, and nothing in common with the firmware.
struct Brute {
    blocks: Vec<Block>,
    free: VecDeque<usize>,
    /// The block that each class fills.
    open: Vec<Option<usize>>,
    place_of: Vec<Option<(usize, usize)>>,
    closed: u64,
    moves: u64,
    by_age: bool,
}

impl Brute {
    fn new(classes: usize, by_age: bool) -> Self {
        let blocks = LAYOUT.blocks_per_plane as usize;
        Self {
            blocks: (0..blocks).map(|_| Block::default()).collect(),
            free: (0..blocks).collect(),
            open: vec![None; classes],
            place_of: vec![None; LAYOUT.logical_pages as usize],
            closed: 0,
            moves: 0,
            by_age,
        }
    }

    fn write(&mut self, page: usize) {
        let hottest = self.open.len() - 1;
        let class = match self.place_of[page] {
            None => 1,
            Some((block, _)) => (self.blocks[block].class + 1).min(hottest),
        };
        if self.open[class].is_none() && self.free.len() <= LAYOUT.reserve_blocks as usize {
            while self.free.len() <= LAYOUT.reserve_blocks as usize {
                self.collect();
            }
        }
        self.put(page, class);
    }

    fn put(&mut self, page: usize, class: usize) {
        let block = match self.open[class] {
            Some(block) => block,
            None => {
                let block = self.free.pop_front().unwrap();
                self.blocks[block] = Block {
                    class,
                    ..Block::default()
                };
                self.open[class] = Some(block);
                block
            }
        };
        if let Some((block, place)) = self.place_of[page] {
            self.blocks[block].pages[place].1 = false;
        }
        let pages = &mut self.blocks[block].pages;
        self.place_of[page] = Some((block, pages.len()));
        pages.push((page as u32, true));
        if pages.len() == LAYOUT.pages_per_block as usize {
            self.blocks[block].is_closed = true;
            self.blocks[block].closed_at = self.closed;
            self.closed += 1;
            self.open[class] = None;
        }
    }

    /// Empties the block with the fewest valid pages, or with the largest benefit over cost.
    fn collect(&mut self) {
        let pages = LAYOUT.pages_per_block as usize;
        let score = |block: &Block| {
            let valid = block.valid() as f64;
            let won = pages as f64 - valid;
            match self.by_age {
                false => won,
                true => (self.closed - block.closed_at) as f64 * won / valid,
            }
        };
        let mut best: Option<(usize, f64)> = None;
        for (place, block) in self.blocks.iter().enumerate() {
            let score = score(block);
            if block.is_closed && best.is_none_or(|(_, most)| score > most) {
                best = Some((place, score));
            }
        }
        let victim = best.unwrap().0;
        self.blocks[victim].is_closed = false;
        let colder = self.blocks[victim].class.saturating_sub(1);
        for place in 0..pages {
            let (page, is_newest) = self.blocks[victim].pages[place];
            if is_newest {
                self.put(page as usize, colder);
                self.moves += 1;
            }
        }
        self.blocks[victim].pages.clear();
        self.free.push_back(victim);
    }
}

/// The firmware moves exactly the pages that the brute force moves.
#[test]
fn moves_are_those_of_a_brute_force_simulation() {
    for (victim, by_age) in [
        (VictimPolicy::Greedy, false),
        (VictimPolicy::CostBenefit, true),
    ] {
        for classes in [3, 4] {
            let policies = Policies {
                victim,
                temperature_classes: Some(classes),
                ..Policies::from(Pace::WholeBlock)
            };
            let mut map = PageMap::<Exclusive>::erased(LAYOUT, policies).unwrap();
            let mut brute = Brute::new(classes as usize, by_age);
            let (mut out, mut draws) = (OperationBuffer::default(), Draws::new());
            let filling = 0..LAYOUT.logical_pages;
            let random = (0..60_000).map(|_| draws.page(Load::Zipf));
            for (step, page) in filling.chain(random).enumerate() {
                out.clear();
                let run = PageRun::whole(Action::Write, Lpn(page), 1);
                map.submit(&[run], &mut out).unwrap();
                brute.write(page as usize);
                assert_eq!(
                    out.counts.moves, brute.moves,
                    "{victim:?}, {classes} classes, write {step}"
                );
            }
            assert!(brute.moves > 50_000, "{}", brute.moves);
        }
    }
}

/// What it gains depends on the workload and on the rule for victims: blocks of cold data have to be
/// left alone until they have lost pages, which the greedy rule does not do.
#[test]
fn skewed_writes_are_amplified_less_with_classes() {
    let of =
        |victim, load| [None, Some(3), Some(4)].map(|classes| amplification(victim, classes, load));
    for (victim, load, least_gain) in [
        (VictimPolicy::CostBenefit, Load::EightyTwenty, 0.08),
        (VictimPolicy::CostBenefit, Load::Zipf, 0.13),
        (VictimPolicy::Greedy, Load::Zipf, 0.13),
        // None, and no loss to speak of.
        (VictimPolicy::Greedy, Load::EightyTwenty, -0.01),
    ] {
        let [without, three, four] = of(victim, load);
        println!("{victim:?} {load:?}: {without:.2} {three:.2} {four:.2}");
        assert!(
            1.0 - four / without > least_gain,
            "{victim:?}, {load:?}: {without} {three} {four}"
        );
        assert!(
            least_gain < 0.0 || (four < three && three < without),
            "{victim:?}, {load:?}: {without} {three} {four}"
        );
    }
}

/// Small drives, as full as they may be. Collection at a pace moves pages into blocks that the host
/// fills as well, so what its victim still needs has to be kept for it.
#[test]
fn a_full_drive_always_has_space_for_what_collection_moves() {
    let mut draws = Draws::new();
    for case in 0..2_000 {
        let [classes, pages_per_block] = [3 + draws.below(2), 2 + draws.below(12)];
        let policies = Policies {
            pace: Pace::ALL[draws.below(3) as usize],
            victim: VictimPolicy::ALL[draws.below(VictimPolicy::ALL.len() as u32) as usize],
            wear_spread: [None, Some(0), Some(2)][draws.below(3) as usize],
            temperature_classes: Some(classes),
            ..Policies::USUAL
        };
        let usable = 12 - policies.blocks_held_back(2);
        let layout = FlashLayout {
            planes: 1,
            blocks_per_plane: 12,
            pages_per_block,
            logical_pages: usable * pages_per_block,
            reserve_blocks: 2,
        };
        let map = PageMap::<Exclusive>::erased(layout, policies).unwrap();
        let mut map = Checked::fresh(map);
        let mut out = OperationBuffer::default();
        // In order at first, then runs from anywhere.
        let longest = 1 + draws.below(2 * pages_per_block);
        let mut next = 0;
        for step in 0..400 {
            out.clear();
            let pages = (1 + draws.below(longest)).min(layout.logical_pages - next);
            let run = PageRun::whole(Action::Write, Lpn(next), pages);
            if let Err(error) = map.submit(&[run], &mut out) {
                panic!("case {case}, write {step}: {error}, {policies:?}, {layout:?}");
            }
            next = match draws.below(8) {
                0 => draws.below(layout.logical_pages),
                1..=3 => draws.below(pages_per_block),
                _ => (next + pages) % layout.logical_pages,
            };
        }
    }
}
