//! Vectors, auxiliary matrices, and mathematical functions of an epilogue on a device.

use crate::harness::{
    conformance::judge_both,
    epilogue_operands::{descriptions, math_functions, random_trees, with_epilogues},
    prelude::*,
    problems, requested_case,
    same_bits::compare,
    sample,
};
use falchion::internals::{Rows, evaluate};

/// Checks that the device gives the bits of the host, and the values of the reference. With
/// `FALCHION_CASE=0:<seed>`, only for the description of a seed.
fn conform(descriptions: &[(u64, GemmDesc)]) {
    let device = OnCuda::new();
    let wanted = problems::Wanted { most_work: 2_000_000, aligned: true };
    let requested = requested_case();
    let is_requested = |(seed, _): &&(u64, GemmDesc)| requested.is_none_or(|(_, one)| one == *seed);
    descriptions.par_iter().filter(is_requested).for_each(|(seed, desc)| {
        let on_device = |guarded: &Guarded, buffers: &Buffers, _| {
            let mut after = buffers.clone();
            after.run(&device, desc, guarded)?;
            Ok(after.d)
        };
        compare(desc, (0, *seed), true, &on_device)
            .unwrap_or_else(|error| panic!("{error}\n  {desc:?}"));
        judge_both(&device, desc, &guarded(*seed, desc, wanted), (0, *seed));
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_reads_each_operand() {
    conform(&descriptions(0xa0c7, 120));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_computes_each_math_function() {
    conform(&sample(math_functions(0xa0c8, 600)));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_computes_random_trees() {
    conform(&sample(random_trees(0xa0c9, 2000)));
}

/// Chains of minima and maxima of integers keep the signs of negated operands.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn negated_integers_are_compared() {
    let texts = [
        "max(max(beta * c, -acc), alpha)",
        "min(min(beta * c, -acc), alpha)",
        "max(max(-acc, -beta * c), -alpha)",
        "min(min(beta * c, acc * -1), acc)",
        "max(-acc, max(acc, beta * c))",
        "min(max(min(beta * c, -acc), alpha), 7)",
    ];
    let mut next = texts.into_iter().cycle();
    let mut descriptions = with_epilogues(0xa0d0, 160, |compute, _| {
        let text = if compute == ComputeKind::I32 { next.next() } else { None };
        text.unwrap_or("acc").parse::<EpilogueDesc>().expect("an expression")
    });
    descriptions.retain(|(_, desc)| desc.output.compute == ComputeKind::I32);
    let formulas: HashSet<_> = descriptions.iter().map(|(_, d)| d.epilogue.to_string()).collect();
    assert!(formulas.len() >= texts.len(), "{formulas:?}");
    conform(&descriptions);
}

/// D = f(X) for an X with all 2^32 numbers of f32, a part at a time. `FALCHION_SAMPLE` selects some
/// of the 256 parts.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_input_of_an_approximation_gives_the_bits_of_the_host() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    // 2^24 numbers per launch.
    let (m, n) = (1 << 12, 1 << 12);
    let functions: Vec<_> = MathFunction::ALL
        .iter()
        .filter(|one| one.arity() == 1 && !one.computes_in(ComputeKind::F64))
        .collect();
    assert!(functions.len() >= 10);
    const F32: ElementKind = ElementKind::F32;
    let operators: Vec<_> = functions
        .iter()
        .map(|function| {
            let text = format!("{}(aux1)", function.name());
            let pins = [("epilogue", text.as_str())];
            let request =
                request_of(OpKind::Simt, element_types(F32, F32, F32), [Order::Row; 3], &pins);
            (function, GemmOperation::from_request(&request).expect("an operator"))
        })
        .collect();
    sample((0..1u32 << 8).collect()).into_par_iter().for_each(|part| {
        let stream = context.new_stream().expect("a stream");
        let mut d = stream.alloc_zeros::<f32>(m * n).expect("memory");
        let nothing = stream.alloc_zeros::<f32>(1).expect("memory");
        let x: Vec<f32> = (0..1u32 << 24).map(|i| f32::from_bits(part << 24 | i)).collect();
        let on_device = stream.clone_htod(&x).expect("memory");
        for (function, gemm) in &operators {
            let [a, b] = [&nothing; 2].map(AnySlice::new::<f32>);
            let arguments = Arguments::new((m, n, 0), a, b, AnySliceMut::new::<f32>(&mut d));
            gemm.run(arguments.aux::<1>(&on_device)).expect("a result");
            let got = stream.clone_dtoh(&d).expect("a copy");
            let wrong = got.chunks(1 << 12).zip(x.chunks(1 << 12)).find_map(|(got, x)| {
                let mut operands = EpilogueOperands::NONE;
                *operands.slot(EpilogueOperand::Aux1) = Some(x);
                let (desc, mut rows) = (gemm.desc().epilogue, Rows::default());
                let host = evaluate(&desc, &[0.0; 8], x, &operands, &mut rows);
                let differ = |(got, host): (&f32, &f32)| got.to_bits() != host.to_bits();
                let at = got.iter().zip(host).position(differ)?;
                Some((x[at], got[at], host[at]))
            });
            assert_eq!(wrong, None, "{function:?}: input, device, and host");
        }
    });
}
