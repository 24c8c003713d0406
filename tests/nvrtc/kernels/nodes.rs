//! Epilogue nodes: each one compiles for each type of accumulator. The kernel contains the text of
//! a user's node in the math type of the epilogue. The error names a node that is not valid CUDA.

use super::{F32, all_clean, cache, default, default_f32, descriptions};
use crate::harness::prelude::*;
use falchion::epilogue::{Source, register};

struct Softsign;

impl Function for Softsign {
    const NAME: &'static str = "softsign";
    const CUDA: &'static str = "x / (1.0f + (x < 0 ? -x : x))";
    fn host(x: f32) -> f32 {
        x / (1.0 + x.abs())
    }
    const F64: Option<F64Function> =
        Some(F64Function { cuda: "x / (1.0 + (x < 0 ? -x : x))", host: |x| x / (1.0 + x.abs()) });
}

struct Misspelled;

impl Function for Misspelled {
    const NAME: &'static str = "mis spelled";
    const CUDA: &'static str = "absolute(x)";
    fn host(x: f32) -> f32 {
        x.abs()
    }
    const F64: Option<F64Function> =
        Some(F64Function { cuda: "absolute_of_f64(x)", host: f64::abs });
}

/// Ends the expression early, and opens a brace.
struct Unbalanced;

impl Function for Unbalanced {
    const NAME: &'static str = "unbalanced";
    const CUDA: &'static str = "x; } {";
    fn host(x: f32) -> f32 {
        x
    }
}

type Activated<F> = Apply<F, Add<Acc, Scaled<Beta, Source>>>;

#[test]
#[ignore = "needs NVRTC"]
fn a_user_node_may_end_with_a_comment() {
    struct Halved;

    impl Function for Halved {
        const NAME: &'static str = "halved";
        const CUDA: &'static str = "0.5f * x  // exact";
        fn host(x: f32) -> f32 {
            0.5 * x
        }
    }
    register::<Halved>();
    let d = but!(default_f32(ArchKind::Sm90), epilogue: <Activated<Halved> as Node>::DESC);
    compile(&cache(), &unit_of(&d, false), 90).expect("a kernel");
}

