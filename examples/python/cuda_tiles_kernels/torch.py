"""PyTorch's operators `torch.ops.cuda_tiles.*`, for eager mode, autograd and torch.compile.

Forward passes are kernels of cuda-tiles, and so are the backward passes, except for that of `linear`. Gradients have no gradients.
"""

import functools

import torch
from torch import Tensor

import cuda_tiles_kernels as kernels

_library = torch.library.Library("cuda_tiles", "DEF")


def _define(name, function, fake):
    """An operator that autograd does not know. `torch.library.custom_op` would add 7 us of Python to each call: PyTorch's dispatcher calls the
    function itself here."""
    _library.define(name + torch.library.infer_schema(function, mutates_args=()))
    for key in "CPU", "CUDA":
        _library.impl(name, function, key)
    torch.library.register_fake(f"cuda_tiles::{name}", fake, lib=_library)
    return getattr(torch.ops.cuda_tiles, name).default


def _no_gradient(ctx, *_):
    raise NotImplementedError("this gradient of cuda_tiles has no gradient")


def _operator(fake, backward=_no_gradient, context=None):
    """Makes of a function the operator of its name, with a gradient, and `NAME_inferred` without one. The result calls the latter where no tensor
    requires a gradient: autograd's part of an operator takes 4 us, also then."""

    def register(function):
        name = function.__name__
        differentiable = _define(name, function, fake)
        torch.library.register_autograd(f"cuda_tiles::{name}", backward, setup_context=context, lib=_library)
        inferred = _define(f"{name}_inferred", function, fake)

        @functools.wraps(function)
        def call(*args, **kwargs):
            if kwargs or _requires_gradient(*args):
                return differentiable(*args, **kwargs)
            return inferred(*args)

        return call

    return register


def _requires_gradient(*args):
    if torch.is_grad_enabled():
        for arg in args:
            if isinstance(arg, Tensor) and arg.requires_grad:
                return True
    return False


def _data(x: Tensor) -> Tensor:
    """The tensor without the history of gradients: DLPack refuses tensors that require them."""
    return x.detach() if x.requires_grad else x


