//! The shape of one `wgmma` instruction, in bytes, rows and columns.

/// Bytes along the contracted axis that one instruction takes.
pub(crate) const STEP_BYTES: usize = 32;
/// Rows that one instruction takes.
pub(crate) const STEP_ROWS: usize = 64;
/// The most columns that one instruction takes.
pub(crate) const STEP_COLUMNS: usize = 256;
/// The bytes of a panel's row from which on an operand can be MN-major.
pub(crate) const WHOLE_PANEL: usize = 128;
/// The bytes of MN-major elements that go through registers. A register holds several smaller elements, which lie in as many
/// rows.
pub(crate) const MN_MAJOR_BYTES: usize = 4;
/// How much of the contracted axis one instruction takes of such elements.
pub(crate) const MN_MAJOR_STEP: usize = STEP_BYTES / MN_MAJOR_BYTES;
