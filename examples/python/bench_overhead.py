"""What a launch costs on the host: ours through TVM-FFI, Triton's, and PyTorch's own, on a GPU.

    pip install . torch triton && python bench_overhead.py

Each adds vectors of 1024 float32, which takes the GPU no time to speak of. The clock runs over launches that nothing waits for, few
enough that the queue never fills. The best of many rounds counts: what else the machine does only adds.
"""

import statistics
import time

import torch
import triton
import triton.language as tl
import tvm_ffi

import cuda_tiles_kernels as kernels

COUNT, LAUNCHES, ROUNDS = 1024, 500, 40


@triton.jit
def triton_add(x, y, out, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < count) + tl.load(y + i, mask=i < count), mask=i < count)


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


def main():
    if not torch.cuda.is_available():
        raise SystemExit("no GPU: there are no launches to measure")
    x, y = (torch.rand(COUNT, device="cuda") for _ in range(2))
    out, empty = torch.empty_like(x), x[:0]
    tensors = [tvm_ffi.from_dlpack(tensor) for tensor in (x, y, out)]
    stream = torch.cuda.Stream()

    def on_a_stream(launch):
        def run():
            with torch.cuda.stream(stream):
                launch()

        return run

    add = kernels.vector_add
    for name, launch in {
        "cuda-tiles, tensors of PyTorch": lambda: add(x, y, out),
        "cuda-tiles, tensors of TVM-FFI": lambda: add(*tensors),
        "cuda-tiles, empty tensors: no launch": lambda: add(empty, empty, empty),
        "cuda-tiles, another stream": on_a_stream(lambda: add(x, y, out)),
        "Triton": lambda: triton_add[(1,)](x, y, out, COUNT, BLOCK=1024),
        "Triton, another stream": on_a_stream(lambda: triton_add[(1,)](x, y, out, COUNT, BLOCK=1024)),
        "PyTorch, torch.add": lambda: torch.add(x, y, out=out),
        "another stream, and nothing on it": on_a_stream(lambda: None),
    }.items():
        best, median = microseconds(launch)
        print(f"{name:40} best {best:6.2f} us, median {median:6.2f} us")
    assert torch.equal(out, x + y)


if __name__ == "__main__":
    main()
