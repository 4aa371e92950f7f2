//! The table of all ready-made kernels: element types, storage and tile shapes.
//!
//! The instances of the kernels and the candidates of a launch both come from this table. A new tile shape is a new entry in a list, and a
//! new combination of types is a new list.

/// Calls the macro `$then` with its arguments and the table behind them.
///
/// Brackets hold the types of `a`, `b`, the accumulators and `c`. `split_k` allows decompositions into partial sums (split-K and stream-K),
/// `split_k_only` split-K, and `whole` data-parallel launches alone. The kernels for these types follow the brackets. An entry is a kernel,
/// the rows, columns and depth of its tile, and whether its accumulation is promoted. If several entries serve, the host prefers the first.
///
/// `compact` and `deep` kernels have one consumer warpgroup, and `narrow` kernels are for few rows. `cluster` kernels are for GPUs with
/// warpgroups. `rows` kernels have tiles of any multiple of 16 rows, with two consumer warpgroups of 64 columns each; those of `wide_rows`
/// kernels and of `f64` have 128, and `half_rows` kernels have one warpgroup. The threads of `threads` and `shallow_threads` kernels load
/// the operands, those of `ahead`, `narrow_ahead` and `double_buffered` kernels copy them. Their accumulation is never promoted. `vector`
/// and `column` kernels are for results of one row and of one column; an entry has the depth of one of the tiles that they load at a time.
/// The letter in their names is the operand that is a matrix.
///
/// In the name of a kernel the first letter is operand A and the second is operand B. `n` is stored as it is multiplied, `t` is stored as
/// its transpose. Both are row-major.
///
/// Tiles of 96, 144, 160 and 192 columns, and those of `rows` kernels, are for GPUs with warpgroups alone: others would multiply 128 or 256
/// columns to use some of them.
///
/// Each feature of the crate has the lists of its element types. The macro of a feature adds them to the call, and calls that of the next.
#[cfg(not(test))]
macro_rules! gemm_table {
    ($then:ident!($($arguments:tt)*)) => {
        lists_of_f16! { [$then!($($arguments)*)] }
    };
}

/// Unit tests need no kernels, which take minutes to compile: the table is empty for them.
#[cfg(test)]
macro_rules! gemm_table {
    ($then:ident!($($arguments:tt)*)) => {
        $then! { $($arguments)* }
    };
}

/// Makes the call, with the lists of all features behind its arguments.
macro_rules! with_lists {
    ([$then:ident!($($arguments:tt)*)] $($lists:tt)*) => {
        $then! { $($arguments)* $($lists)* }
    };
}

