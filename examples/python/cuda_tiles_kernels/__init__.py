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
    """The softmax of each row of a matrix of float32, float16 or bfloat16, of up to 8192 columns."""
    _function("softmax", x.dtype)(x, out)


def layer_norm(x, weight, bias, epsilon, out, mean, reciprocal_deviation):
    """Layer normalisation of each row of a matrix, of 1024 or, but for float32, 8192 columns. `mean` and `reciprocal_deviation` are results
    too, vectors of float32."""
    _function("layer_norm", x.dtype)(x, weight, bias, epsilon, out, mean, reciprocal_deviation)


def attention(q, k, v, out, scale, causal=False):
    """`softmax(q k' scale) v` for each matrix of contiguous batches of float16 or bfloat16, with 64 or 128 columns. With `causal` the last
    query sees all keys, and each query before it one key less."""
    _function("attention", q.dtype)(q, k, v, out, scale, causal)


def linear(x, weight, bias, out):
    """`out = x weight' + bias` for matrices of float16 or bfloat16, and a vector or None."""
    _function("linear", x.dtype)(x, weight, bias, out)
