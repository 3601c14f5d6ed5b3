//! The flash: what a die is told, and the stub that stands for it.

mod command;
mod nand;

pub use command::{FlashCommand, FlashDone, Purpose};
pub use nand::{Die, NandError};
