//! The pass that writes records and the kernels that read them, compiled by NVRTC: their PTX, and
//! the places of the pieces of a record.

use crate::harness::prelude::*;
use falchion::{
    cuda::{CodeTarget, compile},
    internals::pass::RecordsDesc,
    layout::Order::{self, Col, Row},
};

const REPLACE: &str = "tensormap.replace.tile.global_address.shared::cta.b1024.b64";
const PUBLISH: &str =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned";
const ACQUIRE: &str = "fence.proxy.tensormap::generic.acquire.gpu";

fn ptx(unit: &TranslationUnit) -> String {
    let entry = compile(&Cache::new(CacheDir::Off), unit, CodeTarget::Ptx(90))
        .unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(entry.image.clone()).expect("PTX is text")
}

/// One map a warp: its address is replaced once, and it is published once.
#[test]
#[ignore = "needs NVRTC"]
fn the_kernel_compiles_clean_and_publishes_what_it_makes() {
    for unit in RecordsDesc::for_arrays(true).map(|desc| desc.translation_unit(true)) {
        let entry = compile(&Cache::new(CacheDir::Off), &unit, 90)
            .unwrap_or_else(|error| panic!("{error}"));
        let report =
            Report::read(&entry.log).unwrap_or_else(|| panic!("no report in\n{}", entry.log));
        assert!(report.is_clean() && report.stack_bytes == 0, "{report:?}");
        assert_eq!(report.shared_bytes, 4 * 128);
        let text = ptx(&unit);
        assert_eq!(
            [REPLACE, PUBLISH, ACQUIRE].map(|spelled| text.matches(spelled).count()),
            [1, 1, 0]
        );
        println!("{} registers", report.registers);
    }
}

fn bf16(orders: [Order; 3], c: ElementKind) -> GemmDesc {
    let types = element_types(ElementKind::Bf16, ElementKind::F32, c);
    default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders)
}

/// A producer acquires the maps of A and B. A consumer acquires the maps of C and D if TMA moves
/// these matrices. No GEMM kernel edits a map, and kernels of one GEMM acquire none.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_acquire_the_maps_that_they_copy_by() {
    let rows = bf16([Row, Col, Row], ElementKind::Bf16);
    let by_threads = but!(rows, align_c: 1);
    for (name, desc, wanted) in
        [("by TMA", rows, 4), ("threads store", by_threads, 2), ("split-K", rows.cut(3), 4)]
    {
        let spelled = |products| {
            let desc = desc.for_array(products);
            desc.check().unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            let text = ptx(&unit_of(&desc, true));
            (
                text.matches(ACQUIRE).count(),
                text.matches("tensormap.replace").count(),
                text.contains("cp.async.bulk.tensor"),
            )
        };
        assert_eq!(spelled(1), (0, 0, true), "{name}");
        assert_eq!(spelled(2), (wanted, 0, true), "{name}");
        println!("{name}: {wanted} maps");
    }
}

/// The kernel that writes addresses or offsets has no tensor maps, so older targets compile it too.
#[test]
#[ignore = "needs NVRTC"]
fn records_without_maps_compile_for_every_target() {
    for (desc, arch) in RecordsDesc::for_arrays(false)
        .into_iter()
        .flat_map(|desc| ArchKind::ALL.map(|arch| (desc, arch)))
        // NVRTC 13 does not compile for sm_70.
        .filter(|(_, arch)| *arch > ArchKind::Sm70)
    {
        let unit = desc.translation_unit(true);
        let entry = compile(&Cache::new(CacheDir::Off), &unit, arch.machine().sm)
            .unwrap_or_else(|error| panic!("{arch}: {error}"));
        let report =
            Report::read(&entry.log).unwrap_or_else(|| panic!("no report in\n{}", entry.log));
        assert!(report.is_clean() && report.stack_bytes == 0, "{arch}: {report:?}");
    }
}

/// The pass for offsets runs before every kernel of groups, after the passes for operands.
#[test]
fn it_is_prepared_with_kernels_of_groups() {
    let offsets = PassDesc::Records(RecordsDesc::OFFSETS);
    let simt =
        default_of(OpKind::Simt, ArchKind::Sm90, Combined::all_of(OpKind::Simt)[0], [Row; 3]);
    for desc in [bf16([Row, Col, Row], ElementKind::Bf16), simt] {
        for other in [desc, desc.for_batch(3)] {
            assert!(!PassDesc::before(&other).contains(&offsets));
        }
        assert_eq!(PassDesc::before(&desc.for_groups(Axis::M)).last(), Some(&offsets));
    }
}

/// Different places of records in the two languages are found while either kernel is compiled.
#[test]
#[ignore = "needs NVRTC"]
fn another_order_of_records_is_found() {
    let simt =
        default_of(OpKind::Simt, ArchKind::Sm90, Combined::all_of(OpKind::Simt)[0], [Row; 3]);
    let kernels = [bf16([Row, Col, Row], ElementKind::Bf16), simt];
    for (mapped, kernel) in [true, false].into_iter().zip(kernels) {
        let unit = unit_of(&kernel.for_array(7), true);
        for unit in [RecordsDesc::for_arrays(mapped)[0].translation_unit(true), unit] {
            let twin = format!("threadblock::ProductRecords<7, {mapped}>");
            let source = unit.source.replace(&twin, "Other");
            assert!(source != unit.source);
            let columns = if mapped { 8 } else { 4 };
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
}

/// The pass runs before kernels of arrays, after the passes for operands, and before no others.
#[test]
fn it_is_prepared_with_kernels_of_arrays() {
    let simt =
        default_of(OpKind::Simt, ArchKind::Sm90, Combined::all_of(OpKind::Simt)[0], [Row; 3]);
    for (desc, mapped) in [(bf16([Row, Col, Row], ElementKind::Bf16), true), (simt, false)] {
        let both = RecordsDesc::for_arrays(mapped).map(PassDesc::Records);
        for other in [desc, desc.for_batch(9), desc.for_array(1)] {
            assert!(!PassDesc::before(&other).iter().any(|pass| both.contains(pass)));
        }
        let passes = PassDesc::before(&desc.for_array(2));
        assert_eq!(passes.split_last_chunk().map(|(_, last)| *last), Some(both));
    }
}
