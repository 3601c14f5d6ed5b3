//! Every test of the live drive, in one program.

mod block;
mod failing;
mod gone;
mod keeper;
mod power;
mod protocol;
mod server;
mod small_drive;
mod spoken;
mod store;
