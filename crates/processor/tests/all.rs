//! The models against closed forms, hand calculation and plainer second ones.

mod assembler;
mod caches;
mod decoding;
mod host;
mod locks;
mod parameters;
mod pipeline;
mod predictors;
mod target;
