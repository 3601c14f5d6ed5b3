//! The plugin in qemu, on a program whose counts are calculated by hand.
//!
//! The tests need qemu-user with plugins, and compilers for both processors. If one is missing they
//! print this and pass, except in CI.

#![allow(clippy::expect_used)] // a test that cannot go on says why

mod emulated;
mod host;
mod refused;
mod target;
