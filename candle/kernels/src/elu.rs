//! The exponential linear unit: what an operation of the user's own looks like, with its gradient.

use cuda_tiles::prelude::*;

/// Elements that a block takes.
pub const TILE: usize = 1024;

/// `y = x` where `x` is not negative, else `alpha (e^x - 1)`, computed in `C`.
#[kernel(threads = 256, instances(<f32, f32>, <f16, f32>, <bf16, f32>, <f64, f64>))]
pub fn elu<B: Block, T: Float + Cast<C>, C: Float + Cast<T>>(
    cx: Cx<B>,
    x: Span<T, (u32,)>,
    alpha: C,
    y: SpanMut<T, (u32,)>,
) {
    let (x, y) = (x.partition(cx, shape![TILE]), y.partition(cx, shape![TILE]));
    let i = cx.bid::<0>();
    let t = x.load_masked(Zero, i).cast::<C>();
    y.store_masked(t.ge(C::ZERO).select(t, (t.exp() - C::ONE) * alpha).cast::<T>(), i);
}

/// The gradient by `x`: `dx = dy` where `x` is not negative, else `dy alpha e^x`.
#[kernel(threads = 256, instances(<f32, f32>, <f16, f32>, <bf16, f32>, <f64, f64>))]
pub fn elu_gradient<B: Block, T: Float + Cast<C>, C: Float + Cast<T>>(
    cx: Cx<B>,
    x: Span<T, (u32,)>,
    dy: Span<T, (u32,)>,
    alpha: C,
    dx: SpanMut<T, (u32,)>,
) {
    let tile = shape![TILE];
    let (x, dy, dx) = (x.partition(cx, tile), dy.partition(cx, tile), dx.partition(cx, tile));
    let i = cx.bid::<0>();
    let t = x.load_masked(Zero, i).cast::<C>();
    let dt = dy.load_masked(Zero, i).cast::<C>();
    dx.store_masked(t.ge(C::ZERO).select(dt, dt * t.exp() * alpha).cast::<T>(), i);
}