/// Calls `$next` with the lists of a type of 16 bits behind those that there are: `k_major` alone, or those of operands in `all_orders`.
#[cfg(any(feature = "gemm-f16-k-major", feature = "gemm-bf16-k-major"))]
macro_rules! lists_of_16_bits {
    ($element:ident k_major, $next:ident: $call:tt $($lists:tt)*) => {
        lists_of_16_bits! { $element [] [], $next: $call $($lists)* }
    };
    ($element:ident all_orders, $next:ident: $call:tt $($lists:tt)*) => {
        lists_of_16_bits! { $element
            [
                nn 128 256 64 false, nn 256 160 64 false, cluster_nn 128 256 64 false, cluster_nn 128 192 64 false, nn 128 192 64 false, nn 128 128 64 false, deep_nn 64 128 64 false, compact_nn 64 64 64 false,
                tn 128 256 64 false, cluster_tn 128 256 64 false, cluster_tn 128 192 64 false, tn 128 192 64 false, tn 256 64 64 false, tn 128 128 64 false, deep_tn 64 128 64 false, compact_tn 64 64 64 false, rows_tn 96 128 64 false, rows_tn 176 128 64 false,
                tt 128 256 64 false, cluster_tt 128 256 64 false, cluster_tt 128 192 64 false, tt 128 192 64 false, tt 128 144 64 false, tt 256 64 64 false, tt 128 128 64 false, deep_tt 64 128 64 false, compact_tt 64 64 64 false, rows_tt 96 128 64 false, rows_tt 176 128 64 false,
                rows_nn 96 128 64 false, rows_nn 112 128 64 false, rows_nn 144 128 64 false, rows_nn 176 128 64 false, rows_nn 208 128 64 false, wide_rows_nn 112 256 64 false, wide_rows_nn 144 256 64 false, wide_cluster_rows_nn 160 256 64 false,
                half_rows_nn 96 64 64 false, half_rows_nn 144 64 64 false, narrow_nn 16 64 64 false, narrow_nn 32 64 64 false,
                threads_nn 64 64 64 false, threads_nn 16 64 64 false, threads_nn 16 16 256 false, shallow_threads_nn 64 128 16 false, shallow_threads_nn 64 32 16 false, shallow_threads_nn 32 256 16 false,
                threads_tn 64 64 64 false, threads_tn 16 64 64 false, threads_tn 16 16 256 false, shallow_threads_tn 64 128 16 false, shallow_threads_tn 64 32 16 false, shallow_threads_tn 32 256 16 false,
                threads_tt 64 64 64 false, threads_tt 16 64 64 false, threads_tt 16 16 256 false, shallow_threads_tt 64 128 16 false, shallow_threads_tt 64 32 16 false, shallow_threads_tt 32 256 16 false,
                ahead_nn 128 64 64 false, ahead_tn 128 64 64 false, ahead_tt 128 64 64 false, narrow_ahead_nn 16 128 64 false, narrow_ahead_tn 16 128 64 false,
                vector_n 1 8 256 false, vector_n 1 32 64 false, vector_n 1 64 32 false, vector_n 1 256 8 false,
                column_t 8 1 256 false, column_t 32 1 64 false, column_t 64 1 32 false, column_t 256 1 8 false,
            ]
            [
                nn 128 256 64 false, cluster_nn 128 256 64 false, nn 128 192 64 false, nn 128 128 64 false, compact_nn 64 64 64 false,
                tn 128 256 64 false, cluster_tn 128 256 64 false, tn 128 192 64 false, tn 128 128 64 false, compact_tn 64 64 64 false,
                tt 128 256 64 false, cluster_tt 128 256 64 false, tt 128 192 64 false, tt 128 144 64 false, tt 128 128 64 false, compact_tt 64 64 64 false,
                rows_nn 144 128 64 false, rows_nn 176 128 64 false,
                half_rows_nn 96 64 64 false, narrow_nn 16 64 64 false, narrow_nn 32 64 64 false,
                threads_nn 64 64 64 false, threads_nn 16 64 64 false, threads_nn 16 16 256 false,
                threads_tn 64 64 64 false, threads_tn 16 64 64 false, threads_tn 16 16 256 false,
                threads_tt 64 64 64 false, threads_tt 16 64 64 false, threads_tt 16 16 256 false,
                ahead_nn 128 64 64 false, ahead_tn 128 64 64 false, ahead_tt 128 64 64 false, narrow_ahead_nn 16 128 64 false, narrow_ahead_tn 16 128 64 false,
                vector_n 1 8 256 false, vector_n 1 32 64 false, vector_n 1 64 32 false, vector_n 1 256 8 false,
                column_t 8 1 256 false, column_t 32 1 64 false, column_t 64 1 32 false, column_t 256 1 8 false,
            ], $next: $call $($lists)*
        }
    };
    ($element:ident [$($mn_major:tt)*] [$($mn_major_to_f32:tt)*], $next:ident: $call:tt $($lists:tt)*) => {
        $next! { $call $($lists)*
            [$element $element f32 $element split_k]
            nt 128 256 64 false, nt 256 160 64 false, cluster_nt 128 256 64 false, cluster_nt 128 192 64 false, nt 128 192 64 false, nt 128 144 64 false, nt 128 128 64 false, deep_nt 64 128 64 false, compact_nt 64 64 64 false,
            rows_nt 96 128 64 false, rows_nt 112 128 64 false, rows_nt 144 128 64 false, rows_nt 176 128 64 false, rows_nt 192 128 64 false, rows_nt 208 128 64 false, wide_rows_nt 112 256 64 false, wide_rows_nt 144 256 64 false, wide_cluster_rows_nt 160 256 64 false, wide_cluster_1x2_rows_nt 160 256 64 false,
            half_rows_nt 96 64 64 false, half_rows_nt 144 64 64 false, half_rows_nt 160 64 64 false, narrow_nt 16 64 64 false, narrow_nt 32 64 64 false,
            threads_nt 64 64 64 false, threads_nt 16 64 64 false, threads_nt 16 16 256 false, shallow_threads_nt 64 128 16 false, shallow_threads_nt 64 32 16 false, shallow_threads_nt 32 256 16 false,
            ahead_nt 128 64 64 false, narrow_ahead_nt 16 128 64 false,
            vector_t 1 8 256 false, vector_t 1 32 64 false, column_n 8 1 256 false, column_n 32 1 64 false,
            $($mn_major)*

            [$element $element f32 f32 split_k]
            nt 128 256 64 false, cluster_nt 128 256 64 false, nt 128 192 64 false, nt 128 144 64 false, nt 128 128 64 false, compact_nt 64 64 64 false,
            rows_nt 112 128 64 false, rows_nt 144 128 64 false, rows_nt 176 128 64 false,
            half_rows_nt 96 64 64 false, narrow_nt 16 64 64 false, narrow_nt 32 64 64 false,
            threads_nt 64 64 64 false, threads_nt 16 64 64 false, threads_nt 16 16 256 false,
            ahead_nt 128 64 64 false, narrow_ahead_nt 16 128 64 false,
            vector_t 1 8 256 false, vector_t 1 32 64 false, column_n 8 1 256 false, column_n 32 1 64 false,
            $($mn_major_to_f32)*
        }
    };
}

