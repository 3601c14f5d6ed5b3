//! Questions and answers of the what-if page.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod answers;
mod scaled;
