//! Coverage of a suite: the properties of its descriptions.

use crate::harness::prelude::*;

/// Returns `name value` for each value.
pub(super) fn each<V: std::fmt::Display>(
    name: &str,
    values: impl IntoIterator<Item = V>,
) -> Vec<String> {
    values.into_iter().map(|value| format!("{name} {value}")).collect()
}

/// Returns the types, or the layouts and the swap, of a description.
pub(super) fn types_of(d: &GemmDesc) -> String {
    let types = d.types();
    format!("{} {} {}", types.a, types.accumulator, types.c)
}

pub(super) fn layouts_of(d: &GemmDesc) -> String {
    layouts(d.operands[0].layout, d.operands[1].layout, d.frame.swapped)
}

fn layouts(a: Order, b: Order, swapped: bool) -> String {
    format!("A {a} B {b} swapped {swapped}")
}

/// Returns all layouts of A and B, with and without swapped operands.
pub(super) fn all_layouts() -> Vec<String> {
    let orders = [Order::Row, Order::Col];
    let pairs = orders.into_iter().flat_map(|a| orders.map(|b| (a, b)));
    pairs.flat_map(|(a, b)| [false, true].map(|swapped| layouts(a, b, swapped))).collect()
}

pub(super) fn cluster_of(d: &GemmDesc) -> String {
    format!("cluster {}x{}", d.mainloop.cluster().m, d.mainloop.cluster().n)
}

/// Names of the properties that the descriptions of a suite have.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeSet<String>);