#[cfg(feature = "gemm-f16")]
macro_rules! lists_of_f16 {
    ($call:tt $($lists:tt)*) => {
        lists_of_16_bits! { f16 all_orders, lists_of_bf16: $call $($lists)* }
    };
}

#[cfg(all(feature = "gemm-f16-k-major", not(feature = "gemm-f16")))]
macro_rules! lists_of_f16 {
    ($call:tt $($lists:tt)*) => {
        lists_of_16_bits! { f16 k_major, lists_of_bf16: $call $($lists)* }
    };
}

#[cfg(not(feature = "gemm-f16-k-major"))]
macro_rules! lists_of_f16 {
    ($call:tt $($lists:tt)*) => {
        lists_of_bf16! { $call $($lists)* }
    };
}

#[cfg(feature = "gemm-bf16")]
macro_rules! lists_of_bf16 {
    ($call:tt $($lists:tt)*) => {
        lists_of_16_bits! { bf16 all_orders, lists_of_tf32: $call $($lists)* }
    };
}

#[cfg(all(feature = "gemm-bf16-k-major", not(feature = "gemm-bf16")))]
macro_rules! lists_of_bf16 {
    ($call:tt $($lists:tt)*) => {
        lists_of_16_bits! { bf16 k_major, lists_of_tf32: $call $($lists)* }
    };
}

#[cfg(not(feature = "gemm-bf16-k-major"))]
macro_rules! lists_of_bf16 {
    ($call:tt $($lists:tt)*) => {
        lists_of_tf32! { $call $($lists)* }
    };
}

#[cfg(feature = "gemm-tf32")]
macro_rules! lists_of_tf32 {
    ($call:tt $($lists:tt)*) => {
        lists_of_f8! { $call $($lists)*
            [tf32 tf32 f32 f32 split_k]
            nt 128 256 32 false, cluster_nt 128 256 32 false, cluster_1x4_nt 128 128 32 false, nt 128 128 32 false, swap_ab_nn 256 128 32 false, cluster_1x2_swap_ab_nn 256 128 32 false, swap_ab_nn 128 128 32 false,
            swap_ab_nn 176 128 32 false, swap_ab_nn 208 128 32 false,
            rows_nt 144 128 32 false, rows_nt 176 128 32 false, rows_nt 208 128 32 false,
            tt 128 256 32 false, cluster_tt 128 256 32 false, tt 128 128 32 false,
            narrow_nt 16 64 32 false, narrow_nt 64 64 32 false, narrow_nn 16 64 32 false, narrow_nn 64 64 32 false,
            nt 128 64 32 false, deep_nt 64 128 32 false,
            threads_nn 32 32 64 false, threads_nt 32 32 64 false, threads_tn 32 32 64 false, threads_tt 32 32 64 false,
            vector_t 1 8 256 false, vector_t 1 32 64 false, column_n 8 1 256 false, column_n 32 1 64 false,
            vector_n 1 8 256 false, vector_n 1 32 64 false, vector_n 1 64 32 false, vector_n 1 256 8 false,
            column_t 8 1 256 false, column_t 32 1 64 false, column_t 64 1 32 false, column_t 256 1 8 false,
        }
    };
}

