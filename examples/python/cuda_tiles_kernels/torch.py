"""PyTorch's operators `torch.ops.cuda_tiles.*`, for eager mode, autograd and torch.compile.

Forward passes are kernels of cuda-tiles, and so are the backward passes, except for that of `linear`. Gradients have no gradients.
"""

import torch
from torch import Tensor

import cuda_tiles_kernels as kernels


def _rows(x: Tensor) -> Tensor:
    """The rows along the last axis, as a contiguous matrix, without the history of gradients: DLPack refuses tensors that require them."""
    columns = x.shape[-1]
    return x.detach().contiguous().view(x.numel() // max(columns, 1), columns)


def _like(x: Tensor) -> Tensor:
    """Room for a result of the same shape."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _per_row(x: Tensor) -> Tensor:
    """Room for a number for each row."""
    return x.new_empty(x.shape[:-1], dtype=torch.float32)


def _fake_like(x, *_):
    return _like(x)


@torch.library.custom_op("cuda_tiles::softmax", mutates_args=())
def softmax(x: Tensor) -> Tensor:
    """Softmax along the last axis: float32, float16, bfloat16."""
    out = _like(x)
    kernels.softmax(_rows(x), _rows(out))
    return out


@torch.library.custom_op("cuda_tiles::softmax_backward", mutates_args=())
def softmax_backward(y: Tensor, dy: Tensor) -> Tensor:
    """The gradient of the operand of `softmax`, from its result and the gradient of that."""
    dx = _like(y)
    kernels.softmax_backward(_rows(y), _rows(dy), _rows(dx))
    return dx


softmax.register_fake(_fake_like)
softmax_backward.register_fake(_fake_like)


def _softmax_context(ctx, inputs, output):
    ctx.save_for_backward(output)


def _softmax_backward(ctx, grad):
    return softmax_backward(*ctx.saved_tensors, grad)


softmax.register_autograd(_softmax_backward, setup_context=_softmax_context)


@torch.library.custom_op("cuda_tiles::rms_norm_saved", mutates_args=())
def rms_norm_saved(x: Tensor, weight: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """RMS normalisation along the last axis, with the reciprocal deviation of each row, which its gradient needs."""
    out, deviation = _like(x), _per_row(x)
    kernels.rms_norm(_rows(x), weight.detach(), epsilon, _rows(out), deviation.view(-1))
    return out, deviation


@torch.library.custom_op("cuda_tiles::rms_norm_backward", mutates_args=())
def rms_norm_backward(x: Tensor, weight: Tensor, deviation: Tensor, dy: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of the operands of `rms_norm_saved`."""
    dx, dweight = _like(x), _like(weight)
    kernels.rms_norm_backward(_rows(x), weight.detach(), deviation.detach().view(-1), _rows(dy), _rows(dx), dweight)
    return dx, dweight


@rms_norm_saved.register_fake
def _(x, weight, epsilon):
    return _like(x), _per_row(x)


@rms_norm_backward.register_fake
def _(x, weight, deviation, dy):
    return _like(x), _like(weight)


def _rms_norm_context(ctx, inputs, output):
    x, weight, _ = inputs
    _, deviation = output
    ctx.mark_non_differentiable(deviation)
    ctx.save_for_backward(x, weight, deviation)


def _rms_norm_backward(ctx, grad, _grad_deviation):
    return *rms_norm_backward(*ctx.saved_tensors, grad), None


rms_norm_saved.register_autograd(_rms_norm_backward, setup_context=_rms_norm_context)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float = 1e-6) -> Tensor:
    """RMS normalisation along the last axis, in the arithmetic of float32. The weight has the type of `x`."""
    return torch.ops.cuda_tiles.rms_norm_saved(x, weight, epsilon)[0]


