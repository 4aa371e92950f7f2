"""PyTorch's operators `torch.ops.cuda_tiles.*`, for eager mode, autograd and torch.compile.

Forward passes are kernels of cuda-tiles. The collection has no kernels for gradients: backward passes are PyTorch's own operations, on
what the kernels have saved. That of `attention` makes the matrix of all scores, as PyTorch's own does without a fused kernel.
"""

import torch
from torch import Tensor

import cuda_tiles_kernels as kernels


def _rows(x: Tensor) -> Tensor:
    """The rows along the last axis, as a contiguous matrix, without the history of gradients: DLPack refuses tensors that require them."""
    return x.detach().contiguous().reshape(-1, x.shape[-1])


@torch.library.custom_op("cuda_tiles::softmax", mutates_args=())
def softmax(x: Tensor) -> Tensor:
    """Softmax along the last axis, of up to 8192 elements: float32, float16, bfloat16."""
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    kernels.softmax(_rows(x), _rows(out))
    return out


@softmax.register_fake
def _(x):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _softmax_context(ctx, inputs, output):
    ctx.save_for_backward(output)


def _softmax_backward(ctx, grad):
    (y,) = ctx.saved_tensors
    return y * (grad - (grad * y).sum(-1, keepdim=True))


softmax.register_autograd(_softmax_backward, setup_context=_softmax_context)


@torch.library.custom_op("cuda_tiles::layer_norm_saved", mutates_args=())
def layer_norm_saved(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Layer normalisation along the last axis, with the mean and the reciprocal deviation of each row, which its gradient needs."""
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    mean, reciprocal_deviation = (x.new_empty(x.shape[:-1] + (1,), dtype=torch.float32) for _ in range(2))
    kernels.layer_norm(
        _rows(x), weight.detach(), bias.detach(), epsilon, _rows(out), mean.reshape(-1), reciprocal_deviation.reshape(-1)
    )
    return out, mean, reciprocal_deviation


@layer_norm_saved.register_fake
def _(x, weight, bias, epsilon):
    row = x.new_empty(x.shape[:-1] + (1,), dtype=torch.float32)
    return torch.empty_like(x, memory_format=torch.contiguous_format), row, torch.empty_like(row)


def _layer_norm_context(ctx, inputs, output):
    x, weight, _, _ = inputs
    _, mean, reciprocal_deviation = output
    ctx.mark_non_differentiable(mean, reciprocal_deviation)
    ctx.save_for_backward(x, weight, mean, reciprocal_deviation)


def _layer_norm_backward(ctx, grad, _grad_mean, _grad_deviation):
    x, weight, mean, reciprocal_deviation = ctx.saved_tensors
    grad, distance = grad.float(), (x.float() - mean) * reciprocal_deviation
    inner = grad * weight.float()
    along = inner.mean(-1, keepdim=True) + distance * (inner * distance).mean(-1, keepdim=True)
    rows = tuple(range(x.dim() - 1))
    grads = (inner - along) * reciprocal_deviation, (grad * distance).sum(rows), grad.sum(rows)
    return *(grad.to(x.dtype) for grad in grads), None


layer_norm_saved.register_autograd(_layer_norm_backward, setup_context=_layer_norm_context)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Layer normalisation along the last axis, of 1024 or, but for float32, 8192 elements."""
    return torch.ops.cuda_tiles.layer_norm_saved(x, weight, bias, epsilon)[0]


def _visible(queries: int, keys: int, device) -> Tensor:
    """Which query sees which key under a causal mask: the last one all of them."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


@torch.library.custom_op("cuda_tiles::attention", mutates_args=())
def attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    """`softmax(q k' scale) v` of float16 or bfloat16, over axes (..., rows, columns): of 64 or 128 columns."""
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    batches = (x.detach().contiguous().reshape(-1, *x.shape[-2:]) for x in (q, k, v, out))
    kernels.attention(*batches, scale, causal)
    return out


@attention.register_fake
def _(q, k, v, scale, causal):
    return torch.empty_like(q, memory_format=torch.contiguous_format)


def _attention_context(ctx, inputs, output):
    q, k, v, ctx.scale, ctx.causal = inputs
    ctx.save_for_backward(q, k, v, output)


def _attention_backward(ctx, grad):
    q, k, v, out, grad = (x.float() for x in (*ctx.saved_tensors, grad))
    scores = q @ k.mT * ctx.scale
    if ctx.causal:
        scores = scores.masked_fill(~_visible(q.shape[-2], k.shape[-2], q.device), float("-inf"))
    weights = scores.softmax(-1)
    grad_scores = weights * (grad @ v.mT - (grad * out).sum(-1, keepdim=True)) * ctx.scale
    grads = grad_scores @ k, grad_scores.mT @ q, weights.mT @ grad
    return *(grad.to(x.dtype) for grad, x in zip(grads, ctx.saved_tensors)), None, None


attention.register_autograd(_attention_backward, setup_context=_attention_context)


@torch.library.custom_op("cuda_tiles::linear", mutates_args=())
def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`x weight' + bias` along the last axis, of float16 or bfloat16, in builds with the feature `gemm`."""
    out = x.new_empty(x.shape[:-1] + weight.shape[:1])
    kernels.linear(_rows(x), weight.detach(), None if bias is None else bias.detach(), _rows(out))
    return out


@linear.register_fake
def _(x, weight, bias):
    return x.new_empty(x.shape[:-1] + weight.shape[:1])


def _linear_context(ctx, inputs, output):
    x, weight, bias = inputs
    ctx.save_for_backward(x, weight)
    ctx.has_bias = bias is not None


def _linear_backward(ctx, grad):
    x, weight = ctx.saved_tensors
    rows = grad.reshape(-1, grad.shape[-1])
    return grad @ weight, rows.mT @ x.reshape(-1, x.shape[-1]), rows.sum(0) if ctx.has_bias else None


linear.register_autograd(_linear_backward, setup_context=_linear_context)