#[cfg(not(feature = "gemm-tf32"))]
macro_rules! lists_of_tf32 {
    ($call:tt $($lists:tt)*) => {
        lists_of_f8! { $call $($lists)* }
    };
}

/// Calls `$next` with the list of 8-bit floats whose result is of a type of 16 bits behind those that there are.
#[cfg(feature = "gemm-f8")]
macro_rules! list_of_f8_to_16_bits {
    ($result:ident, $next:ident: $call:tt $($lists:tt)*) => {
        $next! { $call $($lists)*
            [f8e4m3 f8e4m3 f32 $result split_k]
            nt 128 256 128 false, nt 128 256 128 true, cluster_nt 128 256 128 false, cluster_nt 128 256 128 true, cluster_nt 128 192 128 false, cluster_nt 128 96 128 true, nt 128 192 128 false, cluster_2x2_nt 128 144 128 true, nt 128 144 128 true, nt 128 128 128 false, nt 128 128 128 true, nt 128 96 128 true, nt 128 64 128 true,
            rows_nt 96 128 128 false, rows_nt 96 128 128 true, rows_nt 112 128 128 false, rows_nt 144 128 128 true, rows_nt 176 128 128 false, rows_nt 176 128 128 true, rows_nt 208 128 128 true,
            wide_rows_nt 144 256 128 false, wide_cluster_rows_nt 160 256 128 false, half_cluster_2x2_rows_nt 48 64 128 true, cluster_2x2_rows_nt 96 128 128 true, cluster_1x2_rows_nt 144 128 128 true, cluster_1x2_rows_nt 160 128 128 true,
            cluster_rows_nt 176 128 128 true, cluster_2x2_rows_nt 176 128 128 false, cluster_1x2_rows_nt 176 128 128 true, cluster_1x2_rows_nt 208 128 128 false, cluster_1x2_rows_nt 208 128 128 true,
            half_rows_nt 80 64 128 false, half_rows_nt 80 64 128 true, half_rows_nt 96 64 128 false, half_rows_nt 96 64 128 true,
            half_cluster_1x2_rows_nt 80 64 128 true, half_cluster_1x2_rows_nt 96 64 128 false, half_cluster_1x2_rows_nt 112 64 128 false, half_cluster_1x4_rows_nt 96 64 128 true,
            cluster_1x4_nt 128 128 128 false, cluster_1x4_nt 128 128 128 true, cluster_4x1_nt 128 112 128 false, cluster_4x1_nt 128 160 128 false, deep_cluster_2x2_nt 64 80 128 true, deep_cluster_2x2_nt 64 96 128 true, deep_cluster_4x1_nt 64 80 128 true,
            deep_nt 64 128 128 true, compact_nt 64 16 128 true, compact_nt 64 32 128 true, compact_nt 64 64 128 false,
            narrow_nt 16 64 128 true, narrow_nt 32 64 128 true, narrow_nt 64 64 128 true,
        }
    };
}

#[cfg(feature = "gemm-f8")]
macro_rules! lists_of_f8 {
    ($call:tt $($lists:tt)*) => {
        list_of_f8_to_16_bits! { f16, lists_of_f8_to_bf16: $call $($lists)* }
    };
}

#[cfg(feature = "gemm-f8")]
macro_rules! lists_of_f8_to_bf16 {
    ($call:tt $($lists:tt)*) => {
        list_of_f8_to_16_bits! { bf16, other_lists_of_f8: $call $($lists)* }
    };
}

#[cfg(feature = "gemm-f8")]
macro_rules! other_lists_of_f8 {
    ($call:tt $($lists:tt)*) => {
        lists_of_i8! { $call $($lists)*
            [f8e4m3 f8e4m3 f32 f32 split_k]
            nt 128 256 128 false, nt 128 256 128 true, cluster_nt 128 256 128 false, nt 128 192 128 false, nt 128 128 128 false, nt 128 128 128 true, nt 128 64 128 true,
            deep_nt 64 128 128 true, compact_nt 64 16 128 true, compact_nt 64 32 128 true,
            narrow_nt 16 64 128 true, narrow_nt 32 64 128 true, narrow_nt 64 64 128 true,

            [f8e5m2 f8e5m2 f32 f16 whole]
            nt 128 256 128 false, nt 128 256 128 true, nt 128 128 128 true,

            [f8e5m2 f8e5m2 f32 bf16 whole]
            nt 128 256 128 false, nt 128 256 128 true, nt 128 128 128 true,
        }
    };
}

