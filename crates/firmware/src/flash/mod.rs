//! The flash: the operations of a die, and the stub that takes its place.

mod command;
mod nand;

pub use command::{FlashCommand, FlashDone, Purpose};
pub use nand::{Die, NandError};
