"""PyTorch's operators against PyTorch's own, with gradients and torch.compile: `pytest test_torch.py`. CUDA too, where there is a GPU."""

import pytest
import torch
import torch.nn.functional as F
import tvm_ffi

import cuda_tiles_kernels as kernels
from cuda_tiles_kernels import torch as ops

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def softmax_case(columns):
    def case(device, dtype):
        return ops.softmax, lambda x: F.softmax(x, -1), [torch.randn(3, 4, columns, device=device, dtype=dtype)], []

    return case


def rms_norm_case(columns):
    def case(device, dtype):
        inputs = [torch.randn(shape, device=device, dtype=dtype) for shape in ((3, 4, columns), (columns,))]
        return ops.rms_norm_saved, lambda x, w, epsilon: F.rms_norm(x, (columns,), w, epsilon), inputs, [1e-6]

    return case


def layer_norm_case(columns):
    def case(device, dtype):
        inputs = [torch.randn(shape, device=device, dtype=dtype) for shape in ((3, 4, columns), (columns,), (columns,))]

        def reference(x, w, b, epsilon):
            return F.layer_norm(x, (columns,), w, b, epsilon)

        return ops.layer_norm_saved, reference, inputs, [1e-5]

    return case


def cross_entropy_case(columns):
    def case(device, dtype):
        labels = torch.randint(columns, (3, 4), device=device)
        labels[1, 2] = -100

        def reference(logits, labels, ignore_index):
            return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=ignore_index, reduction="none").view(3, 4)

        logits = torch.randn(3, 4, columns, device=device, dtype=dtype)
        return ops.cross_entropy_saved, reference, [logits], [labels, -100]

    return case


def attention_case(causal, columns, heads):
    def case(device, dtype):
        sizes = (4, 5), (heads, 7), (heads, 7)
        q, k, v = (torch.randn(2, heads, rows, columns, device=device, dtype=dtype) for heads, rows in sizes)

        def reference(q, k, v, scale, causal):
            mask = torch.ones(5, 7, dtype=torch.bool, device=device).tril(2) if causal else None
            k, v = (x.repeat_interleave(4 // heads, 1) for x in (k, v))
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)

        return ops.attention_saved, reference, [q, k, v], [0.2, causal]

    return case


def linear_case(device, dtype):
    inputs = [torch.randn(shape, device=device, dtype=dtype) for shape in ((3, 4, 40), (24, 40), (24,))]
    return ops.linear, F.linear, inputs, []


HALVES = (torch.float16, torch.bfloat16)
ROWS = (softmax_case, rms_norm_case, layer_norm_case, cross_entropy_case)
CASES = [
    *(
        (case(columns), dtype)
        for case in ROWS
        for columns in (100, 1029, 9000)
        for dtype in (torch.float32, *HALVES)
    ),
    *((attention_case(*form), dtype) for form in ((False, 64, 4), (True, 128, 2)) for dtype in HALVES),
    *((linear_case, dtype) for dtype in HALVES),
]


def first(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.fixture(params=[(*case, device) for case in CASES for device in DEVICES], ids=str)
def case(request):
    make, dtype, device = request.param
    torch.manual_seed(7)
    operator, reference, tensors, rest = make(device, dtype)
    try:
        operator(*tensors, *rest)
    except TypeError as error:
        if "feature `gemm`" in str(error):
            pytest.skip(str(error))
        raise
    return operator, reference, [tensor.requires_grad_() for tensor in tensors], rest


def assert_close(found, expected):
    tolerance = TOLERANCE[expected.dtype]
    scale = expected.abs().max().item() + 1
    torch.testing.assert_close(found, expected, atol=tolerance * scale, rtol=0)


def test_results_and_gradients(case):
    operator, reference, tensors, rest = case
    found, expected = first(operator(*tensors, *rest)), reference(*tensors, *rest)
    assert_close(found, expected)
    grad = torch.randn_like(expected)
    for found, expected in zip(
        torch.autograd.grad(found, tensors, grad), torch.autograd.grad(expected, tensors, grad), strict=True
    ):
        assert_close(found, expected)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled(case, backend):
    operator, reference, tensors, rest = case
    torch._dynamo.reset()
    compiled = torch.compile(lambda *x: first(operator(*x)) * 2, backend=backend, fullgraph=True)
    found = compiled(*tensors, *rest)
    assert_close(found, reference(*tensors, *rest) * 2)
    found.sum().backward()
    assert all(tensor.grad is not None for tensor in tensors)


def test_operator_is_registered_as_pytorch_wants_it(case):
    operator, _, tensors, rest = case
    registered = getattr(torch.ops.cuda_tiles, operator.__name__)
    torch.library.opcheck(registered, (*tensors, *rest), test_utils=CHECKS)
    inferred = getattr(torch.ops.cuda_tiles, f"{operator.__name__}_inferred")
    torch.library.opcheck(inferred, (*(tensor.detach() for tensor in tensors), *rest), test_utils=CHECKS)


def test_without_gradients(case):
    operator, reference, tensors, rest = case
    expected = first(operator(*tensors, *rest)).detach()
    with torch.no_grad():
        assert torch.equal(first(operator(*tensors, *rest)), expected)
    detached = [tensor.detach() for tensor in tensors]
    found = first(operator(*detached, *rest))
    assert torch.equal(found, expected) and not found.requires_grad
    with torch.inference_mode():
        assert torch.equal(first(operator(*detached, *rest)), expected)
    torch._dynamo.reset()
    compiled = torch.compile(lambda *x: first(operator(*x)), backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(*detached, *rest), expected)


def test_gradients_have_no_gradients():
    x = torch.randn(3, 100, requires_grad=True)
    (gradient,) = torch.autograd.grad(ops.softmax(x).square().sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="has no gradient"):
        gradient.sum().backward()


def test_tensors_that_are_not_contiguous():
    for x in torch.randn(100, 6).T, torch.randn(6, 200)[:, ::2], torch.randn(1, 100).expand(6, 100):
        assert_close(ops.softmax(x), F.softmax(x, -1))
        assert_close(ops.rms_norm(x, torch.ones(100)), F.rms_norm(x, (100,), eps=1e-6))
    x = torch.randn(6, 100, requires_grad=True)
    ops.softmax(x).sum().backward()  # The gradient is an expanded tensor.
    assert x.grad.abs().max() < 1e-6


def test_mean_of_cross_entropy():
    logits, labels = torch.randn(2, 8, 50, requires_grad=True), torch.randint(50, (2, 8))
    labels[0, :3] = 7
    found = ops.cross_entropy(logits, labels, ignore_index=7)
    expected = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=7)
    assert_close(found, expected)
    assert_close(*(torch.autograd.grad(loss, logits)[0] for loss in (found, expected)))
    labels[1, 1] = 50
    assert ops.cross_entropy(logits, labels).isnan()


def test_no_rows():
    x, weight = torch.empty(0, 100, requires_grad=True), torch.ones(100, requires_grad=True)
    ops.rms_norm(x, weight).sum().backward()
    assert x.grad.shape == (0, 100) and weight.grad.eq(0).all()


def test_gradients_repeat():
    for device in DEVICES:
        x, dy = (torch.randn(3000, 1024, device=device, dtype=torch.bfloat16) for _ in range(2))
        weight, deviation = torch.ones_like(x[0]), torch.rand(3000, device=device)
        first, second = (ops.rms_norm_backward(x, weight, deviation, dy) for _ in range(2))
        assert all(torch.equal(*pair) for pair in zip(first, second, strict=True))


def test_attention_with_and_without_gradients():
    for device in DEVICES:
        q, k, v = (torch.randn(1, 2, 300, 64, device=device, dtype=torch.float16) for _ in range(3))
        expected = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.1)
        assert_close(ops.attention(q, k, v, 0.1, True), expected)
        found = ops.attention(q.requires_grad_(), k, v, 0.1, True)
        assert_close(found.detach(), expected)
        # The gradient is an expanded tensor.
        assert torch.autograd.grad(found.sum(), q)[0].isfinite().all()