#[cfg(not(feature = "gemm-f8"))]
macro_rules! lists_of_f8 {
    ($call:tt $($lists:tt)*) => {
        lists_of_i8! { $call $($lists)* }
    };
}

#[cfg(feature = "gemm-i8")]
macro_rules! lists_of_i8 {
    ($call:tt $($lists:tt)*) => {
        lists_of_f64! { $call $($lists)*
            [i8 i8 i32 i32 split_k]
            nt 128 256 128 false, nt 128 128 128 false, nt 128 64 128 false,
            deep_nt 64 128 128 false, narrow_nt 16 64 128 false, narrow_nt 64 64 128 false,

            [u8 i8 i32 i32 split_k]
            nt 128 128 128 false,
        }
    };
}

#[cfg(not(feature = "gemm-i8"))]
macro_rules! lists_of_i8 {
    ($call:tt $($lists:tt)*) => {
        lists_of_f64! { $call $($lists)* }
    };
}

#[cfg(feature = "gemm-f64")]
macro_rules! lists_of_f64 {
    ($call:tt $($lists:tt)*) => {
        with_lists! { $call $($lists)*
            [f64 f64 f64 f64 split_k_only]
            nn 256 64 16 false, nt 256 64 16 false, tn 256 64 16 false, tt 256 64 16 false,
            nn 256 32 16 false, nt 256 32 16 false, tn 256 32 16 false, tt 256 32 16 false,
            rows_nn 32 256 16 false, rows_nt 32 256 16 false, rows_tn 32 256 16 false, rows_tt 32 256 16 false,
            double_buffered_nn 64 64 32 false, double_buffered_nt 64 64 32 false, double_buffered_tn 64 64 32 false, double_buffered_tt 64 64 32 false,
            double_buffered_nn 64 32 32 false, double_buffered_nt 64 32 32 false, double_buffered_tn 64 32 32 false, double_buffered_tt 64 32 32 false,
            double_buffered_nn 32 32 64 false, double_buffered_nt 32 32 64 false, double_buffered_tn 32 32 64 false, double_buffered_tt 32 32 64 false,
            vector_t 1 8 128 false, vector_t 1 32 32 false, column_n 8 1 128 false, column_n 32 1 32 false,
            vector_n 1 8 128 false, vector_n 1 32 32 false, vector_n 1 64 16 false, vector_n 1 256 4 false,
            column_t 8 1 128 false, column_t 32 1 32 false, column_t 64 1 16 false, column_t 256 1 4 false,
        }
    };
}

#[cfg(not(feature = "gemm-f64"))]
macro_rules! lists_of_f64 {
    ($call:tt $($lists:tt)*) => {
        with_lists! { $call $($lists)* }
    };
}

