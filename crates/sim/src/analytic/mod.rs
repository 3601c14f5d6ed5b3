//! The latency of one request by equation: Yoo et al. 2014, equations 1 to 7.
//!
//! A request of N_page pages meets an idle drive. One stage hands its pages to rho units in turn,
//! channel by channel. The stage waits whenever the next unit is still at work.
//!
//! ```text
//! unit 1  [ch][ reg ][      cell      ]..wait..[ch][ reg ][      cell      ]
//! unit 2      [ch][ reg ][      cell      ]        [ch][ reg ] ...
//! unit 3          [ch][ reg ][      cell      ]        [ch] ...
//!         |<------------- t_cycle ------------>|
//! ```
//!
//! Left out: other requests, garbage collection, the host link and any buffer. [`ClosedForm::new`]
//! refuses a drive for which one of these matters, or anything else that the equations ignore.

mod condition;
mod equations;

pub use condition::{Reason, Refusal};
pub use equations::{ClosedForm, ClosedFormError, RecordTiming};
