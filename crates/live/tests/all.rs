//! Every test of the live drive, in one program.

mod failing;
mod gone;
mod keeper;
mod protocol;
mod server;
mod small_drive;
mod spoken;
mod store;