/// Defines `instances!` for the kernels in these lists: those with tiles of many rows, of which some columns are for warpgroups alone;
/// those that are for warpgroups alone; those whose accumulation is never promoted; those for vectors; and all others.
///
/// `$d` is a dollar sign, for the names of the macro that is defined.
macro_rules! define_instances {
    (
        $d:tt,
        many_rows [$($many_rows:ident)*],
        warpgroups [$($warpgroups:ident)*],
        never_promoted [$($never_promoted:ident)*],
        vectors [$($vectors:ident)*],
        others [$($others:ident)*],
    ) => {
        /// Calls the macro `$then` with the instances of one kernel, in the form of `#[kernel]`'s argument.
        macro_rules! instances {
            ($d kernel:ident $d then:tt $d done:tt $d types:tt; [$d a:ident $d b:ident $d sum:ident $d c:ident $d decomposition:ident] $d($d rest:tt)*) => {
                instances!($d kernel $d then $d done ($d a, $d b, $d sum, $d c); $d($d rest)*);
            };
            $(
                ($many_rows $d then:tt $d done:tt $d types:tt; $many_rows $d m:tt 96 $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$many_rows $d then $d done $d types [$d m, 96, $d k, $d promoted] [if warpgroups] $d($d rest)*);
                };
                ($many_rows $d then:tt $d done:tt $d types:tt; $many_rows $d m:tt 144 $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$many_rows $d then $d done $d types [$d m, 144, $d k, $d promoted] [if warpgroups] $d($d rest)*);
                };
                ($many_rows $d then:tt $d done:tt $d types:tt; $many_rows $d m:tt 160 $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$many_rows $d then $d done $d types [$d m, 160, $d k, $d promoted] [if warpgroups] $d($d rest)*);
                };
                ($many_rows $d then:tt $d done:tt $d types:tt; $many_rows $d m:tt 192 $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$many_rows $d then $d done $d types [$d m, 192, $d k, $d promoted] [if warpgroups] $d($d rest)*);
                };
                ($many_rows $d then:tt $d done:tt $d types:tt; $many_rows $d m:tt $d n:tt $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$many_rows $d then $d done $d types [$d m, $d n, $d k, $d promoted] [] $d($d rest)*);
                };
            )*
            $(
                ($warpgroups $d then:tt $d done:tt $d types:tt; $warpgroups $d m:tt $d n:tt $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$warpgroups $d then $d done $d types [$d m, $d n, $d k, $d promoted] [if warpgroups] $d($d rest)*);
                };
            )*
            $(
                ($never_promoted $d then:tt $d done:tt $d types:tt; $never_promoted $d m:tt $d n:tt $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$never_promoted $d then $d done $d types [$d m, $d n, $d k] [] $d($d rest)*);
                };
            )*
            $(
                ($vectors $d then:tt $d done:tt $d types:tt; $vectors 1 $d n:tt $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$vectors $d then $d done $d types [$d n, $d k] [] $d($d rest)*);
                };
            )*
            $(
                ($others $d then:tt $d done:tt $d types:tt; $others $d m:tt $d n:tt $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                    instances!(@$others $d then $d done $d types [$d m, $d n, $d k, $d promoted] [] $d($d rest)*);
                };
            )*
            ($d kernel:ident $d then:tt $d done:tt $d types:tt; $d other:ident $d m:tt $d n:tt $d k:tt $d promoted:tt, $d($d rest:tt)*) => {
                instances!($d kernel $d then $d done $d types; $d($d rest)*);
            };
            // No list of the features that are on has this kernel.
            ($d kernel:ident $d then:tt [] $d types:tt;) => {};
            ($d kernel:ident ($d then:ident! $d($d arguments:tt)*) [$d($d done:tt)*] $d types:tt;) => {
                $d then! { $d($d arguments)* instances($d($d done)*) }
            };
            // One more instance, then the rest.
            (@$d kernel:ident $d then:tt [$d($d done:tt)*] ($d($d types:tt)*) [$d($d sizes:tt)*] [$d($d condition:tt)*] $d($d rest:tt)*) => {
                instances!($d kernel $d then [$d($d done)* <$d($d types)*, $d($d sizes)*> $d($d condition)*,] ($d($d types)*); $d($d rest)*);
            };
        }
    };
}
define_instances! {
    $,
    many_rows [nn nt tn tt],
    warpgroups [rows_nn rows_nt rows_tn rows_tt half_rows_nn half_rows_nt swap_ab_nn],
    never_promoted [
        threads_nn threads_nt threads_tn threads_tt shallow_threads_nn shallow_threads_nt shallow_threads_tn shallow_threads_tt
        ahead_nn ahead_nt ahead_tn ahead_tt narrow_ahead_nn narrow_ahead_nt narrow_ahead_tn
        double_buffered_nn double_buffered_nt double_buffered_tn double_buffered_tt
    ],
    vectors [vector_n vector_t],
    others [
        cluster_nn cluster_nt cluster_tn cluster_tt cluster_2x2_nt cluster_1x4_nt cluster_4x1_nt cluster_1x2_swap_ab_nn deep_nn deep_nt deep_tn deep_tt deep_cluster_4x1_nt deep_cluster_2x2_nt
        compact_nn compact_nt compact_tn compact_tt narrow_nn narrow_nt
        cluster_rows_nt cluster_1x2_rows_nt cluster_2x2_rows_nt half_cluster_1x2_rows_nt half_cluster_1x4_rows_nt half_cluster_2x2_rows_nt
        wide_rows_nn wide_rows_nt wide_cluster_rows_nn wide_cluster_rows_nt wide_cluster_1x2_rows_nt
    ],
}

