//! Memory orders and scopes of atomic accesses, as values without size.
//!
//! Plain loads and stores order nothing between blocks. An atomic load is relaxed or acquires, an atomic store is
//! relaxed or releases; the scope says between which threads (PTX ISA, "Memory Consistency Model").

use crate::sealed::{Sealed, sealed};

/// An order that an atomic load can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory order of a load",
    label = "a load is `Relaxed` or `Acquire`"
)]
pub trait ReadOrder: Sealed + Copy {
    /// As `arch::atomic` numbers it.
    #[doc(hidden)]
    const NUMBER: u8;
}

/// An order that an atomic store can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory order of a store",
    label = "a store is `Relaxed` or `Release`"
)]
pub trait WriteOrder: Sealed + Copy {
    /// As `arch::atomic` numbers it.
    #[doc(hidden)]
    const NUMBER: u8;
}

/// An order that an atomic read-modify-write can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory order of a read-modify-write",
    label = "expected `Relaxed`, `Acquire`, `Release` or `AcquireRelease`"
)]
pub trait UpdateOrder: Sealed + Copy {
    /// Whether its read acquires.
    #[doc(hidden)]
    const ACQUIRES: bool;
    /// Whether its write releases.
    #[doc(hidden)]
    const RELEASES: bool;
}

/// The threads between which an atomic access is atomic and ordered.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scope",
    label = "expected scope::Block, scope::Device or scope::System"
)]
pub trait Scope: Sealed + Copy {
    /// As `arch::atomic` numbers it.
    #[doc(hidden)]
    const NUMBER: u8;
}

/// Memory orders.
pub mod order {
    /// Atomic, ordering nothing else.
    #[derive(Clone, Copy, Debug, Default)]
    #[doc(alias("memory_order"))]
    pub struct Relaxed;
    /// A load after which everything is seen that was written before the release it reads from.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Acquire;
    /// A store before which everything written is seen by whoever acquires it.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Release;
    /// A read-modify-write that acquires and releases.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct AcquireRelease;
}

/// Scopes.
pub mod scope {
    /// The threads of this block.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Block;
    /// All threads of the GPU.
    #[derive(Clone, Copy, Debug, Default)]
    #[doc(alias("thread_scope", "memory_scope"))]
    pub struct Device;
    /// All threads of the system, the CPU's and other GPUs' included.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct System;
}

impl ReadOrder for order::Relaxed {
    const NUMBER: u8 = 0;
}
impl ReadOrder for order::Acquire {
    const NUMBER: u8 = 1;
}
impl WriteOrder for order::Relaxed {
    const NUMBER: u8 = 0;
}
impl WriteOrder for order::Release {
    const NUMBER: u8 = 1;
}

macro_rules! update_orders {
    ($($order:ident: $acquires:literal $releases:literal;)*) => { $(
        impl UpdateOrder for order::$order {
            const ACQUIRES: bool = $acquires;
            const RELEASES: bool = $releases;
        }
    )* };
}
update_orders! {
    Relaxed: false false;
    Acquire: true false;
    Release: false true;
    AcquireRelease: true true;
}

impl Scope for scope::Block {
    const NUMBER: u8 = 0;
}
impl Scope for scope::Device {
    const NUMBER: u8 = 1;
}
impl Scope for scope::System {
    const NUMBER: u8 = 2;
}

/// Blocks share an atomic span, so that a block's own scope is too narrow.
pub(super) const fn assert_shared_scope<C: Scope>() {
    assert!(C::NUMBER != 0, "blocks share an atomic span: its accesses have scope::Device or scope::System");
}

sealed! {
    [] order::Relaxed;
    [] order::Acquire;
    [] order::Release;
    [] order::AcquireRelease;
    [] scope::Block;
    [] scope::Device;
    [] scope::System;
}
