#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! Executes plans on real bytes, and checks the known operation counts.

use super::*;
use crate::raid::level::Level;
use crate::raid::mirrors::Mirrors;

const CHUNK: u64 = 6;

/// Product in the field of 256 elements of RAID-6: polynomials modulo x^8 + x^4 + x^3 + x^2 + 1
/// (Anvin 2004, "The mathematics of RAID-6").
fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while b != 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        a = if a & 0x80 == 0 {
            a << 1
        } else {
            (a << 1) ^ 0x1d
        };
        b >>= 1;
    }
    sum
}

fn power(exponent: u32) -> u8 {
    (0..exponent).fold(1, |product_, _| product(product_, 2))
}

/// The 254th power, because every element's 255th power is 1.
fn inverse(a: u8) -> u8 {
    let squares = std::iter::successors(Some(a), |&square| Some(product(square, square)));
    squares.skip(1).take(7).fold(1, product)
}

/// Random numbers that are the same in every run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// The bytes of every member. Plans are executed literally: what a plan has not read is unknown.
struct Bytes {
    rows: Rows,
    members: Vec<Vec<u8>>,
    present: Present,
}

/// What was read of a row, by member and place.
type Known = Vec<Vec<Option<u8>>>;

impl Bytes {
    fn new(level: Level, members: u32, rows: u64) -> Self {
        let all = (1 << members) - 1;
        Self {
            rows: Rows::new(level, members, CHUNK),
            members: vec![vec![0; (rows * CHUNK) as usize]; members as usize],
            present: Present {
                readable: all,
                writable: all,
            },
        }
    }

    fn carried_out_reads(&self, row: u64, reads: &[Part]) -> Known {
        let mut known = vec![vec![None; CHUNK as usize]; self.members.len()];
        for part in reads {
            assert!(
                self.present.readable >> part.member & 1 == 1,
                "reads what is missing"
            );
            for place in part.from..part.to {
                let at = (row * CHUNK + place) as usize;
                known[part.member as usize][place as usize] =
                    Some(self.members[part.member as usize][at]);
            }
        }
        known
    }

    /// The data of a column derived from everything known, whatever was read: brute force over the
    /// two equations.
    fn solved(&self, row: u64, known: &Known, place: u64) -> Vec<Option<u8>> {
        let rows = self.rows;
        let of = |member: u32| known[member as usize][place as usize];
        let mut data: Vec<_> = (0..rows.data_chunks())
            .map(|chunk| of(rows.data_member(row, chunk)))
            .collect();
        let mut parity = rows.parity_members(row).map(of);
        let (p, q) = (parity.next().flatten(), parity.next().flatten());
        let missing: Vec<_> = (0..data.len()).filter(|&c| data[c].is_none()).collect();
        // What remains of P and Q after the known data is subtracted.
        let left = |parity: Option<u8>, factor: &dyn Fn(usize) -> u8| {
            let known = data.iter().enumerate();
            known.fold(parity, |sum, (chunk, value)| {
                sum.map(|sum| sum ^ value.map_or(0, |value| product(factor(chunk), value)))
            })
        };
        let (p, q) = (left(p, &|_| 1), left(q, &|chunk| power(chunk as u32)));
        match (&missing[..], p, q) {
            (&[one], Some(p), _) => data[one] = Some(p),
            (&[one], None, Some(q)) => data[one] = Some(product(q, inverse(power(one as u32)))),
            (&[one, two], Some(p), Some(q)) => {
                // a + b = p, g^one a + g^two b = q.
                let (g, h) = (power(one as u32), power(two as u32));
                let second = product(q ^ product(g, p), inverse(g ^ h));
                (data[one], data[two]) = (Some(p ^ second), Some(second));
            }
            _ => {}
        }
        data
    }

    fn parity_of(data: &[u8]) -> [u8; 2] {
        let numbered = (0..).zip(data);
        numbered.fold([0, 0], |[p, q], (chunk, &value)| {
            [p ^ value, q ^ product(power(chunk), value)]
        })
    }

    /// Executes a write with what its plan reads, and nothing else.
    fn write(&mut self, row: u64, extents: &[Extent], value: &dyn Fn(u32, u64) -> u8) {
        let (rows, present) = (self.rows, self.present);
        let work = write(rows, row, extents, present);
        let known = self.carried_out_reads(row, &work.reads);
        for part in &work.writes {
            assert!(
                present.writable >> part.member & 1 == 1,
                "writes what is missing"
            );
            for place in part.from..part.to {
                let new = |chunk: u32| {
                    let mut covers = extents.iter().filter(|e| e.chunk == chunk);
                    let covered = covers.any(|e| e.from <= place && place < e.to);
                    covered.then(|| value(chunk, place))
                };
                let byte = match rows.holds(row, part.member) {
                    Holds::Data(chunk) => new(chunk),
                    holds => {
                        let which = usize::from(holds == Holds::Q);
                        self.new_parity(row, &known, place, which, &new)
                    }
                };
                let at = (row * CHUNK + place) as usize;
                self.members[part.member as usize][at] = byte.expect("the plan reads enough");
            }
        }
    }

