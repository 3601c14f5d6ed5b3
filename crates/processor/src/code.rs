//! Code as a processor executes it: blocks that are entered at the top and left at the bottom.

/// An instruction: its address and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    /// Its address in the program.
    pub address: u64,
    /// Its bytes in the order of memory.
    pub bytes: &'a [u8],
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// To the next one, possibly through the kernel.
    #[default]
    Next,
    /// To the next one or elsewhere, depending on a condition.
    Conditional,
    /// Always to one place.
    Direct,
    /// A call of one place; it returns.
    Call,
    /// To a place from a register or from memory.
    Indirect,
    /// A call of such a place; it returns.
    IndirectCall,
    /// To where the last call came from.
    Return,
}

impl Control {
    /// True of every branch.
    #[must_use]
    pub fn is_branch(self) -> bool {
        self != Self::Next
    }
}

/// A block's number in a model.
pub type BlockId = usize;