impl Coverage {
    pub fn from_descriptions<'d>(descriptions: impl IntoIterator<Item = &'d GemmDesc>) -> Self {
        let mut seen = BTreeSet::new();
        for d in descriptions {
            seen.insert(types_of(d));
            seen.insert(format!("{:?}", d.mainloop.kind()));
            seen.insert(d.arch.to_string());
            seen.insert(layouts_of(d));
            seen.insert(format!("warp M {}", d.warp().m));
            seen.insert(format!("warp N {}", d.warp().n));
            seen.insert(format!("warp K {}", d.warp().k));
            seen.insert(format!(
                "slices {}",
                if d.base().tiles.warps().k > 1 { "many" } else { "one" }
            ));
            seen.insert(format!("stages {}", d.stages()));
            seen.insert(format!("{:?}", d.swizzle()));
            seen.insert(format!("blocks {}", d.limits.blocks_per_sm));
            seen.insert(format!("{:?}", d.mma.interleave()));
            seen.insert(format!("{:?}", d.mainloop.unroll()));
            seen.insert(format!("spills {:?}", d.limits.spills));
            for (operand, choice, align) in [
                ("A", d.operands[0].smem, d.alignments()[0]),
                ("B", d.operands[1].smem, d.alignments()[1]),
                ("C", d.operands[0].smem, d.alignments()[2]),
            ] {
                seen.insert(format!("align {operand} {align}"));
                seen.insert(match choice {
                    SmemLayout::Auto => format!("smem {operand} auto"),
                    SmemLayout::Padded { along, .. } => format!("smem {operand} padded {along:?}"),
                    SmemLayout::Swizzled { along, .. } => {
                        format!("smem {operand} swizzled {along:?}")
                    }
                });
            }
            let threads = d.threads() / 32;
            seen.insert(format!("warps {}", if threads > 8 { "up to 16" } else { "up to 8" }));
            if threads == 1 {
                seen.insert("warps 1".to_owned());
            }
        }
        Self(seen)
    }

    /// Returns the vectors that no epilogue of a suite reads, with and without swapped operands.
    pub fn missing_vectors(descriptions: &[GemmDesc]) -> Vec<String> {
        let all = EpilogueOperand::VECTORS
            .into_iter()
            .flat_map(|kind| [false, true].map(|swapped| (kind, swapped)));
        let has = |d: &GemmDesc, (kind, swapped): (EpilogueOperand, bool)| {
            d.frame.swapped == swapped && d.epilogue.has(kind)
        };
        all.filter(|one| !descriptions.iter().any(|d| has(d, *one)))
            .map(|one| format!("{one:?}"))
            .collect()
    }

    /// Returns the options that a suite of `mma.sync` kernels lacks.
    pub fn missing_mma_sync(descriptions: &[GemmDesc]) -> Vec<String> {
        let input = |d: &GemmDesc| (d.operands[0].stored, d.pins().instruction.map(|i| (i.m, i.k)));
        let inputs = descriptions.iter().map(input).collect::<HashSet<_>>().len();
        let option = |d: &GemmDesc| {
            let emulation = d.pins().emulation.map_or("", EmulationKind::name);
            (emulation, d.pins().saturate == Some(SaturateKind::On))
        };
        let options = BTreeSet::from_iter(descriptions.iter().map(option));
        let all =
            BTreeSet::from([("bf16x1", false), ("none", false), ("none", true), ("tf32x3", false)]);
        let few = (inputs < 14).then(|| format!("{inputs} inputs"));
        // An option that is not listed is as wrong as a missing one.
        let differ = options.symmetric_difference(&all).map(|of| format!("{of:?}"));
        differ.chain(few).collect()
    }

    /// Returns the properties that a suite lacks.
    pub fn missing(&self) -> Vec<String> {
        let mut wanted: Vec<String> = COMBINATIONS
            .iter()
            .map(|types| format!("{} {} {}", types.a, types.accumulator, types.c))
            .collect();
        wanted.extend(super::ONE_SCHEDULE.iter().map(|mainloop| format!("{mainloop:?}")));
        wanted.extend(ArchKind::ALL.iter().map(ToString::to_string));
        wanted.extend(all_layouts());
        wanted.extend(["warp M", "warp N"].map(|side| each(side, [8, 16, 32, 64, 128])).concat());
        wanted.extend((4..=16).map(|half| format!("warp K {}", 2 * half)));
        // Only one main loop has any number of stages, and only the one with one stage unrolls.
        let has = |stages| super::ONE_SCHEDULE.iter().any(|of| of.fixed_stages() == stages);
        wanted.extend(each("stages", 2..=if has(None) { 6 } else { 2 }));
        wanted.extend(
            [1, 2, 8, 64].map(|elements| format!("{:?}", InterleaveKind::Elements(elements))),
        );
        let unrolled: &[u32] = if has(Some(1)) { &[1, 3, 8] } else { &[] };
        wanted.extend(unrolled.iter().map(|&groups| format!("{:?}", UnrollKind::By(groups))));
        wanted.extend(
            ["Vector", "Full", "spills Allowed", "warp K 48", "warp K 64"].map(str::to_owned),
        );
        wanted.extend(each("blocks", 1..=4));
        wanted.extend(
            [1, 2, 4, 8].map(|group_size| format!("{:?}", SwizzleKind::Identity(group_size))),
        );
        wanted.extend(
            [SwizzleKind::Horizontal, SwizzleKind::Hilbert].map(|order| format!("{order:?}")),
        );
        for operand in ["A", "B"] {
            wanted.extend(each(&format!("align {operand}"), [1, 2, 4, 8, 16]));
            let layouts = ["auto", "padded Mn", "padded K", "swizzled Mn", "swizzled K"];
            wanted.extend(each(&format!("smem {operand}"), layouts));
        }
        wanted.extend(
            ["Horizontal", "slices one", "slices many", "warps up to 16", "warps 1", "align C 16"]
                .map(str::to_owned),
        );
        wanted.retain(|wanted| !self.0.contains(wanted));
        wanted
    }
}

/// Adds the vectors that no epilogue of a suite reads to what the suite lacks.
pub fn with_vectors(descriptions: &[GemmDesc], mut missing: Vec<String>) -> Vec<String> {
    missing.extend(Coverage::missing_vectors(descriptions));
    missing
}
