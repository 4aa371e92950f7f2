//! The kernels of an operation of a user's own: an activation with its gradient. The ready-made operations are on those of
//! `cuda-tiles-kernels`.

#![no_std]

pub mod elu;
