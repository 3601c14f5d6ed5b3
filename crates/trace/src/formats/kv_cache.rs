//! Logical traces of MLPerf Storage's KV-cache benchmark: the objects that a server of language
//! models reads and writes.
//!
//! ```text
//! Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase
//! 1740553426.194521,Write,131072,Tier-2,layer0/user0,Evict
//!
//! {"Timestamp": 1740553426.194521, "Operation": "Write", "Object_Size_Bytes": 131072,
//!  "Tier": "Tier-2", "Key": "layer0/user0", "Phase": "Evict"}            on one line
//! ```
//!
//! The benchmark writes the first form. Lines of JSON with the same keys, in upper or lower case,
//! are read too. Times are seconds. Each tier is a device (`Tier-2` is the drive).
//!
//! Objects have no offset. An object gets the next free place of its tier, a multiple of 4 KiB,
//! when it first appears, and a new one when it has grown. Places of removed objects are not
//! reused. The table of objects limits the memory: it holds a million of them.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::{Format, Holds, SECOND_NS, lines_of};
use crate::error::Problem;
use crate::fields::Fields;
use crate::head::{Cell, More, comma_line};
use crate::lines::LineFormat;
use crate::record::{Operation, Record};
use crate::sink::Sink;

pub(super) const FORMAT: Format = Format {
    name: "kv-cache",
    title: "MLPerf Storage KV cache",
    layout: "time (s),Read or Write,size (bytes),tier,key,phase; or lines of JSON with these keys",
    holds: Holds::DEVICES,
    place: "line",
    has_address_unit: false,
    recognise: |head| {
        head.most(|line| comma_line(line, &CELLS, More::Refused) || json(line).is_some())
    },
    open: |inputs, options| {
        let time_unit_ns = options.time_unit_ns.unwrap_or(SECOND_NS);
        Ok(lines_of(inputs, || KvCache {
            time_unit_ns,
            objects: FxHashMap::default(),
            next_bytes: Vec::new(),
        }))
    },
};

const CELLS: [Cell; 6] = [
    Cell::Number,
    Cell::Word,
    Cell::Whole,
    Cell::Any,
    Cell::Any,
    Cell::Any,
];

/// The most objects with a place.
const MOST_OBJECTS: usize = 1 << 20;
/// Objects begin at multiples of this.
const ALIGNED_BYTES: u64 = 4096;

/// A device and a key.
type Object = (u32, Box<[u8]>);

struct KvCache {
    time_unit_ns: u64,
    /// Place and reserved size of each object of a device.
    objects: FxHashMap<Object, (u64, u64)>,
    /// Where the next object of each device goes.
    next_bytes: Vec<u64>,
}

/// The fields of a line of JSON: time as written, operation, size, tier, key.
fn json(line: &[u8]) -> Option<(String, String, u64, String, String)> {
    let Value::Object(pairs) = serde_json::from_slice(line).ok()? else {
        return None;
    };
    let find = |name: &str| {
        let mut pairs = pairs.iter();
        pairs
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    };
    let text = |name| find(name)?.as_str().map(str::to_owned);
    let time = match find("Timestamp")? {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let size = find("Object_Size_Bytes")?.as_u64()?;
    Some((time, text("Operation")?, size, text("Tier")?, text("Key")?))
}

impl KvCache {
    /// The place of an object.
    fn place(&mut self, device: u32, key: &[u8], size_bytes: u64) -> Result<u64, Problem> {
        let places = device as usize + 1;
        if self.next_bytes.len() < places {
            self.next_bytes.resize(places, 0);
        }
        let identity = (device, Box::from(key));
        let known = self.objects.get(&identity);
        if let Some(&(offset_bytes, room_bytes)) = known
            && size_bytes <= room_bytes
        {
            return Ok(offset_bytes);
        }
        if known.is_none() && self.objects.len() >= MOST_OBJECTS {
            return Err(Problem::TooManyObjects { most: MOST_OBJECTS });
        }
        let too_large = Problem::TooLarge {
            field: "sum of sizes",
        };
        let room_bytes = size_bytes.checked_next_multiple_of(ALIGNED_BYTES);
        let room_bytes = room_bytes.ok_or(too_large.clone())?;
        let Some(next) = self.next_bytes.get_mut(device as usize) else {
            return Err(too_large);
        };
        let offset_bytes = *next;
        *next = offset_bytes.checked_add(room_bytes).ok_or(too_large)?;
        self.objects.insert(identity, (offset_bytes, room_bytes));
        Ok(offset_bytes)
    }

    fn take(
        &mut self,
        (arrival_ns, operation, size_bytes): (u64, Operation, u64),
        (tier, key): (&[u8], &[u8]),
        sink: &mut Sink,
    ) -> Result<(), Problem> {
        let device = sink.devices.named(tier)?;
        // Checked first, so that a refused request takes no place.
        sink.check(&Record::new(arrival_ns, device, operation, 0, size_bytes))?;
        let offset_bytes = self.place(device, key, size_bytes)?;
        sink.push(Record::new(
            arrival_ns,
            device,
            operation,
            offset_bytes,
            size_bytes,
        ))
    }
}

impl LineFormat for KvCache {
    fn read(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), Problem> {
        if line.trim_ascii_start().first() == Some(&b'{') {
            let (time, operation, size_bytes, tier, key) = json(line).ok_or(Problem::Field {
                field: "line",
                expected: "JSON with Timestamp, Operation, Object_Size_Bytes, Tier and Key",
            })?;
            let mut text = Fields::new(time.as_bytes());
            let arrival_ns = text.time("time", self.time_unit_ns)?;
            text.end()?;
            let operation = Fields::new(operation.as_bytes()).read_or_write()?;
            let named = (tier.as_bytes(), key.as_bytes());
            return self.take((arrival_ns, operation, size_bytes), named, sink);
        }
        let mut fields = Fields::new(line);
        fields.blanks();
        let arrival_ns = fields.time("time", self.time_unit_ns)?;
        fields.comma("operation")?;
        let operation = fields.read_or_write()?;
        fields.comma("size")?;
        let size_bytes = fields.number("size")?;
        fields.comma("tier")?;
        let tier = fields.word();
        fields.comma("key")?;
        let key = fields.word();
        fields.comma("phase")?;
        self.take((arrival_ns, operation, size_bytes), (tier, key), sink)
    }
}
