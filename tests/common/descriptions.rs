//! Descriptions drawn from all that `check` accepts.

use super::Random;
use falchion::{
    arch::{ArchKind, OpKind},
    desc::{GemmDesc, Knobs, SpillKind},
    epilogue::{EpilogueDesc, LinearCombination, Node},
    layout::Order,
    numeric::COMBINATIONS,
    shape::Mnk,
    threadblock::{Along, MainloopKind, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};
use std::collections::BTreeSet;

/// What is wanted of a description.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its threadblock tile is at most so many products.
    pub largest_tile: u32,
    /// Only this architecture's instructions.
    pub arch: Option<ArchKind>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { largest_tile: u32::MAX, arch: None }
    }
}

/// Epilogues beside the linear combination. Scalars are alpha and beta; s2 is 0.
const EPILOGUES: &[&str] = &[
    "relu(alpha * acc + beta * source)",
    "clamp(alpha * acc + beta * source, -20, 50)",
    "alpha * acc",
    "beta * source + alpha * relu(acc)",
    "max(alpha * acc, beta * source) + 3",
    "alpha * (acc + beta * source)",
    "multiply(min(acc, 3), alpha * acc) + beta * source",
    "acc",
    "alpha * acc + s2 * source",
];

/// A legal description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let mut random = Random::new(seed);
    // The element types stay while the rest is drawn again, so that each has its share.
    let types = random.pick(COMBINATIONS);
    let arch = wanted.arch.unwrap_or(random.pick(&ArchKind::ALL));
    let mainloop = random.pick(&MainloopKind::ALL);
    for _ in 0..100_000 {
        let desc = attempt(&mut random, types, arch, mainloop);
        if desc.check().is_ok() && desc.threadblock.m * desc.threadblock.n * desc.threadblock.k <= wanted.largest_tile {
            return desc;
        }
        if mainloop == MainloopKind::Multistage && !arch.copies_asynchronously() {
            return description(seed.wrapping_mul(31).wrapping_add(7), wanted);
        }
    }
    panic!("no legal description was drawn from seed {seed}: {types:?} {arch} {mainloop:?}");
}

fn attempt(random: &mut Random, types: falchion::numeric::Combined, arch: ArchKind, mainloop: MainloopKind) -> GemmDesc {
    let orders = [0; 3].map(|_| random.pick(&[Order::Row, Order::Col]));
    let warp = Mnk::new(
        random.pick(&[8, 16, 32, 64, 128]),
        random.pick(&[8, 16, 32, 64, 128]),
        random.pick(&[8, 8, 10, 12, 14, 16, 16, 18, 20, 22, 24, 26, 28, 30, 32, 48, 64]),
    );
    let warps = [1, 1, 2, 2, 3, 4, 5, 8, 16];
    let slices = if random.once_in(3) { random.pick(&[2, 3, 4, 8, 16]) } else { 1 };
    let threadblock = Mnk::new(warp.m * random.pick(&warps), warp.n * random.pick(&warps), warp.k * slices);
    let align = |random: &mut Random| random.pick(&[1, 1, 2, 4, 8, 16]);
    let epilogue = match random.below(3) {
        0 => random.pick(EPILOGUES).parse::<EpilogueDesc>().expect("the epilogues are expressions"),
        _ => LinearCombination::DESC,
    };
    let knobs = Knobs {
        threadblock,
        warp,
        instruction: Mnk::new(1, 1, 1),
        mainloop,
        stages: match mainloop {
            MainloopKind::SingleStage => 1,
            MainloopKind::Pipelined => 2,
            MainloopKind::Multistage => random.pick(&[2, 3, 4, 5, 6]),
        },
        swizzle: random.pick(&[
            SwizzleKind::Identity(1),
            SwizzleKind::Identity(2),
            SwizzleKind::Identity(4),
            SwizzleKind::Identity(8),
            SwizzleKind::Horizontal,
        ]),
        align_a: align(random),
        align_b: align(random),
        align_c: align(random),
        smem_a: shared(random),
        smem_b: shared(random),
        blocks_per_sm: random.pick(&[1, 1, 2, 3, 4]),
        interleave: random.pick(&[
            InterleaveKind::Vector,
            InterleaveKind::Vector,
            InterleaveKind::Elements(1),
            InterleaveKind::Elements(2),
            InterleaveKind::Elements(8),
            InterleaveKind::Elements(64),
        ]),
        unroll: match mainloop {
            MainloopKind::SingleStage => {
                random.pick(&[UnrollKind::Full, UnrollKind::By(1), UnrollKind::By(3), UnrollKind::By(8)])
            }
            _ => UnrollKind::Full,
        },
        spills: random.pick(&[SpillKind::Refused, SpillKind::Refused, SpillKind::Allowed]),
        epilogue,
    };
    GemmDesc::of_values(OpKind::Simt, arch, types, orders, knobs)
}

