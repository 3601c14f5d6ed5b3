//! Code as a processor meets it: blocks that are entered at the top and left at the bottom.

/// An instruction: where it is, and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    /// Its address in the program.
    pub address: u64,
    /// Its bytes in the order of memory.
    pub bytes: &'a [u8],
}

/// How control leaves an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// To the next one, or into the kernel and back.
    #[default]
    Next,
    /// To the next one or elsewhere, as a condition says.
    Conditional,
    /// Always to one place.
    Direct,
    /// To one place, whence it returns.
    Call,
    /// To a place that a register or memory says.
    Indirect,
    /// The same, whence it returns.
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
