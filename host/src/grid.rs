//! The grid of blocks that a kernel is launched on.

use std::fmt;

use cuda_tiles::launch::Description;

use crate::error::{Error, Result};

/// The most blocks along each axis: a limit of the hardware (CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability").
const LIMITS: [i64; 3] = [(1 << 31) - 1, 65_535, 65_535];

/// How many blocks run along each of up to three axes.
///
/// A kernel sees the index of its block on axis k as `cx.bid::<k>()`. Axis 0 can be the longest: it takes 2^31 - 1 blocks,
/// the others 65535. A grid with no blocks is legal and launches nothing. A launch refuses any other number of blocks, and
/// negative ones, with [`Error::Grid`].
///
/// A number is a grid of one axis, a tuple one of up to three. The numbers are [`BlockCount`]s.
///
/// ```
/// use cuda_tiles_host::Grid;
///
/// // One block for each 32 x 64 tile of a 100 x 200 matrix; block (i, j) has the tile at (i, j).
/// assert_eq!(Grid::cover([100, 200], [32, 64]), Grid::from((4, 4)));
/// assert_eq!(Grid::from(7), Grid::from((7, 1, 1)));
/// let rows = vec![0; 7];
/// assert_eq!(Grid::from(rows.len()), Grid::from(7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    // Signed for the sake of the message about a negative number.
    blocks: [i64; 3],
}

mod sealed {
    pub trait Sealed {}
}

/// A number of blocks along an axis of a [`Grid`]: `u32`, `u64`, `usize`, or `i32`, which integers without a suffix are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of blocks",
    label = "expected u32, u64, usize or i32"
)]
pub trait BlockCount: Copy + sealed::Sealed {
    /// The number; more than `i64::MAX`, which no launch takes either, as that.
    #[doc(hidden)]
    fn get(self) -> i64;
}

macro_rules! block_counts {
    ($($number:ty)*) => { $(
        impl sealed::Sealed for $number {}
        impl BlockCount for $number {
            fn get(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }

        impl From<$number> for Grid {
            fn from(x: $number) -> Self {
                Self::from((x,))
            }
        }
    )* };
}
block_counts!(u32 u64 usize i32);

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
            blocks[axis] = shape[axis].div_ceil(tile[axis]).get();
        }
        Self { blocks }
    }

    /// Blocks along the three axes. A negative number, which no launch takes, is 0 here.
    pub fn blocks(&self) -> [u64; 3] {
        self.blocks.map(|blocks| blocks.max(0) as u64)
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
            if blocks < 0 {
                return refuse(format!("axis {name} has a negative number of blocks"));
            }
            // Blocks that share a producer are counted, too.
            let limit = LIMITS[axis] / i64::from(kernel.blocks_of_producer());
            if blocks > limit {
                return refuse(format!("axis {name} takes at most {limit} blocks; larger tiles need fewer"));
            }
            if axis >= kernel.grid_rank as usize && blocks != 1 {
                return refuse(format!(
                    "it uses {} of the grid's axes, so axis {name} must have 1 block, or blocks would do each other's work",
                    kernel.grid_rank
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

impl<X: BlockCount> From<(X,)> for Grid {
    fn from((x,): (X,)) -> Self {
        Self { blocks: [x.get(), 1, 1] }
    }
}

impl<X: BlockCount, Y: BlockCount> From<(X, Y)> for Grid {
    fn from((x, y): (X, Y)) -> Self {
        Self { blocks: [x.get(), y.get(), 1] }
    }
}

impl<X: BlockCount, Y: BlockCount, Z: BlockCount> From<(X, Y, Z)> for Grid {
    fn from((x, y, z): (X, Y, Z)) -> Self {
        Self { blocks: [x.get(), y.get(), z.get()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_tiles::launch::Targets;

    fn kernel(grid_rank: u32) -> Description {
        Description {
            path: "kernels::k",
            declaration: "fn k()",
            fingerprint: 0,
            name: "scale",
            threads: 128,
            grid_rank,
            producer_threads: 0,
            consumers: 1,
            cluster: 1,
            shared_bytes: [0; 3],
            dependent: false,
            targets: Targets::All,
            on_cpu: true,
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
        assert_eq!(Grid::from(5).for_kernel(&kernel(1)).unwrap(), [5, 1, 1]);
        let message = problem((5, 2), &kernel(1));
        assert!(
            message
                .starts_with("kernel `scale` cannot run on the grid (5, 2, 1): it uses 1 of the grid's axes")
        );
        assert!(message.contains("axis y must have 1 block"), "{message}");
    }

    #[test]
    fn the_hardwares_limits_are_checked() {
        let kernel = kernel(3);
        assert!(
            problem((1, 65_536), &kernel)
                .ends_with("axis y takes at most 65535 blocks; larger tiles need fewer")
        );
        assert!(problem((1, 1, 65_536), &kernel).contains("axis z takes at most 65535 blocks"));
        assert!(problem(1_u32 << 31, &kernel).contains("axis x takes at most 2147483647 blocks"));
        assert!(problem(1_usize << 40, &kernel).contains("axis x takes at most 2147483647 blocks"));
        assert!(problem((1, u64::MAX), &kernel).contains("axis y takes at most 65535 blocks"));
        assert!(Grid::cover([1 << 40], [1]).for_kernel(&kernel).is_err());
    }

    #[test]
    fn numbers_of_all_types_are_counts() {
        let grid = Grid { blocks: [7, 5, 3] };
        assert_eq!(Grid::from((7_usize, 5, 3_u32)), grid);
        assert_eq!(Grid::from((7_u64, 5_u32, 3_i32)), grid);
        assert_eq!([Grid::from(7_usize), Grid::from((7_u32,))], [Grid { blocks: [7, 1, 1] }; 2]);
    }

    #[test]
    fn negative_numbers_are_refused() {
        let (grid, kernel) = (Grid::from((2, -3)), kernel(2));
        assert!(!grid.is_empty());
        assert_eq!(grid.blocks(), [2, 0, 1]);
        assert_eq!(
            problem(grid, &kernel),
            "kernel `scale` cannot run on the grid (2, -3, 1): axis y has a negative number of blocks"
        );
        assert!(problem((0, i32::MIN), &kernel).ends_with("axis y has a negative number of blocks"));
    }
}
