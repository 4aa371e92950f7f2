//! Every tile operation, for every element type, on the GPU where there is one and on the CPU always, against plain
//! Rust: wrapping integers, and floats computed in f64 and rounded once by code of these tests.
//!
//! Operands hold the special values of their type first (in all pairs), then random ones; lengths are no multiples of
//! tiles, and outputs are poisoned before a launch. A failure names kernel, element type, operation, device, index,
//! operands, the result and what it should be. Exact operations must agree to the bit on both devices, so that GPU
//! and CPU agree with each other; elementary functions keep the error bounds that their documentation states.

mod ahead;
mod arguments;
mod arithmetic;
mod atomic_updates;
mod atomics;
mod casts;
mod compare;
mod debug;
mod devices;
mod elements;
mod exact;
mod execution;
mod failures;
mod four_bits;
mod gather;
#[path = "../support/random.rs"]
mod generator;
mod grids;
mod integers;
mod math;
mod matrix;
mod minifloats;
mod modes;
mod movement;
mod ownership;
mod promotions;
mod random;
mod reduction_operands;
mod reductions;
mod reference;
mod repacking;
mod scans;
mod shapes;
mod simt;
mod sorts;
mod spans;
mod streams;
mod test_values;
mod traps;
mod tuples;
mod views;
mod windows;
