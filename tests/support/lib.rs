//! What tests, examples and benchmarks share: the compiled kernels, and what tests on every device need.

pub mod testing;

/// `kernels/`, compiled.
pub mod kernels {
    cuda_tiles_host::include_kernels!("cuda_tiles_kernels");
}

/// The pages of the cook-book, whose programs run as documentation tests.
#[cfg(doctest)]
mod cookbook {
    macro_rules! pages {
        ($($page:ident)*) => { $(
            #[doc = include_str!(concat!("../../docs/cookbook/", stringify!($page), ".md"))]
            mod $page {}
        )* };
    }
    pages! {
        access control_flow edges gather generic grids histogram offsets overlap persistent printing random reduced_precision reductions scans shifts
        slices streams strides testing threads
    }
}