/// Whether there is a word.
macro_rules! is_set {
    () => {
        false
    };
    ($word:ident) => {
        true
    };
}

/// Whether a kernel with these settings is for clusters of blocks.
macro_rules! in_clusters {
    () => {
        false
    };
    (cluster $($rest:tt)*) => {
        true
    };
    ($setting:tt $($rest:tt)*) => {
        in_clusters!($($rest)*)
    };
}

/// An operand, in the shape that is multiplied.
macro_rules! operand {
    ($operand:ident) => {
        $operand
    };
    ($operand:ident transposed) => {
        Transposed($operand)
    };
}

/// Stores a tile, through a buffer if there is one.
macro_rules! store {
    ($tile:ident, $result:ident) => {
        $tile.store_directly($result)
    };
    ($tile:ident, $result:ident, $buffer:ident $warpgroups:tt) => {
        $tile.store(&mut $buffer, $result)
    };
}

/// Defines a kernel with operands A and B swapped. Its accumulators are transposes of the tiles of `c`.
///
/// Brackets hold the settings of `#[kernel]`. `group` is the number of rows of tiles in a group of the tile order, and `stages` that of the
/// ring's stages. Each operand has the shape of its tiles in memory. `transposed` follows if this is not its shape in the swapped product,
/// where `b` is operand A, N x K, and `a` is operand B, K x M. The last part transposes the accumulators. `buffer` is the number of consumer
/// warpgroups, if tiles are stored through an epilogue buffer.
macro_rules! swapped_kernel {
    (
        $(#[$documentation:meta])*
        $name:ident [$($setting:tt)*], group $group:ident, stages $stages:expr, a [$a_rows:tt x $a_columns:tt] $($transposed_a:ident)?, b [$b_rows:tt x $b_columns:tt] $($transposed_b:ident)?,
        |$acc:ident| $transposed:expr $(, buffer $($size:literal)x+)?;
        instances $instances:tt
    ) => {
        $(#[$documentation])*
        ///
        /// Generic parameters: the element types of `a`, `b`, the accumulators and `c`; the rows, columns and depth of a tile; whether
        /// accumulation is promoted.
        ///
        /// # Shapes
        ///
        /// `c` is M x N. The bias is empty or has N elements. Each of `a` and `b` is one matrix or a batch of as many matrices as `c`.
        ///
        /// # On a GPU
        ///
        /// The kernel is persistent: launch one block for each multiprocessor. It supports programmatic dependent launch (PDL).
        #[kernel($($setting)*, dependent, cpu = crate::gemm::on_cpu::by_tma::<T, O>(M, N, is_set!($($transposed_a)?) && !is_set!($($transposed_b)?), in_clusters!($($setting)*)), instances $instances)]
        pub fn $name<
            B: Block,
            T: KLoopElement<U, Accumulator = C>,
            U: KLoopElement<T, Accumulator = C>,
            C: Sum + Cast<O>,
            O: Element + Cast<C>,
            const M: usize,
            const N: usize,
            const K: usize,
            const PROMOTED: bool,
        >(
            roles: WarpRoles<B>,
            a: TmaLoad<T, (Side<$a_rows>, Side<$a_columns>)>,
            b: TmaLoad<U, (Side<$b_rows>, Side<$b_columns>)>,
            c: TmaStore<O, (Side<M>, Side<N>)>,
            bias: Span<O, (u32,)>,
            scales: ByValue<Scales<C>>,
            range: ByValue<TileRange>,
            #[shared] ring: Ring<(SharedTile<U, (Side<$b_rows>, Side<$b_columns>)>, SharedTile<T, (Side<$a_rows>, Side<$a_columns>)>), { $stages }>,
            $(#[shared] mut buffer: EpilogueBuffer<$($size),+>,)?
        ) where
            D<M>: TileSide,
            D<N>: TileSide,
            D<K>: TileSide,
        {
            let config = GemmConfig::<$group, true, PROMOTED>;
            gemm_body(roles, operand!(b $($transposed_b)?), operand!(a $($transposed_a)?), c, range.0, config, ring, move |cx, $acc, tile| {
                let result = finish(cx, $transposed, &tile, bias, scales.0);
                store!(tile, result $(, buffer ($($size)+))?);
            });
        }
    };
}
