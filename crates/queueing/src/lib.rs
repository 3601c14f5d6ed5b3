//! A closed loop of requests over a link, a write buffer and parallel units: how long a request
//! takes, and which costs make up that time.
//!
//! ```text
//!             ┌────────────── depth requests in flight, each completion sends the next ─────────┐
//!             v                                                                                  │
//!   link: command, data of writes ─> write buffer ─> path ────────────────────────────────────────┤
//!             │                          └─> unit: program (read first where a page is partial)   │
//!             └─> unit: read, channel ─> link: data ─> path ──────────────────────────────────────┘
//! ```
//!
//! A drive is a [`Layout`] (whole numbers and switches) and a few costs in nanoseconds ([`Cost`]).
//! Every time is a maximum of sums of costs, so the time of a loop is the sum of the costs on its
//! critical path. [`replay`] counts them. As long as the path does not change, these counts are
//! also the gradient of the time, which is used to fit the costs to measurements.
//!
//! Modelled: addresses spread over units in turn, over members of an array, or writes to whichever
//! unit has its turn; partial pages; pages written or read twice in a row; programs that reads
//! pass; read-ahead; merges of log blocks. Left out: any other collection except its mean cost,
//! moving heads, a cache of data read long ago.
//!
//! Requests are spread evenly instead of drawn, so a few hundred represent the proportions of many.
//! Where requests wait for rare long work, more are replayed until the mean is sure ([`Length`]).

mod access;
mod drive;
mod error;
mod layout;
mod logs;
mod moment;
mod open;
mod replay;

pub use error::QueueingError;
pub use layout::{Layout, MEMBER_STRIPE_BYTES};
pub use moment::{COSTS, Cost};
pub use open::{Answered, MOST_GAP_BYTES, OpenLoop, Request};
pub use replay::{CHARACTERISTICS, Length, Replayed, replay};
