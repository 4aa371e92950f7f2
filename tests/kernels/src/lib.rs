//! Kernels that exist to be tested: one for each tile operation.

#![no_std]
