//! All tests of the firmware program, in one program.

mod commands;
mod cross;
mod data;
mod drive;
mod flash;
mod geometry;
mod own;
mod program;
mod progress;
mod queues;
mod runs;
mod slots;
mod snapshots;
