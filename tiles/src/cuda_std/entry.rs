//! What the attribute [`kernel`](super::kernel) expands to: arguments out of an entry's parameters.

/// Compiles for types that an entry can have.
pub const fn is_parameter<T: Copy>() {}

/// The slice of so many elements behind a pointer, which for none may be null.
///
/// # Safety
/// The elements are valid for reads as long as the slice is used, and nobody writes them meanwhile.
#[inline_on_device]
pub unsafe fn slice<'a, T>(first: *const T, length: usize) -> &'a [T] {
    // Computed, not chosen: there would be two copies of the code behind a choice.
    let first = first.wrapping_byte_add(usize::from(length == 0) * align_of::<T>());
    // SAFETY: the same contract; for no elements any aligned pointer but null will do.
    unsafe { core::slice::from_raw_parts(first, length) }
}

/// The text of so many bytes behind a pointer.
///
/// # Safety
/// As for [`slice`], and the bytes are UTF-8.
#[inline_on_device]
pub unsafe fn text<'a>(first: *const u8, length: usize) -> &'a str {
    // SAFETY: the same contract.
    unsafe { core::str::from_utf8_unchecked(slice(first, length)) }
}
