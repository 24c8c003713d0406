//! The pass that writes records and the kernels that read them, compiled by NVRTC: their PTX, and
//! the layout of a record.

use crate::harness::prelude::*;
use falchion::layout::Order;

fn ptx(unit: &TranslationUnit) -> String {
    let entry = compile(&Cache::new(CacheDir::Off), unit, CodeTarget::Ptx(90))
        .unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(entry.image.clone()).expect("PTX is text")
}

fn bf16(orders: [Order; 3], c: ElementKind) -> GemmDesc {
    let types = element_types(ElementKind::Bf16, ElementKind::F32, c);
    default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders)
}

/// One map per operand serves all GEMMs of an array: no kernel edits a map or fences one. Without
/// TMA, the threads read no position.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_arrays_edit_no_maps() {
    let rows = bf16([Row, Col, Row], ElementKind::Bf16);
    for desc in [rows, but!(rows, align_c: 1), rows.cut(3)] {
        let desc = desc.for_array(2);
        desc.check().unwrap_or_else(|refusal| panic!("{refusal}"));
        let text = ptx(&unit_of(&desc, true));
        assert!(!text.contains("tensormap.") && !text.contains("proxy.tensormap"));
        assert!(text.contains("cp.async.bulk.tensor.3d") && !text.contains("tensor.2d"));
    }
}

/// Every target that NVRTC supports compiles the pass.
#[test]
#[ignore = "needs NVRTC"]
fn records_compile_for_every_target() {
    for (desc, arch) in [RecordsDesc::FEW, RecordsDesc::MANY]
        .into_iter()
        .flat_map(|desc| ArchKind::ALL.map(|arch| (desc, arch)))
        // NVRTC 13 does not compile for sm_70.
        .filter(|(_, arch)| *arch > ArchKind::Sm70)
    {
        let unit = desc.translation_unit();
        let entry = compile(&Cache::new(CacheDir::Off), &unit, arch.machine().sm)
            .unwrap_or_else(|error| panic!("{arch}: {error}"));
        let report =
            Report::read(&entry.log).unwrap_or_else(|| panic!("no report in\n{}", entry.log));
        assert!(report.is_clean() && report.stack_bytes == 0, "{arch}: {report:?}");
    }
}

/// The pass for offsets runs before every kernel of groups, after the passes for operands.
#[test]
fn offset_pass_runs_before_grouped_kernels() {
    let offsets = PassDesc::Records(RecordsDesc::FEW);
    let simt =
        default_of(OpKind::Simt, ArchKind::Sm90, Combined::all_of(OpKind::Simt)[0], [Row; 3]);
    for desc in [bf16([Row, Col, Row], ElementKind::Bf16), simt] {
        for other in [desc, desc.for_batch(3)] {
            assert!(!PassDesc::before(&other).contains(&offsets));
        }
        assert_eq!(PassDesc::before(&desc.for_groups(Axis::M)).last(), Some(&offsets));
    }
}

/// The compiler rejects a record layout that differs between Rust and CUDA.
#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_record_layout_does_not_compile() {
    let simt =
        default_of(OpKind::Simt, ArchKind::Sm90, Combined::all_of(OpKind::Simt)[0], [Row; 3]);
    let tma = bf16([Row, Col, Row], ElementKind::Bf16);
    for (kernel, positions, columns) in [(tma, true, 8), (simt, false, 4)] {
        let unit = unit_of(&kernel.for_array(7), true);
        let twin = format!("threadblock::ProductRecords<7, {positions}>");
        let source = unit.source.replace(&twin, "Other");
        assert!(source != unit.source);
        let other = format!(
            "struct Other {{\n  static constexpr int kRows = 7;\n  static constexpr int kColumns = {columns};\n  static __device__ constexpr unsigned at(unsigned product, unsigned piece) {{ return piece * 7 + product; }}\n}};\n"
        );
        let (first, rest) =
            source.split_once("static_assert(index::fingerprint<").expect("a fingerprint");
        let unit = TranslationUnit {
            source: format!("{first}{other}static_assert(index::fingerprint<{rest}"),
            ..unit
        };
        let error = compile(&Cache::new(CacheDir::Off), &unit, 90).message();
        assert!(error.contains("records: the Rust map and the CUDA map differ"), "{error}");
    }
}

/// The pass runs before kernels of arrays, after the passes for operands, and before no others.
#[test]
fn record_pass_runs_before_array_kernels() {
    let simt =
        default_of(OpKind::Simt, ArchKind::Sm90, Combined::all_of(OpKind::Simt)[0], [Row; 3]);
    let both = [RecordsDesc::FEW, RecordsDesc::MANY].map(PassDesc::Records);
    for desc in [bf16([Row, Col, Row], ElementKind::Bf16), simt] {
        for other in [desc, desc.for_batch(9), desc.for_array(1)] {
            assert!(!PassDesc::before(&other).iter().any(|pass| both.contains(pass)));
        }
        let passes = PassDesc::before(&desc.for_array(2));
        assert_eq!(passes.split_last_chunk().map(|(_, last)| *last), Some(both));
    }
}
