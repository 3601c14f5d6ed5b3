//! Status codes of completions.

/// A status: its code in the low byte, its type above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u16);

impl Status {
    /// Success.
    pub const SUCCESS: Self = Self(0x00);
    /// The operation code does not exist.
    pub const INVALID_OPCODE: Self = Self(0x01);
    /// A field has a value that is not supported.
    pub const INVALID_FIELD: Self = Self(0x02);
    /// The identifier belongs to an incomplete command.
    pub const IDENTIFIER_CONFLICT: Self = Self(0x03);
    /// This part of the host's memory cannot be read or written.
    pub const TRANSFER_ERROR: Self = Self(0x04);
    /// No such namespace.
    pub const INVALID_NAMESPACE: Self = Self(0x0B);
    /// The offset of a PRP entry is wrong.
    pub const INVALID_PRP_OFFSET: Self = Self(0x13);
    /// The sectors lie beyond the end of the drive.
    pub const OUT_OF_RANGE: Self = Self(0x80);
}
