//! Epilogues that write results beside D.

use super::{
    case::read_and_written,
    epilogue_operands::with_epilogues,
    groups::largest,
    prelude::*,
    problems,
    same_bits::{difference, sprinkle},
};

/// Epilogues that compute in f32. Each reduction and each result type occurs.
const OF_F32: [&str; 13] = [
    "aux1:f32 = alpha * acc + bias_n:f32; relu(aux1) + beta * c",
    "aux2 = acc; aux3:bf16 = aux2 * scale_m:f32 + aux1; gelu_tanh(aux3)",
    "amax(alpha * acc + beta * c)",
    "row_amax(silu(acc)) + col_amax(acc * s2)",
    "col_amax(row_amax(amax(acc))) - aux1:f32",
    "y = amax(tanh(acc)); aux4:f16 = row_amax(y) * 3; aux4 + y",
    "s3 * (aux1:i8 = col_amax(alpha * acc)) + bias_m",
    "aux1:f32 = relu(acc)",
    "row_sum(acc)",
    "col_sum(alpha * acc + bias_n:f32)",
    "row_sumsq(row_sum(relu(acc))) + beta * c",
    "y = col_sumsq(tanh(acc)); col_sum(y) * 2",
    "row_sum(col_sum(amax(acc))) - scale_n",
];

/// Epilogues that compute in f64 or i32.
const PLAIN: [&str; 5] = [
    "aux1 = alpha * acc; aux2 = aux1 + aux3; relu(aux2) + beta * c",
    "amax(row_amax(acc) - bias_n)",
    "aux4 = col_amax(acc); max(aux4, bias_m)",
    "row_sumsq(col_sum(acc + bias_m))",
    "y = row_sum(acc); col_sumsq(acc) + y",
];

/// Returns random kernels of each main loop and MMA that write results, with the seed of each.
pub fn descriptions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    let mut next = HashMap::new();
    with_epilogues(seed, count, |compute, _| {
        let texts = if compute == ComputeKind::F32 { &OF_F32[..] } else { &PLAIN };
        let at = next.entry(compute).or_insert(0);
        *at += 1;
        texts[(*at - 1) % texts.len()].parse().expect("an expression")
    })
}

/// Epilogues of a D of fp8, with scales in memory and maxima.
const TO_FP8: [&str; 4] = [
    "alpha_ptr:f32 * amax(gelu_tanh(acc + bias_n:bf16))",
    "scale_n:f32 * row_amax(alpha * acc) + beta * c",
    "aux1:bf16 = acc; alpha_ptr:f32 * amax(col_amax(relu(aux1)))",
    "amax(acc * scale_m:f32 * s2)",
];

/// Returns random kernels on tensor cores that store fp8, with the seed of each.
pub fn descriptions_to_fp8(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    let kinds = [KernelKind::WgmmaRing, KernelKind::MmaSync];
    let of = |i: u64| {
        let (seed, kernel_kind) = (draw(seed, i), kinds[i as usize % kinds.len()]);
        let (arch, largest_tile) = (kernel_kind.arch_of_one_rounding(), largest(kernel_kind));
        let wanted = Wanted { kernel_kind, arch, largest_tile, ..Wanted::default() };
        (seed, description(seed, wanted))
    };
    let to_fp8 = (0..).map(of).filter(|(_, desc)| desc.types().c.is_fp8());
    let texts = TO_FP8.iter().cycle();
    let described = to_fp8.zip(texts).map(|((seed, desc), text)| {
        let epilogue = text.parse::<EpilogueDesc>().expect("an expression").enter(desc.frame);
        (seed, desc.pinned(Pins { epilogue: Some(epilogue), ..Pins::NONE }))
    });
    described.filter(|(_, desc)| desc.check().is_ok()).take(count).collect()
}

/// Runs a description on random problems, half of which have special numbers, and compares D and
/// the results beside D of two executors bit by bit. NaN may have any payload.
pub fn compare(desc: &GemmDesc, seed: u64, one: &dyn Runner, other: &dyn Runner) {
    let wanted = problems::Wanted { most_work: 2_000_000, aligned: true };
    let guarded = guarded(seed, desc, wanted);
    let mut buffers = Buffers::filled(desc, &guarded, Fill::Random, seed).expect("buffers");
    let mut random = Random::new(seed);
    if random.once_in(2) && !desc.emulation().scales() {
        sprinkle(&mut buffers.a, guarded.first[0], &guarded.problem.a, &mut random);
    }
    let run = |runner: &dyn Runner| {
        let mut after = buffers.clone();
        let ran = after.run(runner, desc, &guarded);
        ran.unwrap_or_else(|error| panic!("{}: {error}\n  {desc:?}", runner.name()));
        after
    };
    let (one, other) = (run(one), run(other));
    let epilogue = desc.epilogue.leave(desc.frame);
    let [of_one, of_other] =
        [&one, &other].map(|after| read_and_written(&after.operands, &epilogue)[1]);
    let results = of_one.iter().map(|(operand, buffer)| {
        (operand.name(), *buffer, *of_other.get(operand).expect("the same operands"))
    });
    for (name, x, y) in results.chain([("d", &one.d, &other.d)]) {
        if let Some(place) = difference(x, y).expect("numbers") {
            panic!(
                "element {place} of {name} is {:?} and {:?}, seed {seed}\n  {epilogue}\n  {desc:?}\n  {guarded:?}",
                x.get(place),
                y.get(place)
            );
        }
    }
}
