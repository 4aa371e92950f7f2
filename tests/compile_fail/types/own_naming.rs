//! `Anyhow` is not a type of cuda-tiles, and its traits are for no others

use cuda_tiles::context::BlockIndex;
use cuda_tiles::span::Exclusive;
use cuda_tiles::view::{AnyNumber, NamedBy, TakesNames};

/// Would let two blocks name one tile.
struct Anyhow;

impl NamedBy<Anyhow> for Exclusive {}
impl TakesNames<(BlockIndex<0>, AnyNumber), Anyhow> for Exclusive {}

fn main() {}
