//! Instruction classes, architecture tags, and the limits of a device.
//!
//! An architecture tag says which instructions a kernel uses. The kernel is compiled for the
//! device's own architecture, which may be newer. [`GemmDesc::check`](crate::nest::GemmDesc::check)
//! uses the limits of the tag's smallest device. [`check_on`](crate::nest::GemmDesc::check_on) uses
//! a [`Machine`], which is a plain value, so tests can pass machines that do not exist.
//!
//! Source: CUDA C++ Programming Guide, "Compute Capabilities", table of technical specifications.

use crate::shape::{at_least_one, words::words};

words! {
    /// The units that multiply.
    pub enum OpKind {
        /// The CUDA cores, with one multiply-add per thread.
        Simt = "simt",
        /// The tensor cores.
        TensorOp = "tensorop",
    }
}

words! {
    /// The units that a request names. [`Best`](Self::Best) names none: the types and the machine
    /// select them.
    #[derive(Default)]
    pub enum OpRequest {
        /// The fastest units that multiply the types as they are. `f32` stays on the CUDA cores.
        #[default]
        Best = "best",
        /// The CUDA cores.
        Simt = "simt",
        /// The tensor cores.
        TensorOp = "tensorop",
    }
}

impl OpKind {
    /// Returns the units that this kind is not.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Simt => Self::TensorOp,
            Self::TensorOp => Self::Simt,
        }
    }
}

impl OpRequest {
    /// Returns the units; `None` for [`Best`](Self::Best).
    pub const fn kind(self) -> Option<OpKind> {
        match self {
            Self::Best => None,
            Self::Simt => Some(OpKind::Simt),
            Self::TensorOp => Some(OpKind::TensorOp),
        }
    }
}

/// The units that multiply, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operation class",
    note = "operation classes are Best, Simt, and TensorOp"
)]
pub trait OpClass: 'static {
    /// The architecture of a GEMM that does not name one.
    type Arch: Arch;
    /// The units as a value. `None` if the types and the machine select them.
    const KIND: Option<OpKind>;
}

/// The fastest units that multiply the types as they are: tensor cores for 16-bit, 8-bit, tf32, and
/// f64 types, and CUDA cores for `f32`.
#[derive(Clone, Copy, Debug)]
pub struct Best;

/// The CUDA cores.
#[derive(Clone, Copy, Debug)]
pub struct Simt;

/// The tensor cores.
#[derive(Clone, Copy, Debug)]
pub struct TensorOp;

impl OpClass for Best {
    type Arch = Native;
    const KIND: Option<OpKind> = None;
}

impl OpClass for Simt {
    type Arch = Sm80;
    const KIND: Option<OpKind> = Some(OpKind::Simt);
}

impl OpClass for TensorOp {
    type Arch = Sm90;
    const KIND: Option<OpKind> = Some(OpKind::TensorOp);
}

impl OpKind {
    /// Returns the architecture of a GEMM that names only these units, as [`OpClass::Arch`] does.
    /// It is the oldest architecture that has the best instructions of the units.
    pub const fn default_arch(self) -> ArchKind {
        let arch = match self {
            Self::Simt => <<Simt as OpClass>::Arch as Arch>::KIND,
            Self::TensorOp => <<TensorOp as OpClass>::Arch as Arch>::KIND,
        };
        arch.expect("units that are named name an architecture")
    }
}

/// Threads per warp.
#[doc(hidden)]
pub const WARP: u32 = 32;

/// The limits of a device that a kernel must respect.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    /// Compute capability, major times 10 plus minor.
    pub sm: u32,
    /// Largest shared memory of one CTA, in bytes.
    pub shared_bytes_per_block: u32,
    /// Shared memory per SM, in bytes.
    pub shared_bytes_per_sm: u32,
    /// Registers per SM, 32 bits each.
    pub registers_per_sm: u32,
    /// Largest number of threads per CTA.
    pub threads_per_block: u32,
    /// Largest number of resident threads per SM.
    pub threads_per_sm: u32,
    /// Largest number of resident CTAs per SM.
    pub blocks_per_sm: u32,
    /// Number of SMs. It affects the selection of tiles, and no validity rule.
    pub multiprocessors: u32,
}

/// Shared memory that the driver reserves per CTA, in bytes, from compute capability 8.0 on.
const RESERVED_BYTES: u32 = 1 << 10;

