//! The parameters of a kernel's entry, as the driver wants them: one address for each.

use std::alloc::Layout;
use std::ffi::c_void;

use cuda_tiles::launch::Parameters;

/// Room for 32 parameters without allocating again.
const USUAL_WORDS: usize = 32;

/// Copies of the values of an entry's parameters, each aligned for its type.
pub(crate) struct EntryParameters {
    /// The copies, one after the other. A word has the largest alignment that a parameter can have, 16 bytes.
    words: Vec<u128>,
    /// Where each copy begins, in words.
    begins: Vec<usize>,
}

impl EntryParameters {
    /// Copies the parameters.
    pub(crate) fn new<P: Parameters>(parts: &P::Parts) -> Self {
        let mut copies =
            Self { words: Vec::with_capacity(USUAL_WORDS), begins: Vec::with_capacity(USUAL_WORDS) };
        // SAFETY: the places that a visit hands over are valid during the call.
        P::visit(parts, &mut |address, layout| unsafe { copies.copy(address, layout) });
        copies
    }

    /// Copies one more parameter.
    ///
    /// # Safety
    /// The address is valid for reading a parameter of this layout.
    unsafe fn copy(&mut self, address: *const u8, layout: Layout) {
        assert!(layout.align() <= align_of::<u128>(), "a kernel's parameter is aligned to at most 16 bytes");
        let begin = self.words.len();
        self.begins.push(begin);
        self.words.resize(begin + layout.size().div_ceil(size_of::<u128>()), 0);
        // SAFETY: the address is valid for as many bytes, and as many were just added to the copies.
        unsafe { address.copy_to_nonoverlapping(self.words[begin..].as_mut_ptr().cast(), layout.size()) };
    }

    /// The address of each copy, in order.
    pub(crate) fn addresses(&mut self) -> Vec<*mut c_void> {
        let words = self.words.as_mut_ptr();
        self.begins.iter().map(|&begin| words.wrapping_add(begin).cast()).collect()
    }
}

/// The shared memory of a block, in bytes: what the code declares, and behind it, aligned, what the launch asks for.
#[cfg(any(feature = "cudarc", feature = "cust"))]
pub(crate) fn total_shared(declared: u32, asked: u32) -> u32 {
    if asked == 0 {
        declared
    } else {
        declared.next_multiple_of(cuda_tiles::memory::shared::ALIGNMENT) + asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_tiles::element::bf16;
    use cuda_tiles::launch::Parameters;

    #[test]
    fn each_parameter_has_an_address_of_its_own() {
        let parts = (true, 2_u64, bf16::from_f32(3.0), 4.0_f64).into_parts();
        let mut parameters = EntryParameters::new::<(bool, u64, bf16, f64)>(&parts);
        let addresses = parameters.addresses();
        assert_eq!(addresses.len(), 4);
        // SAFETY: the addresses are those of values with these bits.
        unsafe {
            assert_eq!(*addresses[0].cast::<u8>(), 1);
            assert_eq!(*addresses[1].cast::<u64>(), 2);
            assert_eq!(*addresses[2].cast::<u16>(), bf16::from_f32(3.0).to_bits());
            assert_eq!(*addresses[3].cast::<f64>(), 4.0);
        }
    }

    #[test]
    fn a_kernel_may_have_no_parameters() {
        assert!(EntryParameters::new::<()>(&()).addresses().is_empty());
    }
}
