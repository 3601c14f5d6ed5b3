//! Small traces of every format, and short functions to read them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_trace::{BadLines, Checks, Given, Options, Record, Trace, TraceError};

/// Bytes as a file.
pub fn given(name: &str, bytes: impl Into<Vec<u8>>) -> Given {
    Given::Memory(name.to_owned(), bytes::Bytes::from(bytes.into()))
}

/// The content of a trace, with the names of its devices.
#[derive(Debug)]
pub struct Read {
    pub format: &'static str,
    pub records: Vec<Record>,
    pub devices: Vec<String>,
    pub checks: Checks,
}

/// Reads whole files.
pub fn read_files(files: &[Given], options: &Options) -> Result<Read, TraceError> {
    let mut trace = Trace::open(files, options)?;
    let (mut records, mut batch) = (Vec::new(), Vec::new());
    loop {
        trace.next_batch(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        records.extend_from_slice(&batch);
    }
    let devices = trace
        .devices()
        .all()
        .iter()
        .map(|device| device.name.clone());
    Ok(Read {
        format: trace.format().name,
        records,
        devices: devices.collect(),
        checks: trace.checks().clone(),
    })
}

/// Reads one file.
pub fn read_with(bytes: impl Into<Vec<u8>>, options: &Options) -> Result<Read, TraceError> {
    read_files(&[given("trace", bytes)], options)
}

/// Reads one file with default options.
pub fn read(bytes: impl Into<Vec<u8>>) -> Result<Read, TraceError> {
    read_with(bytes, &Options::default())
}

/// Options that skip invalid lines.
pub fn skipping() -> Options {
    Options {
        bad_lines: BadLines::Skip,
        ..Options::default()
    }
}

/// Options that name a format.
pub fn of_format(name: &str) -> Options {
    Options {
        format: Some(name.to_owned()),
        ..Options::default()
    }
}

/// A record of version 1 of vscsi.
pub fn vscsi_1(command: u16, size: u32, sector: u64, time_us: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(7_u32.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(command.to_le_bytes());
    bytes.extend(0x0100_u16.to_le_bytes());
    bytes.extend(sector.to_le_bytes());
    bytes.extend(time_us.to_le_bytes());
    bytes
}

/// A record of version 2 of vscsi.
pub fn vscsi_2(command: u16, size: u32, sector: u64, time_us: u64, response_us: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(command.to_le_bytes());
    bytes.extend(0x0200_u16.to_le_bytes());
    bytes.extend(7_u32.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(sector.to_le_bytes());
    bytes.extend(time_us.to_le_bytes());
    bytes.extend(response_us.to_le_bytes());
    bytes
}

/// Actions of blktrace: queued, dispatched and completed; reads and writes.
pub const QUEUE: u32 = 1;
pub const ISSUE: u32 = 7;
pub const COMPLETE: u32 = 8;
pub const READ: u32 = 1 << 16;
pub const WRITE: u32 = 1 << 17;

/// A record of blktrace, followed by irrelevant bytes.
pub fn blktrace(time_ns: u64, action: u32, sector: u64, size: u32, behind: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(0x6561_7407_u32.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(time_ns.to_le_bytes());
    bytes.extend(sector.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(action.to_le_bytes());
    bytes.extend(42_u32.to_le_bytes());
    bytes.extend(((8_u32 << 20) | 16).to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(0_u16.to_le_bytes());
    bytes.extend(behind.to_le_bytes());
    bytes.extend(std::iter::repeat_n(0xee, usize::from(behind)));
    bytes
}

/// A record of libCacheSim.
pub fn oracle_general(time_s: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(time_s.to_le_bytes());
    bytes.extend(object.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(next.to_le_bytes());
    bytes
}

pub const SPC: &str = "0,100,3584,w,0.000000\n1,200, 4096, R,0.026214,more\n0,107,512,r,0.026214\n";
pub const MSR: &str = "128166372003061629,hm,0,Read,383496192,32768,413\n\
    128166372003061630,hm,1,Write,1024,512,28\n";
pub const MSR_INDEXED: &str = "0 128166385295514663,hm,0,Write,9056014336,2048,2833\n\
    1 128166385295514878,src,0,Read,11855351808,512,2617\n";
pub const ALIBABA: &str = "419,W,8792731648,16384,1577808144360767\n\
    725,R,59110326272,360448,1577808144360813\n";
pub const TENCENT: &str = "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n";
pub const SYSTOR: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n\
    1455592200.102930000,0.000314,R,3,89012224,4096\n\
    1455592200.102940000,,W,4,512,1024\n";
pub const FIU: &str = "1000 4892 syslogd 904265560 8 W 6 0 531e779d2b0a1dd4d5a8e5a1e8b7b0d1\n\
    39064 2559 kjournald 926858672 8 R 6 1 4fd0c43546b81afee49a2a3b2a6f1b3f\n";
pub const BLKPARSE: &str = "  8,16   5        1     0.000000000 18615  A   R 100 + 8 <- (8,17) 36\n\
    \x20 8,16   5        2     0.000001850 18615  Q   R 100 + 8 [java]\n\
    \x20 8,16   5        3     0.000006438 18615  G   R 100 + 8 [java]\n\
    \x20 8,16   5        4     0.000008750 18615  P   N [java]\n\
    \x20 8,16   5        5     0.000009000 18615  D   R 100 + 8 [java]\n\
    \x20 8,16   5        6     0.000109000     0  C   R 100 + 8 [0]\n\
    CPU5 (8,16):\n Reads Queued:           1,        4KiB\n";
pub const FIO_3: &str = "fio version 3 iolog\n28 /dev/sdb add\n258 /dev/sdb open\n\
    264 /dev/sdb write 0 4096\n250320 /dev/sdb read 45056 8192\n\
    250321 /dev/sdb trim 4096 4096\n250322 /dev/sdb sync 0 0\n250400 /dev/sdb close\n";
pub const FIO_2: &str = "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n\
    /dev/sdb write 0 4096\n/dev/sdb wait 500 0\n/dev/sdb read 4096 4096\n/dev/sdb sync\n";
pub const DISKSIM: &str = "13.191135\t30\t0\t5\t1\n17.829285\t20\t576560\t6\t0\n";
pub const MQSIM: &str = "938513000 4 264719034 16 0\n938828000 3 197570570 16 1\n";
pub const VSCSI_TEXT: &str = "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n\
    1,5633899,28,1024,42932746\n";
pub const FLASHNET: &str = "0.000,84,0,4096,90648576,0.101,4096\n\
    0.250,71,1,8192,31408128,0.300,8192\n";
pub const KV_CACHE: &str = "Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase\n\
    1740553426.194021,Write,131072,Tier-0,layer0/user0,Prefill\n\
    1740553426.194521,Write,5000,Tier-2,layer0/user0,Evict\n\
    1740553426.194590,Read,5000,Tier-2,layer0/user0,Decode\n\
    1740553426.194600,Write,4096,Tier-2,layer0/user1,Evict\n";
pub const KV_CACHE_JSON: &str = "{\"timestamp\": 1740553426.194521, \"operation\": \"Write\", \
    \"object_size_bytes\": 5000, \"tier\": \"Tier-2\", \"key\": \"a\", \"phase\": \"Evict\"}\n\
    {\"timestamp\": 1740553426.194590, \"operation\": \"Read\", \"object_size_bytes\": 5000, \
    \"tier\": \"Tier-2\", \"key\": \"a\", \"phase\": \"Decode\"}\n";

/// A trace of every format, with the name of the format.
pub fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let texts = [
        ("spc", SPC),
        ("msr", MSR),
        ("msr", MSR_INDEXED),
        ("alibaba", ALIBABA),
        ("tencent", TENCENT),
        ("systor", SYSTOR),
        ("fiu", FIU),
        ("blkparse", BLKPARSE),
        ("fio-iolog", FIO_2),
        ("fio-iolog", FIO_3),
        ("disksim", DISKSIM),
        ("mqsim", MQSIM),
        ("vscsi-text", VSCSI_TEXT),
        ("flashnet", FLASHNET),
        ("kv-cache", KV_CACHE),
        ("kv-cache", KV_CACHE_JSON),
    ];
    let mut all: Vec<(&str, Vec<u8>)> = texts.map(|(name, text)| (name, text.into())).into();
    let first = [
        vscsi_1(0x2a, 512, 10, 5_000_000),
        vscsi_1(0x28, 1024, 11, 5_000_007),
    ];
    let second = [
        vscsi_2(0x2a, 512, 10, 5_000_000, 99),
        vscsi_2(0x28, 1024, 11, 5_000_007, 120),
    ];
    let events = [
        blktrace(1_000, QUEUE | READ, 100, 4096, 0),
        blktrace(1_500, ISSUE | READ, 100, 4096, 3),
        blktrace(9_000, COMPLETE | READ, 100, 4096, 0),
    ];
    all.push(("vscsi", first.concat()));
    all.push(("vscsi", second.concat()));
    all.push(("blktrace", events.concat()));
    all
}
