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
                let units = match op {
                    OpKind::Simt => "CUDA cores",
                    OpKind::TensorOp => "tensor cores",
                };
                let has_units = WarpMmaKind::ALL.iter().any(|kind| op_of(*kind) == op);
                let named = if level == "mainloop" && has_units { variant } else { units };
                assert!(sentence.contains(named), "{line}: {sentence}");
                println!("{line}: {sentence}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused == 0, has_all_variants(), "{refused} problems are refused");
}

/// A description in JSON names its main loop and its MMA. The text of a missing one is refused with
/// its name.
#[test]
fn a_description_of_a_missing_variant_is_refused_by_name() {
    let f32 = ElementKind::F32;
    let bf16 = element_types(ElementKind::Bf16, f32, f32);
    let of = |(op, types)| default_description(op, ArchKind::Sm90, types, [Order::Row; 3]).ok();
    let classes = [(OpKind::TensorOp, bf16), (OpKind::Simt, element_types(f32, f32, f32))];
    let desc = classes.into_iter().find_map(of).expect("a kernel");
    let (text, own) =
        (desc.to_json().expect("text"), [desc.mainloop.kind().name(), desc.mma.kind().name()]);
    let mut refused = 0;
    for line in PROBLEMS.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let (level, variant) = (words[4], words[5]);
        let (own, known) = match level {
            "mainloop" => (own[0], MainloopKind::ALL.iter().any(|kind| kind.name() == variant)),
            _ => (own[1], WarpMmaKind::ALL.iter().any(|kind| kind.name() == variant)),
        };
        let said = |word: &str| {
            let other = text.replace(&format!("\"{own}\""), &format!("\"{word}\""));
            let error = GemmDesc::from_json(&other).err().map(|error| error.to_string());
            // The column of an error depends on the length of the word.
            error.unwrap_or_default().split(" at line ").next().unwrap_or_default().to_owned()
        };
        // No tree has the word `sycl`.
        let sentence = said(variant);
        let unknown =
            sentence.contains(variant) && sentence == said("sycl").replace("sycl", variant);
        assert_eq!(unknown, !known, "{variant}: {sentence}");
        refused += usize::from(unknown);
    }
    assert_eq!(refused == 0, has_all_variants(), "{refused} descriptions are refused");
}
