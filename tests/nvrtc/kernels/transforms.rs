//! User transforms of operands: NVRTC compiles the kernels of each main loop and each pair of types
//! without spills. A text that is no CUDA is named.

use super::{all_clean, cache};
use crate::harness::{
    prelude::*,
    transforms::{Magnitude, Scaled, transform_words},
};

fn kernel(
    (op, arch): (OpKind, ArchKind),
    ab: &str,
    knobs: &[(&str, &str)],
) -> (String, GemmDesc, ArchKind) {
    let [a, b] = [format!("{ab}:row"), format!("{ab}:col")];
    let desc = described([&a, &b, "f32:row"], (op, arch), knobs);
    (format!("{desc}"), desc, arch)
}

#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_transforms_compile_clean() {
    let (simt, tensor) = (OpKind::Simt, OpKind::TensorOp);
    let mut kernels = Vec::new();
    for mainloop in ["singlestage", "pipelined", "multistage"] {
        let (both, of_b) =
            (transform_words::<Scaled<f32, f32>>(), transform_words::<Magnitude<Bf16, f32>>());
        let knobs = [("transform_a", &*both), ("transform_b", &both), ("mainloop", mainloop)];
        kernels.push(kernel((simt, ArchKind::Sm80), "f32", &knobs));
        if !mainloop.starts_with("multi") {
            let knobs = [("transform_b", &*of_b), ("mainloop", mainloop)];
            kernels.push(kernel((simt, ArchKind::Sm80), "bf16", &knobs));
        }
    }
    for (mainloop, arch) in [
        ("pipelined", ArchKind::Sm80),
        ("multistage", ArchKind::Sm80),
        ("multistage", ArchKind::Sm86),
        ("multistage", ArchKind::Sm90),
    ] {
        for words in [
            transform_words::<Scaled<f32, Bf16>>(),
            transform_words::<Scaled<f32, F16>>(),
            transform_words::<Magnitude<f32, Tf32>>(),
        ] {
            let knobs = [("transform_a", &*words), ("transform_b", &words), ("mainloop", mainloop)];
            kernels.push(kernel((tensor, arch), "f32", &knobs));
        }
        for (ab, words) in [
            ("bf16", transform_words::<Scaled<Bf16, Bf16>>()),
            ("f16", transform_words::<Magnitude<F16, F16>>()),
            ("tf32", transform_words::<Scaled<Tf32, Tf32>>()),
        ] {
            for operand in ["transform_a", "transform_b"] {
                let knobs = [(operand, &*words), ("mainloop", mainloop)];
                kernels.push(kernel((tensor, arch), ab, &knobs));
            }
        }
        let words = transform_words::<Scaled<f32, Bf16>>();
        let knobs = [
            ("transform_a", &*words),
            ("emulation", "bf16x1"),
            ("instruction", "16x8x16"),
            ("mainloop", mainloop),
        ];
        kernels.push(kernel((tensor, arch), "f32", &knobs));
    }
    let turing = transform_words::<Magnitude<F16, F16>>();
    kernels.push(kernel((tensor, ArchKind::Sm75), "f16", &[("transform_a", &turing)]));
    assert_eq!(kernels.len(), 5 + 4 * 10 + 1);
    all_clean("transforms", kernels);
}

/// A name with quotes, a backslash, line ends, and control characters.
const HOSTILE: &str = "\"of\\ \n#error \r\u{1}two\u{7f}";

macro_rules! texts {
    ($($Text:ident $name:expr, $cuda:literal;)*) => {
        $(struct $Text;

        impl Transform for $Text {
            const NAME: &'static str = $name;
            type Stored = f32;
            type Multiplied = f32;
            const CUDA: &'static str = $cuda;
            fn host(x: f32) -> f32 {
                x
            }
        })*
    };
}

texts! {
    Hostile HOSTILE, "x";
    HostileMisspelled HOSTILE, "absolute(x)";
    Misspelled "mis spelled", "x +\n  absolute(x)";
    Unbalanced "unbalanced", "x; } {";
    Lines "lines", "x // one\n  + 0.0f /* two\n lines */ // three";
}

#[test]
#[ignore = "needs NVRTC"]
fn a_transform_that_is_no_cuda_is_named() {
    let good = transform_words::<Scaled<f32, f32>>();
    for (words, name, says) in [
        (
            transform_words::<Misspelled>(),
            "mis spelled",
            "operand transform mis spelled(2): error: identifier \"absolute\" is undefined",
        ),
        (transform_words::<Unbalanced>(), "unbalanced", "error"),
        (
            transform_words::<HostileMisspelled>(),
            "of #error two",
            "identifier \"absolute\" is undefined",
        ),
    ] {
        // A good transform beside the bad one is not blamed.
        let knobs = [("transform_a", &*good), ("transform_b", &words)];
        let (_, desc, _) = kernel((OpKind::Simt, ArchKind::Sm80), "f32", &knobs);
        let error = compile(&cache(), &unit_of(&desc, false), 80).expect_err(name);
        assert!(error.to_string().contains(&format!("(operand transform `{name}`)")), "{error}");
        let Error::Compile { log, node, transform } = error else { panic!("{error:?}") };
        assert_eq!((node, transform.as_deref()), (None, Some(name)), "{log}");
        assert!(log.contains(says), "{log}");
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn names_and_comments_of_transforms_do_not_change_the_unit() {
    let kernels = [transform_words::<Hostile>(), transform_words::<Lines>()]
        .map(|words| kernel((OpKind::Simt, ArchKind::Sm80), "f32", &[("transform_a", &words)]));
    all_clean("transforms with unusual texts", kernels.into());
}
