"""PyTorch's operators against PyTorch's own, with gradients and torch.compile: `pytest test_torch.py`. CUDA too, where there is a GPU."""

import pytest
import torch
import torch.nn.functional as F

from cuda_tiles_kernels import torch as ops

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def softmax_case(device, dtype):
    return ops.softmax, lambda x: F.softmax(x, -1), [torch.randn(3, 4, 100, device=device, dtype=dtype)], []


def layer_norm_case(device, dtype):
    inputs = [torch.randn(3, 4, 1024, device=device, dtype=dtype)]
    inputs += [torch.randn(1024, device=device, dtype=dtype) for _ in range(2)]
    return ops.layer_norm_saved, lambda x, w, b, epsilon: F.layer_norm(x, (1024,), w, b, epsilon), inputs, [1e-5]


def attention_case(causal):
    def case(device, dtype):
        q, k, v = (torch.randn(2, 3, rows, 64, device=device, dtype=dtype) for rows in (5, 7, 7))

        def reference(q, k, v, scale, causal):
            mask = torch.ones(5, 7, dtype=torch.bool, device=device).tril(2) if causal else None
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)

        return ops.attention, reference, [q, k, v], [0.2, causal]

    return case


def linear_case(device, dtype):
    inputs = [torch.randn(shape, device=device, dtype=dtype) for shape in ((3, 4, 40), (24, 40), (24,))]
    return ops.linear, F.linear, inputs, []


HALVES = (torch.float16, torch.bfloat16)
CASES = [
    *((softmax_case, dtype) for dtype in (torch.float32, *HALVES)),
    *((layer_norm_case, dtype) for dtype in (torch.float32, *HALVES)),
    *((attention_case(causal), dtype) for causal in (False, True) for dtype in HALVES),
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
    torch.library.opcheck(operator, (*tensors, *rest), test_utils=CHECKS)


def test_transposed_tensors():
    x = torch.randn(100, 6).T
    assert_close(ops.softmax(x), F.softmax(x, -1))


def test_exceptions_have_our_text():
    with pytest.raises(ValueError, match="rows of up to 8192 elements, and these have 9000"):
        ops.softmax(torch.zeros(2, 9000))
    with pytest.raises(ValueError, match="heads of 64 and 128 columns, and these have 32"):
        ops.attention(*(torch.zeros(1, 4, 32, dtype=torch.float16) for _ in range(3)), 1.0, False)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_current_stream():
    x = torch.ones(64, 8192, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        x.zero_()
        found = ops.softmax(x)
    stream.synchronize()
    assert torch.equal(found, torch.full_like(x, 1 / 8192))
