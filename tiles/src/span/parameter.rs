//! Spans as arguments of kernels.

use super::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::arch::partitions::Origin;
use crate::element::Element;
use crate::launch::{Fingerprint, Parameter, Parts, Single};

// SAFETY: the parts are all of the span's fields; extents and strides are packed in `repr(C)`.
unsafe impl<T, E, A, M, G> Parameter for TensorSpan<T, E, A, M, G>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
{
    type First = *mut T::Bits;
    type Second = E::Packed;
    type Third = M::Data<E>;
    type Form = Single;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY
        .word("span")
        .word(T::NAME)
        .then(E::FINGERPRINT)
        .word(A::NAME)
        .then(M::FINGERPRINT)
        .number(G::BYTES as u64);
    #[inline_on_device]
    fn into_parts(self) -> Parts<Self> {
        const { Self::IN_MEMORY };
        Parts { first: self.pointer, second: self.extents.pack(), third: self.mapping }
    }
    #[inline_on_device]
    unsafe fn from_parts(parts: Parts<Self>) -> Self {
        const { Self::IN_MEMORY };
        // SAFETY: the parts come from a checked span.
        unsafe {
            let origin = Origin::new(parts.first.addr());
            TensorSpan::from_checked(parts.first, E::unpack(parts.second), parts.third, origin)
        }
    }
}
