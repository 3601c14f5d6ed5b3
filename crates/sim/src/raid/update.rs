//! What members read and write for one row of an array with parity.
//!
//! ```text
//!                      read                          write
//!   full stripe        nothing                       data, P, Q
//!   reconstruct        the other data                data, P, Q
//!   read-modify-write  the same data and P, Q        data, P, Q
//! ```
//!
//! Of the last two the one that reads less, and of equal ones reconstruct: `handle_stripe_dirtying`
//! of Linux's raid5.c. As there, every column (the same bytes of every chunk) is decided by
//! itself. Without members that are missing the choice is theirs; with them, what is left of both
//! is:
//!
//! - read-modify-write where all that is written can be read; it leaves P and Q out that are
//!   missing;
//! - reconstruct where all else of the data can be read;
//! - else all data that can be read, and a parity for each chunk that cannot;
//! - nothing is read where every parity is missing.
//!
//! Not modelled: that md works in pages of 4 KiB. Here sectors are what is written.

use super::rows::{Extent, Holds, Rows};

/// A set of members, a bit each.
pub type Members = u32;

/// A part of what one member has of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which member.
    pub member: u32,
    /// Where in its chunk it begins, bytes.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
}

/// Which members there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Present {
    /// Those that have what belongs into the row.
    pub readable: Members,
    /// Those that take writes: also one that is being rebuilt.
    pub writable: Members,
}

/// How columns are brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Nothing is read: the row is written whole, or has no parity left.
    FullStripe,
    /// Parity is computed of all data; the data that is not written is read.
    Reconstruct,
    /// Parity is computed of what it was, and of old and new data.
    ReadModifyWrite,
}

/// What is done for a row: reads, then computing, then writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// By member and place, none of which touch.
    pub reads: Vec<Part>,
    /// Likewise.
    pub writes: Vec<Part>,
    /// Bytes of the chunks that parity, or what is missing, is computed of.
    pub computed_bytes: u64,
    /// Bytes of parity that are read.
    pub parity_read_bytes: u64,
    /// Bytes of parity that are written.
    pub parity_write_bytes: u64,
    /// How, of the columns that read most.
    pub method: Option<Method>,
}

/// Parts as they come, and in the end joined.
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

/// One row: who has data, who parity.
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

    /// Readable members that tell what `wanted` holds where that cannot be read: all data, and
    /// a parity for each data chunk that is missing.
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

/// What a write of such parts needs: by column, see the module.
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

/// What a read of such parts needs, of which some cannot be read.
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

/// What it takes to write what `member` should have of a row.
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

/// Between which places of their chunks the same parts are touched.
fn columns(extents: &[Extent]) -> Vec<(u64, u64)> {
    let mut edges: Vec<_> = extents.iter().flat_map(|e| [e.from, e.to]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests;
