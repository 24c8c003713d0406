//! Streamed k-tiles on a device: whole numbers are those of the host with K whole, and two runs
//! have the same bits, whoever comes last.

use crate::harness::{groups::copies_single_elements, prelude::*};
use falchion_lab::owned::{HostProduct, resident::run_from_host};
use rayon::prelude::*;

const FAMILIES: [Family; 4] =
    [Family::WarpSpecialized, Family::Threads, Family::Simt, Family::MmaSync];

/// Products of a problem that the checked machine makes in seconds.
const MOST_CHECKED: usize = 40_000_000;

/// A product of some hundreds of tiles at most, so that clusters take several and some are
/// streamed, beside a batch of some; of a k-tile for each part at least.
pub(super) fn problem(desc: &GemmDesc, random: &mut Random) -> Problem {
    let tile = desc.threadblock();
    let batch = [1, 1, 3][random.below(3)];
    let mut extent = |tile: u32| {
        (1 + random.below(24 / batch)) * tile as usize - random.below(tile as usize / 2)
    };
    let (down, across) = (extent(tile.m), extent(tile.n));
    let user = |axis: Axis| if axis.leave(desc.frame) == Axis::M { down } else { across };
    let k = tile.k as usize * (desc.split_k() as usize + random.below(9))
        - random.below(tile.k as usize / 2);
    let mut scalars = [0.0; 8];
    scalars[0] = 1.0;
    Problem {
        batch,
        vectors: Vectors::NONE,
        ..Problem::of(desc, (user(Axis::M), user(Axis::N), k), [None; 3], scalars)
    }
}

/// The bytes of D of a kernel.
pub(super) fn computed(
    context: &Arc<CudaContext>,
    kernel: &CudaKernel,
    product: &mut HostProduct,
) -> Vec<u8> {
    let stream = context.new_stream().expect("a stream");
    let problem = product.problem();
    let desc = *kernel.desc();
    run_from_host(&stream, kernel, &problem, product.matrices().expect("matrices"))
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    product.d.slice().expect("D").bytes().to_vec()
}

/// Where two Ds differ, in elements of D.
pub(super) fn differences(desc: &GemmDesc, one: &[u8], other: &[u8]) -> String {
    let bytes = desc.class.output.element.bytes_of(1) as usize;
    let differ = |&i: &usize| one[i * bytes..][..bytes] != other[i * bytes..][..bytes];
    let all: Vec<usize> = (0..one.len() / bytes).filter(differ).collect();
    let element = |bytes: &[u8], i: usize| {
        format!("{:02x?}", &bytes[i * desc.class.output.element.bytes_of(1) as usize..][..2])
    };
    let first: Vec<_> =
        all.iter().take(4).map(|&i| (i, element(one, i), element(other, i))).collect();
    format!("{} elements differ, {first:?} to {:?}", all.len(), all.last())
}

fn held(context: &Arc<CudaContext>, [whole, streamed]: [GemmDesc; 2], seed: u64) {
    let random = &mut Random::new(seed);
    let problem = problem(&streamed, random);
    let types = streamed.user_types();
    let of_threads = streamed.class.op == OpKind::Simt && streamed.warp_specialized().is_none();
    let one_block = streamed.cluster() == Mn { m: 1, n: 1 };
    let as_many = one_block
        && !of_threads
        && streamed.class.op == OpKind::Simt
        && machine_of(context).expect("a device").multiprocessors == MOST_STREAMS;
    let kernel = CudaKernel::prepare(context, &streamed.for_batch(problem.batch))
        .unwrap_or_else(|error| panic!("{error}\n{streamed:?}"));
    for fill in [Fill::Integers, Fill::Random] {
        let mut product = HostProduct::poisoned(&streamed, &problem).expect("room");
        let from = fill.operands(types, problem.k);
        product.a.draw(from, seed).expect("a matrix");
        product.b.draw(from, seed + 1).expect("a matrix");
        let (mut again, poisoned) = (product.clone(), product.clone());
        let got = computed(context, &kernel, &mut product);
        let second = computed(context, &kernel, &mut again);
        assert!(
            got == second,
            "two runs, {}: {streamed:?} {problem:?}",
            differences(&streamed, &got, &second)
        );
        if fill == Fill::Integers {
            let mut wanted = poisoned;
            wanted.run(&whole, Mode::Fast).expect("the host");
            let wanted = wanted.d.slice().expect("D").bytes();
            assert!(
                got == wanted,
                "{}: {streamed:?} {problem:?}",
                differences(&streamed, &got, wanted)
            );
        } else if of_threads && problem.m * problem.n * problem.k * problem.batch <= MOST_CHECKED {
            // Sums of threads' products are cut where the host cuts them, for as many blocks.
            let fitted = streamed.fitted(&problem).expect("a kernel");
            let resident = CudaKernel::prepare(context, &fitted.for_batch(problem.batch))
                .expect("a kernel")
                .resident();
            let clusters = resident.min(streamed.most_streams());
            let program =
                Program { clusters, ..streamed.one_schedule().expect("a kernel of one schedule") };
            let mut wanted = poisoned;
            let of_host = problem.with(wanted.matrices().expect("matrices"));
            run_on_host(&program, Mode::Checked { seed: 0 }, of_host).expect("the host");
            let wanted = wanted.d.slice().expect("D").bytes();
            assert!(
                got == wanted,
                "{clusters} blocks, {}: {streamed:?} {problem:?}",
                differences(&streamed, &got, wanted)
            );
        } else if as_many {
            // Sums of threads' products are cut where the host cuts them, who streams for as many
            // clusters.
            let mut wanted = poisoned;
            wanted.run(&streamed, Mode::Fast).expect("the host");
            let wanted = wanted.d.slice().expect("D").bytes();
            assert!(
                got == wanted,
                "the host, {}: {streamed:?} {problem:?}",
                differences(&streamed, &got, wanted)
            );
        }
    }
}

fn drawn(seed: u64, count: u64, family: Family) -> Vec<([GemmDesc; 2], u64)> {
    let wanted = Wanted { family, largest_tile: 1 << 20, arch: Some(ArchKind::Sm90), plain: true };
    let of = |i: u64| {
        let desc = description(seed + i, wanted);
        // f32 is decomposed into parts, whose sums round.
        let exact = desc.class.a.element != ElementKind::F32 || family != Family::WarpSpecialized;
        let held = |both: &[GemmDesc; 2]| exact && both.iter().all(copies_single_elements);
        streamed(desc).filter(held).map(|both| (both, seed + i))
    };
    (0..count).filter_map(of).collect()
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn streams_of_every_family_are_the_products() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for family in FAMILIES {
        let all = drawn(0x57e_a400, 32, family);
        all.par_iter().for_each(|(both, seed)| held(&context, *both, *seed));
        println!("{} descriptions of {family:?}", all.len());
        assert!(all.len() > 16);
    }
}

/// Some cases of each family.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_streams_for_a_sanitizer() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for family in FAMILIES {
        drawn(0x57e_a400, 4, family)
            .into_iter()
            .for_each(|(both, seed)| held(&context, both, seed));
    }
}