    fn new_parity(
        &self,
        row: u64,
        known: &Known,
        place: u64,
        which: usize,
        new: &dyn Fn(u32) -> Option<u8>,
    ) -> Option<u8> {
        let rows = self.rows;
        let old = self.solved(row, known, place);
        let all: Option<Vec<u8>> = (0..rows.data_chunks())
            .map(|chunk| new(chunk).or(old[chunk as usize]))
            .collect();
        if let Some(all) = all {
            return Some(Self::parity_of(&all)[which]);
        }
        // From the old parity and the differences.
        let member = rows.parity_members(row).nth(which)?;
        let was = known[member as usize][place as usize]?;
        (0..rows.data_chunks()).try_fold(was, |parity, chunk| match new(chunk) {
            None => Some(parity),
            Some(new) => {
                let difference = new ^ old[chunk as usize]?;
                let factor = if which == 0 { 1 } else { power(chunk) };
                Some(parity ^ product(factor, difference))
            }
        })
    }

    fn read(&self, row: u64, extents: &[Extent]) -> Vec<u8> {
        let work = degraded_read(self.rows, row, extents, self.present);
        let known = self.carried_out_reads(row, &work.reads);
        let places = extents
            .iter()
            .flat_map(|e| (e.from..e.to).map(|place| (e.chunk, place)));
        places
            .map(|(chunk, place)| {
                let byte = self.solved(row, &known, place)[chunk as usize];
                byte.expect("the plan reads enough")
            })
            .collect()
    }

    fn rebuild(&mut self, row: u64, member: u32) {
        let rows = self.rows;
        let work = rebuild(rows, row, member, self.present);
        let known = self.carried_out_reads(row, &work.reads);
        for place in 0..CHUNK {
            let data: Vec<u8> = self
                .solved(row, &known, place)
                .into_iter()
                .map(|byte| byte.expect("the plan reads enough"))
                .collect();
            let byte = match rows.holds(row, member) {
                Holds::Data(chunk) => data[chunk as usize],
                Holds::P => Self::parity_of(&data)[0],
                Holds::Q => Self::parity_of(&data)[1],
            };
            self.members[member as usize][(row * CHUNK + place) as usize] = byte;
        }
    }
}

/// Any sequence of writes under any tolerated failure reads back what was written, also after the
/// members were rebuilt.
#[test]
fn an_array_reads_back_what_was_written_whatever_is_missing() {
    let mut draws = Draws(7);
    for (level, members) in [
        (Level::Raid5, 3),
        (Level::Raid5, 4),
        (Level::Raid5, 6),
        (Level::Raid6, 4),
        (Level::Raid6, 5),
        (Level::Raid6, 8),
    ] {
        for lost in 0..1_u32 << members {
            if !level.bears(members, |member| lost >> member & 1 == 1) {
                continue;
            }
            let count = 2 * u64::from(members);
            let mut array = Bytes::new(level, members, count);
            let row_bytes = array.rows.row_bytes();
            let mut expected = vec![0_u8; (count * row_bytes) as usize];
            for step in 0..60 {
                // Members fail midway, so what they hold is old.
                if step == 20 {
                    array.present.readable &= !lost;
                    array.present.writable &= !lost;
                    for member in (0..members).filter(|m| lost >> m & 1 == 1) {
                        array.members[member as usize].fill(0xee);
                    }
                }
                // A member being rebuilt takes writes and is not read.
                if step == 40 {
                    array.present.writable |= lost;
                }
                let offset = draws.below(count * row_bytes);
                let size = 1 + draws.below((count * row_bytes - offset).min(3 * row_bytes));
                let mut values = vec![];
                for _ in 0..size {
                    values.push(draws.below(256) as u8);
                }
                expected[offset as usize..(offset + size) as usize].copy_from_slice(&values);
                let layout = array.rows;
                for (row, from, to) in layout.split(offset, size) {
                    let extents: Vec<_> = layout.extents(from, to).collect();
                    let value = |chunk: u32, place: u64| {
                        let at = row * row_bytes + u64::from(chunk) * CHUNK + place;
                        values[(at - offset) as usize]
                    };
                    array.write(row, &extents, &value);
                }
                if step % 10 == 9 {
                    assert_eq!(
                        read_all(&array, count),
                        expected,
                        "{level:?} {members} {lost:b}"
                    );
                }
            }
            for member in (0..members).filter(|m| lost >> m & 1 == 1) {
                (0..count).for_each(|row| array.rebuild(row, member));
                array.present.readable |= 1 << member;
                assert_eq!(read_all(&array, count), expected);
            }
            // Both parities are right again, so any other members may fail.
            for other in (0..1_u32 << members).filter(|o| o.count_ones() == level.parities()) {
                array.present.readable = ((1 << members) - 1) & !other;
                assert_eq!(read_all(&array, count), expected);
            }
        }
    }
}

