//! The devices of a trace: their names, in order of appearance.

use rustc_hash::FxHashMap;

use crate::error::Problem;

/// More devices than any trace has. A file that seems to have more is in another format.
pub const MOST_DEVICES: usize = 65_536;

/// Marks a key made of two numbers.
const PAIR: u64 = 1 << 63;
const MOST_MAJOR: u32 = u32::MAX >> 1;

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name in the trace: a number, `major:minor`, `host:disk` or a file.
    pub name: String,
    /// Requests to it that were kept.
    pub requests: u64,
    pub(crate) wanted: bool,
}

/// Every device named so far.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    all: Vec<Device>,
    by_number: FxHashMap<u64, u32>,
    by_name: FxHashMap<Box<[u8]>, u32>,
    last: Option<(u64, u32)>,
    only: Option<Vec<String>>,
}

impl Devices {
    /// Wanted devices, by name; without `only`, all devices.
    #[must_use]
    pub fn new(only: Option<Vec<String>>) -> Self {
        Self {
            only,
            ..Self::default()
        }
    }

    /// The devices so far. A record's `device` is an index here.
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

    /// Selected names that never appeared.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let wanted = self.only.iter().flatten();
        let known = |name: &&String| self.all.iter().all(|device| device.name != **name);
        wanted.filter(known).cloned().collect()
    }

    /// The device with this number in the trace.
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

    /// The device with the two numbers `major:minor`.
    #[inline]
    pub(crate) fn paired(&mut self, major: u32, minor: u32) -> Result<u32, Problem> {
        // A large major number would collide with other keys, so such devices are looked up by
        // name.
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
        // Below the limit, so it fits.
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

    /// Whether requests to this device are wanted.
    #[inline]
    pub(crate) fn is_wanted(&self, device: u32) -> bool {
        let device = self.all.get(device as usize);
        device.is_some_and(|device| device.wanted)
    }

    /// Counts a request, and returns whether its device is wanted.
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
