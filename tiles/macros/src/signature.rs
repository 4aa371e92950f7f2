//! The rules for a kernel's function. Violations are refused here, in the user's words.

use crate::attribute::Attribute;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Error, FnArg, GenericArgument, GenericParam, Generics, ItemFn, Meta, Pat, PatType, Path, PathArguments,
    Result, ReturnType, Signature, Type, TypePath, parse_quote,
};

/// An argument after the token.
pub(crate) struct Argument {
    /// Its name for messages, without `r#`.
    pub(crate) name: String,
    pub(crate) kind: Type,
    /// Whether it is memory of the block, which the launch does not pass.
    pub(crate) is_shared: bool,
}

/// Attributes that ask for another entry or another machine than the kernel's.
const FOREIGN_ATTRIBUTES: [&str; 5] =
    ["target_feature", "no_mangle", "export_name", "link_section", "track_caller"];

/// Refuses properties that no kernel's function has.
pub(crate) fn check(item: &ItemFn) -> Result<()> {
    let signature = &item.sig;
    if !matches!(signature.output, ReturnType::Default) {
        return Err(Error::new_spanned(
            &signature.output,
            "a kernel returns nothing: it stores its results through writable spans",
        ));
    }
    if let Some(token) = &signature.asyncness {
        return Err(Error::new_spanned(token, "a kernel is an ordinary function, not an async one"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(
            abi,
            "a kernel is an ordinary function, without an `extern`: #[kernel] makes its entry on the GPU, and a panic in it \
             becomes an error of the launch",
        ));
    }
    if !signature.ident.unraw().to_string().is_ascii() {
        return Err(Error::new_spanned(
            &signature.ident,
            "a kernel's name is that of its entry in PTX, which has ASCII letters, digits and `_` alone",
        ));
    }
    for attribute in &item.attrs {
        // `#[unsafe(no_mangle)]` has its name inside.
        let name = match &attribute.meta {
            Meta::List(list) if list.path.is_ident("unsafe") => list.tokens.clone(),
            meta => meta.path().to_token_stream(),
        };
        let name = name.into_iter().next().map(|word| word.to_string()).unwrap_or_default();
        if FOREIGN_ATTRIBUTES.contains(&name.as_str()) {
            return Err(Error::new_spanned(
                attribute,
                format!(
                    "a kernel has no `#[{name}]`: #[kernel] makes its entry on the GPU and its function on the CPU; put the \
                     attribute on a function that the kernel calls"
                ),
            ));
        }
    }
    check_generics(&signature.generics)
}

fn check_generics(generics: &Generics) -> Result<()> {
    match generics.lifetimes().next() {
        None => Ok(()),
        Some(lifetime) => Err(Error::new_spanned(
            lifetime,
            "a kernel has no lifetime parameters: what it is given is valid as long as it runs, and has no lifetime",
        )),
    }
}

/// The type of the token without its block, as the user names it: `Cx` or `WarpRoles`. A token without a block is given the
/// block that the function then has as its first parameter.
pub(crate) fn take_token(attribute: &Attribute, signature: &mut Signature) -> Result<Path> {
    let (name, problem) = match attribute.producer {
        None => (
            "Cx",
            "a kernel's first argument is the running block: `cx: Cx`, or `cx: Cx<B>` with `B: Block` as the kernel's first generic parameter",
        ),
        Some(_) => (
            "WarpRoles",
            "the first argument of a kernel with producer threads is `roles: WarpRoles`, or \
             `roles: WarpRoles<B>` with `B: Block` as the kernel's first generic parameter",
        ),
    };
    let Some(FnArg::Typed(token)) = signature.inputs.first_mut() else {
        return Err(Error::new_spanned(&signature.ident, problem));
    };
    let Type::Path(TypePath { path, qself: None }) = &mut *token.ty else {
        return Err(Error::new_spanned(&token.ty, problem));
    };
    let Some(last) = path.segments.last_mut() else {
        return Err(Error::new_spanned(path, problem));
    };
    if last.ident == "WarpRoles" && attribute.producer.is_none() {
        return Err(Error::new_spanned(
            last,
            "`WarpRoles` belongs to kernels with producer threads: state `producer = 32` in #[kernel(...)], or take `cx: Cx`",
        ));
    }
    if last.ident != name {
        return Err(Error::new_spanned(path, problem));
    }
    match &last.arguments {
        PathArguments::None => {
            last.arguments = PathArguments::AngleBracketed(parse_quote!(<KernelBlock>));
            let block = parse_quote!(KernelBlock: ::cuda_tiles::layout::Block);
            signature.generics.params.insert(0, block);
        }
        // The first parameter is the launch's block. The token must belong to exactly this block.
        PathArguments::AngleBracketed(given) => {
            let first = match signature.generics.params.first() {
                Some(GenericParam::Type(first)) => Some(&first.ident),
                _ => None,
            };
            let mut given = given.args.iter();
            let is_first = match (given.next(), given.next()) {
                (Some(GenericArgument::Type(Type::Path(TypePath { path, qself: None }))), None) => {
                    first.is_some_and(|first| path.is_ident(first))
                }
                _ => false,
            };
            if !is_first {
                return Err(Error::new_spanned(last, problem));
            }
        }
        PathArguments::Parenthesized(_) => return Err(Error::new_spanned(last, problem)),
    }
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut() {
        last.arguments = PathArguments::None;
    }
    Ok(path)
}

/// The arguments after the token.
pub(crate) fn take_arguments(signature: &mut Signature) -> Result<Vec<Argument>> {
    let mut arguments = Vec::new();
    for input in signature.inputs.iter_mut().skip(1) {
        let FnArg::Typed(argument) = input else {
            return Err(Error::new_spanned(input, "a kernel is a free function, it has no self"));
        };
        let is_shared = take_mark(argument)?;
        let Pat::Ident(name) = &*argument.pat else {
            return Err(Error::new_spanned(&argument.pat, "a kernel's argument is a plain name"));
        };
        if matches!(&*argument.ty, Type::Reference(_)) {
            return Err(Error::new_spanned(
                &argument.ty,
                "a kernel's arguments are no references: a tensor is a span, `x: Span<f32, (u32,)>`, to which the launch is \
                 given `&tensor`; a number is passed as it is",
            ));
        }
        if mentions(argument.ty.to_token_stream(), "impl") {
            return Err(Error::new_spanned(
                &argument.ty,
                "the type of a kernel's argument has a name: in place of `impl Trait` take a generic parameter, \
                 `fn k<B: Block, T: Element>(cx: Cx<B>, x: T)`, and list `instances(<f32>)` in #[kernel(...)]",
            ));
        }
        arguments.push(Argument {
            name: name.ident.unraw().to_string(),
            kind: (*argument.ty).clone(),
            is_shared,
        });
    }
    if arguments.iter().filter(|argument| !argument.is_shared).count() > 12 {
        return Err(Error::new_spanned(
            &signature.inputs,
            "a kernel takes at most 12 arguments from its launch",
        ));
    }
    Ok(arguments)
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

/// Whether a word occurs anywhere in the tokens.
fn mentions(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(group.stream(), word),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentence with which a kernel is refused.
    fn refusal(attribute: &str, item: &str) -> String {
        let attribute: Attribute = syn::parse_str(attribute).unwrap();
        let mut item: ItemFn = syn::parse_str(item).unwrap();
        let checked = check(&item)
            .and_then(|()| take_token(&attribute, &mut item.sig))
            .and_then(|_| take_arguments(&mut item.sig));
        checked.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_token_is_of_the_first_parameter() {
        for honest in
            ["k(cx: Cx)", "k<B: Block>(cx: Cx<B>)", "k<B: Block, T>(cx: cuda_tiles::context::Cx<B>)"]
        {
            assert_eq!(refusal("", &format!("fn {honest} {{}}")), "", "{honest}");
        }
        for other in [
            "k<B: Block>(cx: Cx<Cta<1, 4, 1>>)",
            "k(cx: Cx<Cta<1, 4, 1>>)",
            "k<T, B: Block>(cx: Cx<B>)",
            "k<B: Block>(cx: Cx<B::Other>)",
            "k<B: Block>(cx: Cx<B, B>)",
            "k<const N: usize>(cx: Cx<N>)",
            "k(cx: <u32 as Trait>::Cx)",
            "k(cx: Token)",
            "k()",
        ] {
            let text = refusal("", &format!("fn {other} {{}}"));
            assert!(
                text.starts_with("a kernel's first argument is the running block: `cx: Cx`, or"),
                "{other}: {text}"
            );
        }
        let text = refusal("producer = 32", "fn k<B: Block>(roles: WarpRoles<Cta<1, 4, 1, 32>>) {}");
        assert!(text.starts_with("the first argument of a kernel with producer threads"), "{text}");
    }

    #[test]
    fn what_is_no_kernel_is_refused_in_words() {
        for (item, sentence) in [
            ("extern \"C\" fn k(cx: Cx) {}", "a kernel is an ordinary function, without an `extern`"),
            ("fn größe(cx: Cx) {}", "a kernel's name is that of its entry in PTX"),
            ("fn k<'a>(cx: Cx) {}", "a kernel has no lifetime parameters"),
            ("fn k(cx: Cx, x: &'static [f32]) {}", "a kernel's arguments are no references"),
            ("fn k(cx: Cx, x: impl Element) {}", "the type of a kernel's argument has a name"),
            ("fn k(cx: Cx, x: Option<impl Element>) {}", "the type of a kernel's argument has a name"),
            ("#[target_feature(enable = \"avx\")] fn k(cx: Cx) {}", "a kernel has no `#[target_feature]`"),
            ("#[unsafe(no_mangle)] fn k(cx: Cx) {}", "a kernel has no `#[no_mangle]`"),
            ("#[unsafe(export_name = \"x\")] fn k(cx: Cx) {}", "a kernel has no `#[export_name]`"),
        ] {
            let text = refusal("", item);
            assert!(text.starts_with(sentence), "{item}: {text}");
        }
        assert_eq!(refusal("", "#[inline] #[allow(unused)] #[doc = \"k\"] fn k(cx: Cx, x: f32) {}"), "");
    }
}
