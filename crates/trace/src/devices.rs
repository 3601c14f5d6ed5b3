//! The devices of a trace: names, in the order in which they first appear.

use rustc_hash::FxHashMap;

use crate::error::Problem;

/// More devices than any trace has; a file that seems to have more is of another format.
pub const MOST_DEVICES: usize = 65_536;

/// Marks the key of two numbers.
const PAIR: u64 = 1 << 63;
const MOST_MAJOR: u32 = u32::MAX >> 1;

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// What the trace calls it: a number, `major:minor`, `host:disk` or a file.
    pub name: String,
    /// Requests to it that were kept.
    pub requests: u64,
    pub(crate) wanted: bool,
}

/// Every device that a trace has named so far.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    all: Vec<Device>,
    by_number: FxHashMap<u64, u32>,
    by_name: FxHashMap<Box<[u8]>, u32>,
    last: Option<(u64, u32)>,
    only: Option<Vec<String>>,
}

impl Devices {
    /// Devices of which `only` those are wanted, by their names; all of them without.
    #[must_use]
    pub fn new(only: Option<Vec<String>>) -> Self {
        Self {
            only,
            ..Self::default()
        }
    }

    /// The devices so far; a record's `device` is a place in it.
    #[must_use]
    pub fn all(&self) -> &[Device] {
        &self.all
    }

    /// The name of a device.
    #[must_use]
    pub fn name(&self, device: u32) -> &str {
        let found = self.all.get(device as usize);
        found.map_or("", |device| device.name.as_str())
    }

    /// Names that were asked for and never came.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let wanted = self.only.iter().flatten();
        let known = |name: &&String| self.all.iter().all(|device| device.name != **name);
        wanted.filter(known).cloned().collect()
    }

    /// The device that the trace calls by this number.
    #[inline]
    pub(crate) fn numbered(&mut self, number: u64) -> Result<u32, Problem> {
        if let Some((last, index)) = self.last
            && last == number
        {
            return Ok(index);
        }
        if number >= PAIR {
            return self.named(number.to_string().as_bytes());
        }
        let index = self.look_up_number(number)?;
        self.last = Some((number, index));
        Ok(index)
    }

    fn look_up_number(&mut self, number: u64) -> Result<u32, Problem> {
        if let Some(&index) = self.by_number.get(&number) {
            return Ok(index);
        }
        let index = self.named(number.to_string().as_bytes())?;
        self.by_number.insert(number, index);
        Ok(index)
    }

    /// The device that the trace calls by two numbers, `major:minor`.
    #[inline]
    pub(crate) fn paired(&mut self, major: u32, minor: u32) -> Result<u32, Problem> {
        // Single numbers with the highest bit would be others' names; they are looked up by name.
        let key = PAIR | u64::from(major & MOST_MAJOR) << 32 | u64::from(minor);
        if major > MOST_MAJOR {
            return self.named(format!("{major}:{minor}").as_bytes());
        }
        if let Some((last, index)) = self.last
            && last == key
        {
            return Ok(index);
        }
        let index = match self.by_number.get(&key) {
            Some(&index) => index,
            None => self.named(format!("{major}:{minor}").as_bytes())?,
        };
        self.by_number.insert(key, index);
        self.last = Some((key, index));
        Ok(index)
    }

    /// The device of this name.
    pub(crate) fn named(&mut self, name: &[u8]) -> Result<u32, Problem> {
        if let Some(&index) = self.by_name.get(name) {
            return Ok(index);
        }
        if self.all.len() >= MOST_DEVICES {
            return Err(Problem::TooManyDevices);
        }
        // Fewer than the limit, which fits.
        let index = self.all.len() as u32;
        let text = String::from_utf8_lossy(name).into_owned();
        let wanted = self.only.as_ref().is_none_or(|only| only.contains(&text));
        self.all.push(Device {
            name: text,
            requests: 0,
            wanted,
        });
        self.by_name.insert(name.into(), index);
        Ok(index)
    }

    /// Counts a request, and tells whether its device is wanted.
    #[inline]
    pub(crate) fn count(&mut self, device: u32) -> bool {
        match self.all.get_mut(device as usize) {
            Some(device) if device.wanted => {
                device.requests += 1;
                true
            }
            _ => false,
        }
    }
}
