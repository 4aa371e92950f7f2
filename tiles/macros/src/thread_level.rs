//! The macros of `cuda_std`, Rust-CUDA's library for thread-level kernels.

use crate::inline;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use std::sync::atomic::{AtomicUsize, Ordering};
use syn::parse::{Parse, ParseStream};
use syn::{
    Error, Expr, FnArg, GenericParam, Ident, ItemFn, PatType, Result, ReturnType, Signature, Token, Type,
    TypeReference,
};

/// The expansion of `#[kernel]` of `cuda_std`.
///
/// On the host it is the function as it stands. On the device the function is inside of an entry that has its name, and for each
/// slice a pointer and a length.
pub(crate) fn kernel(settings: &TokenStream, item: ItemFn) -> Result<TokenStream> {
    if !settings.is_empty() {
        return Err(Error::new_spanned(
            settings,
            "a kernel of `cuda_std` has no settings; `grid_dim` and `block_dim` had no effect, leave them out",
        ));
    }
    check(&item.sig)?;
    let (mut parameters, mut arguments, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for (number, argument) in item.sig.inputs.iter().enumerate() {
        let FnArg::Typed(PatType { ty, .. }) = argument else {
            return Err(Error::new_spanned(argument, "a kernel is a function, and no method"));
        };
        let name = format_ident!("argument_{number}");
        match parts(ty)? {
            None => {
                parameters.push(quote!(#name: #ty));
                arguments.push(quote!(#name));
            }
            Some(Wide { element, make }) => {
                let length = format_ident!("length_{number}");
                parameters.push(quote!(#name: *const #element, #length: usize));
                arguments.push(quote!(unsafe { ::cuda_tiles::cuda_std::entry::#make(#name, #length) }));
            }
        }
        types.push(ty);
    }
    let ItemFn { attrs, vis, sig, block } = &item;
    let (name, lifetimes) = (&sig.ident, &sig.generics);
    let body = format_ident!("__cuda_std_{name}");
    let inner = Signature { ident: body.clone(), ..sig.clone() };
    Ok(quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        #vis #sig {
            #(const { ::cuda_tiles::cuda_std::entry::is_parameter::<#types>() };)*
            #block
        }

        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        #vis unsafe extern "ptx-kernel" fn #name #lifetimes(#(#parameters),*) {
            #(#attrs)*
            #[inline(always)]
            #inner {
                #(const { ::cuda_tiles::cuda_std::entry::is_parameter::<#types>() };)*
                #block
            }
            // SAFETY: the launch vouches for what the kernel demands, and for the pointers and lengths of slices.
            unsafe { #body(#(#arguments),*) }
        }
    })
}

fn check(signature: &Signature) -> Result<()> {
    if signature.unsafety.is_none() {
        return Err(Error::new_spanned(
            signature.fn_token,
            "a kernel of `cuda_std` is an `unsafe fn`: its launch vouches for pointers and for races",
        ));
    }
    if let Some(word) = &signature.abi {
        return Err(Error::new_spanned(
            word,
            "the attribute says how the kernel is called: leave the ABI out",
        ));
    }
    if signature.asyncness.is_some() || signature.constness.is_some() || signature.variadic.is_some() {
        return Err(Error::new_spanned(signature, "a kernel is neither `async` nor `const` nor variadic"));
    }
    if let Some(parameter) =
        signature.generics.params.iter().find(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
    {
        return Err(Error::new_spanned(
            parameter,
            "a kernel of `cuda_std` has one entry, and so no generic parameters: write one kernel for each type, which calls a \
             generic function",
        ));
    }
    match &signature.output {
        ReturnType::Type(_, kind) if !matches!(&**kind, Type::Tuple(tuple) if tuple.elems.is_empty()) => {
            Err(Error::new_spanned(kind, "a kernel returns nothing: it writes its results to memory"))
        }
        _ => Ok(()),
    }
}

/// An argument that is a pointer and a length.
struct Wide {
    element: TokenStream,
    /// The function that puts both together.
    make: Ident,
}

/// The parts of an argument's type, if it has two.
fn parts(kind: &Type) -> Result<Option<Wide>> {
    match kind {
        Type::Paren(inner) => parts(&inner.elem),
        Type::Group(inner) => parts(&inner.elem),
        Type::Reference(TypeReference { mutability: Some(word), .. }) => Err(Error::new_spanned(
            word,
            "all threads get the same arguments, and `&mut` belongs to one: take a pointer, `*mut T`, and make references to what is \
             the thread's own",
        )),
        Type::Reference(TypeReference { elem, .. }) => match &**elem {
            Type::Slice(slice) => {
                let element = &slice.elem;
                Ok(Some(Wide { element: quote!(#element), make: format_ident!("slice") }))
            }
            Type::Path(path) if path.path.is_ident("str") => {
                Ok(Some(Wide { element: quote!(u8), make: format_ident!("text") }))
            }
            Type::TraitObject(_) => {
                Err(Error::new_spanned(elem, "a GPU has no methods of objects of the host"))
            }
            _ => Ok(None),
        },
        Type::Ptr(pointer) if matches!(&*pointer.elem, Type::Slice(_) | Type::TraitObject(_)) => {
            Err(Error::new_spanned(kind, "take a pointer to the first element, and the length as a `usize`"))
        }
        _ => Ok(None),
    }
}

/// What stands in `shared_array![T; N]`.
pub(crate) struct SharedArray {
    element: Type,
    length: Expr,
}

impl Parse for SharedArray {
    fn parse(input: ParseStream) -> Result<Self> {
        let element = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { element, length: input.parse()? })
    }
}

/// The expansion of `shared_array!`.
///
/// A variable of a module is named here, and declared by the builder as the comment says. No position in a source is a name: of a
/// macro by example that holds two of them, both have the same. So they are counted.
pub(crate) fn shared_array(SharedArray { element, length }: &SharedArray) -> TokenStream {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let name: String =
        format!("cuda_std_shared_{}_{}_{number}", of("CARGO_CRATE_NAME"), of("CARGO_PKG_VERSION"))
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
    let instruction = Literal::string(&format!(
        "mov.u64 {{0}}, {name}; cvta.shared.u64 {{0}}, {{0}}; //@cuda-tiles declares .shared .align {{1}} .b8 {name}[{{2}}]"
    ));
    let inlined = inline::on_device();
    // A function, so that the type and the length are constants of the place, as a static's are.
    quote! {{
        #inlined
        #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
        #[allow(clippy::undocumented_unsafe_blocks)]
        fn shared_array() -> *mut #element {
            const BYTES: usize = ::cuda_tiles::cuda_std::shared::bytes::<#element>(#length);
            #[cfg(target_arch = "nvptx64")]
            {
                let address: *mut #element;
                // SAFETY: `mov` of a variable's name yields its address, `cvta` the generic one.
                unsafe {
                    ::core::arch::asm!(
                        #instruction,
                        out(reg64) address,
                        const ::cuda_tiles::cuda_std::shared::alignment::<#element>(),
                        const BYTES,
                        options(pure, nomem, nostack)
                    );
                }
                address
            }
            #[cfg(not(target_arch = "nvptx64"))]
            ::cuda_tiles::cuda_std::shared::array::<#element>(#name, BYTES)
        }
        shared_array()
    }}
}

/// The expansion of `#[gpu_only]`: elsewhere the function panics.
pub(crate) fn gpu_only(item: &ItemFn) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = item;
    let message = format!("`{}` is for GPUs only", sig.ident);
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(unused_variables)]
        #(#attrs)*
        #vis #sig {
            ::core::panic!(#message)
        }

        #[cfg(target_arch = "nvptx64")]
        #item
    }
}

/// The expansion of `#[externally_visible]`: the function as it stands, whose name the compiler keeps.
pub(crate) fn externally_visible(item: &ItemFn) -> Result<TokenStream> {
    let keeps_name = item.attrs.iter().any(|attribute| {
        let text = quote!(#attribute).to_string();
        text.contains("no_mangle") || text.contains("export_name")
    });
    if !keeps_name {
        return Err(Error::new_spanned(
            &item.sig.ident,
            "a function that others link to has a name that they know: add `#[unsafe(no_mangle)]`",
        ));
    }
    Ok(quote!(#item))
}
