//! What members read and write to update one row of an array with parity.
//!
//! ```text
//!                      read                          write
//!   full stripe        nothing                       data, P, Q
//!   reconstruct        the other data                data, P, Q
//!   read-modify-write  the same data and P, Q        data, P, Q
//! ```
//!
//! Of the last two methods, the one that reads less is used; on a tie, reconstruct
//! (`handle_stripe_dirtying` of Linux's raid5.c). As there, each column (the same bytes of every
//! chunk) is decided separately. If no members are missing, both methods are possible. With missing
//! members:
//!
//! - read-modify-write if everything that is written can be read; a missing P or Q is left out;
//! - reconstruct if all other data can be read;
//! - otherwise read all readable data, and one parity for each chunk that is not readable;
//! - read nothing if every parity is missing.
//!
//! Not modelled: md works in pages of 4 KiB. Here the unit is the sectors that are written.

use super::rows::{Extent, Holds, Rows};

/// A set of members, one bit each.
pub type Members = u32;

/// A part of one member's chunk in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which member.
    pub member: u32,
    /// Where it begins in the chunk, in bytes.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
}

/// The members that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Present {
    /// Members with valid data in the row.
    pub readable: Members,
    /// Members that take writes, including one that is being rebuilt.
    pub writable: Members,
}

/// How columns are updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Nothing is read: the whole row is written, or no parity is left.
    FullStripe,
    /// Parity is computed from all data. The data that is not written is read.
    Reconstruct,
    /// Parity is computed from the old parity, the old data and the new data.
    ReadModifyWrite,
}

/// The work for a row: reads, then computing, then writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Sorted by member and place; no two touch.
    pub reads: Vec<Part>,
    /// Sorted likewise.
    pub writes: Vec<Part>,
    /// Bytes of the chunks from which parity or missing data is computed.
    pub computed_bytes: u64,
    /// Bytes of parity read.
    pub parity_read_bytes: u64,
    /// Bytes of parity written.
    pub parity_write_bytes: u64,
    /// The method of the columns that read most.
    pub method: Option<Method>,
}

/// Parts in any order, joined at the end.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn add(&mut self, members: Members, from: u64, to: u64) {
        let mut rest = members;
        while rest != 0 {
            let member = rest.trailing_zeros();
            rest &= rest - 1;
            self.0.push(Part { member, from, to });
        }
    }

    fn joined(mut self) -> Vec<Part> {
        self.0.sort_unstable_by_key(|part| (part.member, part.from));
        self.0.dedup_by(|next, last| {
            let joins = next.member == last.member && next.from <= last.to;
            if joins {
                last.to = last.to.max(next.to);
            }
            joins
        });
        self.0
    }
}

/// One row: which members have data, which parity.
struct Row {
    data: Members,
    parity: Members,
    present: Present,
}

impl Row {
    fn new(rows: Rows, row: u64, present: Present) -> Self {
        let parity = rows.parity_members(row).fold(0, |set, m| set | 1 << m);
        let all = (1_u32 << rows.members()) - 1;
        Self {
            data: all & !parity,
            parity,
            present,
        }
    }

    /// Readable members that determine what `wanted` holds if it is not readable: all data, and one
    /// parity for each missing data chunk.
    fn telling(&self, rows: Rows, row: u64, wanted: Members) -> Members {
        let readable = self.present.readable & !wanted;
        let missing = (self.data & !readable).count_ones();
        let parities = rows
            .parity_members(row)
            .filter(|&member| readable >> member & 1 == 1)
            .take(missing as usize);
        parities.fold(self.data & readable, |set, member| set | 1 << member)
    }
}

