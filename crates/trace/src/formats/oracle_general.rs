//! libCacheSim's `oracleGeneral`, which is recognised and refused.
//!
//! ```text
//! 24 bytes: u32 time in s, u64 object, u32 size, i64 when the object is asked for next (-1: never)
//! ```
//!
//! It has no operations and no places, and its clock has a resolution of one second.

use super::{Format, Holds};
use crate::blocks::{u32_at, u64_at};
use crate::error::TraceError;

pub(super) const FORMAT: Format = Format {
    name: "oracle-general",
    title: "libCacheSim oracleGeneral (refused)",
    layout: "records of 24 bytes: time (s), object, size (bytes), next access",
    holds: Holds::NOTHING_MORE,
    place: "byte",
    has_address_unit: false,
    recognise: |head| is_oracle(head.bytes),
    open: |inputs, _| {
        Err(TraceError::Refused {
            file: inputs
                .first()
                .map(|input| input.name.clone())
                .unwrap_or_default(),
            format: "libCacheSim (oracleGeneral)",
            reason: "it does not say which requests are reads and which are writes, and its clock \
                     counts whole seconds; take the trace that it was made from",
        })
    },
};

/// The number of records examined.
const LOOKED_AT: usize = 64;

fn is_oracle(bytes: &[u8]) -> bool {
    let (records, rest) = bytes.as_chunks::<24>();
    if records.len() < LOOKED_AT && !rest.is_empty() {
        return false;
    }
    let mut before = 0;
    let fits = |(index, record): (usize, &[u8; 24])| {
        let time = u32_at(record, 0);
        let size = u32_at(record, 12);
        let next = u64_at(record, 16);
        let is_next = next == u64::MAX || (next > index as u64 && next < 1 << 48);
        let fits = time >= before && size > 0 && is_next;
        before = time;
        fits
    };
    !records.is_empty() && records.iter().take(LOOKED_AT).enumerate().all(fits)
}