#[test]
#[ignore = "needs NVRTC"]
fn a_user_node_with_invalid_cuda_is_named() {
    register::<Softsign>();
    register::<Misspelled>();
    register::<Unbalanced>();
    // The error does not name the valid node.
    for (epilogue, name, says) in [
        (
            <Activated<Misspelled> as Node>::DESC,
            "mis spelled",
            "identifier \"absolute\" is undefined",
        ),
        (
            <Apply<Softsign, Activated<Misspelled>> as Node>::DESC,
            "mis spelled",
            "identifier \"absolute\" is undefined",
        ),
        (<Activated<Unbalanced> as Node>::DESC, "unbalanced", "error"),
    ] {
        let d = but!(default_f32(ArchKind::Sm90), epilogue);
        let error = compile(&cache(), &unit_of(&d, false), 90).expect_err(name);
        assert!(error.to_string().contains(&format!("(epilogue node `{name}`)")), "{error}");
        let Error::Compile { log, node, .. } = error else { panic!("{error:?}") };
        assert_eq!(node.as_deref(), Some(name), "{log}");
        assert!(log.contains(says), "{log}");
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_user_node_uses_the_math_type_of_the_epilogue() {
    register::<Softsign>();
    register::<Misspelled>();
    let (f64, i32, i8) = (ElementKind::F64, ElementKind::I32, ElementKind::I8);
    let types = [
        F32,
        element_types(f64, f64, f64),
        element_types(i8, i32, i32),
        element_types(i32, i32, i32),
    ];
    let mut kernels = Vec::new();
    for (types, number) in types.into_iter().zip(["float", "double", "double", "double"]) {
        let plain = default(ArchKind::Sm80, types, [Order::Row; 3]);
        let d = but!(plain, epilogue: <Activated<Softsign> as Node>::DESC);
        let config = unit_of(&d, false).config;
        assert!(config.contains(&format!("__forceinline__ {number} user_")), "{config}");
        kernels.push((format!("{types:?}"), d, ArchKind::Sm80));
        // The kernel compiles the text of this number type.
        let wrong = but!(plain, epilogue: <Activated<Misspelled> as Node>::DESC);
        let error = compile(&cache(), &unit_of(&wrong, false), 80).message();
        let called = if number == "float" {
            "identifier \"absolute\""
        } else {
            "identifier \"absolute_of_f64\""
        };
        assert!(
            error.contains("(epilogue node `mis spelled`)") && error.contains(called),
            "{error}"
        );
    }
    all_clean("nodes", kernels);
}

/// Returns a tree with every mathematical function that a compute type has.
fn every_function(compute: ComputeKind) -> EpilogueDesc {
    let functions = MathFunction::ALL.iter().filter(|one| one.computes_in(compute));
    functions.fold(EpilogueDesc::leaf(Op::Accumulator), |x, &function| match function.arity() {
        1 => x.then(Op::Math(function)),
        _ => x.join(EpilogueDesc::leaf(Op::SOURCE), Op::Math(function)),
    })
}

#[test]
#[ignore = "needs NVRTC"]
fn epilogues_compile_clean() {
    register::<Softsign>();
    let mut epilogues = vec![<Activated<Softsign> as Node>::DESC];
    epilogues.extend(
        [
            "acc",
            "3",
            "relu(alpha * acc + beta * c)",
            "clamp(alpha * acc + beta * c, -6, 6)",
            "max(min(acc, source), -2) + s7 * c",
            "multiply(acc + 1, c + -1)",
            "relu(alpha * acc + bias_n)",
            "multiply(acc, bias_m) + beta * bias_n + s2 * c",
            "x = acc - c; y = -x; max(x, y) + 2 * x",
        ]
        .map(|text| text.parse::<EpilogueDesc>().unwrap_or_else(|error| panic!("{text}: {error}"))),
    );
    let mut kernels = Vec::new();
    for types in COMBINATIONS {
        // One per type of accumulator and of C, because the epilogue depends on no other types.
        let firsts = COMBINATIONS
            .iter()
            .find(|other| (other.accumulator, other.c) == (types.accumulator, types.c));
        if firsts == Some(types) {
            let d = default(ArchKind::Sm80, *types, [Order::Row; 3]);
            let all = epilogues.iter().copied().chain([every_function(d.output.compute)]);
            kernels.extend(all.map(|e| (e.to_string(), but!(d, epilogue: e), ArchKind::Sm80)));
        }
    }
    all_clean("epilogues", kernels);
}

/// Tiles for results of fp8, with a scale in memory and a maximum. The register model does not
/// count the operands of an epilogue, so tiles with 192 accumulators per thread spill some of them.
#[test]
#[ignore = "needs NVRTC"]
fn scaled_results_of_fp8_compile_clean() {
    let epilogue = "alpha_ptr:f32 * amax(gelu_tanh(acc + bias_n:bf16))";
    let epilogue = epilogue.parse::<EpilogueDesc>().expect("an expression");
    let mut kernels = Vec::new();
    let to_fp8 = descriptions::ring_types().into_iter().filter(|types| types.c.is_fp8());
    for (number, types) in to_fp8.enumerate() {
        let tiles = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm90, types);
        for (i, tile) in tiles.expect("a row of the table").iter().enumerate() {
            let order = [Order::Row, Order::Col][(number + i) % 2];
            let orders = [Order::Row, Order::Col, order];
            let d = GemmDesc::from_values(OpKind::TensorOp, ArchKind::Sm90, types, orders, *tile);
            let epilogue = epilogue.enter(d.frame);
            kernels.push((format!("{order:?}"), but!(d, epilogue), ArchKind::Sm90));
        }
    }
    kernels.retain(|(_, d, _)| d.warp().m * d.warp().n < 128 * 192);
    assert!(kernels.len() >= 60, "{} kernels", kernels.len());
    all_clean("scaled results of fp8", kernels);
}
