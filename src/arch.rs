//! What a machine may be asked for: instruction classes, architecture tags, and the facts of a device.
//!
//! An architecture tag says which instructions a kernel uses. The kernel is compiled for the device's own architecture, which
//! may be newer. [`GemmDesc::check`](crate::desc::GemmDesc::check) reads the tag's facts, and
//! [`check_on`](crate::desc::GemmDesc::check_on) those of a [`Machine`], a value: tests pass machines that do not exist.
//!
//! Source: CUDA C++ Programming Guide, "Compute Capabilities", table of technical specifications.

use crate::words::words;

words! {
    /// Which units multiply.
    pub enum OpKind {
        /// The CUDA cores, one multiplication and addition a thread.
        Simt = "simt",
        /// The tensor cores.
        TensorOp = "tensorop",
    }
}

/// Which units multiply, as a type.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an operation class", note = "operation classes are Simt and TensorOp")]
pub trait OpClass: 'static {
    /// The architecture of a GEMM that names none: the oldest that has the units' best instructions.
    type Arch: Arch;
    /// The same fact, as a value.
    const KIND: OpKind;
}

/// The CUDA cores.
#[derive(Clone, Copy, Debug)]
pub struct Simt;

/// The tensor cores.
#[derive(Clone, Copy, Debug)]
pub struct TensorOp;

impl OpClass for Simt {
    type Arch = Sm80;
    const KIND: OpKind = OpKind::Simt;
}

impl OpClass for TensorOp {
    type Arch = Sm90;
    const KIND: OpKind = OpKind::TensorOp;
}

impl OpKind {
    /// The architecture of a GEMM that names none, as [`OpClass::Arch`].
    pub const fn default_arch(self) -> ArchKind {
        match self {
            Self::Simt => <<Simt as OpClass>::Arch as Arch>::KIND,
            Self::TensorOp => <<TensorOp as OpClass>::Arch as Arch>::KIND,
        }
    }
}

/// Threads of a warp.
#[doc(hidden)]
pub const WARP: u32 = 32;

/// The limits of a device that a kernel has to keep within.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    /// Compute capability, major times 10 plus minor.
    pub sm: u32,
    /// Shared memory that one block may ask for.
    pub shared_bytes_per_block: u32,
    /// Shared memory of a multiprocessor.
    pub shared_bytes_per_sm: u32,
    /// Registers of a multiprocessor, 32 bits each.
    pub registers_per_sm: u32,
    /// Threads in one block.
    pub threads_per_block: u32,
    /// Threads of a multiprocessor.
    pub threads_per_sm: u32,
    /// Multiprocessors: what a choice of tiles reads, and no rule.
    pub multiprocessors: u32,
}

/// Shared memory that the driver keeps of each block's, from compute capability 8.0 on.
const RESERVED_BYTES: u32 = 1 << 10;

impl Machine {
    const fn new(sm: u32, shared_kib_per_block: u32, shared_kib_per_sm: u32, threads_per_sm: u32, multiprocessors: u32) -> Self {
        Self {
            sm,
            shared_bytes_per_block: shared_kib_per_block << 10,
            shared_bytes_per_sm: shared_kib_per_sm << 10,
            registers_per_sm: 65_536,
            threads_per_block: 1024,
            threads_per_sm,
            multiprocessors,
        }
    }

    /// Shared memory left to a block when `blocks` of them share a multiprocessor.
    pub const fn shared_bytes_each_of(&self, blocks: u32) -> u32 {
        let reserved = if self.sm >= 80 { RESERVED_BYTES } else { 0 };
        let share = (self.shared_bytes_per_sm / if blocks == 0 { 1 } else { blocks }).saturating_sub(reserved);
        if share < self.shared_bytes_per_block { share } else { self.shared_bytes_per_block }
    }
}

/// Blocks of a grid along x, at most, of every device.
pub(crate) const MOST_BLOCKS: u32 = i32::MAX as u32;

/// The most blocks of a cluster that every device with clusters takes.
pub const PORTABLE_CLUSTER: u32 = 8;

macro_rules! architectures {
    ($($(#[doc = $doc:literal])* $arch:ident = $name:literal, $sm:literal, $block:literal, $multiprocessor:literal, $threads:literal, $count:literal;)*) => {
        words! {
            /// An architecture tag, as a value. Oldest first.
            #[derive(PartialOrd, Ord)]
            pub enum ArchKind {
                $($(#[doc = $doc])* $arch = $name,)*
            }
        }

        impl ArchKind {
            /// The newest tag whose instructions a machine of compute capability `sm` (major times 10 plus minor) has.
            pub fn newest_of(sm: u32) -> Option<Self> {
                Self::ALL.into_iter().rev().find(|arch| arch.sm() <= sm)
            }

            /// The smallest machine that has these instructions.
            pub const fn machine(self) -> Machine {
                match self { $(Self::$arch => Machine::new($sm, $block, $multiprocessor, $threads, $count),)* }
            }
        }

        $($(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $arch;

        impl Arch for $arch {
            const KIND: ArchKind = ArchKind::$arch;
        })*
    };
}

//                   name    sm  KiB a block, a multiprocessor  threads of a multiprocessor, multiprocessors of the largest product
architectures! {
    /// Volta.
    Sm70 = "sm70", 70, 96, 96, 2048, 80;
    /// Turing.
    Sm75 = "sm75", 75, 64, 64, 1024, 72;
    /// Ampere, A100.
    Sm80 = "sm80", 80, 163, 164, 2048, 108;
    /// Ampere, GeForce 30 and A40.
    Sm86 = "sm86", 86, 99, 100, 1536, 84;
    /// Ada.
    Sm89 = "sm89", 89, 99, 100, 1536, 142;
    /// Hopper.
    Sm90 = "sm90", 90, 227, 228, 2048, 132;
}

/// An architecture tag: which instructions a kernel may use.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an architecture tag",
    note = "architecture tags are Sm70, Sm75, Sm80, Sm86, Sm89 and Sm90"
)]
pub trait Arch: 'static {
    /// The same fact, as a value.
    const KIND: ArchKind;
}

impl ArchKind {
    /// Compute capability, major times 10 plus minor.
    pub const fn sm(self) -> u32 {
        self.machine().sm
    }

    /// Whether a thread can copy from global to shared memory without passing through its registers (`cp.async`).
    pub const fn copies_asynchronously(self) -> bool {
        self.sm() >= 80
    }
}
