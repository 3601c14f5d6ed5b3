//! Where an engine takes its requests from, looking ahead.

use drivelab_ftl::{Firmware, Lpn};
use drivelab_request::{Direction, Request};
use drivelab_workload::Generator;

/// Requests drawn ahead; a power of two.
const AHEAD: usize = 64;

/// How far ahead the map entry of an overwrite is cached before what it points
/// to is: half the distance leaves the first prefetch the time it needs.
const HALF: usize = AHEAD / 2;

/// A load on a drive.
#[derive(Clone, Debug)]
pub enum Load {
    /// A fixed number of requests is outstanding: each completion submits the next.
    Closed {
        /// Draws the requests.
        generator: Generator,
        /// Requests outstanding.
        queue_depth: u32,
    },
    /// Requests arrive at their own times, in order of arrival.
    Open {
        /// The requests, by arrival.
        requests: Vec<Request>,
    },
}

/// The requests of a run, in order, with the firmware's tables prefetched.
pub(super) enum Source {
    Closed {
        generator: Box<Generator>,
        ring: Box<[Request; AHEAD]>,
        next: usize,
    },
    Open {
        requests: std::vec::IntoIter<Request>,
    },
}

impl Source {
    pub fn closed(mut generator: Generator) -> Self {
        let ring = Box::new(std::array::from_fn(|_| generator.next_request()));
        Self::Closed {
            generator: Box::new(generator),
            ring,
            next: 0,
        }
    }

    /// The next request of a closed load.
    #[inline]
    pub fn take<F: Firmware>(&mut self, firmware: &F, page_shift: u32) -> Option<Request> {
        match self {
            Self::Closed {
                generator,
                ring,
                next,
            } => {
                let request = ring[*next];
                let drawn = generator.next_request();
                ring[*next] = drawn;
                *next = (*next + 1) % AHEAD;
                firmware.prefetch_map(Lpn((drawn.offset_bytes >> page_shift) as u32));
                let nearer = &ring[(*next + HALF) % AHEAD];
                if nearer.direction == Direction::Write {
                    let page = (nearer.offset_bytes >> page_shift) as u32;
                    firmware.prefetch_overwrite(Lpn(page));
                }
                Some(request)
            }
            Self::Open { requests } => requests.next(),
        }
    }

    /// When the next request of an open load arrives.
    pub fn next_arrival(&self) -> Option<u64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { requests } => requests.as_slice().first().map(|r| r.arrival.0),
        }
    }
}
