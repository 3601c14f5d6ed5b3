//! The models against closed forms, hand calculation and simpler second models.

#![allow(clippy::expect_used)] // a test that cannot go on says why

mod assembler;
mod caches;
mod decoding;
mod documented;
mod host;
mod locks;
mod parameters;
mod pipeline;
mod predictors;
mod target;
