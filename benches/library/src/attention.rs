//! Attention.

use std::ffi::{c_float, c_int, c_void};

use cuda_tiles::element::{bf16, f16};
use cuda_tiles_host::Stream;
use cuda_tiles_kernels::attention::{Attend, attention_backward, attention_on, attention_with_logarithms};

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

/// [`ct_attention`] that writes the logarithms of the sums too. The arrays are queries, keys, values, results, and a row of
/// logarithms of `f32` for each matrix of queries.
///
/// # Safety
/// `arrays` is the address of five arrays on the device that is open, for kernels to use in the order of `stream`, a stream of that device; the
/// last two for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_attention_with_logarithms(
    stream: *mut c_void,
    arrays: *const [Array; 5],
    scale: c_float,
    causal: c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller vouches for the stream and the arrays.
        let (stream, arrays) = unsafe { (borrowed(stream)?, &*arrays) };
        match arrays[0].element() {
            // SAFETY: as above.
            f16::CODE => unsafe { attend_saved::<f16>(&stream, arrays, scale, causal != 0) },
            // SAFETY: as above.
            bf16::CODE => unsafe { attend_saved::<bf16>(&stream, arrays, scale, causal != 0) },
            _ => Err("there is no kernel for these element types".into()),
        }
    })
}

/// # Safety
/// As [`ct_attention_with_logarithms`].
unsafe fn attend_saved<T: Attend + Code>(
    stream: &Stream,
    [q, k, v, out, logarithms]: &[Array; 5],
    scale: f32,
    causal: bool,
) -> Result<()> {
    // SAFETY: the caller vouches for the arrays.
    unsafe {
        let (q, k, v) = (q.lend_packed(stream)?, k.lend_packed(stream)?, v.lend_packed(stream)?);
        let (mut out, mut logarithms) = (out.lend_packed(stream)?, logarithms.lend_packed(stream)?);
        Ok(attention_with_logarithms::<T>(stream, &q, &k, &v, &mut out, &mut logarithms, scale, causal)?)
    }
}

/// The gradients of attention. The arrays are queries, keys, values, results, logarithms, the gradient of the results, and for writing those of
/// queries, keys and values.
///
/// # Safety
/// `arrays` is the address of nine arrays on the device that is open, for kernels to use in the order of `stream`, a stream of that device; the
/// last three for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_attention_backward(
    stream: *mut c_void,
    arrays: *const [Array; 9],
    scale: c_float,
    causal: c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller vouches for the stream and the arrays.
        let (stream, arrays) = unsafe { (borrowed(stream)?, &*arrays) };
        match arrays[0].element() {
            // SAFETY: as above.
            f16::CODE => unsafe { gradients::<f16>(&stream, arrays, scale, causal != 0) },
            // SAFETY: as above.
            bf16::CODE => unsafe { gradients::<bf16>(&stream, arrays, scale, causal != 0) },
            _ => Err("there is no kernel for these element types".into()),
        }
    })
}

/// # Safety
/// As [`ct_attention_backward`].
unsafe fn gradients<T: Attend + Code>(
    stream: &Stream,
    [q, k, v, out, logarithms, dout, dq, dk, dv]: &[Array; 9],
    scale: f32,
    causal: bool,
) -> Result<()> {
    // SAFETY: the caller vouches for the arrays.
    unsafe {
        let (q, k, v) = (q.lend_packed(stream)?, k.lend_packed(stream)?, v.lend_packed(stream)?);
        let (out, dout) = (out.lend_packed(stream)?, dout.lend_packed(stream)?);
        let logarithms = logarithms.lend_packed(stream)?;
        let (mut dq, mut dk, mut dv) =
            (dq.lend_packed(stream)?, dk.lend_packed(stream)?, dv.lend_packed(stream)?);
        Ok(attention_backward::<T>(
            stream,
            &q,
            &k,
            &v,
            &out,
            &logarithms,
            &dout,
            &mut dq,
            &mut dk,
            &mut dv,
            scale,
            causal,
        )?)
    }
}
