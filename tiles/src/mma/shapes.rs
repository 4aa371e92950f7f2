//! Which shapes multiply.

use crate::sealed::{Sealed, sealed};
use crate::shape::{BroadcastDimension, D, Dimension, Shape};

/// The shape of a matrix, or of a batch of them, that multiplies with one of shape `R` to sums of shape `S`: `(M, K)` with
/// `(K, N)` to `(M, N)`, and each with one more axis in front, which for `Self` and `R` may be 1.
#[diagnostic::on_unimplemented(
    message = "matrices of shapes `{Self}` and `{R}` do not multiply to sums of shape `{S}`",
    label = "shapes of matrices that do not go together",
    note = "(M, K) times (K, N) gives (M, N); with a batch, (B, M, K) times (B, K, N) gives (B, M, N), where the B of the factors may be 1"
)]
pub trait MultiplyShapes<R: Sealed, S: Sealed>: Shape {}

/// The parts of matrices that multiply.
#[doc(hidden)]
pub trait MatrixParts<R: Shape, S: Shape>: MultiplyShapes<R, S> {
    /// This shape with `X` in place of `K`.
    type LeftPart<X: Dimension>: MatrixParts<Self::RightPart<X>, S>;
    /// `R` with `X` in place of `K`.
    type RightPart<X: Dimension>: Shape;
    /// A column for each of the products.
    type Column: Shape;
    /// A row for each of the products.
    type Row: Shape;
}

impl<M: Dimension, K: Dimension, N: Dimension> MultiplyShapes<(K, N), (M, N)> for (M, K) {}
impl<M: Dimension, K: Dimension, N: Dimension> MatrixParts<(K, N), (M, N)> for (M, K) {
    type LeftPart<X: Dimension> = (M, X);
    type RightPart<X: Dimension> = (X, N);
    type Column = (M, D<1>);
    type Row = (D<1>, N);
}

impl<P, Q, O, M, K, N> MultiplyShapes<(Q, K, N), (O, M, N)> for (P, M, K)
where
    P: BatchOf<O>,
    Q: BatchOf<O>,
    O: Dimension,
    M: Dimension,
    K: Dimension,
    N: Dimension,
{
}
impl<P, Q, O, M, K, N> MatrixParts<(Q, K, N), (O, M, N)> for (P, M, K)
where
    P: BatchOf<O>,
    Q: BatchOf<O>,
    O: Dimension,
    M: Dimension,
    K: Dimension,
    N: Dimension,
{
    type LeftPart<X: Dimension> = (P, M, X);
    type RightPart<X: Dimension> = (Q, X, N);
    type Column = (O, M, D<1>);
    type Row = (O, D<1>, N);
}

/// Stands for shapes that are not known yet. With it, a shape has more than one to multiply with, and the compiler does not
/// conclude from one tile what the others are: then it states in this module's words what does not go together.
#[doc(hidden)]
pub struct Undetermined;

#[diagnostic::do_not_recommend]
impl<M: Dimension, K: Dimension> MultiplyShapes<Undetermined, Undetermined> for (M, K) {}
#[diagnostic::do_not_recommend]
impl<P: Dimension, M: Dimension, K: Dimension> MultiplyShapes<Undetermined, Undetermined> for (P, M, K) {}

/// The batch of a factor of a product that has a batch of `O`.
#[diagnostic::on_unimplemented(
    message = "a batch of `{Self}` matrices does not go into products with a batch of `{O}`",
    label = "batches that do not go together",
    note = "the batch of a factor is that of the sums, or 1"
)]
pub trait BatchOf<O: Sealed>: Dimension {}

impl<O: Dimension> BatchOf<O> for O {}

macro_rules! batches {
    ($($size:literal)*) => { $( impl BatchOf<D<$size>> for D<1> {} )* };
}
batches!(2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576 2097152 4194304
    8388608 16777216);

/// A shape that [`matmul`](super::matmul) multiplies with `R`, by NumPy's rules.
#[diagnostic::on_unimplemented(
    message = "`matmul` does not multiply tiles of shapes `{Self}` and `{R}`",
    label = "shapes that do not go together",
    note = "(M, K) times (K, N) gives (M, N): the last axis of the left tile is as long as the last but one of the right; a tile of rank 1 is a row on the left and a column on the right, and a third axis in front is a batch"
)]
pub trait MatrixProduct<R: Shape>: Shape {
    /// The left tile as a matrix, or a batch of them.
    type Left: MultiplyShapes<Self::Right, Self::Sum>;
    /// The right tile likewise.
    type Right: Shape;
    /// The product likewise.
    type Sum: Shape;
    /// The shape of the result.
    type Product: Shape;
}

type Wider<P, Q> = <P as BroadcastDimension<Q>>::Output;

macro_rules! products {
    ($([$($name:ident)*] $left:ty, $right:ty => $as_left:ty, $as_right:ty => $sum:ty, $product:ty $(where [$($bound:tt)*])?;)*) => { $(
        impl<$($name: Dimension),*> MatrixProduct<$right> for $left $(where $($bound)*)? {
            type Left = $as_left;
            type Right = $as_right;
            type Sum = $sum;
            type Product = $product;
        }
    )* };
}
products! {
    [K] (K,), (K,) => (D<1>, K), (K, D<1>) => (D<1>, D<1>), ();
    [K N] (K,), (K, N) => (D<1>, K), (K, N) => (D<1>, N), (N,);
    [M K] (M, K), (K,) => (M, K), (K, D<1>) => (M, D<1>), (M,);
    [M K N] (M, K), (K, N) => (M, K), (K, N) => (M, N), (M, N);
    [Q K N] (K,), (Q, K, N) => (D<1>, D<1>, K), (Q, K, N) => (Q, D<1>, N), (Q, N) where [D<1>: BatchOf<Q>];
    [P M K] (P, M, K), (K,) => (P, M, K), (D<1>, K, D<1>) => (P, M, D<1>), (P, M) where [D<1>: BatchOf<P>];
    [Q M K N] (M, K), (Q, K, N) => (D<1>, M, K), (Q, K, N) => (Q, M, N), (Q, M, N) where [D<1>: BatchOf<Q>];
    [P M K N] (P, M, K), (K, N) => (P, M, K), (D<1>, K, N) => (P, M, N), (P, M, N) where [D<1>: BatchOf<P>];
    [P Q M K N] (P, M, K), (Q, K, N) => (P, M, K), (Q, K, N) => (Wider<P, Q>, M, N), (Wider<P, Q>, M, N)
        where [P: BroadcastDimension<Q>, P: BatchOf<Wider<P, Q>>, Q: BatchOf<Wider<P, Q>>];
}

sealed! { [] Undetermined; }
