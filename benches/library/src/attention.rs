//! Attention.

use std::ffi::{c_float, c_int, c_void};

use cuda_tiles::element::{bf16, f16};
use cuda_tiles_host::Stream;
use cuda_tiles_kernels::attention::{Attend, attention_on};

use crate::array::{Array, Code};
use crate::{Result, borrowed, guarded};

/// `out = softmax(q k' * scale) v` of arrays in row-major order, whose last axes are rows and columns of a head; with `causal`
/// other than 0 the last query sees all keys, and each one before it one less.
///
/// # Safety
/// The addresses are those of arrays on the device that is open, for kernels to use in the order of `stream`, a stream of
/// that device; `out` for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_attention(
    stream: *mut c_void,
    q: *const Array,
    k: *const Array,
    v: *const Array,
    out: *const Array,
    scale: c_float,
    causal: c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller vouches for the stream and the arrays.
        let (stream, arrays) = unsafe { (borrowed(stream)?, [&*q, &*k, &*v, &*out]) };
        match arrays[0].element() {
            // SAFETY: as above.
            f16::CODE => unsafe { attend::<f16>(&stream, arrays, scale, causal != 0) },
            // SAFETY: as above.
            bf16::CODE => unsafe { attend::<bf16>(&stream, arrays, scale, causal != 0) },
            _ => Err("there is no kernel for these element types".into()),
        }
    })
}

/// # Safety
/// As [`ct_attention`].
unsafe fn attend<T: Attend + Code>(
    stream: &Stream,
    [q, k, v, out]: [&Array; 4],
    scale: f32,
    causal: bool,
) -> Result<()> {
    // SAFETY: the caller vouches for the arrays.
    let (q, k, v) = unsafe { (q.lend_packed(stream)?, k.lend_packed(stream)?, v.lend_packed(stream)?) };
    // SAFETY: as above.
    let mut out = unsafe { out.lend_packed(stream)? };
    Ok(attention_on::<T>(stream, &q, &k, &v, &mut out, scale, causal)?)
}
