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


# Within a tile, behind one, and with tiles in between.
COLUMNS = 100, 1029, 17_001


def operands(*shapes, dtype=np.float32):
    """Random arrays, the same in each run."""
    random = np.random.default_rng(7)
    return tuple(random.normal(size=shape).astype(dtype) for shape in shapes)


def room(*shapes, dtype=np.float32):
    """Arrays for results, of NaN."""
    return tuple(np.full(shape, np.nan, dtype) for shape in shapes)


def close(found, expected, tolerance=1e-5):
    assert found.shape == expected.shape
    assert np.abs(found.astype(np.float64) - expected).max() <= tolerance * max(1, np.abs(expected).max())


def test_softmax():
    for columns in COLUMNS:
        for dtype, tolerance in (np.float32, 1e-6), (np.float16, 1e-3):
            x, dy = operands((5, columns), (5, columns), dtype=dtype)
            y, dx = room((5, columns), (5, columns), dtype=dtype)
            kernels.softmax(x, y)
            expected = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
            expected /= expected.sum(1, keepdims=True)
            close(y, expected, tolerance)
            kernels.softmax_backward(y, dy, dx)
            close(dx, expected * (dy - (dy * expected).sum(1, keepdims=True)), tolerance)


def test_layer_norm():
    for columns in COLUMNS:
        x, dy, weight, bias = operands((3, columns), (3, columns), columns, columns)
        x += 10
        y, mean, deviation = room((3, columns), 3, 3)
        kernels.layer_norm(x, weight, bias, 1e-5, y, mean, deviation)
        wide, g = x.astype(np.float64), dy.astype(np.float64) * weight
        r = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
        n = (wide - wide.mean(1, keepdims=True)) * r
        close(y, n * weight + bias)
        close(mean, wide.mean(1))
        close(deviation, r[:, 0])
        dx, dweight, dbias = room((3, columns), columns, columns)
        kernels.layer_norm_backward(x, weight, mean, deviation, dy, dx, dweight, dbias)
        close(dx, r * (g - g.mean(1, keepdims=True) - n * (g * n).mean(1, keepdims=True)))
        close(dweight, (dy * n).sum(0))
        close(dbias, dy.astype(np.float64).sum(0))


def test_rms_norm():
    for columns in COLUMNS:
        x, dy, weight = operands((3, columns), (3, columns), columns)
        y, deviation = room((3, columns), 3)
        kernels.rms_norm(x, weight, 1e-6, y, deviation)
        wide, g = x.astype(np.float64), dy.astype(np.float64) * weight
        r = 1 / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6)
        close(y, wide * r * weight)
        dx, dweight = room((3, columns), columns)
        kernels.rms_norm_backward(x, weight, deviation, dy, dx, dweight)
        close(dx, r * (g - wide * r * (g * wide * r).mean(1, keepdims=True)))
        close(dweight, (dy * wide * r).sum(0))


def test_cross_entropy():
    for columns in COLUMNS:
        logits, dlosses = operands((4, columns), 4)
        labels = np.array([0, columns - 1, -100, columns], np.int64)
        losses, logarithms = room(4, 4)
        kernels.cross_entropy(logits, labels, losses, logarithms)
        expected = np.log(np.exp(logits.astype(np.float64)).sum(1))
        close(logarithms, expected)
        close(losses[:2], expected[:2] - logits[[0, 1], labels[:2]])
        assert losses[2] == 0 and np.isnan(losses[3])
        (dlogits,) = room((4, columns))
        kernels.cross_entropy_backward(logits, labels, logarithms, dlosses, dlogits)
        gradient = np.exp(logits - expected[:, None])
        gradient[[0, 1], labels[:2]] -= 1
        close(dlogits[:2], gradient[:2] * dlosses[:2, None])
        assert (dlogits[2] == 0).all() and np.isnan(dlogits[3]).all()
        kernels.cross_entropy_backward(logits, labels, logarithms, dlosses, None)
        assert np.array_equal(logits, dlogits, equal_nan=True)


def test_attention():
    q, k, v = (np.random.default_rng(seed).normal(size=(2, rows, 64)).astype(np.float16) for seed, rows in ((1, 5), (2, 7), (3, 7)))
    out = np.full_like(q, np.nan)
    kernels.attention(q, k, v, out, 0.125)
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 8
    weights = np.exp(scores)
    expected = weights / weights.sum(2, keepdims=True) @ v
    assert np.abs(out - expected).max() < 2e-3


def test_attention_gradients():
    generator = np.random.default_rng(4)
    q, k, v, dout = (generator.normal(size=(matrices, rows, 64)).astype(np.float16) for matrices, rows in ((4, 5), (2, 7), (2, 7), (4, 5)))
    out, logarithms = np.full_like(q, np.nan), np.full(q.shape[:2], np.nan, np.float32)
    dq, dk, dv = (np.full_like(x, np.nan) for x in (q, k, v))
    kernels.attention(q, k, v, out, 0.125, False, logarithms)
    kernels.attention_backward(q, k, v, out, logarithms, dout, dq, dk, dv, 0.125)
    # Two matrices of queries share the keys of one.
    queries, by_result = (x.reshape(2, 10, 64).astype(np.float64) for x in (q, dout))
    scores = queries @ k.transpose(0, 2, 1) / 8
    weights = np.exp(scores) / np.exp(scores).sum(2, keepdims=True)
    by_weights = by_result @ v.transpose(0, 2, 1)
    by_scores = weights * (by_weights - (weights * by_weights).sum(2, keepdims=True)) / 8
    assert np.abs(logarithms.reshape(2, 10) - np.log(np.exp(scores).sum(2))).max() < 1e-4
    assert np.abs(dq.reshape(2, 10, 64) - by_scores @ k).max() < 1e-2
    assert np.abs(dk - by_scores.transpose(0, 2, 1) @ queries).max() < 1e-2
    assert np.abs(dv - weights.transpose(0, 2, 1) @ by_result).max() < 1e-2


def two_rows():
    """Every second row of an array, which the kernel of softmax does not take, and room for the result."""
    return np.zeros((8, 8), np.float32)[::2], np.empty((4, 8), np.float32)


def test_exceptions():
    x, out = np.zeros(8, np.float32), np.zeros(8, np.float32)
    raises(TypeError, "vector_add, argument 2 (`y`): the tensor's elements are float64", lambda: kernels.vector_add(x, np.zeros(8), out))
    raises(ValueError, "vector_add, argument 3 (`out`): its memory overlaps that of `x`", lambda: kernels.vector_add(x, out, x))
    raises(ValueError, "axis 0 has the stride -1", lambda: kernels.vector_add(x[::-1], x, out))
    raises(ValueError, "vector_add: [8], [8] and [4] are not one shape", lambda: kernels.vector_add(x, x, out[:4]))
    raises(ValueError, "softmax: `y` has shape [2, 4]", lambda: kernels.softmax(np.zeros((2, 8), np.float32), np.empty((2, 4), np.float32)))
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