/// Granularity of the registers of a warp.
const REGISTERS_AT_A_TIME: u32 = 256;
/// Sub-partitions of an SM, each with its own register file.
const SUBPARTITIONS: u32 = 4;
/// GPCs of the largest Hopper GPUs.
const PROCESSING_CLUSTERS: u32 = 8;
/// Granularity of the shared memory of a CTA, in bytes.
const SHARED_AT_A_TIME: u32 = 128;

impl Machine {
    const fn new(
        sm: u32,
        [shared_kib_per_block, shared_kib_per_sm]: [u32; 2],
        threads_per_sm: u32,
        blocks_per_sm: u32,
        multiprocessors: u32,
    ) -> Self {
        Self {
            sm,
            shared_bytes_per_block: shared_kib_per_block << 10,
            shared_bytes_per_sm: shared_kib_per_sm << 10,
            registers_per_sm: 65_536,
            threads_per_block: 1024,
            threads_per_sm,
            blocks_per_sm,
            multiprocessors,
        }
    }

    /// Returns whether each limit is at least the limit of `other`. A kernel that fits `other` then
    /// fits this machine.
    pub const fn has_all_of(&self, other: &Self) -> bool {
        self.sm >= other.sm
            && self.shared_bytes_per_block >= other.shared_bytes_per_block
            && self.shared_bytes_per_sm >= other.shared_bytes_per_sm
            && self.registers_per_sm >= other.registers_per_sm
            && self.threads_per_block >= other.threads_per_block
            && self.threads_per_sm >= other.threads_per_sm
            && self.blocks_per_sm >= other.blocks_per_sm
    }

    /// Returns the number of resident CTAs per SM, for CTAs of `threads` threads with `registers`
    /// registers each and `shared_bytes` bytes of shared memory; 0 if no CTA fits. Registers and
    /// shared memory are rounded up to their granularities, as in the CUDA occupancy calculator.
    pub const fn resident_blocks(&self, threads: u32, registers: u32, shared_bytes: u32) -> u32 {
        const fn least(a: u32, b: u32) -> u32 {
            if a < b { a } else { b }
        }
        let threads = if threads == 0 { 1 } else { threads };
        let warps = threads.div_ceil(WARP);
        let of_warp = (registers as u64 * WARP as u64).next_multiple_of(REGISTERS_AT_A_TIME as u64);
        let held = match (self.registers_per_sm as u64 / SUBPARTITIONS as u64).checked_div(of_warp)
        {
            Some(each) => (each * SUBPARTITIONS as u64 / warps as u64) as u32,
            None => u32::MAX,
        };
        let of_block = (shared_bytes as u64 + self.reserved_bytes() as u64)
            .next_multiple_of(SHARED_AT_A_TIME as u64);
        let shared = match (self.shared_bytes_per_sm as u64).checked_div(of_block) {
            Some(blocks) => blocks as u32,
            None => u32::MAX,
        };
        least(least(self.threads_per_sm / threads, self.blocks_per_sm), least(held, shared))
    }

    /// Returns the number of clusters of `blocks` CTAs that run at once, with one CTA per SM, for
    /// any placement of the SMs. A cluster runs in one GPC, and each GPC has an even number of SMs.
    pub(crate) const fn resident_clusters(&self, blocks: u32) -> u32 {
        let blocks = at_least_one(blocks);
        let left_over = PROCESSING_CLUSTERS * ((blocks - 1) / 2 * 2);
        at_least_one(self.multiprocessors.saturating_sub(left_over) / blocks)
    }

    /// Returns the shared memory that the driver reserves per CTA, in bytes.
    const fn reserved_bytes(&self) -> u32 {
        if self.sm >= 80 { RESERVED_BYTES } else { 0 }
    }

    /// Returns the shared memory per CTA, in bytes, if `blocks` CTAs share an SM.
    pub const fn shared_bytes_each_of(&self, blocks: u32) -> u32 {
        let share = (self.shared_bytes_per_sm / if blocks == 0 { 1 } else { blocks })
            .saturating_sub(self.reserved_bytes());
        if share < self.shared_bytes_per_block { share } else { self.shared_bytes_per_block }
    }
}

/// Largest number of CTAs of a grid along x, on every device.
pub(crate) const MOST_BLOCKS: u32 = i32::MAX as u32;

/// Largest number of CTAs per cluster that every device with clusters supports.
#[doc(hidden)]
pub const PORTABLE_CLUSTER: u32 = 8;

