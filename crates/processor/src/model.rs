//! What every model is asked by whoever executes the program.

use crate::code::{BlockId, Instruction};
use crate::columns::Column;
use crate::marks::Mark;

/// A processor that is told what a program does.
pub trait Model {
    /// What a record holds, in order.
    fn columns(&self) -> &'static [Column];

    /// Its parameters, as they are written down with the records.
    fn parameters(&self) -> serde_json::Value;

    /// A block that is met. One that is met again, at the same place and as long, keeps its number.
    /// Marks' own code is not `counted`: it only leads to and from what is.
    fn translate(&mut self, instructions: &[Instruction<'_>], counted: bool) -> BlockId;

    /// The block is executed, as a whole.
    fn enter(&mut self, block: BlockId);

    /// An instruction of the block entered last loads or stores. One that moves more than its
    /// executor moves at once is told in pieces, in order of their addresses; `instruction`, any
    /// number that is its own, says that they are one.
    fn access(&mut self, instruction: usize, address: u64, bytes: u64, store: bool);

    /// The program says what happened. A record that is over is added to `values`, in the order of
    /// the columns.
    fn mark(&mut self, mark: Mark, values: &mut Vec<u64>);
}