def _rows(x: Tensor) -> Tensor:
    """The rows along the last axis, as a contiguous matrix."""
    x = _data(x).contiguous()
    if x.dim() == 2:
        return x
    columns = x.shape[-1]
    return x.view(x.numel() // max(columns, 1), columns)


def _vector(x: Tensor) -> Tensor:
    """All elements, one after the other."""
    x = _data(x).contiguous()
    return x if x.dim() == 1 else x.view(-1)


def _like(x: Tensor) -> Tensor:
    """Room for a result of the same shape."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _per_row(x: Tensor) -> Tensor:
    """Room for a number for each row."""
    return x.new_empty(x.shape[:-1], dtype=torch.float32)


def _fake_like(x, *_):
    return _like(x)


@_operator(_fake_like)
def softmax_backward(y: Tensor, dy: Tensor) -> Tensor:
    """The gradient of the operand of `softmax`, from its result and the gradient of that."""
    dx = _like(y)
    kernels.softmax_backward(_rows(y), _rows(dy), _rows(dx))
    return dx


def _softmax_context(ctx, inputs, output):
    ctx.save_for_backward(output)


def _softmax_backward(ctx, grad):
    return softmax_backward(*ctx.saved_tensors, grad)


@_operator(_fake_like, _softmax_backward, _softmax_context)
def softmax(x: Tensor) -> Tensor:
    """Softmax along the last axis: float32, float16, bfloat16."""
    out = _like(x)
    kernels.softmax(_rows(x), _rows(out))
    return out


@_operator(lambda x, weight, deviation, dy: (_like(x), _like(weight)))
def rms_norm_backward(x: Tensor, weight: Tensor, deviation: Tensor, dy: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of the operands of `rms_norm_saved`."""
    dx, dweight = _like(x), _like(weight)
    kernels.rms_norm_backward(_rows(x), _data(weight), _vector(deviation), _rows(dy), _rows(dx), dweight)
    return dx, dweight


def _rms_norm_context(ctx, inputs, output):
    x, weight, _ = inputs
    _, deviation = output
    ctx.mark_non_differentiable(deviation)
    ctx.save_for_backward(x, weight, deviation)


def _rms_norm_backward(ctx, grad, _grad_deviation):
    return *rms_norm_backward(*ctx.saved_tensors, grad), None


@_operator(lambda x, weight, epsilon: (_like(x), _per_row(x)), _rms_norm_backward, _rms_norm_context)
def rms_norm_saved(x: Tensor, weight: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """RMS normalisation along the last axis, with the reciprocal deviation of each row, which its gradient needs."""
    out, deviation = _like(x), _per_row(x)
    kernels.rms_norm(_rows(x), _data(weight), epsilon, _rows(out), _vector(deviation))
    return out, deviation


def rms_norm(x: Tensor, weight: Tensor, epsilon: float = 1e-6) -> Tensor:
    """RMS normalisation along the last axis, in the arithmetic of float32. The weight has the type of `x`."""
    return rms_norm_saved(x, weight, epsilon)[0]


@_operator(lambda x, weight, *_: (_like(x), _like(weight), _like(weight)))
def layer_norm_backward(
    x: Tensor, weight: Tensor, mean: Tensor, deviation: Tensor, dy: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the operands of `layer_norm_saved`."""
    dx, dweight, dbias = _like(x), _like(weight), _like(weight)
    saved = _vector(mean), _vector(deviation)
    kernels.layer_norm_backward(_rows(x), _data(weight), *saved, _rows(dy), _rows(dx), dweight, dbias)
    return dx, dweight, dbias


def _layer_norm_context(ctx, inputs, output):
    x, weight, _, _ = inputs
    _, mean, deviation = output
    ctx.mark_non_differentiable(mean, deviation)
    ctx.save_for_backward(x, weight, mean, deviation)


def _layer_norm_backward(ctx, grad, _grad_mean, _grad_deviation):
    return *layer_norm_backward(*ctx.saved_tensors, grad), None


@_operator(lambda x, *_: (_like(x), _per_row(x), _per_row(x)), _layer_norm_backward, _layer_norm_context)
def layer_norm_saved(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Layer normalisation along the last axis, with the mean and the reciprocal deviation of each row, which its gradient needs."""
    out, mean, deviation = _like(x), _per_row(x), _per_row(x)
    kernels.layer_norm(_rows(x), _data(weight), _data(bias), epsilon, _rows(out), _vector(mean), _vector(deviation))
    return out, mean, deviation


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Layer normalisation along the last axis, in the arithmetic of float32. Weight and bias have the type of `x`."""
    return layer_norm_saved(x, weight, bias, epsilon)[0]


@_operator(_fake_like)
def cross_entropy_backward(
    logits: Tensor, labels: Tensor, logarithms: Tensor, dlosses: Tensor, ignore_index: int
) -> Tensor:
    """The gradient of the logits of `cross_entropy_saved`."""
    dlogits = _like(logits)
    of_rows = map(_vector, (labels, logarithms, dlosses))
    kernels.cross_entropy_backward(_rows(logits), *of_rows, _rows(dlogits), ignore_index)
    return dlogits


def _cross_entropy_context(ctx, inputs, output):
    logits, labels, ctx.ignore_index = inputs
    _, logarithms = output
    ctx.mark_non_differentiable(logarithms)
    ctx.save_for_backward(logits, labels, logarithms)


def _cross_entropy_backward(ctx, grad, _grad_logarithms):
    return cross_entropy_backward(*ctx.saved_tensors, grad, ctx.ignore_index), None, None


@_operator(lambda logits, *_: (_per_row(logits), _per_row(logits)), _cross_entropy_backward, _cross_entropy_context)
def cross_entropy_saved(logits: Tensor, labels: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """The cross-entropy along the last axis with a label for each row, and the logarithm of each sum of exponentials, which the gradient needs."""
    losses, logarithms = _per_row(logits), _per_row(logits)
    kernels.cross_entropy(_rows(logits), *map(_vector, (labels, losses, logarithms)), ignore_index)
    return losses, logarithms


def cross_entropy(logits: Tensor, labels: Tensor, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """Cross-entropy along the last axis with labels of int64, in the arithmetic of float32, of which the loss is too. `reduction` is "mean" over
    the labels that are not ignored, "sum" or "none". A label that is no column, and not `ignore_index`, makes the loss NaN."""
    losses = cross_entropy_saved(logits, labels, ignore_index)[0]
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
    x = _data(x).contiguous()
    return x if x.dim() == 3 else x.view(-1, *x.shape[-2:])


def _attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    out = _like(q)
    kernels.attention(*map(_matrices, (q, k, v, out)), scale, causal)
    return out


# Without gradients, and without what they need.
attention_inferred = _define("attention_inferred", _attention, _fake_like)


@_operator(lambda q, k, v, *_: (_like(q), _like(k), _like(v)))
def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, logarithms: Tensor, dout: Tensor, scale: float, causal: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the operands of `attention_saved`."""
    grads = _like(q), _like(k), _like(v)
    saved = *map(_matrices, (q, k, v, out)), _data(logarithms).view(-1, q.shape[-2]), _matrices(dout)
    kernels.attention_backward(*saved, *map(_matrices, grads), scale, causal)
    return grads


def _attention_context(ctx, inputs, output):
    q, k, v, ctx.scale, ctx.causal = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(q, k, v, *output)


def _attention_backward(ctx, grad, _grad_logarithms):
    return *attention_backward(*ctx.saved_tensors, grad, ctx.scale, ctx.causal), None, None


@_operator(lambda q, *_: (_like(q), _per_row(q)), _attention_backward, _attention_context)
def attention_saved(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> tuple[Tensor, Tensor]:
    """`attention` with the logarithm of each query's sum of exponentials, which the gradients need."""
    out, logarithms = _like(q), _per_row(q)
    kernels.attention(*map(_matrices, (q, k, v, out)), scale, causal, logarithms.view(-1, q.shape[-2]))
    return out, logarithms


def attention(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool = False) -> Tensor:
    """`softmax(q k' scale) v` of float16 or bfloat16, over axes (..., heads, rows, columns): of 64 or 128 columns. With `causal` the last query
    sees all keys, and each query before it one key less. There may be fewer heads of `k` and `v`, each for as many neighbours of `q`."""
    if _requires_gradient(q, k, v):
        return attention_saved(q, k, v, scale, causal)[0]
    return attention_inferred(q, k, v, scale, causal)


def _linear_context(ctx, inputs, output):
    x, weight, bias = inputs
    ctx.save_for_backward(x, weight)
    ctx.has_bias = bias is not None


def _linear_backward(ctx, grad):
    x, weight = ctx.saved_tensors
    rows = grad.reshape(-1, grad.shape[-1])
    return grad @ weight, rows.mT @ x.reshape(-1, x.shape[-1]), rows.sum(0) if ctx.has_bias else None


@_operator(lambda x, weight, bias: x.new_empty(x.shape[:-1] + weight.shape[:1]), _linear_backward, _linear_context)
def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`x weight' + bias` along the last axis, of float16 or bfloat16, in builds with the feature `gemm`."""
    out = x.new_empty(x.shape[:-1] + weight.shape[:1])
    kernels.linear(_rows(x), _data(weight), None if bias is None else _data(bias), _rows(out))
    return out
