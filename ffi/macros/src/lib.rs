//! The attribute `#[export]` of cuda-tiles-ffi. Use it as `cuda_tiles_ffi::export`, where its documentation has the context.

mod expand;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Exports a host function to Python, by its name.
///
/// The first parameter is `call: &Call`, where the call works. The others are what Python passes, of types that are
/// [`Parameter`](../cuda_tiles_ffi/trait.Parameter.html)s. The result is [`Returned`](../cuda_tiles_ffi/trait.Returned.html): nothing, a
/// number, or a `Result` of that. The function stays as it is, and can be called from Rust too.
///
/// The library gets the symbol `__tvm_ffi_NAME`, with the C interface of TVM-FFI. `#[export("name")]` gives another name than the
/// function's. Two functions of one name are an error of the linker.
///
/// A function has no generic parameters. One for several types of elements is exported for each, by a function for each.
#[proc_macro_attribute]
pub fn export(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let name = if attribute.is_empty() { None } else { Some(parse_macro_input!(attribute as syn::LitStr)) };
    let item = parse_macro_input!(item as syn::ItemFn);
    expand::export(name, &item).unwrap_or_else(syn::Error::into_compile_error).into()
}
