//! Compiles `tests/kernels/` and `tests/streams/` to PTX. Of five hundred small kernels one image serves every GPU; streamed ones
//! take other instructions where warpgroups multiply.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    let kernels = CudaBuilder::new("../kernels").arch(Arch::Sm80);
    let streams = CudaBuilder::new("../streams").arch(Arch::Sm80).arch(Arch::Sm90a);
    for builder in [kernels, streams] {
        builder.build();
    }
}