fn shared(random: &mut Random) -> SmemLayout {
    let along = random.pick(&[Along::Mn, Along::K]);
    match random.below(3) {
        0 => SmemLayout::Auto,
        1 => SmemLayout::Padded { along, padding: random.pick(&[0, 1, 2, 3, 4, 5, 8, 16]) },
        _ => SmemLayout::Swizzled {
            along,
            bits: random.pick(&[1, 2, 3]),
            base: random.pick(&[0, 1, 2, 3]),
            shift: random.pick(&[0, 1, 2, 3]),
        },
    }
}

/// What the descriptions of a suite have in them, each kind of thing by name.
#[derive(Clone, Debug, Default)]
pub struct Coverage(BTreeSet<String>);

impl Coverage {
    pub fn of<'d>(descriptions: impl IntoIterator<Item = &'d GemmDesc>) -> Self {
        let mut seen = BTreeSet::new();
        for d in descriptions {
            let (a, b, c) = (d.a, d.accumulator, d.c);
            seen.insert(format!("{a} {b} {c}"));
            seen.insert(format!("{:?}", d.mainloop));
            seen.insert(d.arch.to_string());
            seen.insert(format!("A {} B {} exchanged {}", d.layout_a, d.layout_b, d.exchanged));
            seen.insert(format!("warp M {}", d.warp.m));
            seen.insert(format!("warp N {}", d.warp.n));
            seen.insert(format!("warp K {}", d.warp.k));
            seen.insert(format!("slices {}", if d.warps().k > 1 { "many" } else { "one" }));
            seen.insert(format!("stages {}", d.stages));
            seen.insert(format!("{:?}", d.swizzle));
            seen.insert(format!("blocks {}", d.blocks_per_sm));
            seen.insert(format!("{:?}", d.interleave));
            seen.insert(format!("{:?}", d.unroll));
            seen.insert(format!("spills {:?}", d.spills));
            for (operand, choice, align) in [("A", d.smem_a, d.align_a), ("B", d.smem_b, d.align_b), ("C", d.smem_a, d.align_c)] {
                seen.insert(format!("align {operand} {align}"));
                seen.insert(match choice {
                    SmemLayout::Auto => format!("smem {operand} auto"),
                    SmemLayout::Padded { along, .. } => format!("smem {operand} padded {along:?}"),
                    SmemLayout::Swizzled { along, .. } => format!("smem {operand} swizzled {along:?}"),
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

    /// What a suite has to have in it and has not.
    pub fn missing(&self) -> Vec<String> {
        let mut wanted: Vec<String> =
            COMBINATIONS.iter().map(|types| format!("{} {} {}", types.a, types.accumulator, types.c)).collect();
        wanted.extend(MainloopKind::ALL.iter().map(|mainloop| format!("{mainloop:?}")));
        wanted.extend(ArchKind::ALL.iter().map(ToString::to_string));
        for a in ["row", "col"] {
            for b in ["row", "col"] {
                wanted.extend([false, true].map(|exchanged| format!("A {a} B {b} exchanged {exchanged}")));
            }
        }
        for extent in [8, 16, 32, 64, 128] {
            wanted.extend([format!("warp M {extent}"), format!("warp N {extent}")]);
        }
        wanted.extend((4..=16).map(|half| format!("warp K {}", 2 * half)));
        wanted.extend((2..=6).map(|stages| format!("stages {stages}")));
        wanted.extend([1, 2, 8, 64].map(|elements| format!("{:?}", InterleaveKind::Elements(elements))));
        wanted.extend([1, 3, 8].map(|groups| format!("{:?}", UnrollKind::By(groups))));
        wanted.extend(["Vector", "Full", "spills Allowed", "warp K 48", "warp K 64"].map(str::to_owned));
        wanted.extend((1..=4).map(|blocks| format!("blocks {blocks}")));
        wanted.extend([1, 2, 4, 8].map(|abreast| format!("{:?}", SwizzleKind::Identity(abreast))));
        for operand in ["A", "B"] {
            wanted.extend([1, 2, 4, 8, 16].map(|align| format!("align {operand} {align}")));
            wanted.extend(["auto", "padded Mn", "padded K", "swizzled Mn", "swizzled K"].map(|x| format!("smem {operand} {x}")));
        }
        wanted.extend(["Horizontal", "slices one", "slices many", "warps up to 16", "warps 1", "align C 16"].map(str::to_owned));
        wanted.retain(|wanted| !self.0.contains(wanted));
        wanted
    }
}
