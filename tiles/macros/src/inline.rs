//! How functions are inlined.

use proc_macro2::TokenStream;
use quote::quote;

/// The attributes of a function that is inlined on the device always, and elsewhere where the compiler decides.
pub(crate) fn on_device() -> TokenStream {
    quote! {
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[cfg_attr(not(target_arch = "nvptx64"), inline)]
    }
}
