//! What one `wgmma` instruction takes, in bytes, rows and columns.

/// Bytes along the contracted axis that one instruction takes.
pub(crate) const STEP_BYTES: usize = 32;
/// Rows that one instruction takes.
pub(crate) const STEP_ROWS: usize = 64;
/// The most columns that one instruction takes.
pub(crate) const STEP_COLUMNS: usize = 256;
/// Bytes of a panel's row from which on a factor can be read across its rows.
pub(crate) const WHOLE_PANEL: usize = 128;
/// The bytes of elements that are loaded across: of smaller ones a register has several, which lie in as many rows of the stage.
pub(crate) const ACROSS_BYTES: usize = 4;
/// How much of the contracted axis one instruction takes of them.
pub(crate) const ACROSS_STEP: usize = STEP_BYTES / ACROSS_BYTES;
