"""What a call costs on the host: ours through TVM-FFI, Triton's, and PyTorch's own, on a GPU.

    pip install . torch triton && python bench_overhead.py [--commit HASH --results FILE]

Each adds vectors of 1024 float32, or takes the softmax of as many, which takes the GPU no time to speak of. The clock runs over launches that nothing waits for, few
enough that the queue never fills. The best of many rounds counts: what else the machine does only adds.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import time

import torch
import triton
import triton.language as tl
import tvm_ffi

import cuda_tiles_kernels as kernels
from cuda_tiles_kernels import torch as operators

COUNT, LAUNCHES, ROUNDS = 1024, 500, 40


@triton.jit
def triton_add(x, y, out, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < count) + tl.load(y + i, mask=i < count), mask=i < count)


@triton.jit
def triton_softmax(x, out, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(x + i, mask=i < count, other=-float("inf"))
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(out + i, powers / tl.sum(powers, 0), mask=i < count)


def softmax_by_triton(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    triton_softmax[(1,)](x, out, COUNT, BLOCK=1024)
    return out


def wrapped_softmax_by_triton(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(triton_softmax)[(1,)](x, out, COUNT, BLOCK=1024)
    return out


def operators_by_triton():
    """Triton's softmax in operators: as the tutorials make them, and as `cuda_tiles_kernels.torch` makes its own. All have a gradient, which is not
    computed here."""

    def backward(ctx, grad):
        raise NotImplementedError

    made = {
        "custom_op": torch.library.custom_op("bench::custom_op", softmax_by_triton, mutates_args=()),
        "triton_op": torch.library.triton_op("bench::triton_op", wrapped_softmax_by_triton, mutates_args=()),
    }
    for operator in made.values():
        operator.register_fake(torch.empty_like)
        operator.register_autograd(backward)
    # Made in a library of the operators' own kind, by their own function.
    made["an operator made as ours"] = operators._operator(torch.empty_like, backward)(softmax_by_triton)
    return made


def microseconds(launch):
    for _ in range(20):
        launch()
    times = []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            launch()
        times.append((time.perf_counter() - start) / LAUNCHES * 1e6)
    torch.cuda.synchronize()
    return min(times), statistics.median(times)


def driver_version():
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("no GPU: there are no launches to measure")
    x, y = (torch.rand(COUNT, device="cuda") for _ in range(2))
    out, empty = torch.empty_like(x), x[:0]
    row, softmax = x.view(1, COUNT), torch.empty(1, COUNT, device="cuda")
    tensors = [tvm_ffi.from_dlpack(tensor) for tensor in (x, y, out)]
    stream = torch.cuda.Stream()

    def on_a_stream(launch):
        def run():
            with torch.cuda.stream(stream):
                launch()

        return run

    add, rows, with_gradient = kernels.vector_add, [], row.clone().requires_grad_()
    launches = {
        "cuda-tiles, tensors of PyTorch": lambda: add(x, y, out),
        "cuda-tiles, tensors of TVM-FFI": lambda: add(*tensors),
        "cuda-tiles, empty tensors: no launch": lambda: add(empty, empty, empty),
        "cuda-tiles, another stream": on_a_stream(lambda: add(x, y, out)),
        "Triton": lambda: triton_add[(1,)](x, y, out, COUNT, BLOCK=1024),
        "Triton, another stream": on_a_stream(lambda: triton_add[(1,)](x, y, out, COUNT, BLOCK=1024)),
        "PyTorch, torch.add": lambda: torch.add(x, y, out=out),
        "another stream, and nothing on it": on_a_stream(lambda: None),
        "cuda-tiles, softmax": lambda: kernels.softmax(row, softmax),
        "cuda-tiles, softmax, an operator": lambda: operators.softmax(row),
        "cuda-tiles, softmax, an operator, for a gradient": lambda: operators.softmax(with_gradient),
        "Triton, softmax": lambda: triton_softmax[(1,)](row, softmax, COUNT, BLOCK=1024),
        "PyTorch, torch.softmax": lambda: torch.softmax(row, -1),
        "PyTorch, torch.softmax, for a gradient": lambda: torch.softmax(with_gradient, -1),
    }
    for kind, operator in operators_by_triton().items():
        torch.testing.assert_close(operator(row), torch.softmax(row, -1))
        launches[f"Triton, softmax, {kind}"] = lambda operator=operator: operator(row)
    torch.testing.assert_close(operators.softmax(row), torch.softmax(row, -1))
    for name, launch in launches.items():
        best, median = microseconds(launch)
        print(f"{name:50} best {best:6.2f} us, median {median:6.2f} us")
        rows.append({"call": name, "best": round(best, 2), "median": round(median, 2)})
    assert torch.equal(out, x + y)
    best = {row["call"]: row["best"] for row in rows}
    ours, by_triton = best["cuda-tiles, softmax, an operator"], best["Triton, softmax"]
    ratios = {
        "ratio": rows[0]["best"] / best["Triton"],
        "operator_to_launch": ours / by_triton,
        "operator_to_custom_op": ours / best["Triton, softmax, custom_op"],
        "operator_to_triton_op": ours / best["Triton, softmax, triton_op"],
    }
    print("of the time of a launch by Triton, and an operator of the time of Triton's:", ratios)
    if options.results:
        head = {
            "unit": "us", **{name: round(ratio, 3) for name, ratio in ratios.items()}, "commit": options.commit, "driver": driver_version(),
            "gpu": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat(),
        }
        options.results.write_text(json.dumps({"head": head, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
