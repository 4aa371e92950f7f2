"""Ready-made kernels of cuda-tiles, on arrays of any library that has DLPack: PyTorch, CuPy, NumPy, JAX.

Nothing is copied. Results are parameters, so that they come from the allocator of the caller's library. CUDA arrays mean the GPU, on
the caller's stream; arrays of the CPU mean the CPU, where the same kernels run, slowly.

`cuda_tiles_kernels.torch` has PyTorch's operators, with gradients.
"""

import os
from functools import cache
from pathlib import Path

import tvm_ffi


def _library_path() -> Path:
    """The library: beside this file in a wheel, or where CUDA_TILES_PYTHON_LIBRARY says, as for tests of what cargo has built."""
    if path := os.environ.get("CUDA_TILES_PYTHON_LIBRARY"):
        return Path(path)
    folder = Path(__file__).parent
    for path in sorted(folder.glob("_kernels*")):
        return path
    raise ImportError(f"{folder} has no library _kernels: install the package by `pip install`, or set CUDA_TILES_PYTHON_LIBRARY")


_library = tvm_ffi.load_module(_library_path())


@cache
def _function(name: str, dtype=None):
    """A function of the library, for this type of elements."""
    full_name = name if dtype is None else f"{name}_{str(dtype).rpartition('.')[2]}"
    try:
        return _library.get_function(full_name)
    except AttributeError:
        what = "" if dtype is None else f" of {dtype}"
        hint = "; it is in builds with the feature `gemm`" if name == "linear" else ""
        raise TypeError(f"there is no {name}{what}{hint}") from None


def vector_add(x, y, out):
    """`out = x + y`, for vectors of float32."""
    _function("vector_add")(x, y, out)


def softmax(x, out):
    """The softmax of each row of a matrix of float32, float16 or bfloat16, as all functions on rows here."""
    _function("softmax", x.dtype)(x, out)


def softmax_backward(y, dy, dx):
    """The gradient `dx` of the operand of `softmax`, from its result and the gradient of that."""
    _function("softmax_backward", y.dtype)(y, dy, dx)


def layer_norm(x, weight, bias, epsilon, out, mean, reciprocal_deviation):
    """Layer normalisation of each row of a matrix. `mean` and `reciprocal_deviation` are results too, vectors of float32."""
    _function("layer_norm", x.dtype)(x, weight, bias, epsilon, out, mean, reciprocal_deviation)


def layer_norm_backward(x, weight, mean, reciprocal_deviation, dy, dx, dweight, dbias):
    """The gradients `dx`, `dweight`, `dbias` of the operands of `layer_norm`, from these, what it has found and the gradient of its result."""
    _function("layer_norm_backward", x.dtype)(x, weight, mean, reciprocal_deviation, dy, dx, dweight, dbias)


def rms_norm(x, weight, epsilon, out, reciprocal_deviation):
    """RMS normalisation of each row of a matrix. `reciprocal_deviation` is a result too, a vector of float32."""
    _function("rms_norm", x.dtype)(x, weight, epsilon, out, reciprocal_deviation)


def rms_norm_backward(x, weight, reciprocal_deviation, dy, dx, dweight):
    """The gradients `dx` and `dweight` of the operands of `rms_norm`, from these, what it has found and the gradient of its result."""
    _function("rms_norm_backward", x.dtype)(x, weight, reciprocal_deviation, dy, dx, dweight)


def cross_entropy(logits, labels, losses, logarithms, ignore_index=-100):
    """The cross-entropy of each row of a matrix of logits with its label, of int64. `losses` and `logarithms`, of the sums of exponentials, are
    vectors of float32. The loss is 0 where the label is `ignore_index`, and NaN where it is neither that nor a column."""
    _function("cross_entropy", logits.dtype)(logits, labels, ignore_index, losses, logarithms)


def cross_entropy_backward(logits, labels, logarithms, dlosses, dlogits, ignore_index=-100):
    """The gradient `dlogits` of the operand of `cross_entropy`, from this, what it has found and the gradient of the losses. Where `dlogits` is
    None, it takes the place of the logits."""
    if dlogits is None:
        _function("cross_entropy_backward_in_place", logits.dtype)(logits, labels, ignore_index, logarithms, dlosses)
    else:
        _function("cross_entropy_backward", logits.dtype)(logits, labels, ignore_index, logarithms, dlosses, dlogits)


def attention(q, k, v, out, scale, causal=False, logarithms=None):
    """`softmax(q k' scale) v` for each matrix of contiguous batches of float16 or bfloat16, with 64 or 128 columns. With `causal` the last
    query sees all keys, and each query before it one key less. There may be fewer matrices of keys, each for as many neighbours of queries.
    The gradients need `logarithms`, a float32 matrix: of each query's sum of exponentials."""
    if logarithms is None:
        _function("attention", q.dtype)(q, k, v, out, scale, causal)
    else:
        _function("attention_with_logarithms", q.dtype)(q, k, v, out, logarithms, scale, causal)


def attention_backward(q, k, v, out, logarithms, dout, dq, dk, dv, scale, causal=False):
    """The gradients of the operands of `attention`, from its results and the gradient of `out`."""
    _function("attention_backward", q.dtype)(q, k, v, out, logarithms, dout, dq, dk, dv, scale, causal)


def linear(x, weight, bias, out):
    """`out = x weight' + bias` for matrices of float16 or bfloat16, and a vector or None."""
    _function("linear", x.dtype)(x, weight, bias, out)
