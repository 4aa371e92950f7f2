//! What `#[export]` makes of a function.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Error, FnArg, ItemFn, LitStr, Pat, Result, Type};

/// The function, and beside it the one that C calls.
pub(crate) fn export(name: Option<LitStr>, item: &ItemFn) -> Result<TokenStream> {
    let signature = &item.sig;
    let function = &signature.ident;
    let name = name.unwrap_or_else(|| LitStr::new(&function.to_string(), function.span()));
    check(&name, item)?;
    let (names, types) = parameters(item)?;
    let held: Vec<Ident> = (0..types.len()).map(|position| format_ident!("held_{position}")).collect();
    let positions = 0..types.len();
    let symbol = LitStr::new(&format!("__tvm_ffi_{}", name.value()), name.span());
    Ok(quote! {
        #item

        const _: () = {
            static FUNCTION: ::cuda_tiles_ffi::__private::Function =
                ::cuda_tiles_ffi::__private::Function { name: #name, parameters: &[#(#names),*] };

            fn run(
                arguments: &mut ::cuda_tiles_ffi::__private::Arguments<'_>,
            ) -> ::core::result::Result<::cuda_tiles_ffi::__private::Any, ::cuda_tiles_ffi::Exception> {
                #(let mut #held = <#types as ::cuda_tiles_ffi::Parameter>::hold(arguments, #positions)?;)*
                let returned =
                    #function(arguments.call(), #(<#types as ::cuda_tiles_ffi::Parameter>::lend(&mut #held)),*);
                ::cuda_tiles_ffi::Returned::into_any(returned).map_err(|raised| raised.of(&FUNCTION))
            }

            #[allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
            #[unsafe(export_name = #symbol)]
            unsafe extern "C" fn entry(
                _: ::cuda_tiles_ffi::__private::Handle,
                arguments: *const ::cuda_tiles_ffi::__private::Any,
                count: i32,
                result: *mut ::cuda_tiles_ffi::__private::Any,
            ) -> i32 {
                // Passed on to the caller, who calls by TVM-FFI's convention.
                unsafe { ::cuda_tiles_ffi::__private::enter(&FUNCTION, arguments, count, result, run) }
            }
        };
    })
}

/// Refuses what cannot be exported.
fn check(name: &LitStr, item: &ItemFn) -> Result<()> {
    let signature = &item.sig;
    let refuse = |problem: &str| Err(Error::new_spanned(signature, problem));
    let text = name.value();
    let is_identifier = text.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
        && !text.starts_with(|letter: char| letter.is_ascii_digit());
    if text.is_empty() || !is_identifier {
        return Err(Error::new_spanned(
            name,
            "the name is one that Python can write: ASCII letters, digits and `_`",
        ));
    }
    if !signature.generics.params.is_empty() {
        return refuse("an exported function has no generic parameters: write one for each type of elements");
    }
    if let Some(asyncness) = &signature.asyncness {
        return Err(Error::new_spanned(
            asyncness,
            "an exported function is not `async`: launches return before kernels end",
        ));
    }
    if let Some(unsafety) = &signature.unsafety {
        return Err(Error::new_spanned(
            unsafety,
            "an exported function is safe: Python could not keep its contract",
        ));
    }
    Ok(())
}

/// Names and types of the parameters after the call.
fn parameters(item: &ItemFn) -> Result<(Vec<String>, Vec<&Type>)> {
    let mut inputs = item.sig.inputs.iter();
    let first = inputs.next().and_then(|input| match input {
        FnArg::Typed(first) => Some(&*first.ty),
        FnArg::Receiver(_) => None,
    });
    let is_call = |ty: &&Type| {
        let Type::Reference(reference) = ty else { return false };
        matches!(&*reference.elem, Type::Path(path) if reference.mutability.is_none()
            && path.path.segments.last().is_some_and(|segment| segment.ident == "Call"))
    };
    if first.filter(is_call).is_none() {
        return Err(Error::new_spanned(
            &item.sig,
            "the first parameter of an exported function is `call: &Call`: the device and the stream to work on",
        ));
    }
    let parameters = inputs.map(|input| match input {
        FnArg::Typed(parameter) => match &*parameter.pat {
            Pat::Ident(pattern) => Ok((pattern.ident.to_string(), &*parameter.ty)),
            pattern => Err(Error::new_spanned(
                pattern,
                "a parameter of an exported function has a name, for messages",
            )),
        },
        FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, "an exported function is no method")),
    });
    Ok(parameters.collect::<Result<Vec<_>>>()?.into_iter().unzip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: Option<&str>, function: &str) -> String {
        let name = name.map(|name| LitStr::new(name, proc_macro2::Span::call_site()));
        match export(name, &syn::parse_str(function).unwrap()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn functions_that_cannot_be_exported_are_told_why() {
        for (name, function, text) in [
            (None, "fn f() {}", "the first parameter"),
            (None, "fn f(x: TensorView<f32, 1>) {}", "the first parameter"),
            (None, "fn f(call: Call) {}", "the first parameter"),
            (None, "fn f<T>(call: &Call, x: TensorView<T, 1>) {}", "no generic parameters"),
            (None, "async fn f(call: &Call) {}", "not `async`"),
            (None, "unsafe fn f(call: &Call) {}", "is safe"),
            (None, "fn f(call: &Call, (x, y): (f32, f32)) {}", "has a name"),
            (Some("x y"), "fn f(call: &Call) {}", "Python can write"),
            (Some("2x"), "fn f(call: &Call) {}", "Python can write"),
        ] {
            let found = refusal(name, function);
            assert!(found.contains(text), "{function}: {found}");
        }
        assert_eq!(refusal(Some("g"), "fn f(_: &cuda_tiles_ffi::Call, mut x: f32) -> f64 { 0.0 }"), "");
    }

    #[test]
    fn the_symbol_has_the_name() {
        let item: ItemFn = syn::parse_str("fn f(call: &Call, x: f32) {}").unwrap();
        let expanded = export(None, &item).unwrap().to_string();
        assert!(expanded.contains("\"__tvm_ffi_f\""), "{expanded}");
        assert!(expanded.contains("parameters : & [\"x\"]"), "{expanded}");
    }
}
