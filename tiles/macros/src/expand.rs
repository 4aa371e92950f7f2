//! The expansion of `#[kernel]`.
//!
//! The function itself stays, hidden and generic over the block. For the device, an entry beside it takes the arguments as
//! plain parameters. For the host, there is a static handle with a function that runs one block on the CPU. A generic kernel
//! has both for each instance, and a function that finds the handle by the parameters.

use crate::attribute::{Attribute, Dependent, Targets};
use crate::inline;
use crate::signature::{self, Argument};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, GenericParam, Ident, ItemFn, Path, Result, Type};

/// The parts of a kernel's function.
struct Function {
    item: ItemFn,
    /// The token's type without its block.
    token: Path,
    /// The arguments after the token.
    arguments: Vec<Argument>,
    /// The generic parameters after the block.
    parameters: Vec<GenericParam>,
}

/// One set of generic parameters to compile the kernel for.
struct Instance {
    /// The kernel's name, behind which the values of its generic parameters stand.
    name: String,
    /// The values of the generic parameters.
    values: Vec<GenericArgument>,
    /// The targets that it is for.
    targets: Targets,
    /// Its settings.
    attribute: Attribute,
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
    let device = instances.iter().map(|instance| function.entry(instance));
    let host = if function.parameters.is_empty() {
        let handle = function.handle(&instances[0]);
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

/// Tokens in the usual style: spaces between words, and behind commas.
fn readable(tokens: &impl ToTokens) -> String {
    let mut text = String::new();
    for token in tokens.to_token_stream().to_string().split_whitespace() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(is_word) && token.starts_with(is_word) {
            text.push(' ');
        }
        text += token;
    }
    text.replace(',', ", ").replace(", )", ",)").replace(", >", ">")
}

/// The kernel with its conditions, the `#[cfg(..)]` and `#[cfg_attr(..)]` in front of its attribute, if there are any. They
/// apply to the whole expansion.
pub(crate) fn after_conditions(attribute: TokenStream, item: &mut ItemFn) -> Option<TokenStream> {
    let is_condition = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
    };
    let (conditions, others): (Vec<_>, Vec<_>) = item.attrs.drain(..).partition(is_condition);
    item.attrs = others;
    (!conditions.is_empty()).then(|| quote!(#(#conditions)* #[::cuda_tiles::kernel(#attribute)] #item))
}

impl Function {
    fn new(attribute: &Attribute, mut item: ItemFn) -> Result<Self> {
        signature::check(&item)?;
        let signature = &mut item.sig;
        let token = signature::take_token(attribute, signature)?;
        let arguments = signature::take_arguments(signature)?;
        let parameters = signature.generics.params.iter().skip(1).cloned().collect();
        Ok(Self { item, token, arguments, parameters })
    }

    fn instances(&self, attribute: &Attribute) -> Result<Vec<Instance>> {
        let name = self.item.sig.ident.unraw();
        if self.parameters.is_empty() {
            if let Some(instance) = attribute.instances.first() {
                return Err(Error::new_spanned(
                    &instance.values,
                    "this kernel has no generic parameters, so that it has no instances",
                ));
            }
            let targets = attribute.targets;
            return Ok(vec![Instance {
                name: name.unraw().to_string(),
                values: Vec::new(),
                targets,
                attribute: attribute.clone(),
            }]);
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
            .map(|listed| {
                let arguments = &listed.values.args;
                if arguments.len() != self.parameters.len() {
                    return Err(Error::new_spanned(
                        &listed.values,
                        format!(
                            "kernel `{name}` has {} generic parameters besides the block",
                            self.parameters.len()
                        ),
                    ));
                }
                let mut full = name.unraw().to_string();
                for value in arguments {
                    let text = value.to_token_stream().to_string();
                    let word: String = text
                        .chars()
                        .filter(|c| *c != ' ')
                        .map(|c| if c.is_alphanumeric() { c } else { '_' })
                        .collect();
                    full = format!("{full}_{word}");
                }
                Ok(Instance {
                    name: full,
                    values: arguments.iter().cloned().collect(),
                    targets: attribute.targets_of(listed),
                    attribute: attribute.of(listed),
                })
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

    /// The types of the launch's arguments.
    fn argument_types(&self) -> impl Iterator<Item = &Type> {
        self.passed().map(|argument| &argument.kind)
    }

    /// The offset in the block's memory behind the first `count` shared arguments.
    fn shared_offset(&self, count: usize) -> TokenStream {
        let kinds = self.shared().take(count).map(|argument| &argument.kind);
        quote!(::cuda_tiles::memory::shared::offset(&[
            #(<#kinds as ::cuda_tiles::memory::shared::SharedMemory>::BYTES),*
        ]))
    }

    /// The size of all shared arguments.
    fn shared_bytes(&self) -> TokenStream {
        let kinds = self.shared().map(|argument| &argument.kind).collect::<Vec<_>>();
        quote!(::cuda_tiles::memory::shared::total(
            &[#(<#kinds as ::cuda_tiles::memory::shared::SharedMemory>::BYTES),*],
            &[#(<#kinds as ::cuda_tiles::memory::shared::SharedMemory>::BEYOND),*]
        ))
    }

    /// The token of the block at `place`. Only the library's own tokens belong to the launch's block. The trait refuses a type
    /// of another name, or an alias that leaves the block out.
    fn token(&self, block: &TokenStream, place: &TokenStream) -> TokenStream {
        let token = &self.token;
        quote!(<#token<#block> as ::cuda_tiles::launch::Token<#block>>::new(#place))
    }

    /// The handle's type without its arguments.
    fn kind(&self) -> TokenStream {
        if self.item.sig.unsafety.is_some() {
            quote!(::cuda_tiles::launch::UnsafeKernel)
        } else {
            quote!(::cuda_tiles::launch::Kernel)
        }
    }

    /// The function, under a name that differs from the handle's.
    fn hidden(&self) -> TokenStream {
        let mut item = self.item.clone();
        item.sig.ident = self.hidden_name();
        item.vis = syn::Visibility::Inherited;
        let inlined = inline::on_device();
        quote! {
            // Code for a target that no instance is for does not call it.
            #[doc(hidden)]
            #inlined
            #[allow(dead_code, clippy::too_many_arguments)]
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

    /// The call of the function, with arguments made from their parts or from their places in shared memory.
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
            // Errors in an argument's type are shown where the type stands.
            quote_spanned!(kind.span()=> <#kind as ::cuda_tiles::launch::Parameter>::from_parts(#part))
        });
        quote!(#name::<#block, #(#values),*>(#token, #(#arguments),*))
    }

    /// Where the kernel is defined: its module, and its name.
    fn path(instance: &Instance) -> TokenStream {
        let name = &instance.name;
        quote!(::core::concat!(::core::module_path!(), "::", #name))
    }

    /// The function's declaration, with an instance's values for its parameters.
    fn declaration(&self, instance: &Instance) -> String {
        let values: Vec<_> = instance.values.iter().map(readable).collect();
        let values = if values.is_empty() { String::new() } else { format!("::<{}>", values.join(", ")) };
        let arguments = self.arguments.iter().map(|Argument { name, kind, is_shared }| {
            format!("{}{name}: {}", if *is_shared { "#[shared] " } else { "" }, readable(kind))
        });
        let unsafety = if self.item.sig.unsafety.is_some() { "unsafe " } else { "" };
        let arguments: Vec<_> = arguments.collect();
        format!("{unsafety}fn {}{values}({})", self.item.sig.ident, arguments.join(", "))
    }

    /// The fingerprint: a number on which the entry and the handle agree.
    fn fingerprint(&self, instance: &Instance) -> TokenStream {
        let path = Self::path(instance);
        let mut numbers = instance.attribute.numbers();
        numbers.push(self.item.sig.unsafety.is_some().into());
        numbers.push(instance.targets as u64);
        // Compilers of different versions put different spaces between tokens.
        let values = instance
            .values
            .iter()
            .map(|value| value.to_token_stream().to_string().split_whitespace().collect::<String>());
        let values = values.collect::<Vec<_>>().join(",");
        // As in `call`.
        let arguments = self.argument_types().map(
            |kind| quote_spanned!(kind.span()=> <#kind as ::cuda_tiles::launch::Parameter>::FINGERPRINT),
        );
        let shared = self.shared().map(|Argument { kind, .. }| {
            quote_spanned!(kind.span()=> <#kind as ::cuda_tiles::memory::shared::SharedMemory>::BYTES)
        });
        quote!(::cuda_tiles::launch::Fingerprint::of_kernel(
            #path,
            #values,
            &[#(#numbers),*],
            &[#(#arguments),*],
            &[#(#shared),*],
        ).get())
    }

    /// The comment by which the builder knows the entry: a template of assembly without the shared memory and the fingerprint.
    fn marker(&self, instance: &Instance) -> TokenStream {
        // The author of an unsafe kernel vouches for the properties that the builder checks of safe ones.
        let contract = self.item.sig.unsafety.map_or("", |_| " contract=unsafe");
        let (path, settings) = (Self::path(instance), instance.attribute.settings() + contract);
        let shared = if self.shared().next().is_some() { " shared={},{},{}" } else { "" };
        let declaration = self.declaration(instance).replace('{', "{{").replace('}', "}}");
        quote!(::core::concat!(
            "//@cuda-tiles entry ", #path, #settings, #shared, " line=", ::core::line!(), " fingerprint={} is ", #declaration
        ))
    }

    /// The device's entry, with the comment by which the builder gives it its directives.
    fn entry(&self, instance: &Instance) -> TokenStream {
        let attribute = &instance.attribute;
        let (threads, vector, grid, producer) = (
            attribute.threads as usize,
            attribute.vector as usize,
            attribute.grid as usize,
            attribute.producer.unwrap_or(0) as usize,
        );
        let aliases = self.aliases(instance);
        let marker = self.marker(instance);
        let fingerprint = self.fingerprint(instance);
        let shared_bytes = match self.shared().count() {
            0 => TokenStream::new(),
            _ => {
                let bytes = self.shared_bytes();
                quote!(const (#bytes)[0], const (#bytes)[1], const (#bytes)[2],)
            }
        };
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
                let offset = self.shared_offset(index);
                quote!(::cuda_tiles::memory::shared::at::<#kind>(const { #offset }))
            })
            .collect();
        let consumers = attribute.consumers as usize;
        let [rows, columns] = attribute.cluster.map(|blocks| blocks as usize);
        let block = quote!(::cuda_tiles::layout::Cta<#threads, #vector, #grid, #producer, #consumers, #rows, #columns>);
        let token = self.token(&block, &quote!(::cuda_tiles::__private::Place));
        let call = self.call(instance, &block, &token, &parts, &places);
        let wait = (attribute.dependent == Some(Dependent::AtEntry))
            .then(|| quote!(::cuda_tiles::__private::wait_for_dependencies();));
        let body = quote!(#wait unsafe { #call });
        // What only this expression names has a use here, too.
        let on_cpu = attribute.cpu.as_ref().map(|cpu| quote!(const _: bool = #cpu;));
        let body = match instance.targets.condition() {
            None => body,
            Some(condition) => quote! {
                #[cfg(#condition)]
                { #body }
                #[cfg(not(#condition))]
                ::cuda_tiles::__private::refuse_target();
            },
        };
        quote! {
            #[cfg(target_arch = "nvptx64")]
            const _: () = {
                #(#aliases)*
                #on_cpu
                // The compiler names the entry, so that kernels of one name in several modules are several entries. The builder
                // takes a readable name from the comment.
                // SAFETY: the launch passes the parts of checked arguments, and a block of the stated size. It asks for as much
                // shared memory as the last shared argument reaches.
                #[linkage = "external"]
                #[allow(improper_ctypes_definitions, unused_variables, clippy::too_many_arguments)]
                unsafe extern "ptx-kernel" fn entry(#(#parameters),*) {
                    // SAFETY: it is a comment.
                    unsafe {
                        ::core::arch::asm!(
                            #marker, #shared_bytes const #fingerprint, options(nomem, nostack, preserves_flags)
                        );
                    }
                    #body
                }
            };
        }
    }

    /// The host's handle, an expression.
    fn handle(&self, instance: &Instance) -> TokenStream {
        let attribute = &instance.attribute;
        let name = &instance.name;
        let (path, declaration, fingerprint) =
            (Self::path(instance), self.declaration(instance), self.fingerprint(instance));
        let Attribute { threads, grid, .. } = attribute;
        // What a constant does not name is not compiled.
        let (on_cpu, code) = match &attribute.cpu {
            None => (quote!(true), quote!(block)),
            Some(cpu) => (
                quote!(#cpu),
                quote!(if cuda_tiles_description.on_cpu { block } else { ::cuda_tiles::launch::no_block }),
            ),
        };
        let (producer, blocks) = (attribute.producer.unwrap_or(0), attribute.consumers);
        let cluster = attribute.cluster[0] * attribute.cluster[1];
        let (vector, rank) = (attribute.vector as usize, *grid as usize);
        let dependent = attribute.dependent.is_some();
        let targets = instance.targets.value();
        let names = self.passed().map(|argument| &argument.name);
        let types: Vec<_> = self.argument_types().collect();
        let parts: Vec<_> = (0..types.len())
            .map(|i| {
                let index = syn::Index::from(i);
                quote!(cuda_tiles_parts.#index)
            })
            .collect();
        let (mut rooms, mut places) = (Vec::new(), Vec::new());
        for Argument { name, kind, .. } in self.shared() {
            let room = format_ident!("room_of_{name}");
            rooms.push(quote!(let mut #room = ::cuda_tiles::cpu::room::<#kind>();));
            places.push(quote!(::cuda_tiles::cpu::in_room::<#kind>(&mut #room)));
        }
        let shared_bytes = self.shared_bytes();
        let producers = producer as usize;
        let consumers = attribute.consumers as usize;
        let [rows, columns] = attribute.cluster.map(|blocks| blocks as usize);
        let block =
            quote!(::cuda_tiles::layout::Cta<1, #vector, #rank, #producers, #consumers, #rows, #columns>);
        let token = self.token(&block, &quote!(::cuda_tiles::cpu::place(cuda_tiles_position)));
        let call = self.call(instance, &block, &token, &parts, &places);
        let kind = self.kind();
        let vouch = self.item.sig.unsafety.map(|_| quote!(unsafe { ::cuda_tiles::cpu::vouch() };));
        // Kernels are statics, whose names no variable may have: variables have names that no kernel has.
        quote! {
            {
                #[allow(clippy::undocumented_unsafe_blocks, unused_variables)]
                unsafe fn block(
                    cuda_tiles_position: ::cuda_tiles::launch::BlockPosition,
                    cuda_tiles_parts: &<(#(#types,)*) as ::cuda_tiles::launch::Parameters>::Parts,
                ) {
                    #vouch
                    #(#rooms)*
                    // SAFETY: the contract of `Kernel::run_block` is that of the token and of the arguments. The shared memory
                    // belongs to this call alone.
                    unsafe { #call }
                }
                let cuda_tiles_description = ::cuda_tiles::launch::Description {
                    name: #name,
                    path: #path,
                    declaration: #declaration,
                    fingerprint: #fingerprint,
                    threads: #threads,
                    producer_threads: #producer,
                    consumers: #blocks,
                    cluster: #cluster,
                    grid_rank: #grid,
                    shared_bytes: #shared_bytes,
                    dependent: #dependent,
                    targets: #targets,
                    on_cpu: #on_cpu,
                    arguments: &[#(#names),*],
                    file: ::core::file!(),
                    line: ::core::line!(),
                };
                // SAFETY: the entry of this path and `block` are made from the same function.
                #[allow(clippy::undocumented_unsafe_blocks)]
                unsafe { #kind::new(cuda_tiles_description, #code) }
            }
        }
    }

    /// A generic kernel's handles, and the function that finds one by the parameters.
    fn lookup(&self, attribute: &Attribute, instances: &[Instance]) -> Result<TokenStream> {
        let name = &self.item.sig.ident;
        let (visibility, documentation, kind) = (&self.item.vis, self.documentation(), self.kind());
        let family = format_ident!("instances_of_{name}");
        let message = format!("kernel `{}` has no instance for these parameters", name.unraw());
        let listed: Vec<String> = attribute
            .instances
            .iter()
            .map(|listed| listed.values.to_token_stream().to_string().replace(' ', "").replace(',', ", "))
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
                GenericParam::Const(parameter) => {
                    let (name, kind) = (&parameter.ident, &parameter.ty);
                    let marker = constant_marker(kind)?;
                    generics.push(quote!(const #name: #kind));
                    markers.push(quote!(::cuda_tiles::launch::#marker<#name>));
                }
                GenericParam::Lifetime(_) => {}
            }
        }
        let handles = instances.iter().map(|instance| {
            let aliases = self.aliases(instance);
            let handle = self.handle(instance);
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

/// The type that represents a constant of this type in [`Instance`](::cuda_tiles::launch::Instance).
fn constant_marker(kind: &Type) -> Result<Ident> {
    let name = match kind {
        Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let marker = match name.as_deref() {
        Some("usize") => "Constant",
        Some("u32") => "ConstantU32",
        Some("i32") => "ConstantI32",
        Some("bool") => "ConstantBool",
        _ => {
            return Err(Error::new_spanned(
                kind,
                "the constants of a kernel are of type `usize`, `u32`, `i32` or `bool`; for a choice among more, take a type parameter \
                 with a trait of yours",
            ));
        }
    };
    Ok(format_ident!("{marker}", span = kind.span()))
}
