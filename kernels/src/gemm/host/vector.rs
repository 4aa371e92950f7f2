//! The arguments of the kernels for a matrix and a vector.

use cuda_tiles::element::Element;
use cuda_tiles_host::{Grid, Result, TensorView, TensorViewMut};

use super::plan::Major;

/// A product of a matrix and a vector.
pub(super) struct WithVector<'c, T: Element, O: Element> {
    /// The matrix as it is stored.
    pub(super) matrix: TensorView<'c, T, 3>,
    /// Vectors along K.
    pub(super) vector: TensorView<'c, T, 2>,
    pub(super) c: TensorViewMut<'c, O, 2>,
    pub(super) bias: TensorView<'c, O, 1>,
}

/// The axes of transposed matrices.
pub(super) const TRANSPOSED: [usize; 3] = [0, 2, 1];

impl<'c, T: Element, O: Element> WithVector<'c, T, O> {
    /// A product whose result has one row: the row of `a` is the vector, and `b` is stored in this way.
    pub(super) fn row(
        [a, matrix]: [TensorView<'c, T, 3>; 2],
        c: TensorViewMut<'c, O, 3>,
        bias: TensorView<'c, O, 1>,
        b: Major,
    ) -> Result<Self> {
        let ([batches, _, columns], [next, _, right]) = (c.shape(), c.strides());
        Ok(Self {
            matrix: if b == Major::Row { matrix } else { matrix.permute(TRANSPOSED)? },
            vector: a.strided(0, [a.shape()[0], a.shape()[2]], [a.strides()[0], a.strides()[2]])?,
            c: c.strided(0, [batches, columns], [next, right])?,
            bias,
        })
    }

    /// A product whose result has one column: the column of `b` is the vector, and `a` is stored in this way.
    pub(super) fn column(
        [matrix, b]: [TensorView<'c, T, 3>; 2],
        c: TensorViewMut<'c, O, 3>,
        bias: TensorView<'c, O, 1>,
        a: Major,
    ) -> Result<Self> {
        let ([batches, rows, _], [next, down, _]) = (c.shape(), c.strides());
        Ok(Self {
            matrix: if a == Major::Row { matrix } else { matrix.permute(TRANSPOSED)? },
            vector: b.strided(0, [b.shape()[0], b.shape()[1]], [b.strides()[0], b.strides()[1]])?,
            c: c.strided(0, [batches, rows], [next, down])?,
            bias,
        })
    }

    /// The grid for tiles of so many elements of the result.
    pub(super) fn grid(&self, tile: usize) -> Grid {
        let [batches, elements] = self.c.shape();
        Grid::cover([elements, batches], [tile, 1])
    }
}
