//! The kernel that makes tensor maps under NVRTC, and those that acquire them: what their PTX
//! spells, and that both find the same places.

use crate::harness::prelude::*;
use falchion::{
    cuda::{CodeTarget, compile},
    internals::pass::MapsDesc,
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
    for unit in MapsDesc::ALL.map(|makes| makes.translation_unit(true)) {
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

/// A producer acquires maps of A and B, and a consumer of C and D, where TMA moves those; nobody
/// edits a map. Kernels whose maps are parameters acquire none.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_acquire_the_maps_that_they_copy_by() {
    let rows = bf16([Row, Col, Row], ElementKind::Bf16);
    let by_threads = but!(rows, align_c: 1);
    for (name, desc, wanted) in
        [("by TMA", rows, 4), ("threads store", by_threads, 2), ("in parts of K", rows.cut(3), 4)]
    {
        let spelled = |products| {
            let desc = desc.for_array(products);
            desc.check().unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            let text = ptx(&unit_of(&desc, true));
            // Of A and B it copies in two places at least.
            (
                text.matches(ACQUIRE).count(),
                text.matches("tensormap.replace").count(),
                text.contains("cp.async.bulk.tensor"),
            )
        };
        assert_eq!(spelled(6), (0, 0, true), "{name}");
        assert_eq!(spelled(7), (wanted, 0, true), "{name}");
        println!("{name}: {wanted} maps");
    }
}

/// Records that lie elsewhere in the two languages are found while either kernel is compiled.
#[test]
#[ignore = "needs NVRTC"]
fn another_order_of_records_is_found() {
    let kernel = unit_of(&bf16([Row, Col, Row], ElementKind::Bf16).for_array(7), true);
    for unit in [MapsDesc::for_gemms(7).translation_unit(true), kernel] {
        let source = unit.source.replace("threadblock::ProductRecords<110>", "Turned");
        assert!(source != unit.source);
        let turned = "struct Turned {\n  static constexpr int kRows = 110;\n  static constexpr int kColumns = 8;\n  static __device__ constexpr unsigned at(unsigned product, unsigned piece) { return product * 80 + piece; }\n};\n";
        let (first, rest) =
            source.split_once("static_assert(index::fingerprint<").expect("a fingerprint");
        let unit = TranslationUnit {
            source: format!("{first}{turned}static_assert(index::fingerprint<{rest}"),
            ..unit
        };
        let error = compile(&Cache::new(CacheDir::Off), &unit, 90).message();
        assert!(error.contains("records: the Rust map and the CUDA map differ"), "{error}");
    }
}

/// It may run before kernels whose maps lie in memory, behind what brings operands, and before no
/// other.
#[test]
fn it_is_prepared_with_kernels_of_many_products() {
    let (desc, [few, many]) =
        (bf16([Row, Col, Row], ElementKind::Bf16), MapsDesc::ALL.map(PassDesc::Maps));
    for other in [desc, desc.for_batch(9), desc.for_array(1), desc.for_array(6)] {
        assert!(!PassDesc::before(&other).contains(&few));
    }
    assert_eq!(
        PassDesc::before(&desc.for_array(7)).split_last_chunk().map(|(_, last)| *last),
        Some([few, many])
    );
    let threads =
        default_of(OpKind::Simt, ArchKind::Sm90, Combined::all_of(OpKind::Simt)[0], [Row; 3]);
    assert!(!PassDesc::before(&threads.for_array(300)).contains(&few));
}