fn read_all(array: &Bytes, count: u64) -> Vec<u8> {
    let row_bytes = array.rows.row_bytes();
    let of = |row| {
        let extents: Vec<_> = array.rows.extents(0, row_bytes).collect();
        array.read(row, &extents)
    };
    (0..count).flat_map(of).collect()
}

/// The same for copies: any remaining copy has what was written, and nothing is written twice.
#[test]
fn every_copy_has_what_was_written() {
    let mut draws = Draws(3);
    for (level, members) in [(Level::Raid1, 3), (Level::Raid10, 4), (Level::Raid10, 5)] {
        let mirrors = Mirrors::new(level, members, CHUNK);
        let bytes = mirrors.capacity_bytes(40 * CHUNK);
        let mut array = vec![vec![0_u8; 40 * CHUNK as usize]; members as usize];
        let mut expected = vec![0_u8; bytes as usize];
        for _ in 0..200 {
            let offset = draws.below(bytes);
            let size = 1 + draws.below((bytes - offset).min(50));
            let value = draws.below(256) as u8;
            expected[offset as usize..(offset + size) as usize].fill(value);
            for part in mirrors.split(offset, size) {
                for (member, place) in mirrors.copies(part) {
                    let range = place as usize..(place + part.size) as usize;
                    array[member as usize][range].fill(value);
                }
            }
        }
        let copies = level.copies(members) as usize;
        for which in 0..copies {
            let read: Vec<u8> = mirrors
                .split(0, bytes)
                .flat_map(|part| {
                    let (member, place) = mirrors.copies(part).nth(which).unwrap_or_default();
                    array[member as usize][place as usize..(place + part.size) as usize].to_vec()
                })
                .collect();
            assert_eq!(read, expected);
        }
    }
}

fn all(members: u32) -> Present {
    let all = (1 << members) - 1;
    Present {
        readable: all,
        writable: all,
    }
}

fn counts(level: Level, members: u32, extents: &[Extent]) -> (usize, usize, Option<Method>) {
    let rows = Rows::new(level, members, 65_536);
    let work = write(rows, 0, extents, all(members));
    (work.reads.len(), work.writes.len(), work.method)
}

/// Patterson et al. 1988, section 10: a small write reads and writes data and parity.
#[test]
fn small_writes_read_as_much_as_they_write() {
    let small = [Extent {
        chunk: 1,
        from: 4_096,
        to: 8_192,
    }];
    // With few members the rest of the row is smaller than data and parity. On a tie the rest is
    // read.
    let expected = [
        (Level::Raid5, 3, (1, 2, Method::Reconstruct)),
        (Level::Raid5, 4, (2, 2, Method::Reconstruct)),
        (Level::Raid5, 5, (2, 2, Method::ReadModifyWrite)),
        (Level::Raid5, 16, (2, 2, Method::ReadModifyWrite)),
        (Level::Raid6, 4, (1, 3, Method::Reconstruct)),
        (Level::Raid6, 6, (3, 3, Method::Reconstruct)),
        (Level::Raid6, 7, (3, 3, Method::ReadModifyWrite)),
    ];
    for (level, members, (reads, writes, method)) in expected {
        let found = counts(level, members, &small);
        assert_eq!(found, (reads, writes, Some(method)), "{level:?} {members}");
    }
}

#[test]
fn a_whole_row_reads_nothing_and_most_of_one_reads_the_rest() {
    let extents = |chunks: std::ops::Range<u32>| -> Vec<Extent> {
        let of = |chunk| Extent {
            chunk,
            from: 0,
            to: 65_536,
        };
        chunks.map(of).collect()
    };
    let full = counts(Level::Raid5, 5, &extents(0..4));
    assert_eq!(full, (0, 5, Some(Method::FullStripe)));
    let most = counts(Level::Raid5, 5, &extents(0..3));
    assert_eq!(most, (1, 4, Some(Method::Reconstruct)));
    let one = counts(Level::Raid6, 8, &extents(2..3));
    assert_eq!(one, (3, 3, Some(Method::ReadModifyWrite)));
}

#[test]
fn columns_are_decided_by_themselves() {
    // One and a half of four data chunks are written. In columns where two chunks are written, the
    // two others are read; with parity it would be three. Where one is written, that one and parity
    // are read.
    let rows = Rows::new(Level::Raid5, 5, 100);
    let extents: Vec<_> = rows.extents(0, 150).collect();
    let work = write(rows, 0, &extents, all(5));
    let part = |member, from, to| Part { member, from, to };
    // Row 0: data on members 0 to 3, P on 4.
    assert_eq!(
        work.reads,
        [
            part(0, 50, 100),
            part(2, 0, 50),
            part(3, 0, 50),
            part(4, 50, 100)
        ]
    );
    assert_eq!(
        work.writes,
        [part(0, 0, 100), part(1, 0, 50), part(4, 0, 100)]
    );
    assert_eq!((work.parity_read_bytes, work.parity_write_bytes), (50, 100));
    // Four chunks where two are written. Where one is: its new and old data, and the old parity.
    assert_eq!(work.computed_bytes, 4 * 50 + 3 * 50);
    assert_eq!(work.method, Some(Method::ReadModifyWrite));
}
