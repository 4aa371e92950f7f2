//! Plain loads and stores of 1 to 16 bytes.

macro_rules! access {
    ($load:ident, $load_constant:ident, $load_if:ident, $load_constant_if:ident, $store:ident, $store_if:ident, $type:ty) => {
        /// Reads.
        ///
        /// # Safety
        /// `address` is valid for the read.
        #[inline]
        pub unsafe fn $load(address: *const u8) -> $type {
            // SAFETY: the caller vouches for the address; an unaligned read asks for no alignment.
            unsafe { address.cast::<$type>().read_unaligned() }
        }

        /// Reads memory that nothing writes while the kernel runs.
        ///
        /// # Safety
        /// `address` is valid for the read.
        #[inline]
        pub unsafe fn $load_constant(address: *const u8) -> $type {
            // SAFETY: the same contract.
            unsafe { $load(address) }
        }

        /// Reads if `condition` holds.
        ///
        /// # Safety
        /// Where `condition` holds, `address` is valid for the read.
        #[inline]
        pub unsafe fn $load_if(condition: bool, address: *const u8, otherwise: $type) -> $type {
            if condition {
                // SAFETY: the same contract, under the condition.
                unsafe { $load(address) }
            } else {
                otherwise
            }
        }

        /// Reads constant memory if `condition` holds.
        ///
        /// # Safety
        /// Where `condition` holds, `address` is valid for the read.
        #[inline]
        pub unsafe fn $load_constant_if(condition: bool, address: *const u8, otherwise: $type) -> $type {
            // SAFETY: the same contract.
            unsafe { $load_if(condition, address, otherwise) }
        }

        /// Writes.
        ///
        /// # Safety
        /// `address` is valid for the write and not accessed concurrently.
        #[inline]
        pub unsafe fn $store(address: *mut u8, value: $type) {
            // SAFETY: the caller vouches for the address; an unaligned write asks for no alignment.
            unsafe { address.cast::<$type>().write_unaligned(value) }
        }

        /// Writes if `condition` holds.
        ///
        /// # Safety
        /// Where `condition` holds, `address` is valid for the write and not accessed concurrently.
        #[inline]
        pub unsafe fn $store_if(condition: bool, address: *mut u8, value: $type) {
            if condition {
                // SAFETY: the same contract, under the condition.
                unsafe { $store(address, value) }
            }
        }
    };
}
access!(load_1, load_constant_1, load_1_if, load_constant_1_if, store_1, store_1_if, u8);
access!(load_2, load_constant_2, load_2_if, load_constant_2_if, store_2, store_2_if, u16);
access!(load_4, load_constant_4, load_4_if, load_constant_4_if, store_4, store_4_if, u32);
access!(load_8, load_constant_8, load_8_if, load_constant_8_if, store_8, store_8_if, [u32; 2]);
access!(load_16, load_constant_16, load_16_if, load_constant_16_if, store_16, store_16_if, [u32; 4]);
