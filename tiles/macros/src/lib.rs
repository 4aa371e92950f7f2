//! The attribute `#[kernel]` and the derive macro `Parameter` of cuda-tiles, and the macros of its module `cuda_std`. Use them as
//! `cuda_tiles::kernel`, `cuda_tiles::Parameter` and `cuda_tiles::cuda_std::kernel`, where their documentation has the context.

mod attribute;
mod expand;
mod inline;
mod parameter;
mod signature;
mod thread_level;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a function a kernel.
///
/// The function's first argument is `cx: Cx`, or `cx: Cx<B>` with `B: Block` as first generic parameter if the body needs the
/// name. The others are scalars, spans, tensor-map operands (`TmaLoad`, `TmaStore`) and, marked `#[shared]`, shared memory of
/// the block, which the launch does not pass. On the device the function becomes an entry. On the host its name becomes a
/// static handle (`Kernel<(arguments...)>`), which `cuda-tiles-host` launches on a GPU or on the CPU. A kernel declared
/// `unsafe fn` is launched by an `unsafe` call.
///
/// | key | meaning | default |
/// |---|---|---|
/// | `threads` | threads of a block: 32 to 1024, a power of two | 128 |
/// | `producer` | producer threads beside the consumers: 32, a warp; 64 or 96 for two or three rings; 128, a warpgroup. The first argument is then `roles: WarpRoles` | none |
/// | `consumers` | how many blocks share the producer threads and the stages, 2 or 3, on GPUs with warpgroups; see [below](#blocks-that-share-a-producer) | 1 |
/// | `cluster` | rows and columns of two or four blocks whose producers load together, on GPUs with warpgroups: `[2, 1]`, with tiles one below the other, `[1, 2]`, side by side, `[4, 1]`, `[2, 2]` or `[1, 4]`; see [below](#clusters) | none |
/// | `vector` | neighbouring elements that a thread holds: 1 to 16 | 4 |
/// | `grid` | grid axes that tell blocks apart: 1 to 3 | 1 |
/// | `min_blocks` | blocks that a multiprocessor should hold at least | left to the assembler |
/// | `registers` | cap on the registers of a thread | left to the assembler |
/// | `dependent` | programmatic dependent launch (PDL): the kernel may start while the one before it on its stream still runs, and waits for its end at entry; `dependent = early`, for an `unsafe fn`: it waits where it calls `cx.wait_for_dependencies()` | starts after it |
/// | `targets` | the GPUs that the kernel is for: `warpgroups`, compute capability 9.0 in code for `sm_90a`, or `!warpgroups`, all others; see [below](#targets) | all |
/// | `cpu` | whether the CPU runs an instance, as an expression of the kernel's parameters; see [below](#targets) | `true` |
/// | `instances` | for a generic kernel, the parameters to compile: `instances(<f32, 64>, <f16, 128>)` | none |
///
/// The handle of a generic kernel is found by its parameters: `scale::<f32, 64>()`. An instance may have `threads`, `vector`, `min_blocks` and
/// `registers` of its own: `instances(<f32, 64>, <f16, 8192> with(threads = 512, vector = 8))`.
///
/// # Targets
///
/// A kernel may be for some GPUs alone. `targets = warpgroups` says so of a kernel, and `if` says so of an instance:
/// `instances(<128>, <256> if warpgroups)`. In code for other GPUs the kernel has no body. A launch there is refused with
/// `Error::Target`, and `device.supports(kernel.description())` tells before.
///
/// The CPU runs every kernel, whatever its targets. A kernel with dozens of instances may leave out code that nobody needs there: `cpu = N
/// == 128` is an expression of its parameters, and says which instances have code for the CPU. A launch of the others on the CPU is refused
/// with `Error::NotOnCpu`.
///
/// # Blocks that share a producer
///
/// With `threads = 128, consumers = 3, producer = 128, targets = warpgroups` a CTA of a GPU is three blocks, each a consumer warpgroup,
/// and a producer warpgroup. The blocks wait for the same stages, and each stage is filled again when all three have released it. So they
/// share operands, as one large block does, but each has control flow of its own, and takes turns with the others
/// (`Consumer::in_turn`).
///
/// A launch counts CTAs: there are three times as many blocks as its grid says. The blocks of a CTA store tiles one below the other:
/// of the tiles of a `TmaStore` that has been scheduled, block k of a CTA has those in rows `i + k` where the producer's `tile_indices` has
/// row `i`. `cx.consumer()` is k. On the CPU each block runs by itself, with the same results.
///
/// Such a kernel has no memory or barrier of one block: operations that exchange elements between warps through shared memory,
/// `cx.shared`, `tile_print!` and `tile_assert!` are refused when the kernel is built for a GPU. An `EpilogueBuffer` has a part for each block.
///
/// # Clusters
///
/// With `cluster = [2, 1], targets = warpgroups` two blocks of a GPU run at the same time on neighbouring multiprocessors, and share the
/// tiles that their producers load. Each tile comes from the L2 cache once for both, and each producer asks for half of it.
/// `LoadTile::for_each_block` says which tiles are not shared, but one for each row or column of blocks, and has an example. With `cluster
/// = [2, 2]` the blocks of a row of the cluster can share the tiles of operand A, and those of a column the tiles of operand B.
///
/// A launch counts clusters: there are as many times more blocks as a cluster has. Of clusters of four not all multiprocessors of a GPU
/// have one at a time: 120 of 132 on an H200. The producers take the tiles of the cluster's first block from `tile_indices`, and have the
/// same loads: before the roles split, nothing tells the blocks of a cluster apart. On the CPU each block runs by itself, with the same
/// results.
///
/// Clusters pay where requests to the L2 cache bound a kernel. *Measured* on an H200 in `f16`: 4096 x 4096 x 4104, whose rows begin beside
/// 128 bytes and take two requests each, takes 201 µs in tiles of 128 x 256 in place of 284; 4096^3 takes 185 in place of 182. `[1, 4]` is
/// for few rows: FP8 of 56 x 9520 x 12112 takes 36 µs in tiles of 64 x 128 in place of 47.
///
/// # Names
///
/// The handle is a static of the kernel's name. Rust lets no variable have the name of a static in scope. In the module of a
/// kernel `rows`, and where it is imported by name, `let rows = ...` is the error E0530, "let bindings cannot shadow statics".
/// Name kernels by what they do, `sum_rows`, or keep them in a module of their own and launch `kernels::rows`.
#[proc_macro_attribute]
#[doc(alias("__tile_global__", "__global__", "jit", "occupancy", "num_warps"))]
#[doc(alias("num_worker_warps", "__launch_bounds__"))]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = parse_macro_input!(item as syn::ItemFn);
    if let Some(later) = expand::after_conditions(attribute.clone().into(), &mut item) {
        return later.into();
    }
    let attribute = parse_macro_input!(attribute as attribute::Attribute);
    expand::kernel(&attribute, item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Its name is `cuda_tiles::Parameter`.
#[proc_macro_derive(Parameter)]
pub fn parameter(item: TokenStream) -> TokenStream {
    parameter::parameter(parse_macro_input!(item as syn::DeriveInput))
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes an `unsafe fn` a thread-level kernel, as `cuda_std`'s attribute of the same name does.
///
/// The entry has the function's name, so that `module.get_function("vecadd")` finds `fn vecadd`. Two kernels of a crate cannot have the
/// same name.
///
/// | argument | parameters of the entry |
/// |---|---|
/// | `&[T]`, `&str` | two: a pointer, and a length as a `usize` |
/// | `*const T`, `*mut T`, `&T` | a pointer |
/// | another type that is `Copy` | the value, as it lies in memory |
///
/// A struct that is passed is `#[repr(C)]`, so that host and device agree on how it lies in memory. A slice that hides behind the name of
/// another type is not taken apart.
///
/// On the host the function stays as it is. `cuda_std::cpu::launch` runs it there.
#[proc_macro_attribute]
pub fn thread_kernel(settings: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::ItemFn);
    thread_level::kernel(&settings.into(), item).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Shared memory of the block, for `N` values of which nothing is known: `shared_array![T; N]` is a `*mut T`.
///
/// Each place in the source that calls it has memory of its own, which is the same whenever the place is reached. On the CPU each block
/// has its own, too.
///
/// The pointer is safe to have. To read and write through it is what a kernel's author vouches for: threads read what they, or others
/// before a `sync_threads`, have written.
#[proc_macro]
pub fn shared_array(input: TokenStream) -> TokenStream {
    thread_level::shared_array(&parse_macro_input!(input as thread_level::SharedArray)).into()
}

/// Its name is `cuda_tiles::inline_on_device`.
#[proc_macro_attribute]
pub fn inline_on_device(_settings: TokenStream, item: TokenStream) -> TokenStream {
    let mut inlined = TokenStream::from(inline::on_device());
    inlined.extend(item);
    inlined
}

/// Makes a function one for GPUs only: on the CPU it compiles, and panics.
#[proc_macro_attribute]
pub fn gpu_only(_settings: TokenStream, item: TokenStream) -> TokenStream {
    thread_level::gpu_only(&parse_macro_input!(item as syn::ItemFn)).into()
}

/// Says that a function is for others to link to. Its name does that; the attribute only demands one.
#[proc_macro_attribute]
pub fn externally_visible(_settings: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::ItemFn);
    thread_level::externally_visible(&item).unwrap_or_else(syn::Error::into_compile_error).into()
}
