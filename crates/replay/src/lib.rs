//! Recorded requests as a stream: surveyed once, then read while they are sent.
//!
//! ```text
//!   Origin ──> Survey ──> Surveyed ─┐          first reading: what there is, where, how much
//!      └──────────────────────────> Replay     a source of paced commands
//!                Fit, Pace ─────────┘ └─> records ─> placed, cut, paced ─> commands   second reading
//! ```
//!
//! A trace is read twice. Its addresses, its number of requests and its queue depth must be known
//! before the first request is sent. Only the counts of the survey are kept, so memory does not
//! grow with the length of the trace. The second reading is checked to contain the same requests.

mod depth;
mod error;
mod fingerprint;
mod fit;
mod forecast;
mod origin;
mod pace;
mod reader;
mod survey;

pub use depth::MOST_DEPTH;
pub use error::ReplayError;
pub use fit::{Fit, Layout, REGION_BYTES};
pub use forecast::{Forecast, ForecastError, LATE_NS, MOST_FORECASTS, forecast};
pub use origin::Origin;
pub use pace::{Pace, USUAL_DEPTH};
pub use reader::Replay;
pub use survey::{DeviceFacts, Facts, Survey, Surveyed};
