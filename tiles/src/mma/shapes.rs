//! The shapes of matrices that multiply.

use crate::sealed::{Sealed, sealed};
use crate::shape::{ALL, BroadcastDimension, D, Dimension, Shape, is_padded};

/// Refuses an operand A of shape `S` whose rows or columns are padded: the elements behind would be added to sums of others.
pub(crate) const fn assert_rows_and_depth_are_whole<S: Shape>() {
    assert!(
        !is_padded::<S>(ALL),
        "the columns of a product may be `Padded`, its rows and its contracted axis may not"
    );
}

/// The shape of an operand A that multiplies with an operand B of shape `R` into accumulators of shape `S`.
///
/// `(M, K)` with `(K, N)` gives `(M, N)`. Each may have one more axis in front, a batch, which for `Self` and `R` may be 1.
#[diagnostic::on_unimplemented(
    message = "matrices of shapes `{Self}` and `{R}` do not multiply into accumulators of shape `{S}`",
    label = "shapes of matrices that do not go together",
    note = "(M, K) times (K, N) gives (M, N); with a batch, (B, M, K) times (B, K, N) gives (B, M, N), where the B of the operands may be 1"
)]
pub trait MultiplyShapes<R: Sealed, S: Sealed>: Shape {}

/// The parts of matrices that multiply.
#[doc(hidden)]
pub trait MatrixParts<R: Shape, S: Shape>: MultiplyShapes<R, S> {
    /// This shape with `X` in place of `K`.
    type APart<X: Dimension>: MatrixParts<Self::BPart<X>, S>;
    /// `R` with `X` in place of `K`.
    type BPart<X: Dimension>: Shape;
    /// A column for each of the matrices.
    type Column: Shape;
    /// A row for each of the matrices.
    type Row: Shape;
}

impl<M: Dimension, K: Dimension, N: Dimension> MultiplyShapes<(K, N), (M, N)> for (M, K) {}
impl<M: Dimension, K: Dimension, N: Dimension> MatrixParts<(K, N), (M, N)> for (M, K) {
    type APart<X: Dimension> = (M, X);
    type BPart<X: Dimension> = (X, N);
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
    type APart<X: Dimension> = (P, M, X);
    type BPart<X: Dimension> = (Q, X, N);
    type Column = (O, M, D<1>);
    type Row = (O, D<1>, N);
}

/// Stands for shapes that are not known yet. With it, a shape has more than one partner, and the compiler does not infer one
/// tile's shape from another's. Its errors are then those of this module.
#[doc(hidden)]
pub struct Undetermined;

#[diagnostic::do_not_recommend]
impl<M: Dimension, K: Dimension> MultiplyShapes<Undetermined, Undetermined> for (M, K) {}
#[diagnostic::do_not_recommend]
impl<P: Dimension, M: Dimension, K: Dimension> MultiplyShapes<Undetermined, Undetermined> for (P, M, K) {}

/// The batch of an operand, in a multiplication with a batch of `O`.
#[diagnostic::on_unimplemented(
    message = "a batch of `{Self}` matrices does not go into a multiplication with a batch of `{O}`",
    label = "batches that do not go together",
    note = "the batch of an operand is that of the accumulators, or 1"
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
    /// Operand A as a matrix, or a batch of matrices.
    type Left: MultiplyShapes<Self::Right, Self::Sum>;
    /// Operand B as a matrix, or a batch of matrices.
    type Right: Shape;
    /// The product as a matrix, or a batch of matrices.
    type Sum: Shape;
    /// The shape of the result.
    type Product: Shape;
}

type Wider<P, Q> = <P as BroadcastDimension<Q>>::Output;

macro_rules! products {
    ($([$($name:ident)*] $a:ty, $b:ty => $as_a:ty, $as_b:ty => $sum:ty, $product:ty $(where [$($bound:tt)*])?;)*) => { $(
        impl<$($name: Dimension),*> MatrixProduct<$b> for $a $(where $($bound)*)? {
            type Left = $as_a;
            type Right = $as_b;
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
