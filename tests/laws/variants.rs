//! Main loops and MMAs by name. `scripts/variant.sh` deletes one of them: a request that only the
//! deleted variant computes is then refused by name.

use crate::harness::{prelude::*, words::has_all_variants};

/// Units, architecture, types, the word of a main loop or of an MMA, and `mainloop` if it is one.
const PROBLEMS: &str = "simt sm70 f32 f32 mainloop singlestage
simt sm70 f32 f32 mainloop pipelined
simt sm80 f32 f32 mainloop multistage
tensorop sm90 bf16 f32 mainloop warpspecialized
simt sm70 f32 f32 mma simt
tensorop sm80 f16 f32 mma mmasync
tensorop sm90 e4m3 f32 mma wgmma";

#[test]
fn a_problem_of_a_missing_variant_is_refused_by_name() {
    let mut refused = 0;
    for line in PROBLEMS.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let &[op, arch, ab, c, level, variant] = &words[..] else { panic!("{line}") };
        let knobs = if level == "mainloop" { vec![(level, variant)] } else { Vec::new() };
        let [ab, c] = [ab, c].map(|name| ElementKind::from_name(name).expect("a type"));
        let op = op.parse::<OpKind>().expect("units");
        let arch = arch.parse::<ArchKind>().expect("an architecture");
        let types = element_types(ab, ElementKind::F32, c);
        let orders = [Order::Row, Order::Col, Order::Row];
        let request = Request { arch: Some(arch), ..request_of(op, types, orders, &knobs) };
        match request.resolve(arch) {
            Ok(found) => {
                let names = [found.desc.mainloop.kind().name(), found.desc.mma.kind().name()];
                assert!(names.contains(&variant), "{line}: {names:?}");
            }
            Err(error) => {
                let sentence = error.to_string();
                let named = if level == "mainloop" { variant } else { op.name() };
                let tensor_cores = sentence.contains("tensor cores") && op == OpKind::TensorOp;
                assert!(sentence.contains(named) || tensor_cores, "{line}: {sentence}");
                println!("{line}: {sentence}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused == 0, has_all_variants(), "{refused} problems are refused");
}
