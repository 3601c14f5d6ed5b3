//! The interface between every model and the executor of the program.

use crate::code::{BlockId, Instruction};
use crate::columns::Column;
use crate::marks::Mark;

/// A model that learns what a program does.
pub trait Model {
    /// The numbers of a record, in order.
    fn columns(&self) -> &'static [Column];

    /// Its parameters, as they are stored with the records.
    fn parameters(&self) -> serde_json::Value;

    /// A new block. If the same place and length come again, the block keeps its number. The code
    /// of marks is not `counted`: it only leads to and from the code that is.
    fn translate(&mut self, instructions: &[Instruction<'_>], counted: bool) -> BlockId;

    /// The whole block is executed.
    fn enter(&mut self, block: BlockId);

    /// An instruction of the block entered last loads or stores. If it moves more than its executor
    /// moves at once, the access comes in pieces, in order of their addresses; a common
    /// `instruction`, any unique number, shows that they belong together.
    fn access(&mut self, instruction: usize, address: u64, bytes: u64, store: bool);

    /// The program stored a mark. If it completes a record, the record is added to `values`, in the
    /// order of the columns.
    fn mark(&mut self, mark: Mark, values: &mut Vec<u64>);
}
