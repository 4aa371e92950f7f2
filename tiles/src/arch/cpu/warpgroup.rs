//! The CPU has no warpgroups. None of these functions is ever called.

macro_rules! never {
    ($($name:ident $(<const $parameter:ident: $of:ty>)? ($($type:ty),*);)*) => { $(
        /// For GPUs.
        ///
        /// # Safety
        /// Never called.
        pub unsafe fn $name $(<const $parameter: $of>)? ($(_: $type),*) {
            unreachable!("the CPU has no warpgroups")
        }
    )* };
}
never! {
    fence();
    commit();
    wait<const PENDING: u64>();
    undef(usize, *mut u32);
    pin<const WAIT: bool>(usize, *mut u32);
}

/// For GPUs.
pub fn schedule_fence() {}

macro_rules! products {
    ($($name:ident)*) => { $(
        /// For GPUs.
        pub mod $name {
            /// For GPUs.
            ///
            /// # Safety
            /// Never called.
            pub unsafe fn shared<const TA: i32, const TB: i32>(_: usize, _: *mut u32, _: u32, _: u64, _: u64) {
                unreachable!("the CPU has no warpgroups")
            }

            /// For GPUs.
            ///
            /// # Safety
            /// Never called.
            pub unsafe fn registers<const TB: i32>(_: usize, _: *mut u32, _: u32, _: [u32; 4], _: u64) {
                unreachable!("the CPU has no warpgroups")
            }
        }
    )* };
}
products!(f16_f32 bf16_f32 tf32_f32 e4m3_f32 e5m2_f32 i8_i8 u8_u8);
