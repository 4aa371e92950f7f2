//! The grid of blocks that a kernel is launched on.

use std::fmt;

use cuda_tiles::launch::Description;

use crate::error::{Error, Result};

/// The most blocks along each axis: a limit of the hardware (CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability").
const LIMITS: [u64; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// How many blocks run along each of up to three axes.
///
/// A kernel sees the index of its block on axis k as `cx.bid::<k>()`. Axis 0 can be the longest: it takes 2^31 - 1 blocks,
/// the others 65535. A grid with no blocks is legal and launches nothing.
///
/// ```
/// use cuda_tiles_host::Grid;
///
/// // One block for each 32 x 64 tile of a 100 x 200 matrix; block (i, j) has the tile at (i, j).
/// assert_eq!(Grid::cover([100, 200], [32, 64]), Grid::from((4, 4)));
/// assert_eq!(Grid::from(7), Grid::from((7, 1, 1)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    blocks: [u64; 3],
}

impl Grid {
    /// One block for each tile of the given size in a tensor of the given shape, the last tile of an axis possibly
    /// reaching over the tensor's edge. Axis k of the tensor is axis k of the grid.
    ///
    /// # Panics
    /// If a tile size is 0.
    pub fn cover<const RANK: usize>(shape: [usize; RANK], tile: [usize; RANK]) -> Self {
        const { assert!(1 <= RANK && RANK <= 3, "a grid has one to three axes") };
        let mut blocks = [1; 3];
        for axis in 0..RANK {
            assert!(tile[axis] > 0, "a tile of shape {tile:?} covers nothing");
            blocks[axis] = shape[axis].div_ceil(tile[axis]) as u64;
        }
        Self { blocks }
    }

    /// Blocks along the three axes.
    pub fn blocks(&self) -> [u64; 3] {
        self.blocks
    }

    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.blocks.contains(&0)
    }

    /// The grid as the hardware counts it, if the kernel can be launched on it.
    pub(crate) fn for_kernel(&self, kernel: &Description) -> Result<[u32; 3]> {
        let refuse = |problem| Err(Error::Grid { kernel: kernel.name, grid: self.to_string(), problem });
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let blocks = self.blocks[axis];
            if blocks > LIMITS[axis] {
                return refuse(format!(
                    "axis {name} takes at most {} blocks; larger tiles need fewer",
                    LIMITS[axis]
                ));
            }
            if axis >= kernel.grid_rank as usize && blocks != 1 {
                return refuse(format!(
                    "it uses {} of the grid's axes, so axis {name} must have 1 block, or blocks would do each other's work",
                    kernel.grid_rank
                ));
            }
            let cluster = u64::from(kernel.cluster[axis]);
            if !blocks.is_multiple_of(cluster) {
                return refuse(format!(
                    "axis {name} must be a multiple of {cluster}, the kernel's cluster size there"
                ));
            }
        }
        Ok(self.blocks.map(|blocks| blocks as u32))
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.blocks;
        write!(formatter, "({x}, {y}, {z})")
    }
}

impl From<u32> for Grid {
    fn from(x: u32) -> Self {
        Self::from((x, 1, 1))
    }
}

impl From<(u32,)> for Grid {
    fn from((x,): (u32,)) -> Self {
        Self::from((x, 1, 1))
    }
}

impl From<(u32, u32)> for Grid {
    fn from((x, y): (u32, u32)) -> Self {
        Self::from((x, y, 1))
    }
}

impl From<(u32, u32, u32)> for Grid {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { blocks: [x.into(), y.into(), z.into()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(grid_rank: u32, cluster: [u32; 3]) -> Description {
        Description {
            name: "scale",
            threads: 128,
            grid_rank,
            copy_threads: 0,
            shared_bytes: [0; 3],
            cluster,
            dependent: false,
            arguments: &[],
            file: file!(),
            line: line!(),
        }
    }

    fn problem(grid: impl Into<Grid>, kernel: &Description) -> String {
        grid.into().for_kernel(kernel).unwrap_err().to_string()
    }

    #[test]
    fn cover_rounds_up() {
        assert_eq!(Grid::cover([1], [4096]).blocks(), [1, 1, 1]);
        assert_eq!(Grid::cover([4097], [4096]).blocks(), [2, 1, 1]);
        assert_eq!(Grid::cover([8, 9, 10], [1, 2, 4]).blocks(), [8, 5, 3]);
        assert!(Grid::cover([0, 5], [4, 4]).is_empty());
    }

    #[test]
    fn axes_beyond_the_kernels_rank_hold_one_block() {
        assert_eq!(Grid::from(5).for_kernel(&kernel(1, [1; 3])).unwrap(), [5, 1, 1]);
        let message = problem((5, 2), &kernel(1, [1; 3]));
        assert!(
            message
                .starts_with("kernel `scale` cannot run on the grid (5, 2, 1): it uses 1 of the grid's axes")
        );
        assert!(message.contains("axis y must have 1 block"), "{message}");
    }

    #[test]
    fn the_hardwares_limits_are_checked() {
        let kernel = kernel(3, [1; 3]);
        assert!(
            problem((1, 65_536), &kernel)
                .ends_with("axis y takes at most 65535 blocks; larger tiles need fewer")
        );
        assert!(problem((1, 1, 65_536), &kernel).contains("axis z takes at most 65535 blocks"));
        assert!(problem(1 << 31, &kernel).contains("axis x takes at most 2147483647 blocks"));
        assert!(Grid::cover([1 << 40], [1]).for_kernel(&kernel).is_err());
    }

    #[test]
    fn a_grid_is_made_of_whole_clusters() {
        let kernel = kernel(2, [2, 1, 1]);
        assert!(Grid::from((4, 3)).for_kernel(&kernel).is_ok());
        assert!(
            problem((3, 3), &kernel)
                .ends_with("axis x must be a multiple of 2, the kernel's cluster size there")
        );
    }
}
