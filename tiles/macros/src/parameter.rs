//! The expansion of `#[derive(Parameter)]`.

use crate::inline;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Fields, Result, parse_quote};

/// A kernel's parameters have twelve places, and so have tuples of them.
const MOST_FIELDS: usize = 12;

/// The struct's implementations of `Aggregate` and `Parameter`.
pub(crate) fn parameter(input: DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(_) | Data::Union(_) => {
            return Err(Error::new_spanned(
                name,
                "a kernel's argument is a struct of arguments: numbers, spans and operands; an enum or a union cannot be checked on both \
                 sides",
            ));
        }
    };
    if let Some(lifetime) = input.generics.lifetimes().next() {
        return Err(Error::new_spanned(
            lifetime,
            "a kernel's argument has no lifetime parameters: what it is given is valid as long as it runs",
        ));
    }
    if fields.is_empty() || fields.len() > MOST_FIELDS {
        return Err(Error::new_spanned(
            name,
            format!(
                "a struct that is a kernel's argument has 1 to {MOST_FIELDS} fields; put more of them into structs of their own"
            ),
        ));
    }
    let kinds: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let places: Vec<_> = (0..kinds.len()).map(|index| format_ident!("field_{index}")).collect();
    let names: Vec<_> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| field.ident.as_ref().map_or(index.to_string(), |name| name.unraw().to_string()))
        .collect();
    let pattern = match fields {
        Fields::Named(named) => {
            let idents = named.named.iter().map(|field| &field.ident);
            quote!(Self { #(#idents: #places),* })
        }
        _ => quote!(Self(#(#places),*)),
    };
    let inlined = inline::on_device();
    let word = name.unraw().to_string();
    let mut generics = input.generics.clone();
    let bounds = generics.make_where_clause();
    for kind in &kinds {
        bounds.predicates.push(parse_quote!(#kind: ::cuda_tiles::launch::Parameter));
    }
    if !input.generics.params.is_empty() {
        bounds.predicates.push(parse_quote!(Self: 'static));
    }
    let (implementation, arguments, bounds) = generics.split_for_impl();
    let all = quote!((#(#kinds,)*));
    let parts_of_all = quote!(<#all as ::cuda_tiles::launch::Parameter>);
    Ok(quote! {
        #[automatically_derived]
        impl #implementation ::cuda_tiles::launch::Aggregate for #name #arguments #bounds {
            type Fields = #all;
            const NAMES: &'static [&'static str] = &[#(#names),*];
            #inlined
            fn from_fields((#(#places,)*): Self::Fields) -> Self {
                #pattern
            }
        }

        // SAFETY: the parts are those of the tuple of all fields.
        #[automatically_derived]
        #[allow(clippy::undocumented_unsafe_blocks)]
        unsafe impl #implementation ::cuda_tiles::launch::Parameter for #name #arguments #bounds {
            type First = #parts_of_all::First;
            type Second = ();
            type Third = ();
            type Form = ::cuda_tiles::launch::Composite;
            const FINGERPRINT: ::cuda_tiles::launch::Fingerprint =
                ::cuda_tiles::launch::Fingerprint::EMPTY.word("struct").word(#word)#(.word(#names))*.then(#parts_of_all::FINGERPRINT);
            #inlined
            fn into_parts(self) -> ::cuda_tiles::launch::Parts<Self> {
                let #pattern = self;
                let parts = #parts_of_all::into_parts((#(#places,)*));
                ::cuda_tiles::launch::Parts { first: parts.first, second: (), third: () }
            }
            #inlined
            unsafe fn from_parts(parts: ::cuda_tiles::launch::Parts<Self>) -> Self {
                let parts = ::cuda_tiles::launch::Parts { first: parts.first, second: (), third: () };
                // SAFETY: the fields' parts come from a valid argument, by the same contract.
                <Self as ::cuda_tiles::launch::Aggregate>::from_fields(unsafe { #parts_of_all::from_parts(parts) })
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(item: &str) -> String {
        let input: DeriveInput = syn::parse_str(item).unwrap();
        parameter(input).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_is_no_argument_is_refused_in_words() {
        let thirteen: String = (0..13).map(|k| format!("f{k}: f32,")).collect();
        for (item, sentence) in [
            ("enum E { A }".to_owned(), "a kernel's argument is a struct of arguments"),
            ("union U { a: f32 }".to_owned(), "a kernel's argument is a struct of arguments"),
            ("struct S<'a> { x: &'a f32 }".to_owned(), "a kernel's argument has no lifetime parameters"),
            ("struct S;".to_owned(), "a struct that is a kernel's argument has 1 to 12 fields"),
            (format!("struct S {{ {thirteen} }}"), "a struct that is a kernel's argument has 1 to 12 fields"),
        ] {
            let text = refusal(&item);
            assert!(text.starts_with(sentence), "{item}: {text}");
        }
        for item in ["struct S { x: f32, r#type: u32 }", "struct S<T: Element>(T, Span<T, (u32,)>);"] {
            assert_eq!(refusal(item), "", "{item}");
        }
    }
}