macro_rules! architectures {
    ($($(#[doc = $doc:literal])* $arch:ident = $name:literal, $sm:literal, $block:literal, $multiprocessor:literal, $threads:literal, $blocks:literal, $count:literal;)*) => {
        words! {
            /// An architecture tag, as a value. Oldest first.
            #[derive(PartialOrd, Ord)]
            pub enum ArchKind {
                $($(#[doc = $doc])* $arch = $name,)*
            }
        }

        impl ArchKind {
            /// Returns the newest tag whose instructions a machine of compute capability `sm`
            /// (major times 10 plus minor) has. Only Hopper has the instructions of sm_90, so a
            /// newer machine gets sm_89.
            pub const fn newest_of(sm: u32) -> Option<Self> {
                let mut i = Self::ALL.len();
                while i > 0 {
                    i -= 1;
                    let arch = Self::ALL[i];
                    if arch.sm() <= sm && (!matches!(arch, Self::Sm90) || sm < 100) {
                        return Some(arch);
                    }
                }
                None
            }

            /// Returns the limits of the smallest machine that has these instructions.
            pub const fn machine(self) -> Machine {
                match self { $(Self::$arch => Machine::new($sm, [$block, $multiprocessor], $threads, $blocks, $count),)* }
            }
        }

        $($(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $arch;

        impl Arch for $arch {
            const KIND: Option<ArchKind> = Some(ArchKind::$arch);
        })*
    };
}

// name, sm, KiB per block and per multiprocessor, threads and blocks per multiprocessor,
// multiprocessors of the largest GPU of the architecture
architectures! {
    /// Volta.
    Sm70 = "sm70", 70, 96, 96, 2048, 32, 80;
    /// Turing.
    Sm75 = "sm75", 75, 64, 64, 1024, 16, 72;
    /// Ampere, A100.
    Sm80 = "sm80", 80, 163, 164, 2048, 32, 108;
    /// Ampere, GeForce 30 and A40.
    Sm86 = "sm86", 86, 99, 100, 1536, 16, 84;
    /// Ada.
    Sm89 = "sm89", 89, 99, 100, 1536, 24, 142;
    /// Hopper.
    Sm90 = "sm90", 90, 227, 228, 2048, 32, 132;
}

/// An architecture tag: which instructions a kernel may use.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an architecture tag",
    note = "architecture tags are Native, Sm70, Sm75, Sm80, Sm86, Sm89, and Sm90"
)]
pub trait Arch: 'static {
    /// The architecture as a value. `None` for [`Native`].
    const KIND: Option<ArchKind>;
}

/// The architecture of the GPU that holds D. On the host, `Native` stands for the default
/// architecture of the units.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Arch for Native {
    const KIND: Option<ArchKind> = None;
}

impl ArchKind {
    /// Returns the compute capability, major times 10 plus minor.
    pub const fn sm(self) -> u32 {
        self.machine().sm
    }

    /// Returns whether the architecture has `cp.async`, which copies from global to shared memory
    /// without registers.
    pub const fn copies_asynchronously(self) -> bool {
        self.sm() >= 80
    }
}

#[cfg(test)]
mod tests {
    use super::ArchKind;

    /// The expected values come from NVIDIA's occupancy calculator.
    #[test]
    fn resident_blocks_equal_the_occupancy_calculator() {
        let held = |arch: ArchKind, threads, registers, shared| {
            arch.machine().resident_blocks(threads, registers, shared)
        };
        // 66 registers are rounded up to 72, which allows seven warps in each of four partitions.
        assert_eq!(held(ArchKind::Sm70, 32, 66, 0), 28);
        assert_eq!(held(ArchKind::Sm70, 32, 64, 0), 32);
        for (arch, blocks) in [
            (ArchKind::Sm75, 16),
            (ArchKind::Sm80, 32),
            (ArchKind::Sm86, 16),
            (ArchKind::Sm89, 24),
            (ArchKind::Sm90, 32),
        ] {
            assert_eq!(held(arch, 32, 32, 0), blocks, "{arch}");
        }
        assert_eq!(held(ArchKind::Sm80, 256, 128, 1 << 10), 2);
        assert_eq!(held(ArchKind::Sm80, 256, 32, 0), 8);
        assert_eq!(held(ArchKind::Sm86, 256, 32, 0), 6);
        // 164 KiB hold three CTAs of 53 KiB, each with 1 KiB that the driver reserves.
        assert_eq!(held(ArchKind::Sm80, 128, 32, 53 << 10), 3);
        assert_eq!(held(ArchKind::Sm80, 128, 32, (53 << 10) + 129 * 6), 2);
        assert_eq!(held(ArchKind::Sm90, 1024, 255, 0), 0);
        assert_eq!(held(ArchKind::Sm90, 0, 0, 0), 32);
    }
}
