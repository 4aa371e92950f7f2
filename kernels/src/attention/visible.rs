//! Which keys a query sees.

use cuda_tiles::prelude::*;

/// The visibility of keys in tiles of `ROWS` queries and `KEYS` keys.
#[derive(Clone, Copy)]
pub(super) struct Visible<const ROWS: usize, const KEYS: usize, const CAUSAL: bool> {
    queries: u32,
    keys: u32,
    /// The number of keys that the first query sees beyond its own.
    ahead: u32,
}

impl<const ROWS: usize, const KEYS: usize, const CAUSAL: bool> Visible<ROWS, KEYS, CAUSAL> {
    const ROWS: u32 = ROWS as u32;
    const KEYS: u32 = KEYS as u32;

    #[inline_on_device]
    pub(super) fn new(queries: u32, keys: u32) -> Self {
        Self { queries, keys, ahead: keys.saturating_sub(queries) }
    }

    /// The number of blocks of keys that row `i` of tiles of queries sees.
    #[inline_on_device]
    pub(super) fn blocks(self, i: u32) -> u32 {
        let keys = if CAUSAL { self.keys.min((i + 1) * Self::ROWS + self.ahead) } else { self.keys };
        keys.div_ceil(Self::KEYS)
    }

    /// The tiles of queries, from the first to the one behind the last, that see a key of block `block`.
    #[inline_on_device]
    pub(super) fn tiles_that_see(self, block: u32) -> (u32, u32) {
        let first = if CAUSAL { (block * Self::KEYS).saturating_sub(self.ahead) / Self::ROWS } else { 0 };
        (first, self.queries.div_ceil(Self::ROWS))
    }

    /// Whether some query of row `i` of tiles does not see all keys of a block.
    #[inline_on_device]
    pub(super) fn hides(self, i: u32, block: u32) -> bool {
        let end = (block + 1) * Self::KEYS;
        end > self.keys || (CAUSAL && end > i * Self::ROWS + self.ahead + 1)
    }

    /// The scores of row `i` of tiles and a block of keys, -∞ where a query does not see the key.
    #[inline_on_device]
    pub(super) fn mask<L: Layout>(
        self,
        scores: Tile<f32, Shape2<ROWS, KEYS>, L>,
        i: u32,
        block: u32,
    ) -> Tile<f32, Shape2<ROWS, KEYS>, L>
    where
        D<ROWS>: Dimension,
        D<KEYS>: Dimension,
    {
        let key = scores.coordinates::<1>() + block * Self::KEYS;
        if CAUSAL {
            let query = scores.coordinates::<0>() + i * Self::ROWS;
            key.le(query + self.ahead).select(scores, f32::NEG_INFINITY)
        } else {
            key.lt(self.keys).select(scores, f32::NEG_INFINITY)
        }
    }

    /// [`mask`](Self::mask) with the last block of keys that row `i` of tiles sees.
    #[inline_on_device]
    pub(super) fn mask_last<L: Layout>(
        self,
        scores: Tile<f32, Shape2<ROWS, KEYS>, L>,
        i: u32,
    ) -> Tile<f32, Shape2<ROWS, KEYS>, L>
    where
        D<ROWS>: Dimension,
        D<KEYS>: Dimension,
    {
        self.mask(scores, i, self.blocks(i) - 1)
    }

    /// [`mask`](Self::mask) of transposed scores, whose rows are the keys, of a causal mask. Rows behind the last key keep theirs.
    #[inline_on_device]
    pub(super) fn mask_transposed<L: Layout>(
        self,
        scores: Tile<f32, Shape2<KEYS, ROWS>, L>,
        i: u32,
        block: u32,
    ) -> Tile<f32, Shape2<KEYS, ROWS>, L>
    where
        D<ROWS>: Dimension,
        D<KEYS>: Dimension,
    {
        let key = scores.coordinates::<0>() + block * Self::KEYS;
        let query = scores.coordinates::<1>() + i * Self::ROWS;
        key.le(query + self.ahead).select(scores, f32::NEG_INFINITY)
    }
}