@torch.library.custom_op("cuda_tiles::layer_norm_saved", mutates_args=())
def layer_norm_saved(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Layer normalisation along the last axis, with the mean and the reciprocal deviation of each row, which its gradient needs."""
    out, mean, deviation = _like(x), _per_row(x), _per_row(x)
    kernels.layer_norm(_rows(x), weight.detach(), bias.detach(), epsilon, _rows(out), mean.view(-1), deviation.view(-1))
    return out, mean, deviation


@torch.library.custom_op("cuda_tiles::layer_norm_backward", mutates_args=())
def layer_norm_backward(
    x: Tensor, weight: Tensor, mean: Tensor, deviation: Tensor, dy: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the operands of `layer_norm_saved`."""
    dx, dweight, dbias = _like(x), _like(weight), _like(weight)
    saved = (tensor.detach().view(-1) for tensor in (mean, deviation))
    kernels.layer_norm_backward(_rows(x), weight.detach(), *saved, _rows(dy), _rows(dx), dweight, dbias)
    return dx, dweight, dbias


@layer_norm_saved.register_fake
def _(x, weight, bias, epsilon):
    return _like(x), _per_row(x), _per_row(x)


@layer_norm_backward.register_fake
def _(x, weight, mean, deviation, dy):
    return _like(x), _like(weight), _like(weight)


def _layer_norm_context(ctx, inputs, output):
    x, weight, _, _ = inputs
    _, mean, deviation = output
    ctx.mark_non_differentiable(mean, deviation)
    ctx.save_for_backward(x, weight, mean, deviation)


def _layer_norm_backward(ctx, grad, _grad_mean, _grad_deviation):
    return *layer_norm_backward(*ctx.saved_tensors, grad), None


layer_norm_saved.register_autograd(_layer_norm_backward, setup_context=_layer_norm_context)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Layer normalisation along the last axis, in the arithmetic of float32. Weight and bias have the type of `x`."""
    return torch.ops.cuda_tiles.layer_norm_saved(x, weight, bias, epsilon)[0]


@torch.library.custom_op("cuda_tiles::cross_entropy_saved", mutates_args=())
def cross_entropy_saved(logits: Tensor, labels: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """The cross-entropy along the last axis with a label for each row, and the logarithm of each sum of exponentials, which the gradient needs."""
    losses, logarithms = _per_row(logits), _per_row(logits)
    labels = labels.contiguous().view(-1)
    kernels.cross_entropy(_rows(logits), labels, losses.view(-1), logarithms.view(-1), ignore_index)
    return losses, logarithms


@torch.library.custom_op("cuda_tiles::cross_entropy_backward", mutates_args=())
def cross_entropy_backward(
    logits: Tensor, labels: Tensor, logarithms: Tensor, dlosses: Tensor, ignore_index: int
) -> Tensor:
    """The gradient of the logits of `cross_entropy_saved`."""
    dlogits = _like(logits)
    labels, logarithms, dlosses = (tensor.detach().contiguous().view(-1) for tensor in (labels, logarithms, dlosses))
    kernels.cross_entropy_backward(_rows(logits), labels, logarithms, dlosses, _rows(dlogits), ignore_index)
    return dlogits


@cross_entropy_saved.register_fake
def _(logits, labels, ignore_index):
    return _per_row(logits), _per_row(logits)


cross_entropy_backward.register_fake(_fake_like)


def _cross_entropy_context(ctx, inputs, output):
    logits, labels, ctx.ignore_index = inputs
    _, logarithms = output
    ctx.mark_non_differentiable(logarithms)
    ctx.save_for_backward(logits, labels, logarithms)


def _cross_entropy_backward(ctx, grad, _grad_logarithms):
    return cross_entropy_backward(*ctx.saved_tensors, grad, ctx.ignore_index), None, None


cross_entropy_saved.register_autograd(_cross_entropy_backward, setup_context=_cross_entropy_context)


def cross_entropy(logits: Tensor, labels: Tensor, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Cross-entropy along the last axis with labels of int64, in the arithmetic of float32, of which the loss is too. `reduction` is "mean" over
    the labels that are not ignored, "sum" or "none". A label that is no column, and not `ignore_index`, makes the loss NaN."""
    losses = torch.ops.cuda_tiles.cross_entropy_saved(logits, labels, ignore_index)[0]
    match reduction:
        case "none":
            return losses
        case "sum":
            return losses.sum()
        case "mean":
            return losses.sum() / (labels != ignore_index).sum()
    raise ValueError(f"the reduction is 'mean', 'sum' or 'none', and not {reduction!r}")


def _matrices(x: Tensor) -> Tensor:
    """The matrices along the last two axes, as one contiguous batch."""
    return x.detach().contiguous().view(-1, *x.shape[-2:])


@torch.library.custom_op("cuda_tiles::attention_inferred", mutates_args=())
def attention_inferred(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    """`attention` without gradients."""
    out = _like(q)
    kernels.attention(*map(_matrices, (q, k, v, out)), scale, causal)
    return out


attention_inferred.register_fake(_fake_like)


@torch.library.custom_op("cuda_tiles::attention_saved", mutates_args=())
def attention_saved(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> tuple[Tensor, Tensor]:
    """`attention` with the logarithm of each query's sum of exponentials, which the gradients need."""
    out, logarithms = _like(q), _per_row(q)
    kernels.attention(*map(_matrices, (q, k, v, out)), scale, causal, logarithms.view(-1, q.shape[-2]))
    return out, logarithms


@torch.library.custom_op("cuda_tiles::attention_backward", mutates_args=())
def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, logarithms: Tensor, dout: Tensor, scale: float, causal: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the operands of `attention_saved`."""
    grads = _like(q), _like(k), _like(v)
    saved = *map(_matrices, (q, k, v, out)), logarithms.detach().view(-1, q.shape[-2]), _matrices(dout)
    kernels.attention_backward(*saved, *map(_matrices, grads), scale, causal)
    return grads


@attention_saved.register_fake
def _(q, k, v, scale, causal):
    return _like(q), _per_row(q)


@attention_backward.register_fake
def _(q, k, v, *_):
    return _like(q), _like(k), _like(v)


def _attention_context(ctx, inputs, output):
    q, k, v, ctx.scale, ctx.causal = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(q, k, v, *output)


def _attention_backward(ctx, grad, _grad_logarithms):
    return *attention_backward(*ctx.saved_tensors, grad, ctx.scale, ctx.causal), None, None


attention_saved.register_autograd(_attention_backward, setup_context=_attention_context)


def attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool = False) -> Tensor:
    """`softmax(q k' scale) v` of float16 or bfloat16, over axes (..., heads, rows, columns): of 64 or 128 columns. With `causal` the last query
    sees all keys, and each query before it one key less. There may be fewer heads of `k` and `v`, each for as many neighbours of `q`."""
    if torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v)):
        return torch.ops.cuda_tiles.attention_saved(q, k, v, scale, causal)[0]
    return torch.ops.cuda_tiles.attention_inferred(q, k, v, scale, causal)


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
