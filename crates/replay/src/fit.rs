//! How the requests of a trace are placed on a drive.
//!
//! ```text
//!   trace   device a |==    ===  |   device b |  =====|
//!   keep    |==    ===  |  =====|                          addresses as they are, devices in a row
//!   wrap    |==    ===  |  ==                              ... and from the beginning again
//!            ===
//!   scale   |=====|=====|                                  touched regions in a row
//! ```

use rustc_hash::FxHashMap;

use crate::error::ReplayError;
use crate::survey::DeviceFacts;

/// The size of a region of [`Fit::Scale`]. Devices in a row are rounded up to it.
pub const REGION_BYTES: u64 = 1 << 20;

/// Regions in one word of the map of touched regions.
const WORD_REGIONS: u64 = u64::BITS as u64;

/// The most words in the map: 100 MB.
const MOST_WORDS: usize = 1 << 22;

/// How requests are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// At the recorded addresses. Requests beyond the drive are refused.
    #[default]
    Keep,
    /// At the recorded addresses modulo the drive's size.
    Wrap,
    /// The regions that the trace touches are placed one after another, in order.
    Scale,
}

impl Fit {
    /// Every fit with its name.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("keep", Self::Keep),
        ("wrap", Self::Wrap),
        ("scale", Self::Scale),
    ];
}

/// The regions that a trace touches, by device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    words: FxHashMap<(u32, u64), u64>,
    /// The word of the previous request; most requests fall into the same region again.
    last: Option<(u32, u64)>,
}

impl Touched {
    /// Adds a request with the bytes `start` to `end`.
    #[inline]
    pub fn take(&mut self, device: u32, start: u64, end: u64) -> Result<(), ReplayError> {
        let (first, last) = (start / REGION_BYTES, (end - 1) / REGION_BYTES);
        if first == last && self.last == Some((device, first)) {
            return Ok(());
        }
        self.last = Some((device, last));
        for word in first / WORD_REGIONS..=last / WORD_REGIONS {
            let begin = word * WORD_REGIONS;
            let low = first.saturating_sub(begin);
            let high = (last - begin).min(WORD_REGIONS - 1);
            let bits = (u64::MAX >> (WORD_REGIONS - 1 - high)) & (u64::MAX << low);
            *self.words.entry((device, word)).or_default() |= bits;
            if self.words.len() > MOST_WORDS {
                return Err(ReplayError::TooScattered { most: MOST_WORDS });
            }
        }
        Ok(())
    }

    /// The runs of touched regions, in order.
    fn runs(self) -> Vec<Run> {
        let mut words: Vec<_> = self.words.into_iter().collect();
        words.sort_unstable();
        let mut runs: Vec<Run> = Vec::new();
        let mut place = 0;
        for ((device, word), bits) in words {
            for bit in (0..WORD_REGIONS).filter(|bit| bits >> bit & 1 == 1) {
                let region = word * WORD_REGIONS + bit;
                match runs.last_mut() {
                    Some(run) if run.device == device && run.first + run.count == region => {
                        run.count += 1;
                    }
                    _ => runs.push(Run {
                        device,
                        first: region,
                        count: 1,
                        place,
                    }),
                }
                place += 1;
            }
        }
        runs
    }
}

/// Consecutive touched regions.
#[derive(Clone, Copy, Debug)]
struct Run {
    device: u32,
    first: u64,
    count: u64,
    /// The new place of the first region, in regions.
    place: u64,
}

/// The place of every request, known after the survey.
#[derive(Clone, Debug)]
pub struct Layout {
    kind: Kind,
    /// The end of the request that reaches furthest.
    end_bytes: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The beginning of each device.
    Rows {
        fit: Fit,
        bases: Vec<u64>,
    },
    Regions(Vec<Run>),
}

impl Layout {
    /// Devices one after another, in order of appearance.
    pub(crate) fn in_rows(fit: Fit, devices: &[DeviceFacts]) -> Result<Self, ReplayError> {
        let (mut next, mut end_bytes) = (0_u64, 0);
        let mut bases = Vec::with_capacity(devices.len());
        for device in devices {
            bases.push(next);
            let end = next.checked_add(device.end_bytes);
            let rounded = end.and_then(|end| end.checked_next_multiple_of(REGION_BYTES));
            let (Some(end), Some(rounded)) = (end, rounded) else {
                return Err(ReplayError::TooFar {
                    offset_bytes: next,
                    size_bytes: device.end_bytes,
                });
            };
            if device.end_bytes > 0 {
                (next, end_bytes) = (rounded, end);
            }
        }
        let kind = Kind::Rows { fit, bases };
        Ok(Self { kind, end_bytes })
    }

    pub(crate) fn in_regions(touched: Touched) -> Self {
        let runs = touched.runs();
        let regions = runs.last().map_or(0, |run| run.place + run.count);
        Self {
            kind: Kind::Regions(runs),
            end_bytes: regions * REGION_BYTES,
        }
    }

    /// The bytes of a drive that it needs. For [`Fit::Wrap`], those of a drive on which nothing
    /// wraps.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.end_bytes
    }

    /// The placement in a `range` of a drive, given as its start and its bytes. The largest request
    /// has `largest_bytes`.
    pub(crate) fn placed(
        &self,
        (start, length): (u64, u64),
        largest_bytes: u64,
    ) -> Result<Placing<'_>, ReplayError> {
        let wraps = match &self.kind {
            Kind::Rows { fit, .. } => *fit == Fit::Wrap,
            Kind::Regions(_) => false,
        };
        if wraps && largest_bytes > length {
            return Err(ReplayError::DoesNotFit(format!(
                "the largest request of the trace has {largest_bytes} bytes, more than the {length} \
                 of the drive; choose a larger drive"
            )));
        }
        if !wraps && self.end_bytes > length {
            let remedy = match self.kind {
                Kind::Rows { .. } => "have them fitted to the drive: wrap or scale",
                Kind::Regions(_) => "use --fit wrap, or a larger drive",
            };
            return Err(ReplayError::DoesNotFit(format!(
                "the trace takes {} bytes of a drive, and this has {length}; {remedy}",
                self.end_bytes
            )));
        }
        Ok(Placing {
            layout: self,
            start,
            length,
            last: 0,
        })
    }
}

/// A layout on a drive.
pub(crate) struct Placing<'a> {
    layout: &'a Layout,
    start: u64,
    length: u64,
    /// The run of the previous request.
    last: usize,
}

impl Placing<'_> {
    /// The place of a request with `size` bytes at `offset` of a device; `None` if the survey did
    /// not see it.
    #[inline]
    pub fn place(&mut self, device: u32, offset: u64, size: u64) -> Option<u64> {
        let at = match &self.layout.kind {
            Kind::Rows { fit, bases } => {
                let at = bases.get(device as usize)?.checked_add(offset)?;
                match fit {
                    // The last request of the drive is moved back so that it ends with the drive.
                    Fit::Wrap => (at % self.length).min(self.length.checked_sub(size)?),
                    Fit::Keep | Fit::Scale => at,
                }
            }
            Kind::Regions(runs) => {
                let region = offset / REGION_BYTES;
                let holds = |run: &Run| {
                    run.device == device && (run.first..run.first + run.count).contains(&region)
                };
                if !runs.get(self.last).is_some_and(holds) {
                    let after =
                        runs.partition_point(|run| (run.device, run.first) <= (device, region));
                    self.last = after.checked_sub(1)?;
                }
                let run = runs.get(self.last).filter(|run| holds(run))?;
                (run.place + (region - run.first)) * REGION_BYTES + offset % REGION_BYTES
            }
        };
        at.checked_add(self.start)
    }
}
