//! GPUs by name, for explanations on machines without these GPUs.
//!
//! Source: the tables of NVIDIA's architecture white papers. The limits come from the architecture,
//! and the number of SMs from the product.

use falchion::arch::{ArchKind, Machine};

/// Names and limits of GPUs, the newest architecture first.
pub const GPUS: [(&str, Machine); 15] = [
    ("h200", machine(ArchKind::Sm90, 132)),
    ("h100", machine(ArchKind::Sm90, 132)),
    ("h100-pcie", machine(ArchKind::Sm90, 114)),
    ("rtx4090", machine(ArchKind::Sm89, 128)),
    ("rtx4080", machine(ArchKind::Sm89, 76)),
    ("l40s", machine(ArchKind::Sm89, 142)),
    ("l4", machine(ArchKind::Sm89, 58)),
    ("rtx3090", machine(ArchKind::Sm86, 82)),
    ("a40", machine(ArchKind::Sm86, 84)),
    ("a10", machine(ArchKind::Sm86, 72)),
    ("a100", machine(ArchKind::Sm80, 108)),
    ("a30", machine(ArchKind::Sm80, 56)),
    ("rtx2080ti", machine(ArchKind::Sm75, 68)),
    ("t4", machine(ArchKind::Sm75, 40)),
    ("v100", machine(ArchKind::Sm70, 80)),
];

const fn machine(arch: ArchKind, multiprocessors: u32) -> Machine {
    Machine { multiprocessors, ..arch.machine() }
}
