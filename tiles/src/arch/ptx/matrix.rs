//! Tensor cores: products of small matrices by a warp, and the loads and stores of their fragments.

/// Whether four warps multiply together by `wgmma`, so that accumulators lie as these hold them.
pub const WARPGROUPS: bool = cfg!(target_feature = "sm_90a");

/// The same as a type: [`U2`](typenum::U2) if so, [`U1`](typenum::U1) if not.
#[cfg(target_feature = "sm_90a")]
pub type Arrangement = typenum::U2;
/// The same as a type: [`U2`](typenum::U2) if so, [`U1`](typenum::U1) if not.
#[cfg(not(target_feature = "sm_90a"))]
pub type Arrangement = typenum::U1;
