//! Sums of vectors: by threads, and by tiles.

use cuda_tiles::cuda_std::prelude::*;

/// The sums of two vectors.
///
/// # Safety
///
/// `c` has room for as many numbers as `a` has.
#[kernel]
pub unsafe fn vecadd(a: &[f32], b: &[f32], c: *mut f32) {
    let i = thread::index_1d() as usize;
    if i < a.len() {
        // SAFETY: there is room for this number, and no other thread writes it.
        unsafe { *c.add(i) = a[i] + b[i] };
    }
}

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Line {
    /// By how much it rises.
    pub slope: f32,
    /// Where it begins.
    pub offset: f32,
    /// How many points are wanted.
    pub count: u32,
}

/// The points of a line at `x`. Its arguments are of all kinds: a struct, a reference, a text and a number.
///
/// # Safety
///
/// `y` has room for as many numbers as the line wants and `x` has.
#[kernel]
pub unsafe fn points(line: Line, x: &[f32], scale: &f32, signs: &str, shift: i8, y: *mut f32) {
    let i = thread::index() as usize;
    if i < line.count as usize && i < x.len() {
        let sign = if signs.as_bytes()[i % signs.len()] == b'-' { -1.0 } else { 1.0 };
        // SAFETY: as in `vecadd`.
        unsafe { *y.add(i) = sign * (line.slope * x[i] + line.offset) * *scale + f32::from(shift) };
    }
}

/// The sums of two vectors, by tiles.
pub mod tiles {
    use cuda_tiles::prelude::*;

    /// `c = a + b`, 1024 elements for a block.
    #[kernel]
    pub fn add(cx: Cx, a: Span<f32, (u32,)>, b: Span<f32, (u32,)>, c: SpanMut<f32, (u32,)>) {
        let (a, b) = (a.partition(cx, shape![1024]), b.partition(cx, shape![1024]));
        let c = c.partition(cx, shape![1024]);
        let i = cx.bid::<0>();
        c.store_masked(a.load_masked(Zero, i) + b.load_masked(Zero, i), i);
    }
}
