//! Epilogue nodes of a user: the kernel contains their text in the epilogue's math type, and the
//! error names a node that is not valid CUDA.

use super::{F32, all_clean, cache, default, default_f32};
use crate::harness::prelude::*;
use falchion::epilogue::{Source, register};

pub(super) struct Softsign;

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

pub(super) type Activated<F> = Apply<F, Add<Acc, Scaled<Beta, Source>>>;

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
