//! A closed loop of requests over a link, a write buffer and units that work in parallel: how long a
//! request takes, and which costs that time is made of.
//!
//! ```text
//!             ┌────────────── depth requests in flight, each completion sends the next ─────────┐
//!             v                                                                                  │
//!   link: command, data of writes ─> write buffer ─> path ────────────────────────────────────────┤
//!             │                          └─> unit: program (read first where a page is partial)   │
//!             └─> unit: read, channel ─> link: data ─> path ──────────────────────────────────────┘
//! ```
//!
//! A drive is a [`Layout`], whole numbers and switches, and a few costs in nanoseconds ([`Cost`]). Every
//! time is a maximum of sums of costs, so the time of a loop is the sum of the costs on its critical
//! path: [`replay`] counts them. They are the gradient of the time too (where the path does not
//! change), by which costs are fitted to measurements.
//!
//! Modelled: addresses spread over units in turn, over members of an array, or writes wherever the
//! turn is; parts of pages; pages written or read twice in a row; programs that reads pass; read-ahead.
//! Left out: collection but for its mean cost, heads that move, a cache of what was read long ago.
//!
//! Requests are dealt evenly instead of drawn, so that a few hundred have the shares of many.

mod access;
mod drive;
mod error;
mod layout;
mod moment;
mod open;
mod replay;

pub use error::QueueingError;
pub use layout::{Layout, MEMBER_STRIPE_BYTES};
pub use moment::{COSTS, Cost};
pub use open::{Answered, MOST_GAP_BYTES, OpenLoop, Request};
pub use replay::{CHARACTERISTICS, Replayed, replay};
