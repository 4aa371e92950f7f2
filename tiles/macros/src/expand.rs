//! What `#[kernel]` makes of a function.
//!
//! The function itself stays, hidden and generic over the block. Next to it come, for the device, an entry that takes
//! the arguments apart into plain parameters, and for the host a static handle with a function that runs one block on
//! the CPU. A generic kernel has both once an instance, and a function that finds the handle by the parameters.

use crate::attribute::{Attribute, Dependent};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{
    Error, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Meta, Pat, PatType, PathArguments, Result,
    ReturnType, Type, TypePath, parse_quote,
};

/// A kernel's function, taken apart.
struct Function {
    item: ItemFn,
    /// The arguments after the token.
    arguments: Vec<Argument>,
    /// The generic parameters after the block.
    parameters: Vec<GenericParam>,
}

/// An argument after the token.
struct Argument {
    name: Ident,
    kind: Type,
    /// Whether it is memory of the block, which the launch does not pass.
    is_shared: bool,
}

/// One set of parameters for which code is made.
struct Instance {
    /// The name of the entry.
    entry: String,
    /// The values of the generic parameters.
    values: Vec<GenericArgument>,
}

pub(crate) fn kernel(attribute: &Attribute, item: ItemFn) -> Result<TokenStream> {
    let function = Function::new(attribute, item)?;
    if attribute.dependent == Some(Dependent::Early) && function.item.sig.unsafety.is_none() {
        return Err(Error::new_spanned(
            &function.item.sig.ident,
            "a kernel with `dependent = early` is an `unsafe fn`: before `cx.wait_for_dependencies()` it must not touch \
             memory that earlier kernels write, which no compiler can check; `dependent` alone waits at entry",
        ));
    }
    let instances = function.instances(attribute)?;
    let hidden = function.hidden();
    let device = instances.iter().map(|instance| function.entry(attribute, instance));
    let host = if function.parameters.is_empty() {
        let handle = function.handle(attribute, &instances[0]);
        let (visibility, name, documentation, kind) =
            (&function.item.vis, &function.item.sig.ident, function.documentation(), function.kind());
        let arguments = function.argument_types();
        quote! {
            #(#documentation)*
            #[cfg(not(target_arch = "nvptx64"))]
            #[allow(non_upper_case_globals)]
            #visibility static #name: #kind<(#(#arguments,)*)> = #handle;
        }
    } else {
        function.lookup(attribute, &instances)?
    };
    Ok(quote! { #hidden #(#device)* #host })
}

/// Takes the mark `#[shared]` off an argument, and says whether there was one.
fn take_mark(argument: &mut PatType) -> Result<bool> {
    let marks = argument.attrs.len();
    let mut problem = None;
    argument.attrs.retain(|mark| {
        let is_mark = mark.path().is_ident("shared");
        if is_mark && !matches!(mark.meta, Meta::Path(_)) {
            problem =
                Some(Error::new_spanned(mark, "the mark of shared memory is `#[shared]`, without more"));
        }
        !is_mark
    });
    match problem {
        Some(error) => Err(error),
        None => Ok(argument.attrs.len() < marks),
    }
}

impl Function {
    fn new(attribute: &Attribute, mut item: ItemFn) -> Result<Self> {
        let signature = &mut item.sig;
        if !matches!(signature.output, ReturnType::Default) {
            return Err(Error::new_spanned(
                &signature.output,
                "a kernel returns nothing: it stores its results through writable spans",
            ));
        }
        if let Some(token) = &signature.asyncness {
            return Err(Error::new_spanned(token, "a kernel is an ordinary function, not an async one"));
        }
        let token_error = match attribute.copy {
            None => "a kernel's first argument is the running block: `cx: Cx`",
            Some(_) => {
                "the first argument of a kernel with threads that copy is its block before the roles part: `block: Split`"
            }
        };
        let Some(FnArg::Typed(token)) = signature.inputs.first_mut() else {
            return Err(Error::new_spanned(&signature.ident, token_error));
        };
        let Type::Path(TypePath { path, .. }) = &mut *token.ty else {
            return Err(Error::new_spanned(&token.ty, token_error));
        };
        match path.segments.last_mut() {
            Some(last) if last.ident == "Split" && attribute.copy.is_none() => {
                return Err(Error::new_spanned(
                    last,
                    "`Split` is the block of a kernel with threads that copy: state `copy = 32` in #[kernel(...)], or take `cx: Cx`",
                ));
            }
            Some(last) if last.ident == if attribute.copy.is_some() { "Split" } else { "Cx" } => {
                if matches!(last.arguments, PathArguments::None) {
                    last.arguments = PathArguments::AngleBracketed(parse_quote!(<KernelBlock>));
                    signature
                        .generics
                        .params
                        .insert(0, parse_quote!(KernelBlock: ::cuda_tiles::layout::Block));
                }
            }
            _ => return Err(Error::new_spanned(path, token_error)),
        }
        let mut arguments = Vec::new();
        for input in signature.inputs.iter_mut().skip(1) {
            let FnArg::Typed(argument) = input else {
                return Err(Error::new_spanned(input, "a kernel is a free function, it has no self"));
            };
            let is_shared = take_mark(argument)?;
            let Pat::Ident(name) = &*argument.pat else {
                return Err(Error::new_spanned(&argument.pat, "a kernel's argument is a plain name"));
            };
            arguments.push(Argument { name: name.ident.clone(), kind: (*argument.ty).clone(), is_shared });
        }
        if arguments.iter().filter(|argument| !argument.is_shared).count() > 12 {
            return Err(Error::new_spanned(
                &signature.inputs,
                "a kernel takes at most 12 arguments from its launch",
            ));
        }
        let parameters = signature.generics.params.iter().skip(1).cloned().collect();
        Ok(Self { item, arguments, parameters })
    }

    fn instances(&self, attribute: &Attribute) -> Result<Vec<Instance>> {
        let name = &self.item.sig.ident;
        if self.parameters.is_empty() {
            if let Some(instance) = attribute.instances.first() {
                return Err(Error::new_spanned(
                    instance,
                    "this kernel has no generic parameters, so that it has no instances",
                ));
            }
            return Ok(vec![Instance { entry: name.to_string(), values: Vec::new() }]);
        }
        if attribute.instances.is_empty() {
            return Err(Error::new_spanned(
                &self.item.sig.generics,
                "a generic kernel lists the parameters for which it is compiled: `#[kernel(instances(<f32, 64>, <f16, 128>))]`",
            ));
        }
        attribute
            .instances
            .iter()
            .map(|instance| {
                if instance.args.len() != self.parameters.len() {
                    return Err(Error::new_spanned(
                        instance,
                        format!(
                            "kernel `{name}` has {} generic parameters besides the block",
                            self.parameters.len()
                        ),
                    ));
                }
                let mut entry = name.to_string();
                for value in &instance.args {
                    let text = value.to_token_stream().to_string();
                    let word: String = text
                        .chars()
                        .filter(|c| *c != ' ')
                        .map(|c| if c.is_alphanumeric() { c } else { '_' })
                        .collect();
                    entry = format!("{entry}_{word}");
                }
                Ok(Instance { entry, values: instance.args.iter().cloned().collect() })
            })
            .collect()
    }

    fn hidden_name(&self) -> Ident {
        format_ident!("__kernel_{}", self.item.sig.ident)
    }

    fn documentation(&self) -> Vec<&syn::Attribute> {
        self.item.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).collect()
    }

    /// The arguments that the launch passes.
    fn passed(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| !argument.is_shared)
    }

    /// The arguments that are memory of the block.
    fn shared(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| argument.is_shared)
    }

    /// The types of what the launch passes.
    fn argument_types(&self) -> impl Iterator<Item = &Type> {
        self.passed().map(|argument| &argument.kind)
    }

    /// The size of the first `count` shared arguments in the block's memory, which is the offset of the next one.
    fn shared_bytes(&self, count: usize) -> TokenStream {
        let kinds = self.shared().take(count).map(|argument| &argument.kind);
        quote!(::cuda_tiles::stream::shared::total(&[
            #(<#kinds as ::cuda_tiles::stream::shared::SharedMemory>::BYTES),*
        ]))
    }

    /// The token's type without its block.
    fn token(attribute: &Attribute) -> TokenStream {
        match attribute.copy {
            None => quote!(::cuda_tiles::context::Cx),
            Some(_) => quote!(::cuda_tiles::stream::split::Split),
        }
    }

    /// The handle's type without its arguments.
    fn kind(&self) -> TokenStream {
        if self.item.sig.unsafety.is_some() {
            quote!(::cuda_tiles::launch::UnsafeKernel)
        } else {
            quote!(::cuda_tiles::launch::Kernel)
        }
    }

    /// The function under a name that does not stand in the handle's way.
    fn hidden(&self) -> TokenStream {
        let mut item = self.item.clone();
        item.sig.ident = self.hidden_name();
        item.vis = syn::Visibility::Inherited;
        quote! {
            #[doc(hidden)]
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            #item
        }
    }

    /// Names for the values of an instance, as the function's signature uses them.
    fn aliases(&self, instance: &Instance) -> Vec<TokenStream> {
        self.parameters
            .iter()
            .zip(&instance.values)
            .map(|(parameter, value)| match parameter {
                GenericParam::Type(parameter) => {
                    let name = &parameter.ident;
                    quote!(#[allow(dead_code)] type #name = #value;)
                }
                GenericParam::Const(parameter) => {
                    let (name, kind) = (&parameter.ident, &parameter.ty);
                    quote!(#[allow(dead_code)] const #name: #kind = #value;)
                }
                GenericParam::Lifetime(_) => quote!(),
            })
            .collect()
    }

    /// The call of the function with arguments put together from their parts, or from their places in shared memory.
    fn call(
        &self,
        instance: &Instance,
        block: &TokenStream,
        token: &TokenStream,
        parts: &[TokenStream],
        places: &[TokenStream],
    ) -> TokenStream {
        let (name, values) = (self.hidden_name(), &instance.values);
        let (mut parts, mut places) = (parts.iter(), places.iter());
        let arguments = self.arguments.iter().map(|Argument { kind, is_shared, .. }| {
            if *is_shared {
                let place = places.next();
                return quote!(#place);
            }
            let part = parts.next();
            quote!(<#kind as ::cuda_tiles::launch::Parameter>::from_parts(#part))
        });
        quote!(#name::<#block, #(#values),*>(#token, #(#arguments),*))
    }

    /// The device's entry, and the marker by which the builder gives it its directives.
    fn entry(&self, attribute: &Attribute, instance: &Instance) -> TokenStream {
        let Instance { entry, .. } = instance;
        let (threads, vector, grid, copy) = (
            attribute.threads as usize,
            attribute.vector as usize,
            attribute.grid as usize,
            attribute.copy.unwrap_or(0) as usize,
        );
        let token = Self::token(attribute);
        let aliases = self.aliases(instance);
        let marker = attribute.marker(entry);
        let marker_module = format_ident!("__marker_{entry}");
        let (mut parameters, mut parts) = (Vec::new(), Vec::new());
        for Argument { name, kind, .. } in self.passed() {
            let names = ["first", "second", "third"].map(|part| format_ident!("{name}_{part}"));
            let [first, second, third] = &names;
            let parameter = quote!(<#kind as ::cuda_tiles::launch::Parameter>);
            parameters.push(
                quote!(#first: #parameter::First, #second: #parameter::Second, #third: #parameter::Third),
            );
            parts.push(quote!(::cuda_tiles::launch::Parts { first: #first, second: #second, third: #third }));
        }
        let places: Vec<_> = self
            .shared()
            .enumerate()
            .map(|(index, Argument { kind, .. })| {
                let offset = self.shared_bytes(index);
                quote!(::cuda_tiles::stream::shared::at::<#kind>(const { #offset }))
            })
            .collect();
        let call = self.call(
            instance,
            &quote!(::cuda_tiles::layout::Cta<#threads, #vector, #grid, #copy>),
            &quote!(#token::new(::cuda_tiles::arch::execution::Place)),
            &parts,
            &places,
        );
        let wait = (attribute.dependent == Some(Dependent::AtEntry))
            .then(|| quote!(::cuda_tiles::arch::execution::wait_for_dependencies();));
        quote! {
            #[cfg(target_arch = "nvptx64")]
            mod #marker_module {
                ::core::arch::global_asm!(#marker);
            }
            #[cfg(target_arch = "nvptx64")]
            const _: () = {
                #(#aliases)*
                // SAFETY: the launch passes the parts of checked arguments, and a block of the stated size with as much
                // shared memory as the last shared argument reaches.
                #[unsafe(export_name = #entry)]
                #[allow(improper_ctypes_definitions, clippy::too_many_arguments)]
                unsafe extern "ptx-kernel" fn entry(#(#parameters),*) {
                    #wait
                    unsafe { #call }
                }
            };
        }
    }

    /// The host's handle, an expression.
    fn handle(&self, attribute: &Attribute, instance: &Instance) -> TokenStream {
        let Instance { entry, .. } = instance;
        let Attribute { threads, grid, cluster: [x, y, z], .. } = attribute;
        let copy = attribute.copy.unwrap_or(0);
        let (vector, rank) = (attribute.vector as usize, *grid as usize);
        let dependent = attribute.dependent.is_some();
        let names = self.passed().map(|argument| argument.name.to_string());
        let types: Vec<_> = self.argument_types().collect();
        let parts: Vec<_> = (0..types.len())
            .map(|i| {
                let index = syn::Index::from(i);
                quote!(parts.#index)
            })
            .collect();
        let (mut rooms, mut places) = (Vec::new(), Vec::new());
        for Argument { name, kind, .. } in self.shared() {
            let room = format_ident!("room_of_{name}");
            rooms.push(quote!(let mut #room = ::cuda_tiles::cpu::room::<#kind>();));
            places.push(quote!(::cuda_tiles::cpu::in_room::<#kind>(&mut #room)));
        }
        let shared_bytes = self.shared_bytes(places.len());
        let copying = copy as usize;
        let token = match attribute.copy {
            None => quote!(::cuda_tiles::cpu::context(position)),
            Some(_) => quote!(::cuda_tiles::cpu::split(position)),
        };
        let call = self.call(
            instance,
            &quote!(::cuda_tiles::layout::Cta<1, #vector, #rank, #copying>),
            &token,
            &parts,
            &places,
        );
        let kind = self.kind();
        quote! {
            {
                #[allow(clippy::undocumented_unsafe_blocks, unused_variables)]
                unsafe fn block(
                    position: ::cuda_tiles::launch::BlockPosition,
                    parts: &<(#(#types,)*) as ::cuda_tiles::launch::Parameters>::Parts,
                ) {
                    #(#rooms)*
                    // SAFETY: the contract of `Kernel::run_block` is that of the token and of the arguments; shared memory
                    // is this call's own.
                    unsafe { #call }
                }
                let description = ::cuda_tiles::launch::Description {
                    name: #entry,
                    threads: #threads,
                    copy_threads: #copy,
                    grid_rank: #grid,
                    shared_bytes: #shared_bytes,
                    cluster: [#x, #y, #z],
                    dependent: #dependent,
                    arguments: &[#(#names),*],
                    file: ::core::file!(),
                    line: ::core::line!(),
                };
                // SAFETY: the entry of this name and `block` are both made of the same function.
                #[allow(clippy::undocumented_unsafe_blocks)]
                unsafe { #kind::new(description, block) }
            }
        }
    }

    /// A generic kernel's handles, and the function that finds one by the parameters.
    fn lookup(&self, attribute: &Attribute, instances: &[Instance]) -> Result<TokenStream> {
        let name = &self.item.sig.ident;
        let (visibility, documentation, kind) = (&self.item.vis, self.documentation(), self.kind());
        let family = format_ident!("instances_of_{name}");
        let message = format!("kernel `{name}` has no instance for these parameters");
        let listed: Vec<String> = attribute
            .instances
            .iter()
            .map(|i| i.to_token_stream().to_string().replace(' ', "").replace(',', ", "))
            .collect();
        let note = format!(
            "it is compiled for {}; add yours to `instances(...)` in its #[kernel] attribute",
            listed.join(", ")
        );
        let mut generics = Vec::new();
        let mut markers = Vec::new();
        for parameter in &self.parameters {
            match parameter {
                GenericParam::Type(parameter) => {
                    let name = &parameter.ident;
                    generics.push(quote!(#name: 'static));
                    markers.push(quote!(#name));
                }
                GenericParam::Const(parameter) if matches!(&parameter.ty, Type::Path(kind) if kind.path.is_ident("usize")) =>
                {
                    let name = &parameter.ident;
                    generics.push(quote!(const #name: usize));
                    markers.push(quote!(::cuda_tiles::launch::Constant<#name>));
                }
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "a kernel's generic parameters are types and `const N: usize`",
                    ));
                }
            }
        }
        let handles = instances.iter().map(|instance| {
            let aliases = self.aliases(instance);
            let handle = self.handle(attribute, instance);
            let types: Vec<_> = self.argument_types().collect();
            quote! {
                #[cfg(not(target_arch = "nvptx64"))]
                const _: () = {
                    #(#aliases)*
                    impl #family for ::cuda_tiles::launch::Instance<(#(#markers,)*)> {
                        type Handle = #kind<(#(#types,)*)>;
                        fn handle() -> &'static Self::Handle {
                            static HANDLE: #kind<(#(#types,)*)> = #handle;
                            &HANDLE
                        }
                    }
                };
            }
        });
        Ok(quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            #[doc(hidden)]
            #[allow(non_camel_case_types)]
            #[diagnostic::on_unimplemented(message = #message, label = "missing instance", note = #note)]
            #visibility trait #family {
                type Handle: 'static;
                fn handle() -> &'static Self::Handle;
            }
            #(#handles)*
            #(#documentation)*
            #[cfg(not(target_arch = "nvptx64"))]
            #visibility fn #name<#(#generics),*>() -> &'static <::cuda_tiles::launch::Instance<(#(#markers,)*)> as #family>::Handle
            where
                ::cuda_tiles::launch::Instance<(#(#markers,)*)>: #family,
            {
                <::cuda_tiles::launch::Instance<(#(#markers,)*)> as #family>::handle()
            }
        })
    }
}
