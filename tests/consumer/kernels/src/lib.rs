//! Kernels: one source for the GPU and for the CPU.

#![no_std]

use cuda_tiles::prelude::*;

/// Softmax of each row. One block takes one row.
#[kernel(threads = 256)]
pub fn softmax(cx: Cx, x: Span<f32, (u32, D<1024>)>, y: SpanMut<f32, (u32, D<1024>)>) {
    let (x, y) = (x.partition(cx, shape![1, 1024]), y.partition(cx, shape![1, 1024]));
    let row = (cx.bid::<0>(), 0);
    let t = x.load(row);
    let e = (t - t.max::<1>()).exp();
    y.store(e / e.sum::<1>(), row);
}

/// `y = a * x + y` on vectors of any length. One block takes 4,096 elements.
#[kernel(threads = 256)]
pub fn axpy(cx: Cx, a: f32, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    let (x, y) = (x.partition(cx, shape![4096]), y.partition(cx, shape![4096]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i) * a + y.load_masked(Zero, i), i);
}

/// A module with a kernel that combines two vectors: kernels of one name are told apart by their modules.
macro_rules! elementwise {
    ($(#[$documentation:meta] $module:ident: $operator:tt;)*) => { $(
        #[$documentation]
        pub mod $module {
            use cuda_tiles::prelude::*;

            /// Combines two vectors. One block takes 1,024 elements.
            #[kernel]
            pub fn combine(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
                let (x, y) = (x.partition(cx, shape![1024]), y.partition(cx, shape![1024]));
                let i = cx.bid::<0>();
                y.store_masked(x.load_masked(Zero, i) $operator y.load_masked(Zero, i), i);
            }
        }
    )* };
}
elementwise! {
    /// `y = x + y`
    sum: +;
    /// `y = x * y`
    product: *;
}
