//! A simulated drive that programs can open while its time is the wall clock's.
//!
//! ```text
//!   client ──> serve (sockets) ──> protocol (bytes in, replies out)
//!   kernel ──>   │  ▲              block (a device in /dev: messages in, answers out)
//!                 │  ▲
//!         submit  │  │ due          clock: owns the Device, says when each reply may go out
//!                 ▼  │
//!               clock ──── data (memory or a file: what was written stays)
//! ```
//!
//! The simulator says when a request is complete; here somebody waits for that moment. One thread
//! does all of it: it keeps time, and asks sockets while it waits. Data lies beside the drive, not
//! in it.
//!
//! Left out: what a drive loses beside its buffer when the power goes.

pub mod block;
pub mod clock;
pub mod data;
pub mod protocol;
pub mod serve;