/// The work to write these extents, column by column; see the module.
#[must_use]
pub fn write(rows: Rows, row: u64, extents: &[Extent], present: Present) -> Work {
    let of_row = Row::new(rows, row, present);
    let Row { data, parity, .. } = of_row;
    let (readable, writable) = (present.readable, present.writable);
    let (mut reads, mut writes) = (Parts::default(), Parts::default());
    let mut work = Work::default();
    for (from, to) in columns(extents) {
        let written = extents
            .iter()
            .filter(|extent| extent.from <= from && to <= extent.to)
            .fold(0, |set, extent| {
                set | 1 << rows.data_member(row, extent.chunk)
            });
        if written == 0 {
            continue;
        }
        let bytes = to - from;
        writes.add((written | parity) & writable, from, to);
        let old_parity = parity & readable;
        let (method, read, blocks) = if parity & writable == 0 {
            (Method::FullStripe, 0, 0)
        } else {
            let modify = (written & !readable == 0 && old_parity == parity & writable)
                .then_some(written | old_parity);
            let other = data & !written;
            let rebuild = (other & !readable == 0).then_some(other);
            match (modify, rebuild) {
                (_, Some(0)) => (Method::FullStripe, 0, data.count_ones()),
                (Some(modify), rebuild)
                    if rebuild.is_none_or(|other| modify.count_ones() < other.count_ones()) =>
                {
                    let blocks = 2 * written.count_ones() + old_parity.count_ones();
                    (Method::ReadModifyWrite, modify, blocks)
                }
                (_, Some(other)) => (Method::Reconstruct, other, data.count_ones()),
                (_, None) => {
                    let all = of_row.telling(rows, row, 0);
                    (
                        Method::Reconstruct,
                        all,
                        all.count_ones() + data.count_ones(),
                    )
                }
            }
        };
        reads.add(read, from, to);
        work.computed_bytes += u64::from(blocks) * bytes;
        work.parity_read_bytes += u64::from((read & parity).count_ones()) * bytes;
        work.parity_write_bytes += u64::from((parity & writable).count_ones()) * bytes;
        work.method = work.method.max(Some(method));
    }
    work.reads = reads.joined();
    work.writes = writes.joined();
    work
}

/// The work to read these extents, some of which are not readable.
#[must_use]
pub fn degraded_read(rows: Rows, row: u64, extents: &[Extent], present: Present) -> Work {
    let of_row = Row::new(rows, row, present);
    let mut reads = Parts::default();
    let mut work = Work::default();
    for extent in extents {
        let (from, to) = (extent.from, extent.to);
        let member = 1 << rows.data_member(row, extent.chunk);
        if present.readable & member != 0 {
            reads.add(member, from, to);
            continue;
        }
        let telling = of_row.telling(rows, row, member);
        reads.add(telling, from, to);
        work.computed_bytes += u64::from(telling.count_ones()) * (to - from);
        work.parity_read_bytes += u64::from((telling & of_row.parity).count_ones()) * (to - from);
    }
    work.reads = reads.joined();
    work
}

/// The work to write the chunk that `member` should have in a row.
#[must_use]
pub fn rebuild(rows: Rows, row: u64, member: u32, present: Present) -> Work {
    let of_row = Row::new(rows, row, present);
    let bytes = rows.chunk_bytes();
    let telling = of_row.telling(rows, row, 1 << member);
    let mut reads = Parts::default();
    reads.add(telling, 0, bytes);
    let is_parity = !matches!(rows.holds(row, member), Holds::Data(_));
    Work {
        reads: reads.joined(),
        writes: vec![Part {
            member,
            from: 0,
            to: bytes,
        }],
        computed_bytes: u64::from(telling.count_ones()) * bytes,
        parity_read_bytes: u64::from((telling & of_row.parity).count_ones()) * bytes,
        parity_write_bytes: if is_parity { bytes } else { 0 },
        method: None,
    }
}

/// The ranges within chunks in which the same extents are touched.
fn columns(extents: &[Extent]) -> Vec<(u64, u64)> {
    let mut edges: Vec<_> = extents.iter().flat_map(|e| [e.from, e.to]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests;
