//! Small files in every format, where fuzzing begins.

use drivelab_trace::{Compression, Operation, Record, TraceWriter, UNKNOWN_PROCESS};

use super::Shared;

/// A format, and a text in it.
const TEXTS: [(&str, &str); 17] = [
    (
        "spc",
        "0,100,3584,w,0.000000\n1,200, 4096, R,0.026214,more\n0,107,512,r,0.02\n",
    ),
    (
        "msr",
        "128166372003061629,hm,0,Read,383496192,32768,413\n1 128166372003061630,a,1,Write,1024,512,28\n",
    ),
    (
        "alibaba",
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
    ),
    (
        "tencent",
        "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n",
    ),
    (
        "systor",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592200.102930000,0.000314,R,3,89012224,4096\n1455592200.1,-1.5,W,4,512,1024\n",
    ),
    (
        "fiu",
        "1000 4892 syslogd 904265560 8 W 6 0 531e\n39064 2559 kjournald 926858672 8 R 6 1 4fd0\n",
    ),
    (
        "blkparse",
        "  8,16   5        2     0.000001850 18615  Q   R 100 + 16 [java]\n  8,16   5        5     0.000009000 18615  D   R 100 + 8 [java]\n  8,16   5        5     0.000009100 18615  D   R 108 + 8 [java]\n  8,16   5        6     0.000109000     0  C   R 108 + 8 [0]\n  8,16   5        6     0.000119000     0  C   R 100 + 8 [0]\n8,16 1 7 0.2 7 Q FWS [jbd2]\nCPU5 (8,16):\n",
    ),
    (
        "fio-iolog",
        "fio version 3 iolog\n28 /dev/sdb add\n258 /dev/sdb open\n264 /dev/sdb write 0 4096\n250320 /dev/sdb read 45056 8192\n250321 /dev/sdb trim 4096 4096\n250322 /dev/sdb sync 0 0\n",
    ),
    (
        "fio-iolog",
        "fio version 2 iolog\na add\na open\na write 0 4096\na wait 500 0\na read 4096 4096\na sync\n",
    ),
    (
        "disksim",
        "13.191135\t30\t0\t5\t1\n17.829285\t20\t576560\t6\t0\n",
    ),
    (
        "mqsim",
        "938513000 4 264719034 16 0\n938828000 3 197570570 16 1\n938820000 3 8 16 1\n",
    ),
    (
        "vscsi-text",
        "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,1024,42932746\n",
    ),
    (
        "flashnet",
        "0.000,84,0,4096,90648576,0.101,4096\n0.250,71,1,8192,31408128,0.300,8192\n",
    ),
    (
        "kv-cache",
        "Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase\n1740553426.194021,Write,131072,Tier-0,a/b,Prefill\n1740553426.194521,Read,5000,Tier-2,a/b,Evict\n",
    ),
    (
        "kv-cache",
        "{\"Timestamp\": 1.5, \"Operation\": \"Write\", \"Object_Size_Bytes\": 5000, \"Tier\": \"T\", \"Key\": \"a\"}\n",
    ),
    (
        "spc",
        "0,0,4096,R,18446744073.709551615\n0,36028797018963966,512,w,0\n0,1,0,r,1\n\0\n",
    ),
    (
        "spc",
        "0,1,512,R,0.5\n0,1,512,R,0.4\n0,1,512,R,0.5\n0,1,512,R,0.1\n0,1,512,R,0.6",
    ),
];

fn record_of_blktrace(time_ns: u64, action: u32, sector: u64, size: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0x6561_7407, 1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for wide in [time_ns, sector] {
        bytes.extend(wide.to_le_bytes());
    }
    for word in [size, action, 42, (8 << 20) | 16, 0, 2 << 16] {
        bytes.extend(u32::to_le_bytes(word));
    }
    bytes.extend([1, 2]);
    bytes
}

/// Files of every format, each with its name; a packed one has none.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let texts = TEXTS.map(|(name, text)| (name, text.as_bytes().to_vec()));
    let mut all = Vec::from(texts);
    let write = 1 << 17;
    let events = [
        record_of_blktrace(0, write | 1, 0, 8192),
        record_of_blktrace(5, write | 1, 16, 4096),
        record_of_blktrace(10, write | 7, 0, 4096),
        record_of_blktrace(20, write | 7, 8, 8192),
        record_of_blktrace(90, write | 8, 8, 8192),
        record_of_blktrace(95, write | 8, 0, 4096),
    ];
    all.push(("blktrace", events.concat()));
    let mut first = [0_u8; 32];
    (first[5], first[12], first[15], first[16], first[24]) = (2, 0x2a, 1, 9, 7);
    let mut second = [0_u8; 40];
    (
        second[0], second[3], second[9], second[16], second[24], second[32],
    ) = (0x28, 2, 2, 9, 7, 5);
    all.push(("vscsi", first.repeat(3)));
    all.push(("vscsi", second.repeat(3)));
    let mut oracle = [0_u8; 24];
    (oracle[0], oracle[12]) = (1, 9);
    oracle[16..].fill(255);
    all.push(("oracle-general", oracle.to_vec()));
    let mut record = Record::new(0, 0, Operation::Write, 512, 4096);
    (record.response_ns, record.process) = (77, UNKNOWN_PROCESS - 1);
    let later = Record {
        arrival_ns: 9,
        ..record
    };
    all.push((
        "parquet",
        written("parquet", Compression::None, &[record, later]),
    ));
    all.push(("", written("spc", Compression::Gzip, &[record; 3])));
    all
}

/// Records in a format; empty if they cannot be written.
fn written(format: &str, compression: Compression, records: &[Record]) -> Vec<u8> {
    let output = Shared::default();
    let writer = TraceWriter::new(Box::new(output.clone()), format, compression, false);
    let is_written = writer
        .is_ok_and(|mut writer| writer.write(records, &["1"]).is_ok() && writer.finish().is_ok());
    if is_written {
        output.bytes()
    } else {
        Vec::new()
    }
}

/// Behind the byte of the sort window.
fn with_window(file: &[u8]) -> Vec<u8> {
    [&[4], file].concat()
}

/// All files, whose format is to be found.
pub(super) fn of_any() -> Vec<Vec<u8>> {
    files().iter().map(|(_, file)| with_window(file)).collect()
}

/// The files of a format.
pub(super) fn of(format: &str) -> Vec<Vec<u8>> {
    let files = files();
    let of_format = files.iter().filter(|&&(name, _)| name == format);
    of_format.map(|(_, file)| with_window(file)).collect()
}
