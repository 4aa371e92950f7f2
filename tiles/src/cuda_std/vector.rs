//! The indices of [`thread`](super::thread): two or three numbers with names.
//!
//! `cuda_std` gives those of the crate `vek`. These have the same fields, and turn into arrays and tuples, and by them into the vectors of
//! any crate.

macro_rules! vectors {
    ($($(#[$attribute:meta])* $name:ident<$count:literal>($($axis:ident),*) = $tuple:ty;)*) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(C)]
        pub struct $name<T = u32> {
            $(
                #[doc = concat!("The number along the axis `", stringify!($axis), "`.")]
                pub $axis: T,
            )*
        }

        impl<T> $name<T> {
            /// These numbers.
            #[inline_on_device]
            pub const fn new($($axis: T),*) -> Self {
                Self { $($axis),* }
            }
        }

        impl $name {
            /// Zero along all axes.
            #[inline_on_device]
            pub const fn zero() -> Self {
                Self { $($axis: 0),* }
            }

            /// The numbers, multiplied.
            #[inline_on_device]
            pub const fn product(self) -> u32 {
                let product = 1_u32;
                $(let product = product.wrapping_mul(self.$axis);)*
                product
            }
        }

        impl<T> From<$name<T>> for [T; $count] {
            #[inline_on_device]
            fn from(vector: $name<T>) -> Self {
                [$(vector.$axis),*]
            }
        }

        impl<T> From<[T; $count]> for $name<T> {
            #[inline_on_device]
            fn from([$($axis),*]: [T; $count]) -> Self {
                Self { $($axis),* }
            }
        }

        impl<T> From<$name<T>> for $tuple {
            #[inline_on_device]
            fn from(vector: $name<T>) -> Self {
                ($(vector.$axis),*)
            }
        }
    )* };
}
vectors! {
    /// Two numbers.
    ///
    /// ```
    /// use cuda_tiles::cuda_std::vector::Vec2;
    /// let [x, y] = Vec2::new(3, 4).into();
    /// assert_eq!((x, y), (3, 4));
    /// ```
    Vec2<2>(x, y) = (T, T);
    /// Three numbers.
    ///
    /// ```
    /// use cuda_tiles::cuda_std::vector::Vec3;
    /// assert_eq!(Vec3::new(2, 3, 4).product(), 24);
    /// ```
    Vec3<3>(x, y, z) = (T, T, T);
}
