//! The CuTe GEMM under NVRTC: no kernel spills on any architecture, and the kernel's layout
//! functions equal the layouts.

use crate::harness::{
    cute_partitions::{PARTITIONS, partitions},
    prelude::*,
};

/// Returns the report of the assembler. The cache is off, so no kernel of an earlier run is reused.
fn report(gemm: &CuteGemm, element: ElementKind, with_fingerprints: bool, sm: u32) -> Report {
    let text = gemm.text(element, with_fingerprints).expect("a kernel");
    let entry = compile(&Cache::new(CacheDir::Off), &text.unit, sm)
        .unwrap_or_else(|error| panic!("sm_{sm}: {error}"));
    Report::read(&entry.log).unwrap_or_else(|| panic!("sm_{sm}: no report in\n{}", entry.log))
}

#[test]
#[ignore = "needs NVRTC"]
fn kernels_compile_clean_on_every_architecture() {
    let elements = [ElementKind::F32, ElementKind::F64, ElementKind::I32];
    let kernels: Vec<_> = [75, 80, 86, 89, 90]
        .into_iter()
        .flat_map(|sm| elements.map(|element| (sm, element)))
        .flat_map(|(sm, element)| partitions().map(move |gemm| (sm, element, gemm)))
        .collect();
    for (sm, element, gemm) in sample(kernels) {
        // 16 x 8 numbers of two registers each.
        if let Some(Refusal {
            field: Field::RegistersPerThread, value: Value::Number(352), ..
        }) = gemm.text(element, false).as_ref().err().and_then(Error::refusal)
        {
            continue;
        }
        let report = report(&gemm, element, false, sm);
        assert!(report.is_clean(), "{gemm:?} {element:?} sm_{sm}: {report:?}");
        println!(
            "{gemm:?} {element:?} sm_{sm}: {} registers, {} bytes",
            report.registers, report.shared_bytes
        );
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn kernel_functions_equal_the_layouts() {
    let small: Vec<_> = PARTITIONS.into_iter().filter(|(problem, ..)| problem.k <= 16).collect();
    assert_eq!(small.len(), 4);
    for (problem, tile, thread) in small {
        let gemm = CuteGemm::new(problem, tile, thread).expect("tiles that divide");
        assert!(report(&gemm, ElementKind::F32, true, 90).is_clean());
    }
}

/// A kernel with one changed number in a layout, and with the fingerprints of the correct layouts,
/// does not compile.
#[test]
#[ignore = "needs NVRTC"]
fn another_layout_does_not_compile() {
    let gemm =
        CuteGemm::new(Mnk::new(48, 32, 8), Mnk::new(16, 16, 4), (4, 4)).expect("tiles that divide");
    for (name, layout) in gemm.layouts().expect("layouts") {
        let mut unit = gemm.text(ElementKind::F32, true).expect("a kernel").unit;
        let begin = unit.config.find(&format!("  using {name} = ")).expect("a layout");
        let end = begin + unit.config[begin..].find('\n').expect("a line");
        // Changes the last stride. No layout has a stride of 7.
        let last = begin + unit.config[begin..end].rfind("algebra::").expect("a stride");
        let after = last + unit.config[last..end].find('>').expect("its end") + 1;
        unit.config.replace_range(last..after, "algebra::Int<7>");
        let error = compile(&Cache::new(CacheDir::Off), &unit, 90).message();
        assert!(
            error.contains(&format!("{name}: the Rust layout and the CUDA layout differ")),
            "{layout}: {error}"
        );
    }
}
