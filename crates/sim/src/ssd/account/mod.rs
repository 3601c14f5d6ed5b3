//! The accounts: the parts of each request's latency, and the work of a window.

mod energy;
pub mod ledger;
pub mod namespaces;
pub mod split;