def test_exceptions_have_our_text():
    with pytest.raises(ValueError, match=r"rms_norm: `weight` has shape \[99\]"):
        ops.rms_norm(torch.zeros(2, 100), torch.zeros(99))
    with pytest.raises(TypeError, match="the tensor's elements are float32, and the parameter's are bfloat16"):
        ops.rms_norm(torch.zeros(2, 100, dtype=torch.bfloat16), torch.zeros(100))
    with pytest.raises(TypeError, match="the tensor's elements are int32, and the parameter's are int64"):
        ops.cross_entropy(torch.zeros(2, 100), torch.zeros(2, dtype=torch.int32))
    with pytest.raises(ValueError, match="heads of 64 and 128 columns, and these have 32"):
        ops.attention(*(torch.zeros(1, 4, 32, dtype=torch.float16) for _ in range(3)), 1.0, False)


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@needs_gpu
def test_current_stream():
    x, weight, labels = torch.ones(64, 8192, device="cuda"), torch.ones(8192, device="cuda"), torch.zeros(64, device="cuda", dtype=int)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        x.fill_(2)
        weight.fill_(3)
        found = ops.softmax(x), ops.rms_norm(x, weight), ops.cross_entropy(x, labels)
    stream.synchronize()
    assert_close(found[0], torch.full_like(x, 1 / 8192))
    assert_close(found[1], torch.full_like(x, 3))
    assert_close(found[2], torch.tensor(8192.0, device="cuda").log())


@needs_gpu
def test_cuda_graph():
    x, weight = torch.randn(64, 1000, device="cuda"), torch.randn(1000, device="cuda")
    ops.rms_norm(x, weight)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = ops.softmax(ops.rms_norm(x, weight))
    x.copy_(torch.randn_like(x))
    graph.replay()
    assert_close(y, F.softmax(F.rms_norm(x, (1000,), weight, 1e-6), -1))


@needs_gpu
def test_exceptions_on_a_gpu():
    with pytest.raises(ValueError, match="the tensors of a call are on one device"):
        ops.rms_norm(torch.zeros(2, 100, device="cuda"), torch.zeros(100))
    x = torch.ones(2, 100, device="cuda")
    assert ops.softmax(x).sum().item() == pytest.approx(2)


@needs_gpu
def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.random.standard_normal((50, 3000), dtype=cupy.float32)
    out = cupy.empty_like(x)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream, tvm_ffi.use_raw_stream(tvm_ffi.device("cuda:0"), stream.ptr):
        x *= 2
        kernels.softmax(x, out)
        powers = cupy.exp(x - x.max(1, keepdims=True))
        assert cupy.abs(out - powers / powers.sum(1, keepdims=True)).max() < 1e-6


@needs_gpu
def test_arrays_of_jax():
    jax, jax_tvm_ffi = pytest.importorskip("jax"), pytest.importorskip("jax_tvm_ffi")
    jax_tvm_ffi.register_ffi_target("cuda_tiles.softmax", kernels._function("softmax", "float32"), platform="gpu")

    @jax.jit
    def softmax(x):
        return jax.ffi.ffi_call("cuda_tiles.softmax", jax.ShapeDtypeStruct(x.shape, x.dtype))(x * 2)

    x = jax.random.normal(jax.random.key(7), (50, 3000))
    assert abs(softmax(x) - jax.nn.softmax(x * 2)).max() < 1e-6
