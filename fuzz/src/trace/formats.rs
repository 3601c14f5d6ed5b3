//! A reader for each format of traces. A new format is one line here and one in the list of all
//! readers; a test finds one that was left out.

use super::{check, seeds};
use crate::Reader;

macro_rules! formats {
    ($($reader:ident: $format:literal in $($source:literal),+;)+) => { $(
        pub(crate) const $reader: Reader = Reader {
            name: concat!("trace-", $format),
            sources: &[$($source,)+],
            check: |data| check(data, Some($format)),
            seeds: || seeds::of($format),
        };
    )+ };
}

formats! {
    SPC: "spc" in "crates/trace/src/formats/spc.rs";
    MSR: "msr" in "crates/trace/src/formats/msr.rs";
    ALIBABA: "alibaba" in "crates/trace/src/formats/alibaba.rs";
    TENCENT: "tencent" in "crates/trace/src/formats/tencent.rs";
    SYSTOR: "systor" in "crates/trace/src/formats/systor.rs";
    FIU: "fiu" in "crates/trace/src/formats/fiu.rs";
    BLKPARSE: "blkparse" in "crates/trace/src/formats/blkparse.rs", "crates/trace/src/block_events.rs";
    BLKTRACE: "blktrace" in "crates/trace/src/formats/blktrace.rs", "crates/trace/src/block_events.rs";
    FIO_IOLOG: "fio-iolog" in "crates/trace/src/formats/fio_iolog.rs";
    DISKSIM: "disksim" in "crates/trace/src/formats/disksim.rs", "crates/trace/src/formats/five_columns.rs";
    MQSIM: "mqsim" in "crates/trace/src/formats/mqsim.rs", "crates/trace/src/formats/five_columns.rs";
    VSCSI: "vscsi" in "crates/trace/src/formats/vscsi.rs", "crates/trace/src/formats/scsi.rs";
    VSCSI_TEXT: "vscsi-text" in "crates/trace/src/formats/vscsi_text.rs", "crates/trace/src/formats/scsi.rs";
    FLASHNET: "flashnet" in "crates/trace/src/formats/flashnet.rs";
    KV_CACHE: "kv-cache" in "crates/trace/src/formats/kv_cache.rs";
    PARQUET: "parquet" in "crates/trace/src/formats/parquet.rs";
    ORACLE_GENERAL: "oracle-general" in "crates/trace/src/formats/oracle_general.rs";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::READERS;

    /// So that none is left out.
    #[test]
    fn every_format_is_a_reader() {
        let names = READERS
            .iter()
            .filter_map(|reader| reader.name.strip_prefix("trace-"));
        let formats = drivelab_trace::FORMATS.iter().map(|format| format.name);
        assert_eq!(names.collect::<BTreeSet<_>>(), formats.collect());
    }
}
