//! A simulated drive that programs can open, in real time.
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
//! The simulator says when a request completes; here somebody waits for that moment. One thread
//! does everything: it keeps time, and polls sockets while it waits. Data is stored next to the
//! drive, not in it.
//!
//! Left out: power-loss effects other than the loss of the buffer.

pub mod block;
pub mod clock;
pub mod data;
pub mod protocol;
pub mod serve;
