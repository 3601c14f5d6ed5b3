//! The plugin in qemu, on a program whose counts are known by hand.
//!
//! They need qemu-user with plugins, and the compilers of both processors. Where one is missing they
//! say so and pass, except in CI.

#![allow(clippy::expect_used)] // a test that cannot go on says why

mod emulated;
mod host;
mod refused;
mod target;
