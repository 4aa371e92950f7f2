//! What tests, examples and benchmarks share: the compiled kernels, and what tests on every device need.

pub mod random;
pub mod testing;

/// `kernels/`, compiled.
pub mod kernels {
    cuda_tiles_host::include_kernels!("cuda_tiles_kernels");
}

/// The pages of the book that have programs, which run as documentation tests. `tests/documents.rs` says which are missing here.
#[cfg(doctest)]
mod book {
    macro_rules! pages {
        ($($page:ident $file:literal)*) => { $(
            #[doc = include_str!(concat!("../../docs/book/src/", $file))]
            mod $page {}
        )* };
    }
    pages! {
        cookbook_access "cookbook/access.md"
        cookbook_control_flow "cookbook/control_flow.md"
        cookbook_edges "cookbook/edges.md"
        cookbook_files "cookbook/files.md"
        cookbook_gather "cookbook/gather.md"
        cookbook_generic "cookbook/generic.md"
        cookbook_grids "cookbook/grids.md"
        cookbook_histogram "cookbook/histogram.md"
        cookbook_offsets "cookbook/offsets.md"
        cookbook_overlap "cookbook/overlap.md"
        cookbook_persistent "cookbook/persistent.md"
        cookbook_printing "cookbook/printing.md"
        cookbook_random "cookbook/random.md"
        cookbook_reduced_precision "cookbook/reduced_precision.md"
        cookbook_reductions "cookbook/reductions.md"
        cookbook_scans "cookbook/scans.md"
        cookbook_shifts "cookbook/shifts.md"
        cookbook_slices "cookbook/slices.md"
        cookbook_streams "cookbook/streams.md"
        cookbook_strides "cookbook/strides.md"
        cookbook_testing "cookbook/testing.md"
        cookbook_threads "cookbook/threads.md"
        edges "edges.md"
        fast_kernels "fast-kernels.md"
        first_kernel "first-kernel.md"
        generic_kernels "generic-kernels.md"
        graphs "graphs.md"
        host "host.md"
        inside "inside.md"
        introduction "introduction.md"
        pipelines "pipelines.md"
        pitfalls "pitfalls.md"
        porting_index "porting/README.md"
        porting_cuda_cpp "porting/cuda-cpp.md"
        porting_cuda_tile_cpp "porting/cuda-tile-cpp.md"
        porting_cutile_python "porting/cutile-python.md"
        porting_rust_cuda "porting/rust-cuda.md"
        porting_triton "porting/triton.md"
        reductions "reductions.md"
        rows "rows.md"
        several_gpus "several-gpus.md"
        testing "testing.md"
        tiles "tiles.md"
        tools "tools.md"
    }
}
