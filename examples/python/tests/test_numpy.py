"""What CI runs: the functions on NumPy's arrays, on the CPU. `python3 test_numpy.py` needs numpy and apache-tvm-ffi, and no pytest."""

import numpy as np

import cuda_tiles_kernels as kernels


def raises(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"nothing raised: {text}")


def test_vector_add():
    x, y = np.arange(10_000, dtype=np.float32), np.full(10_000, 0.5, np.float32)
    out = np.full_like(x, np.nan)
    kernels.vector_add(x, y, out)
    assert (out == x + y).all()


def test_softmax():
    for dtype, tolerance in (np.float32, 1e-6), (np.float16, 1e-3):
        x = np.random.default_rng(7).normal(size=(5, 1000)).astype(dtype)
        out = np.full((5, 1000), np.nan, dtype)
        kernels.softmax(x, out)
        expected = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        expected /= expected.sum(1, keepdims=True)
        assert np.abs(out - expected).max() < tolerance * expected.max()


def test_layer_norm():
    x = np.random.default_rng(7).normal(size=(3, 1024)).astype(np.float32)
    weight, bias = np.linspace(0.5, 1.5, 1024, dtype=np.float32), np.linspace(-1, 1, 1024, dtype=np.float32)
    out, mean, deviation = np.empty_like(x), np.empty(3, np.float32), np.empty(3, np.float32)
    kernels.layer_norm(x, weight, bias, 1e-5, out, mean, deviation)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias
    assert np.abs(out - expected).max() < 1e-4
    assert np.abs(mean - x.mean(1)).max() < 1e-6


def test_attention():
    q, k, v = (np.random.default_rng(seed).normal(size=(2, rows, 64)).astype(np.float16) for seed, rows in ((1, 5), (2, 7), (3, 7)))
    out = np.full_like(q, np.nan)
    kernels.attention(q, k, v, out, 0.125)
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 8
    weights = np.exp(scores)
    expected = weights / weights.sum(2, keepdims=True) @ v
    assert np.abs(out - expected).max() < 2e-3


def two_rows():
    """Every second row of an array, which the kernel of softmax does not take, and room for the result."""
    return np.zeros((8, 8), np.float32)[::2], np.empty((4, 8), np.float32)


def test_exceptions():
    x, out = np.zeros(8, np.float32), np.zeros(8, np.float32)
    raises(TypeError, "vector_add, argument 2 (`y`): the tensor's elements are float64", lambda: kernels.vector_add(x, np.zeros(8), out))
    raises(ValueError, "vector_add, argument 3 (`out`): its memory overlaps that of `x`", lambda: kernels.vector_add(x, out, x))
    raises(ValueError, "axis 0 has the stride -1", lambda: kernels.vector_add(x[::-1], x, out))
    raises(ValueError, "vector_add: [8], [8] and [4] are not one shape", lambda: kernels.vector_add(x, x, out[:4]))
    long = np.zeros((1, 8193), np.float32)
    raises(ValueError, "rows of up to 8192 elements, and these have 8193", lambda: kernels.softmax(long, np.empty_like(long)))
    raises(ValueError, "argument 1 (`x`): a tensor of shape [4, 8] and strides [16, 1] does not fit", lambda: kernels.softmax(*two_rows()))
    raises(TypeError, "there is no softmax of int32", lambda: kernels.softmax(np.zeros((1, 8), np.int32), out))
    constant = x.copy()
    constant.flags.writeable = False
    raises(BufferError, "readonly", lambda: kernels.vector_add(x, x, constant))


if __name__ == "__main__":
    tests = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests of Python passed")
