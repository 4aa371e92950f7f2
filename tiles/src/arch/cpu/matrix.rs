//! A block of one thread multiplies matrices by loops: there are no tensor cores.

/// Whether four warps multiply together.
pub const WARPGROUPS: bool = false;

/// The same as a type: [`U2`](typenum::U2) if so, [`U1`](typenum::U1) if not.
pub type Arrangement = typenum::U1;
